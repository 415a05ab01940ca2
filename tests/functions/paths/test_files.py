"""What a committed file can do to the tool: nothing. And what a broken machine makes of it: a sentence and exit 2."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from krmfn_functions.paths import files, manifests

from krmfn import KrmfnError
from tests.builders import CONFIG
from tests.commands import COMMANDS, HANGS, Done, environment, execute, process
from tests.trees import plant

SECRET = "password: [hunter2\n"
NAMES = [
    "a\n::error file=x,line=1::forged.yaml",
    "::error file=x,line=1::forged.yaml",
    "##[error]forged.yaml",
    "\x1b[2J\x07\x85\u202e\u2066\u200bforged.yaml",
    "-.yaml",
]


def run(*args: str, cwd: Path, stdin: bytes = b"", closed: str = "", **env: str) -> Done:
    """The command; never a traceback, never a line that a terminal or a CI runner takes for more than text."""
    if closed:
        command = ("bash", "-c", f'exec "$@" {closed}', "bash", str(COMMANDS / "krmfn"))
        done = execute(*command, *args, stdin=stdin, cwd=cwd, env=environment(**env))
    else:
        done = process("krmfn", *args, stdin=stdin, cwd=cwd, **env)
    assert "Traceback" not in done.err
    assert all(line.isprintable() and not line.lstrip().startswith("::") for line in done.err.split("\n"))
    assert not re.search(r"##\w*\[", done.err)
    return done


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A folder with a sound config, beside a file that is nobody's business."""
    plant(tmp_path, {"secret.yaml": SECRET, "folder/b.yaml": SECRET})
    return plant(tmp_path / "repo" / "app", {"gaudi.yaml": CONFIG})


def kustomize(app: Path, program: str) -> str:
    """Let the folder be a kustomization; return a PATH with another kustomize."""
    plant(app, {"kustomization.yaml": "resources: [gaudi.yaml]\n", "../../bin/kustomize": program})
    return os.pathsep.join([str(app.parents[1] / "bin"), os.environ["PATH"]])


