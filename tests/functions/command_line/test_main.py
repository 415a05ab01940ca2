"""The command line: exit codes, what goes where, options, settings of the environment."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import yaml
from krmfn_functions.command_line import grammar, table
from krmfn_functions.command_line.main import parser
from krmfn_functions.formats.findings import FORMATS

from tests.commands import COMMANDS, ROOT, Done, environment, process
from tests.functions.comparing.test_base import repository

CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: gaudi
spec:
  driverImage: registry.example.com/driver
  driverVersion: "1"
  moduleName: habanalabs
  nodeSelector:
    example.com/a: b
"""
FUNCTION_CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata:
  name: settings
spec:
  namespace: from-git
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A folder with a config that names no namespace."""
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "gaudi.yaml").write_text(CONFIG)
    return folder


def namespaces(done: Done) -> set[str]:
    assert done.code == 0, done.err
    return {manifest["metadata"]["namespace"] for manifest in yaml.safe_load_all(done.out)}


@pytest.mark.parametrize(
    ("program", "args"),
    [
        *(
            ("krmfn", [command, "--help"])
            for command in ("render", "check", "diff", "resolve", "rules", "schema", "crd")
        ),
        *((program, [arg]) for program in ("krmfn", "deviceconfig", "ptemplate") for arg in ("--help", "--version")),
    ],
)
def test_help_and_version_are_answers(program: str, args: list[str]) -> None:
    done = process(program, *args)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: {program}".encode() if "--help" in args else f"{program} (krmfn ".encode())


@pytest.fixture
def two(app: Path) -> list[str]:
    """Two folders that differ in the name of their config, and its place in a cluster."""
    for name in ("first", "second"):
        (app.parent / name).mkdir()
        (app.parent / name / "config.yaml").write_text(CONFIG.replace("name: gaudi", f"name: {name}"))
    return [str(app.parent / name) for name in ("first", "second")]


def test_several_paths_are_checked_each_by_itself(two: list[str]) -> None:
    """Side by side the two conflict; in two PATHs they are two clusters."""
    assert b"KRM302" in process("krmfn", "check", "--namespace", "a", str(Path(two[0]).parent)).out
    done = process("krmfn", "check", "--namespace", "a", "--format", "json", *two)
    assert done.code == 0, done.out
    assert json.loads(done.out)["summary"]["kinds"]["DeviceConfig"] == 2
    Path(two[1], "config.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    wrong = process("krmfn", "check", "--namespace", "a", *two)
    assert wrong.code == 1
    assert wrong.out.startswith(two[1].encode())
    assert process("krmfn", "check", *two, str(Path(two[0], "none"))).code == 2


def test_several_paths_are_rendered_to_a_folder_each(two: list[str], tmp_path: Path) -> None:
    refused = process("krmfn", "render", "--namespace", "a", *two)
    assert (refused.code, refused.out) == (2, b"")
    assert "--output-dir" in refused.err
    target = str(tmp_path / "out")
    shutil.copytree(two[0], tmp_path / "other" / "first")
    other = str(tmp_path / "other" / "first")
    alike = process("krmfn", "render", "--namespace", "a", "--output-dir", target, two[0], other)
    assert alike.code == 2
    assert "would both be written to the folder first" in alike.err
    done = process("krmfn", "render", "--namespace", "a", "--output-dir", target, *two)
    assert done.code == 0, done.err
    for path in two:
        alone = str(tmp_path / "alone" / Path(path).name)
        assert process("krmfn", "render", "--namespace", "a", "--output-dir", alone, path).code == 0
        names = sorted(file.name for file in Path(alone).iterdir())
        together = Path(target, Path(path).name)
        assert sorted(file.name for file in together.iterdir()) == names
        assert [(together / name).read_bytes() for name in names] == [Path(alone, name).read_bytes() for name in names]


def test_an_error_in_one_path_writes_none(two: list[str], tmp_path: Path) -> None:
    Path(two[1], "config.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    target = tmp_path / "out"
    done = process("krmfn", "render", "--namespace", "a", "--output-dir", str(target), *two)
    assert done.code == 1
    assert "spec.moduelName" in done.err
    assert not target.exists()


def test_several_paths_are_resolved(two: list[str]) -> None:
    done = process("krmfn", "resolve", "--namespace", "a", "--kernel", "6.1.0", "--format", "json", *two)
    assert [row["module"]["name"] for row in json.loads(done.out)] == ["first", "second"]


@pytest.mark.parametrize("command", table.COMMANDS)
def test_the_help_of_a_command_has_examples_that_parse_and_exit_codes(command: str) -> None:
    text = process("krmfn", command, "--help").out.decode()
    assert "\nexit code: 0 " in text
    examples = re.findall(rf"^  krmfn {command}( .*)?$", text, re.MULTILINE)
    assert examples
    for example in examples:
        args = shlex.split(re.split(r" [<>|] ?", f"{example} ")[0])
        assert parser().parse_args([command, *args]).command == command


COMPLETE = (
    "source <(krmfn completion bash); COMP_WORDS=({args} '{word}'); COMP_CWORD={at}; _krmfn; echo \"${{COMPREPLY[@]}}\""
)


@pytest.mark.parametrize(
    ("args", "word", "answer"),
    [
        (["krmfn"], "re", "render report resolve"),
        (["krmfn", "check"], "--str", "--strict"),
        (["krmfn", "check", "--format"], "s", "sarif"),
        (["krmfn", "check", "--format"], "", " ".join(FORMATS)),
        (["krmfn", "render", "--kmm-version"], "o", "openshift"),
        (["krmfn", "schema"], "Pt", "Ptemplate"),
        (["krmfn", "render"], "--form", ""),
        (["krmfn", "render", "--output-dir"], "gitop", "gitops"),
        (["krmfn", "check"], "gitop", "gitops"),
    ],
)
def test_bash_completes_commands_options_values_and_files(args: list[str], word: str, answer: str) -> None:
    script = COMPLETE.format(args=" ".join(args), word=word, at=len(args))
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, env=environment(), capture_output=True, check=True)
    assert (done.stdout.decode().strip(), done.stderr) == (answer, b"")


@pytest.mark.parametrize(
    ("args", "word", "answer"),
    [
        (["why"], "stage-w", "stage-web-01 stage-web-02"),
        (["nodes", "--node"], "dev-w", "dev-web-01 dev-web-02"),
        (["why", "stage-web-01", "--live"], "prod", "prod-a= prod-b="),
        (["why", "stage-web-01", "--live"], "inv", "inventories"),
        (["explain"], "KRM15", "KRM150"),
        (["explain"], "clus", "clusters"),
    ],
)
def test_bash_completes_rules_clusters_and_nodes(args: list[str], word: str, answer: str, tmp_path: Path) -> None:
    """Names that a shell would run are not offered: they are from the repository, which may be a stranger's."""
    fleet = repository(shutil.copytree(ROOT / "examples/fleet", tmp_path / "fleet"), {})
    config = fleet / ".krmfn.yaml"
    config.write_text(config.read_text().replace("dev.yaml]", "dev.yaml, more.yaml]"))
    inventory = (fleet / "inventories/dev.yaml").read_text()
    (fleet / "more.yaml").write_text(inventory.replace("dev-web-01", "stage-w`touch${IFS}ran`"))
    script = COMPLETE.format(args=" ".join(["krmfn", *args]), word=word, at=len(args) + 1)
    done = subprocess.run(["bash", "-c", script], cwd=fleet, env=environment(), capture_output=True, check=True)
    assert (done.stdout.decode().strip(), done.stderr) == (answer, b"")
    assert not (fleet / "ran").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_knows_every_option(shell: str) -> None:
    text = process("krmfn", "completion", shell).out.decode()
    parsers = grammar.commands(parser())
    names = [name for own in parsers.values() for option in grammar.options(own) for name in option.option_strings]
    written = {word.lstrip("-") for word in re.findall(r"[\w-]+", text)}
    assert {name.lstrip("-") for name in names} - written == set()


