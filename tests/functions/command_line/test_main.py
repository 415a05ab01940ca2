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

from tests.commands import COMMANDS, HANGS, ROOT, Done, drained, environment, execute, process
from tests.functions.comparing.test_base import repository
from tests.trees import altered, plant

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


@pytest.mark.parametrize("program", ["krmfn", "deviceconfig", "ptemplate"])
def test_help_and_version_are_answers(program: str) -> None:
    assert process(program, "--help").ended(0, "").text.startswith(f"usage: {program}")
    assert process(program, "--version").ended(0, "").text.startswith(f"{program} 0.")


@pytest.fixture
def two(app: Path) -> list[str]:
    """Two folders that differ in the name of their config, and its place in a cluster."""
    for name in ("first", "second"):
        plant(app.parent, {f"{name}/config.yaml": CONFIG.replace("name: gaudi", f"name: {name}")})
    return [str(app.parent / name) for name in ("first", "second")]


def test_several_paths_are_checked_each_by_itself(two: list[str]) -> None:
    """Side by side the two conflict; in two PATHs they are two clusters."""
    assert b"KRM302" in process("krmfn", "check", "--namespace", "a", str(Path(two[0]).parent)).out
    done = process("krmfn", "check", "--namespace", "a", "--format", "json", *two).ended(0)
    assert json.loads(done.out)["summary"]["kinds"]["DeviceConfig"] == 2
    Path(two[1], "config.yaml").write_text(CONFIG.replace("moduleName", "moduelName"))
    assert process("krmfn", "check", "--namespace", "a", *two).ended(1).out.startswith(two[1].encode())
    assert process("krmfn", "check", *two, str(Path(two[0], "none"))).code == 2


def test_several_paths_are_rendered_to_a_folder_each(two: list[str], tmp_path: Path) -> None:
    assert "--output-dir" in process("krmfn", "render", "--namespace", "a", *two).refused()
    target = str(tmp_path / "out")
    shutil.copytree(two[0], tmp_path / "other" / "first")
    other = str(tmp_path / "other" / "first")
    alike = process("krmfn", "render", "--namespace", "a", "--output-dir", target, two[0], other).ended(2)
    assert "would both be written to the folder first" in alike.err
    process("krmfn", "render", "--namespace", "a", "--output-dir", target, *two).ended(0)
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
    done = process("krmfn", "render", "--namespace", "a", "--output-dir", str(target), *two).ended(1)
    assert "spec.moduelName" in done.err
    assert not target.exists()


def test_several_paths_are_resolved(two: list[str]) -> None:
    done = process("krmfn", "resolve", "--namespace", "a", "--kernel", "6.1.0", "--format", "json", *two)
    assert [row["module"]["name"] for row in json.loads(done.out)] == ["first", "second"]


@pytest.mark.parametrize("command", table.COMMANDS)
def test_the_help_of_a_command_has_examples_that_parse_and_exit_codes(command: str) -> None:
    text = process("krmfn", command, "--help").ended(0, "").text
    assert text.startswith(f"usage: krmfn {command} ")
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
        (["krmfn", "render", "--kmm-version"], "m", "main"),
        (["krmfn", "schema"], "Pt", "Ptemplate"),
        (["krmfn", "render"], "--form", ""),
        (["krmfn", "render", "--output-dir"], "gitop", "gitops"),
        (["krmfn", "check"], "gitop", "gitops"),
    ],
)
def test_bash_completes_commands_options_values_and_files(args: list[str], word: str, answer: str) -> None:
    script = COMPLETE.format(args=" ".join(args), word=word, at=len(args))
    assert execute("bash", "-c", script, cwd=ROOT, env=environment()).ended(0, "").text.strip() == answer


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
    altered(fleet / ".krmfn.yaml", "dev.yaml]", "dev.yaml, more.yaml]")
    inventory = (fleet / "inventories/dev.yaml").read_text()
    (fleet / "more.yaml").write_text(inventory.replace("dev-web-01", "stage-w`touch${IFS}ran`"))
    script = COMPLETE.format(args=" ".join(["krmfn", *args]), word=word, at=len(args) + 1)
    assert execute("bash", "-c", script, cwd=fleet, env=environment()).ended(0, "").text.strip() == answer
    assert not (fleet / "ran").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_knows_every_option(shell: str) -> None:
    text = process("krmfn", "completion", shell).out.decode()
    parsers = grammar.commands(parser())
    options = (option for subparser in parsers.values() for option in grammar.options(subparser))
    names = {name.lstrip("-") for option in options for name in option.option_strings}
    assert names - {word.lstrip("-") for word in re.findall(r"[\w-]+", text)} == set()


def test_the_help_names_every_command() -> None:
    assert list(grammar.commands(parser())) == list(table.COMMANDS)


@pytest.mark.parametrize("function", ["deviceconfig", "ptemplate"])
@pytest.mark.parametrize("args", [["render", "a b"], ["--nonsense"], ["--help", "x"], [""]])
def test_a_bare_function_has_no_commands(function: str, args: list[str]) -> None:
    assert f"`krmfn {shlex.join(args)}`" in process(function, *args, stdin=b"not read").refused()