def sock(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as it:
        folder = Path.cwd()
        os.chdir(path.parent)  # a socket's address is short
        it.bind(path.name)
        os.chdir(folder)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link out": (lambda path: path.symlink_to("../../secret.yaml"), "is a link that leads out of"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "is a link that leads out of"),
    "a link to the environment": (lambda path: path.symlink_to("/proc/self/environ"), "is a link that leads out of"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "No such file or directory"),
    "a link to a folder out": (lambda path: path.symlink_to("../../folder"), "is a link that leads out of"),
    "a link to its folder": (lambda path: path.symlink_to("."), "is a link to a folder that contains it"),
    "a pipe": (os.mkfifo, "is a pipe, not a file"),
    "a socket": (sock, "is a socket, not a file"),
    "a gigabyte of nothing": (sparse, "is larger than 536,870,912 bytes"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_file_of_the_folder_is_refused(kind: str, app: Path) -> None:
    make, message = HOSTILE[kind]
    make(app / "x.yaml")
    done = run("check", str(app), cwd=app).ended(2, "")
    name = f"{app}/x.yaml"
    # a folder is no file that an editor or a review could open
    where = f"error: {name}: " if (app / "x.yaml").is_dir() else f"{name}: error: "
    assert done.text.startswith(where + message)
    number = "2 files" if kind == "a gigabyte of nothing" else "1 file"  # it is a file of the folder, which is not read
    assert f"1 error: 1 DeviceConfig in 1 resource, {number}\n" in done.text, "it hides no other file"
    assert "hunter2" not in done.text


@pytest.mark.parametrize(
    "kind", ["a link out", "a link to a device", "a pipe", "a link to nothing", "a link to itself"]
)
@pytest.mark.parametrize("name", manifests.KUSTOMIZATIONS)
def test_nor_is_it_a_kustomization(kind: str, name: str, app: Path) -> None:
    make, message = HOSTILE[kind]
    make(app / name)
    assert run("render", str(app), cwd=app).refused().startswith(f"{app}/{name}: error: {message}")


@pytest.mark.parametrize("option", ["--baseline", "--function-config", "--write-baseline"])
def test_nor_is_it_another_input(option: str, app: Path) -> None:
    (app.parent / ".git").mkdir()
    (app / "link").symlink_to("../../secret.yaml")
    err = run("check", option, "link", ".", cwd=app).refused()
    assert err.startswith("error: link: is a link that leads out of ")
    assert (app.parents[1] / "secret.yaml").read_text() == SECRET
    if option != "--write-baseline":
        err = run("check", option, "/dev/zero", ".", cwd=app).refused()
        assert err == "error: /dev/zero: is a device, not a file\n"


@pytest.mark.parametrize("argo", ["", "."], ids=["Git", "Argo CD"])
@pytest.mark.parametrize("args", [["render", "app", "--output-dir"], ["check", "app", "--write-baseline"]])
def test_nothing_is_written_through_a_link_to_a_folder_out(args: list[str], argo: str, app: Path) -> None:
    repository, outside = app.parent, app.parents[1] / "outside"
    if not argo:  # its copy has no .git
        (repository / ".git").mkdir()
    (outside / ".git").mkdir(parents=True)  # also when there is a repository of its own
    (repository / "rendered").symlink_to(outside)
    err = run(*args, "rendered/lab", cwd=repository, ARGOCD_APP_SOURCE_PATH=argo).refused()
    assert "error: rendered/lab: is a link that leads out of " in err
    assert [path.name for path in outside.iterdir()] == [".git"]
    (repository / "inside").mkdir()
    (repository / "through").symlink_to("inside")
    assert run(*args, "through/lab", cwd=repository, ARGOCD_APP_SOURCE_PATH=argo).code == 0
    assert (repository / "inside" / "lab").exists()


def test_a_root_says_how_far_a_link_may_lead(app: Path) -> None:
    (app.parent / "b.yaml").write_text(CONFIG.replace("drv,", "other,").replace("a: b", "a: c"))
    (app / "b.yaml").symlink_to("../b.yaml")
    assert run("check", ".", cwd=app).code == 2
    assert run("check", "--root", "..", ".", cwd=app).code == 0
    assert run("check", ".", cwd=app, ARGOCD_APP_SOURCE_PATH="repo/app").code == 0
    assert run("check", ".", cwd=app, ARGOCD_APP_SOURCE_PATH="other/app").code == 2
    (app.parent / ".git").mkdir()
    assert run("check", ".", cwd=app).ended(0).reported == "no findings: 2 DeviceConfigs in 2 resources, 2 files\n"
    (app.parent / ".git" / "config").write_text(SECRET)
    (app / "c.yaml").symlink_to("../.git/config")
    assert "is a link that leads out of" in run("check", ".", cwd=app).text, "a token may stand in .git/config"
    assert run("check", "--root", "gone", ".", cwd=app).err == "error: --root gone is not a folder\n"
    assert "nothing outside of it is read" in run("check", "--root", "..", str(app.parents[1]), cwd=app).err


def test_a_link_inside_is_read_and_nothing_is_read_twice(app: Path) -> None:
    plant(app, {"shared/b.yaml": CONFIG.replace("drv,", "other,").replace("a: b", "a: c")})
    plant(app, {"a-link.yaml": "-> gaudi.yaml", "a-folder": "-> shared", "shared/back": "-> ../a-folder/../shared/.."})
    assert "is a link to a folder that contains it" in run("check", ".", cwd=app).text
    (app / "shared" / "back").unlink()
    read = [item.place.path for item in manifests.read(str(app)).items if item.place]
    assert read == [str(app / "gaudi.yaml"), str(app / "shared" / "b.yaml")]


def test_a_file_that_is_named_may_be_anywhere(app: Path, tmp_path: Path) -> None:
    (app.parent / ".git").mkdir()
    plant(tmp_path, {"elsewhere.yaml": CONFIG, "link.yaml": "-> elsewhere.yaml"})
    for path in ("elsewhere.yaml", "link.yaml"):
        assert run("check", f"{tmp_path}/{path}", cwd=app).code == 0
    assert run("check", "/dev/stdin", cwd=app, stdin=CONFIG.encode()).code == 0
    pipes = "<(cat gaudi.yaml) <(sed s/drv,/other,/ gaudi.yaml)"
    execute("bash", "-c", f"krmfn diff {pipes}", cwd=app, env=environment()).ended(1, "")
    assert run("diff", "/dev/null", ".", cwd=app).code == 1


def test_a_pipe_that_is_named_is_read_up_to_the_limit(app: Path) -> None:
    done = execute("bash", "-c", f"{COMMANDS}/krmfn check <(yes)", cwd=app, env=environment(KRMFN_MAX_BYTES="1000"))
    assert "is larger than 1,000 bytes" in done.ended(2).text


MANY = "".join(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{at}}}\n---\n" for at in range(60_000))
BLOCK = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: drv, namespace: kmm}
spec:
  moduleName: drv
  driverImage: r.example.com/drv:1.0
  nodeSelector: {a: b}