def test_the_help_names_every_command() -> None:
    assert list(grammar.commands(parser())) == list(table.COMMANDS)


@pytest.mark.parametrize("function", ["deviceconfig", "ptemplate"])
@pytest.mark.parametrize("args", [["render", "a b"], ["--nonsense"], ["--help", "x"], [""]])
def test_a_bare_function_has_no_commands(function: str, args: list[str]) -> None:
    done = process(function, *args, stdin=b"not read")
    assert (done.code, done.out) == (2, b"")
    assert f"`krmfn {shlex.join(args)}`" in done.err


def test_on_a_terminal_it_prints_its_help() -> None:
    """Only where a person sees it: with stdin or stdout elsewhere, an answer of help would pass for a list."""
    for kept, code in (("", 0), ("</dev/null", 1), (">out; code=$?; cat out; exit $code", 1)):
        with tempfile.TemporaryDirectory() as folder:
            answer, status = in_a_terminal(f"{COMMANDS}/krmfn {kept}", folder)
        assert status == code, answer
        assert answer.startswith("usage: krmfn") == (code == 0), answer


def in_a_terminal(script: str, folder: str) -> tuple[str, int]:
    """Run a script with a terminal as stdin, stdout and stderr: what it shows, and its exit code."""
    shown, terminal = os.openpty()
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment(), stdin=terminal, stdout=terminal,
        stderr=terminal, timeout=60, check=False)  # fmt: skip
    os.close(terminal)
    answer = b""
    try:
        while part := os.read(shown, 65536):
            answer += part
    except OSError:
        pass  # Linux says so at the end
    os.close(shown)
    return answer.decode(), done.returncode