def test_on_a_terminal_it_prints_its_help() -> None:
    """Only where a person sees it: with stdin or stdout elsewhere, an answer of help would pass for a list."""
    for kept, code in (("", 0), ("</dev/null", 1), (">out; code=$?; cat out; exit $code", 1)):
        with tempfile.TemporaryDirectory() as folder:
            answer, status = in_a_terminal(f"{COMMANDS}/krmfn {kept}", folder)
        assert status == code, answer
        assert answer.startswith("usage: krmfn") == (code == 0), answer


def in_a_terminal(script: str, folder: str) -> tuple[str, int]:
    """Run a script with a terminal as stdin, stdout and stderr: what it shows, and its exit code."""
    reader, terminal = os.openpty()
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment(), stdin=terminal, stdout=terminal,
        stderr=terminal, timeout=HANGS, check=False)  # fmt: skip
    os.close(terminal)
    return drained(reader).decode(), done.returncode


@pytest.mark.parametrize(
    ("args", "nearest"),
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
def test_the_nearest_command_or_option_is_named(args: list[str], nearest: str) -> None:
    assert process("krmfn", *args).refused().endswith(f"\nkrmfn: did you mean {nearest}?\n")


@pytest.mark.parametrize(
    "args", [["frobnicate"], ["render", "--zzz"], ["check", "--format", "xml"], ["diff", "one"], ["diff", *"abc"]]
)
def test_nothing_near_is_no_guess(args: list[str]) -> None:
    error = process("krmfn", *args).refused()
    assert "usage: krmfn" in error
    assert "did you mean" not in error


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
    refusal = process("krmfn", "render", str(app)).refused(1)
    assert refusal.startswith(f"{app}/gaudi.yaml:3:1: error: DeviceConfig gaudi: metadata.namespace: ")


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
        assert "KRMFN_MAX_BYTES" in process("krmfn", "check", str(app), KRMFN_MAX_BYTES=value).ended(2).err
    assert "KRMFN_MAX_BYTES" in process("krmfn", "check", str(app), KRMFN_MAX_BYTES="10").text


def test_render_writes_a_folder_of_the_same_objects(app: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    assert process("krmfn", "render", "--namespace", "a", "--output-dir", str(target), str(app)).ended(0).out == b""
    again = process("krmfn", "render", "--namespace", "a", "--output-dir", str(target), str(app)).ended(2)
    assert "is not empty" in again.err
    (module,) = target.glob("*_module_*.yaml")
    assert module.read_bytes() == process("krmfn", "render", "--namespace", "a", str(app)).out


def test_a_summary_counts_what_was_read(app: Path) -> None:
    document = json.loads(process("krmfn", "check", "--format", "json", str(app)).ended(1).out)
    kinds = {"DeviceConfig": 1, "Ptemplate": 0, "functionConfig": 0, "Module": 0, "ManagedClusterModule": 0}
    none = dict.fromkeys(("warning", "info", "excluded", "foreign", "baseline", "turnedOff", "hidden"), 0)
    assert document["summary"] == {**none, "error": 1, "resources": 1, "files": 1, "kinds": kinds}
    assert [(finding["rule"], finding["line"]) for finding in document["findings"]] == [("KRM120", 3)]


def test_diff_reports_what_a_change_does(app: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"new/gaudi.yaml": CONFIG.replace('driverVersion: "1"', 'driverVersion: "2"')})
    args = ["diff", "--namespace", "a", str(app)]
    assert process("krmfn", *args, str(app)).code == 0
    done = process("krmfn", *args, str(tmp_path / "new")).ended(1)
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
    program = plant(tmp_path, {"bin/kustomize": f"#!/bin/sh\n/bin/cat {app}/gaudi.yaml\n"}) / "bin" / "kustomize"
    path = f"{program.parent}:{environment()['PATH']}"
    done = process("krmfn", "render", "--namespace", "built", str(app), PATH=path, KRMFN_CONFINE="off")
    assert namespaces(done) == {"built"}
    program.write_text("#!/bin/sh\necho 'apiVersion: v1'\necho 'Error: boom' >&2\nexit 1\n")
    refusal = process("krmfn", "render", "--namespace", "built", str(app), PATH=path, KRMFN_CONFINE="off").refused()
    assert "boom" in refusal


@pytest.mark.parametrize("function", ["krmfn", "deviceconfig", "ptemplate"])
def test_without_stdin_it_says_what_it_is(function: str) -> None:
    assert "--help" in process(function).refused(1)


def test_the_module_runs_as_the_command() -> None:
    command = (COMMANDS / "python", "-m", "krmfn_functions", "schema")
    assert execute(*command, cwd=ROOT, env=environment()) == process("krmfn", "schema").ended(0)


@pytest.mark.parametrize("text", [CONFIG, f"---\n# Source: c/a.yaml\n{CONFIG}---\nkind: Pod\napiVersion: v1\n"])
def test_plain_manifests_are_for_another_way(text: str) -> None:
    """`helm install --post-renderer krmfn` sends what templates give, and no ResourceList."""
    done = process("krmfn", stdin=text)
    assert (done.code, done.out) == (1, b"")
    assert done.err.endswith("; plain manifests are read by `krmfn render -`\n")
    assert "krmfn render" not in process("deviceconfig", stdin=text).err