"""
PIPED = {
    "no YAML at the end of a large text": f"{MANY}a: b: c\n",
    "what is no data": f"{BLOCK}a:\n  <<: word\n",
    "a finding": CONFIG.replace("moduleName", "moduelName"),
}


@pytest.mark.parametrize("text", PIPED.values(), ids=PIPED)
def test_what_comes_out_of_a_pipe_is_judged_as_a_file_is(text: str, tmp_path: Path) -> None:
    """It was empty where all is done again, and so the exit code was 0."""
    (tmp_path / "a.yaml").write_text(text)
    expected = run("check", "a.yaml", cwd=tmp_path)
    piped = execute("bash", "-c", f"{COMMANDS}/krmfn check <(cat a.yaml)", cwd=tmp_path, env=environment())
    assert (piped.code, re.sub(r"/dev/fd/\d+", "a.yaml", piped.text)) == (expected.code, expected.text)
    assert piped.code == (1 if text == PIPED["a finding"] else 2)


@pytest.mark.parametrize(
    "words", ["check <(false)", "check . <(echo)", "check . --nodes <(false)", "diff <(false) .", "render /dev/stdin"]
)
def test_an_empty_pipe_is_what_a_program_leaves_that_failed(words: str, app: Path) -> None:
    """It was an input without resources: `check <(kustomize build .)` said that there is nothing to do, exit code 0."""
    done = execute("bash", "-c", f"true | {COMMANDS}/krmfn {words}", cwd=app, env=environment()).ended(2)
    pattern = "error: .*is (an empty pipe; look at what the program that writes to it says|empty; expected )"
    assert re.search(pattern, done.text + done.err)


def test_a_function_config_may_come_out_of_a_pipe(app: Path) -> None:
    """Several parts of a run ask for it."""
    head = "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: a}\n"
    (app.parent / "config.yaml").write_text(f"{head}spec: {{kmm: {{version: '2.5'}}}}\n")
    expected = run("render", "gaudi.yaml", "--function-config", "../config.yaml", cwd=app).ended(0)
    command = f"{COMMANDS}/krmfn render gaudi.yaml --function-config <(cat ../config.yaml)"
    assert execute("bash", "-c", command, cwd=app, env=environment()).ended(0).text == expected.text


@pytest.mark.parametrize("text", [CONFIG.replace("moduleName", "moduelName"), "apiVersion: [\n", "apiVersion: \x1b\n"])
def test_a_name_stays_a_name(text: str, app: Path) -> None:
    for name in NAMES:
        (app / name).write_text(text)
    for args in (("check",), ("check", "--format", "github"), ("render",), ("render", "--log-format", "json")):
        done = run(*args, ".", cwd=app)
        assert done.code in (1, 2)
        lines = done.text.split("\n")
        assert all(line.isprintable() for line in lines)
        commands = [line for line in lines if line.lstrip().startswith("::") and "title=KRM" not in line]
        assert [line for line in commands if not line.startswith("::notice title=not judged::not judged: ")] == []


@pytest.mark.parametrize("name", ["\\n::error::x", "\\e[2J", "\\N", "\\u202e", "\\a"])
def test_a_resource_s_name_does_too(name: str, app: Path) -> None:
    (app / "gaudi.yaml").write_text(CONFIG.replace("name: drv", f'name: "{name}"'))
    run("resolve", "--kernel", "5.14.0-1.el9", ".", cwd=app)
    for form in ("text", "github"):
        out = run("check", "--format", form, ".", cwd=app).out.decode()
        assert out.replace("\n", "").isprintable()
        assert "\n::error::x" not in out
    functions = 'apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: "' + name + '"}\n'
    (app / "settings.yaml").write_text(f"{functions}---\n{functions}")
    assert "holds 2 functionConfigs" in run("check", ".", cwd=app).err


def test_deep_folders(app: Path) -> None:
    """Deeper than Python recurses."""
    folders = "/".join("d" * 1200)
    subprocess.run(["mkdir", "-p", folders], cwd=app, check=True)
    try:
        assert run("check", ".", cwd=app).code == 0
    finally:
        subprocess.run(["rm", "-r", "d"], cwd=app, check=True)  # pytest recurses


def test_what_cannot_be_read_is_no_finding(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("gone", "gone/at/all.yaml", "gaudi.yaml/x"):
        assert run("check", path, cwd=app).refused().startswith(f"error: {path}: ")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)  # root may read everything
    with pytest.raises(KrmfnError, match="app: Permission denied"):
        manifests.read(str(app))
    monkeypatch.undo()
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(KrmfnError, match=r"gaudi\.yaml: Permission denied"):
        manifests.read(str(app))


# A broken machine.


@pytest.mark.parametrize(
    "args", [["--help"], ["--version"], ["check", "--help"], ["rules"], ["check", "."], ["render", "."]]
)
@pytest.mark.parametrize("closed", [">/dev/full", ">&-"])
def test_an_answer_that_cannot_be_written_is_no_success(args: list[str], closed: str, app: Path) -> None:
    assert "\nerror: " in "\n" + run(*args, cwd=app, closed=closed).ended(2).err


@pytest.mark.parametrize(
    ("args", "code"), [(["--help"], 0), (["check", "."], 0), (["check", "gone"], 2), (["rendr"], 2), (["render"], 0)]
)
@pytest.mark.parametrize("closed", ["2>/dev/full", "2>&-"])
def test_without_stderr_the_exit_code_is_the_same(args: list[str], code: int, closed: str, app: Path) -> None:
    assert run(*args, cwd=app, closed=closed).code == code


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("not a program", "cannot be run: Exec format error"),
        ("#!/no/such/interpreter\n", "cannot be run: No such file or directory"),
        ("#!/bin/sh\nkill -9 $$\n", "was ended by signal 9"),
        ("#!/bin/sh\nprintf 'a\\n::error::x\\n\\033[2J' >&2; exit 1\n", "failed:"),
        ("#!/bin/sh\necho 'a: ['\n", "printed: line 2: "),
    ],
)
def test_a_broken_kustomize(program: str, message: str, app: Path, tmp_path: Path) -> None:
    path = kustomize(app, program)
    (tmp_path / "bin" / "kustomize").chmod(0o755)
    for command in ("check", "render"):
        assert message in run(command, ".", cwd=app, PATH=path).refused()
    assert run("check", "--kustomize", "'", ".", cwd=app).err.startswith('error: --kustomize "\'" cannot be split')


def test_without_kustomize(app: Path, tmp_path: Path) -> None:
    plant(app, {"kustomization.yaml": "resources: [gaudi.yaml]\n"})
    plant(tmp_path, {"bin/bash": "-> /bin/bash"})
    assert "install one of them" in run("check", ".", cwd=app, PATH=str(tmp_path / "bin")).refused()


def test_temporary_files_are_never_among_those_that_are_read(app: Path) -> None:
    """kustomize took the folder for a cycle, and said so of `.`."""
    (app / "tmp").mkdir()
    path = kustomize(app, "#!/bin/sh\nexit 3\n")
    assert run("render", ".", cwd=app, TMPDIR=str(app / "tmp"), PATH=path).refused() == (
        f"error: {app / 'tmp'} is in ., where temporary files would be read as your own; set the environment "
        "variable TMPDIR to a folder elsewhere\n"
    )
    assert list((app / "tmp").iterdir()) == []


@pytest.mark.parametrize("body", ["1 / 0", "raise SystemExit(0)", "raise MemoryError", "def f(): f()\n    f()"])
def test_a_crash_is_exit_2_with_its_traceback(body: str, app: Path) -> None:
    code = (
        "import sys\nfrom krmfn_functions.cluster import function_runs\n"
        "from krmfn_functions.command_line.main import main\n"
        f"def function(resources):\n    {body}\nfunction_runs.krmfn = function\nsys.exit(main(sys.argv[1:]))\n"
    )
    for args in (["check"], ["render", "--log-format", "json"], ["diff", ".", "."]):
        err = execute(COMMANDS / "python", "-c", code, *args, cwd=app, env=environment()).refused()
        assert "Traceback" in err
        assert "this is a bug in krmfn, not in your files" in err


def test_an_interrupt_stays_130(app: Path, tmp_path: Path) -> None:
    """It waits for a pipe: opening that for writing returns once krmfn has opened it for reading."""
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    # A shell that runs the tests in the background lets its children ignore SIGINT.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); from krmfn_functions.__main__"
    command = [str(COMMANDS / "python"), "-c", f"{code} import krmfn; sys.exit(krmfn())", "check", str(pipe)]
    with (
        subprocess.Popen(command, cwd=app, env=environment(), stderr=subprocess.PIPE) as process,
        pipe.open("wb"),
    ):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGS)
    assert (process.returncode, err) == (130, b"interrupted\n")


@pytest.mark.parametrize("is_group", [True, False])
def test_a_termination_during_a_build_leaves_nothing(is_group: bool, app: Path, tmp_path: Path) -> None:
    """SIGTERM for the process group, as Argo CD sends it, and for the process alone; the program is a slow one."""
    started, temporary = tmp_path / "started", tmp_path / "tmp"
    os.mkfifo(started)
    temporary.mkdir()
    path = kustomize(app, f"#!/bin/sh\necho $$ > {started}\nexec /bin/sleep 600\n")
    env = environment(TMPDIR=str(temporary), KRMFN_CONFINE="off", PATH=path)
    command = [str(COMMANDS / "krmfn"), "render", "."]
    with subprocess.Popen(command, cwd=app, env=env, stderr=subprocess.PIPE, start_new_session=True) as process:
        number = int(started.read_text())
        assert list(temporary.iterdir()) != []
        (os.killpg if is_group else os.kill)(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=HANGS)
    assert (process.returncode, err) == (130, b"interrupted\n")
    assert list(temporary.iterdir()) == []
    assert not Path(f"/proc/{number}").exists()


@pytest.mark.parametrize("command", [["render", "."], ["check"], ["diff", "--base", "HEAD", "."], ["nodes", "."]])
def test_a_working_folder_that_is_gone_is_named(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    script = ("sh", "-c", 'cd gone && rmdir ../gone && exec "$@"', "sh", str(COMMANDS / "krmfn"))
    err = execute(*script, *command, cwd=tmp_path, env=environment()).refused()
    assert err == "error: the working folder was removed while krmfn was running, so there is no result\n"


@pytest.mark.parametrize("path", [".", "../app"])
def test_a_source_that_vanishes_during_the_build_is_no_success(path: str, app: Path) -> None:
    error = "Error: must build at directory: not a valid directory"
    programs = kustomize(app, f"#!/bin/sh\n/bin/rm -rf {app}\necho '{error}' >&2\nexit 1\n")
    assert run("render", path, cwd=app, PATH=programs, KRMFN_CONFINE="off").refused().startswith("error: ")


@pytest.mark.parametrize("name", ["", "Kmm", "a/b", "a.b", "-a", "a" * 64, "a\n", "a\n::error::x", "é"])
def test_a_namespace_is_a_name(name: str, app: Path) -> None:
    for command in ("check", "render"):
        assert run(command, f"--namespace={name}", ".", cwd=app).refused().startswith("error: --namespace is ")
        if name:
            err = run(command, ".", cwd=app, ARGOCD_APP_NAMESPACE=name).refused()
            assert err.startswith("error: ARGOCD_APP_NAMESPACE is ")
    assert run("check", "--namespace", "a" * 63, ".", cwd=app, ARGOCD_APP_NAMESPACE="").code == 0


# What is written.


def test_a_failed_write_leaves_the_old_file(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = app / "known.json"
    target.write_text("old")
    target.chmod(0o600)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(KrmfnError, match=r"known\.json: No space left on device"):
        files.write(str(target), b"new")
    assert target.read_text() == "old"
    monkeypatch.undo()
    files.write(str(target), b"new")
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o600)
    assert sorted(path.name for path in app.iterdir()) == ["gaudi.yaml", "known.json"]


def test_what_is_no_file_is_not_replaced(app: Path) -> None:
    os.mkfifo(app / "pipe")
    for target in ("pipe", "/dev/null", "."):
        assert ", not a file" in run("check", "--write-baseline", target, ".", cwd=app).ended(2).err
    assert (app / "pipe").is_fifo()
    assert Path("/dev/null").is_char_device()


# Nothing to do.


NOTHING = "no DeviceConfig, Ptemplate, RenderDeviceConfigs or Module is in"


@pytest.mark.parametrize("text", ["", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"])
def test_nothing_of_ours_is_a_warning(text: str, app: Path) -> None:
    (app / "gaudi.yaml").write_text(text)
    done = run("check", ".", cwd=app).ended(0)
    assert done.out.decode().startswith(f"warning: {NOTHING} . ({len(text) and 1} resource")
    assert run("check", "--strict", ".", cwd=app).code == 1
    assert NOTHING in run("render", "--allow-empty", ".", cwd=app).err
    assert NOTHING not in run("diff", "/dev/null", ".", cwd=app).err


def test_any_of_ours_is_something(app: Path) -> None:
    assert b"KRM109" not in run("check", ".", cwd=app).out
    (app / "gaudi.yaml").write_text("apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata: {name: a}\n")
    done = run("check", "--strict", ".", cwd=app).ended(0)
    assert done.reported == "no findings: 1 functionConfig in 1 resource, 1 file\n"
    done = run("check", "--function-config", "gaudi.yaml", "-", cwd=app, stdin=CONFIG.encode())
    assert done.reported == "no findings: 1 DeviceConfig, 1 functionConfig in 1 resource\n"


def test_what_could_not_be_written_was_not_created(app: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    err = run("render", str(app), "--output-dir", "file/out", cwd=tmp_path).refused()
    assert err == "error: file/out: Not a directory\n"
    assert run("render", str(app), "--output-dir", "out", cwd=tmp_path).ended(0).err == "created 1 Module\n"


@pytest.mark.parametrize(
    "command", ["render", "check", "nodes", "report", "diff --base HEAD", "diff a", "import -o out"]
)
def test_an_empty_path_is_said_to_be_one(command: str, tmp_path: Path) -> None:
    """As `krmfn check "$FOLDER"` has it when nobody has set FOLDER."""
    err = run(*command.split(), "", cwd=tmp_path).refused()
    assert err == "error: a PATH is an empty string; is a shell variable not set?\n"


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call of the system may also return less than there is."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"0123456789" * 10)
    read = os.read
    monkeypatch.setattr(os, "read", lambda source, size: read(source, min(size, 7)))
    assert files.read_regular(str(path), "a.yaml", 1_000) == b"0123456789" * 10