@pytest.mark.parametrize(
    "args",
    [["rendr"], ["render", "--nonsense"], ["check", "--format", "xml"], ["diff", "one"], ["diff", "a", "b", "c"]],
)
def test_usage_is_printed_on_stderr(args: list[str]) -> None:
    done = process("krmfn", *args)
    assert (done.code, done.out) == (2, b"")
    assert "usage: krmfn" in done.err


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["rendr"], "render"),
        (["chek", "."], "check"),
        (["render", "--outpt-dir", "x"], "--output-dir"),
        (["check", "--formt=json", "."], "--format"),
        (["diff", "a", "b", "--kmm-versoin", "2.6"], "--kmm-version"),
        (["resolve", "--kernle", "5.14"], "--kernel"),
        (["--versoin"], "--version"),
    ],
)
def test_the_nearest_command_or_option_is_named(args: list[str], meant: str) -> None:
    assert process("krmfn", *args).err.endswith(f"\nkrmfn: did you mean {meant}?\n")


@pytest.mark.parametrize("args", [["frobnicate"], ["render", "--zzz"], ["check", "--format", "xml"], ["diff", "one"]])
def test_nothing_near_is_no_guess(args: list[str]) -> None:
    assert "did you mean" not in process("krmfn", *args).err


def test_the_namespace_of_git_wins_over_argo_cd_s(app: Path) -> None:
    def rendered(*args: str, **env: str) -> set[str]:
        return namespaces(process("krmfn", "render", *args, str(app), cwd=ROOT, stdin="", **env))

    assert process("krmfn", "render", str(app)).code == 1
    assert rendered(ARGOCD_APP_NAMESPACE="from-argo") == {"from-argo"}
    (app / "settings.yaml").write_text(FUNCTION_CONFIG)
    assert rendered(ARGOCD_APP_NAMESPACE="from-argo") == {"from-git"}
    assert rendered("--namespace", "of-the-option", ARGOCD_APP_NAMESPACE="from-argo") == {"of-the-option"}
    config = app / "gaudi.yaml"
    config.write_text(CONFIG.replace("  name: gaudi\n", "  name: gaudi\n  namespace: own\n"))
    assert rendered("--namespace", "of-the-option", ARGOCD_APP_NAMESPACE="from-argo") == {"own"}


def test_nothing_is_on_stdout_unless_all_is_well(app: Path) -> None:
    done = process("krmfn", "render", str(app))
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith(f"{app}/gaudi.yaml:3:1: error: DeviceConfig gaudi: metadata.namespace: ")


def test_a_full_disk_is_no_success(app: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMANDS / "krmfn", "render", "--namespace", "a", app],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert done.returncode == 2
    assert b"could not be written in full" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_success(app: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [str(COMMANDS / "krmfn"), "render", "--namespace", "a", str(app)]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(writer)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


def test_a_limit_is_a_number(app: Path) -> None:
    for value in ("many", "-1", "0", "1e9"):
        done = process("krmfn", "check", str(app), KRMFN_MAX_BYTES=value)
        assert done.code == 2
        assert "KRMFN_MAX_BYTES" in done.err
    assert "KRMFN_MAX_BYTES" in process("krmfn", "check", str(app), KRMFN_MAX_BYTES="10").text


def test_render_writes_a_folder_of_the_same_objects(app: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    done = process("krmfn", "render", "--namespace", "a", "--output-dir", str(target), str(app))
    assert (done.code, done.out) == (0, b"")
    again = process("krmfn", "render", "--namespace", "a", "--output-dir", str(target), str(app))
    assert again.code == 2
    assert "is not empty" in again.err
    (module,) = target.glob("*_module_*.yaml")
    assert module.read_bytes() == process("krmfn", "render", "--namespace", "a", str(app)).out


def test_findings_are_the_same_in_every_format(app: Path) -> None:
    outputs = {
        name: process("krmfn", "check", "--format", name, str(app))
        for name in ("text", "json", "sarif", "junit", "github", "gitlab")
    }
    assert {done.code for done in outputs.values()} == {1}
    assert all("KRM120" in done.out.decode() for done in outputs.values())
    document = json.loads(outputs["json"].out)
    kinds = {"DeviceConfig": 1, "Ptemplate": 0, "functionConfig": 0, "Module": 0}
    counts = {
        "error": 1,
        "warning": 0,
        "info": 0,
        "resources": 1,
        "files": 1,
        "excluded": 0,
        "baseline": 0,
        "turnedOff": 0,
        "hidden": 0,
    }
    assert document["summary"] == {**counts, "kinds": kinds}
    assert document["findings"][0]["line"] == 3


def test_a_baseline_forgives_what_it_names(app: Path, tmp_path: Path) -> None:
    file = str(tmp_path / "baseline")
    assert process("krmfn", "check", "--write-baseline", file, str(app)).code == 0
    assert process("krmfn", "check", "--baseline", file, str(app)).code == 0
    (app / "gaudi.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    assert process("krmfn", "check", "--baseline", file, str(app)).code == 1
    assert process("krmfn", "check", "--baseline", str(tmp_path / "none"), str(app)).code == 2


def test_diff_reports_what_a_change_does(app: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "gaudi.yaml").write_text(CONFIG.replace('driverVersion: "1"', 'driverVersion: "2"'))
    args = ["diff", "--namespace", "a", str(app)]
    assert process("krmfn", *args, str(app)).code == 0
    done = process("krmfn", *args, str(tmp_path / "new"))
    assert done.code == 1
    assert b"driver:2-$KERNEL_FULL_VERSION" in done.out
    rendered = tmp_path / "rendered.yaml"
    rendered.write_bytes(process("krmfn", "render", "--namespace", "a", str(app)).out)
    already = process("krmfn", "diff", "--namespace", "a", str(rendered), str(tmp_path / "new"))
    assert (already.code, already.out) == (1, done.out), "what is rendered already is taken as it is"
    (tmp_path / "new" / "gaudi.yaml").write_text("apiVersion: [\n")
    assert process("krmfn", *args, str(tmp_path / "new")).code == 2


def test_a_kustomization_is_built_first(app: Path, tmp_path: Path) -> None:
    """By the kustomize on PATH; its failure is ours."""
    (app / "kustomization.yaml").write_text("resources: [gaudi.yaml]\n")
    program = tmp_path / "bin" / "kustomize"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n/bin/cat {app}/gaudi.yaml\n")
    program.chmod(0o755)
    path = f"{program.parent}:{environment()['PATH']}"
    done = process("krmfn", "render", "--namespace", "built", str(app), PATH=path, KRMFN_CONFINE="off")
    assert namespaces(done) == {"built"}
    program.write_text("#!/bin/sh\necho 'apiVersion: v1'\necho 'Error: boom' >&2\nexit 1\n")
    failed = process("krmfn", "render", "--namespace", "built", str(app), PATH=path, KRMFN_CONFINE="off")
    assert (failed.code, failed.out) == (2, b"")
    assert "boom" in failed.err


@pytest.mark.parametrize("function", ["krmfn", "deviceconfig", "ptemplate"])
def test_without_stdin_it_says_what_it_is(function: str) -> None:
    done = process(function)
    assert (done.code, done.out) == (1, b"")
    assert "--help" in done.err


def test_the_module_runs_as_the_command() -> None:
    expected = process("krmfn", "schema").out
    command = [str(COMMANDS / "python"), "-m", "krmfn_functions", "schema"]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, env=environment(), check=True)
    assert done.stdout == expected
