"""The kustomization graph against real kustomize: the files it reads, the programs it runs, what it fetches."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings
from krmfn_functions.kustomization import fields, reading
from krmfn_functions.kustomization.confinement import FLAGS, confine
from krmfn_functions.kustomization.graph import Graph
from krmfn_functions.kustomization.references import is_repository

from tests.commands import Done
from tests.examples import EXAMPLES
from tests.trees import COMPONENT, OURS, config_map, files_of, function, plant

from .engines import copy_of, run
from .kustomizations import OURS as OUR_FUNCTION
from .kustomizations import addresses, planted, repositories


def graph_of(folder: Path, root: Path | None = None) -> Graph:
    return reading.read([str(folder)], str(root) if root else None, OURS, absolute=True)


def build(kustomize: str, folder: Path, graph: Graph) -> Done:
    """Build a folder with the functions that the graph names, and nothing else."""
    with tempfile.TemporaryDirectory() as home:
        how = confine(home, graph.calls(os.path.realpath(folder)))
        return run(kustomize, "build", *how.flags, folder, env=how.environment)


@settings(max_examples=max(EXAMPLES // 4, 10))
@given(files=repositories())
def test_the_files_of_the_graph_are_those_that_kustomize_reads(kustomize: str, files: dict[str, str]) -> None:
    """Without a file of the list kustomize fails; without all others it builds the same."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = plant(Path(temporary), files) / "f0"
        graph = graph_of(folder)
        assert [str(finding) for finding in graph.findings(os.path.realpath(folder))] == []
        read = {Path(path).resolve() for path in files_of(graph, os.path.realpath(folder))}
        expected = build(kustomize, folder, graph).ended(0)
        for name in files:
            path = Path(temporary, name).resolve()
            if path not in read:
                path.unlink()
        assert build(kustomize, folder, graph).out == expected.out
        for path in read:
            aside = path.rename(path.with_name("aside"))
            done = build(kustomize, folder, graph)
            assert (done.code, done.out) == (1, b""), f"{path} is not read\n{files}"
            aside.rename(path)


# The programs that kustomize runs.


def trace_of(kustomize: str, folder: Path) -> bool:
    """Build a folder with all that is enabled for our functions; True when a program that is not ours was run."""
    trace = folder / "trace"
    for place in [folder, *(path for path in folder.iterdir() if path.is_dir())]:
        plant(place, {"planted": f"#!/bin/sh\n: > {trace}\ncat\n"})
    with tempfile.TemporaryDirectory() as other:
        harmless = plant(Path(other), {"kustomization.yaml": "transformers: [a.yaml]\n", "a.yaml": OUR_FUNCTION})
        with tempfile.TemporaryDirectory() as home:
            how = confine(home, graph_of(harmless).calls(os.path.realpath(harmless)))
            run(kustomize, "build", *FLAGS, folder, env=how.environment)
    return trace.exists()


@given(files=planted())
def test_whatever_kustomize_would_run_the_graph_has_refused(kustomize: str, files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = plant(Path(temporary), files)
        graph = graph_of(folder)
        ran = trace_of(kustomize, folder)
        event(f"{'run' if ran else 'not run'}, {'refused' if graph.findings(str(folder)) else 'taken'}")
        assert not ran or graph.findings(os.path.realpath(folder)), files


# What kustomize fetches.


@given(address=addresses())
def test_whatever_kustomize_would_clone_the_graph_calls_remote(kustomize: str, address: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder, trace = Path(temporary, "app"), Path(temporary, "trace")
        plant(Path(temporary), {"app/kustomization.yaml": f"components: [{json.dumps(address)}]\n"})
        git = plant(Path(temporary), {"bin/git": f"#!/bin/sh\n: > {trace}\nexit 1\n"}) / "bin" / "git"
        run(kustomize, "build", folder, env={**os.environ, "PATH": str(git.parent)})
        cloned = trace.exists()
        event("cloned" if cloned else "not cloned")
        assert is_repository(address) == cloned or (not cloned and ".." in address), address
        rules = [finding.rule for finding in graph_of(folder).findings(os.path.realpath(folder))]
        assert not cloned or rules == ["KRM509"]


# The fields that kustomize decodes.

OTHER: dict[str, Any] = {"string": [], "boolean": "yes", "integer": "1", "array": "a", "object": "a"}
"""A value of another type."""


def sample(schema: dict[str, Any]) -> Any:
    """A value that fits, with every field and an entry in every list."""
    match schema["type"] if isinstance(schema["type"], str) else schema["type"][0]:
        case "object":
            return {key: sample(inner) for key, inner in schema.get("properties", {}).items()} or {"a": "b"}
        case "array":
            return [sample(schema["items"])]
        case kind:
            return {"string": "a", "boolean": True, "integer": 1}[kind]


def spoilt(schema: dict[str, Any]) -> Iterator[Any]:
    """Every way to spoil the sample in one place: a value of another type, an unknown field."""
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    yield OTHER[kind]
    fitting = sample(schema)
    if kind == "array":
        yield from ([value] for value in spoilt(schema["items"]))
    elif kind == "object":
        if schema.get("additionalProperties") is False:
            yield {**fitting, "unknownField": "a"}
        elif "additionalProperties" in schema:
            yield from ({"a": value} for value in spoilt(schema["additionalProperties"]))
        for key, inner in schema.get("properties", {}).items():
            yield from ({**fitting, key: value} for value in spoilt(inner))


@pytest.mark.parametrize("field", [name for name in fields.SCHEMA["properties"] if name not in ("apiVersion", "kind")])
def test_kustomize_decodes_the_fields_that_are_listed_and_no_others(kustomize: str, tmp_path: Path, field: str) -> None:
    schema = fields.SCHEMA["properties"][field]
    values = [(sample(schema), True), (None, True), *((value, False) for value in spoilt(schema))]
    for value, fits in values:
        (tmp_path / "kustomization.yaml").write_text(json.dumps({"nameSuffix": "-a", "namePrefix": "a-", field: value}))
        done = run(kustomize, "build", tmp_path)
        # a key that has no effect
        ignored = field == "openapi" and isinstance(value, dict) and "unknownField" in value
        assert ("invalid Kustomization" in done.err) is not (fits or ignored), (value, done.err)
        rules = [finding.rule for finding in graph_of(tmp_path).findings(os.path.realpath(tmp_path))]
        assert ("KRM502" in rules) is not fits, (value, rules)


CONFIG_MAP = config_map("own")
REFUSED = {
    "two files": {"kustomization.yaml": "resources: [own.yaml]", "Kustomization": "resources: [own.yaml]"},
    "a link out": {"kustomization.yaml": "-> ../elsewhere.yaml"},
    "another kind": {"kustomization.yaml": "kind: Kustomisation\nresources: [own.yaml]"},
    "another version": {"kustomization.yaml": "apiVersion: v1\nresources: [own.yaml]"},
    "a component's version": {"kustomization.yaml": COMPONENT.replace("alpha", "beta") + "resources: [own.yaml]"},
    "empty": {"kustomization.yaml": "resources:\nnamePrefix: ''\n"},
    "a list": {"kustomization.yaml": "- own.yaml\n"},
    "no YAML": {"kustomization.yaml": "resources: [own.yaml\n"},
    "a missing file": {"kustomization.yaml": "resources: [other.yaml]"},
    "a missing folder": {"kustomization.yaml": "components: [other]"},
    "a folder without": {"kustomization.yaml": "resources: [base]", "base/own.yaml": CONFIG_MAP},
    "a folder as a file": {"kustomization.yaml": "patches: [{path: base}]", "base/own.yaml": CONFIG_MAP},
    "a file as a folder": {"kustomization.yaml": "components: [own.yaml]"},
    "an absolute folder": {"kustomization.yaml": "resources: [/tmp]"},
    "dots": {"kustomization.yaml": "resources: ['base..x/../base']", "base/kustomization.yaml": "namePrefix: a-"},
    "nothing": {"kustomization.yaml": "resources: ['']"},
    "itself": {"kustomization.yaml": "resources: [.]"},
    "a folder above": {"kustomization.yaml": "resources: [base]", "base/kustomization.yaml": "resources: [..]"},
    "a circle": {
        "kustomization.yaml": "resources: [a]",
        "a/kustomization.yaml": "resources: [../b]",
        "b/kustomization.yaml": "resources: [../a]",
    },
    "a component as a resource": {
        "kustomization.yaml": "resources: [base]",
        "base/kustomization.yaml": f"{COMPONENT}namePrefix: a-",
    },
    "a base as a component": {"kustomization.yaml": "components: [base]", "base/kustomization.yaml": "namePrefix: a-"},
    "a file outside": {
        "kustomization.yaml": "resources: [base]",
        "base/kustomization.yaml": "resources: [../own.yaml]",
    },
    "a link to a file outside": {
        "kustomization.yaml": "resources: [base]",
        "base/kustomization.yaml": "resources: [own.yaml]",
        "base/own.yaml": "-> ../own.yaml",
    },
    "a wrong source": {"kustomization.yaml": "configMapGenerator: [{name: a, files: [a=b=own.yaml]}]"},
    "a chart": {"kustomization.yaml": "helmCharts: [{name: app}]", "charts/app/values.yaml": "a: b"},
}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in REFUSED.items()])
def test_what_kustomize_refuses_is_a_finding(kustomize: str, tmp_path: Path, files: dict[str, str]) -> None:
    plant(tmp_path, {"elsewhere.yaml": "resources: [own.yaml]"})
    folder = plant(tmp_path / "app", {"own.yaml": CONFIG_MAP, **files})
    assert run(kustomize, "build", folder).code == 1
    assert graph_of(folder, tmp_path).findings(os.path.realpath(folder))


# Our functions.


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH and for a home, with every program that kustomize may look up; each leaves a trace."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'hostile'}{os.pathsep}{os.environ['PATH']}")
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "hostile"))
    names = ["curl", "helm", "docker", "krmfn", "deviceconfig", "sh", "python3"]
    files = {name: f"#!/bin/sh\n: > {tmp_path}/trace-{name}\n" for name in names}
    files["kustomize/plugin/example.com/v1/planted/Planted"] = f"#!/bin/sh\n: > {tmp_path}/trace-plugin\n"
    return plant(tmp_path / "hostile", files)


def traces(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("trace-*"))


@pytest.mark.parametrize("spec", ["exec: {path: deviceconfig}", "container: {image: 'localhost/deviceconfig:1.2.3'}"])
def test_our_functions_run_and_nothing_else(
    kustomize: str, tmp_path: Path, hostile: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    """The same bytes for both ways to call a function, with hostile programs in the folder, on PATH and at home."""
    folder = copy_of("kustomize-transformer", tmp_path)
    (folder / "function.yaml").write_text(function(spec) + "spec: {defaults: {imagePullPolicy: IfNotPresent}}\n")
    for program in hostile.iterdir():
        if program.is_file():
            plant(folder, {program.name: program.read_text()})
    plant(folder, {"krmfn_functions/__init__.py": "import os; os.mknod('trace-python')\n"})
    monkeypatch.setenv("PYTHONPATH", str(folder))
    graph = graph_of(folder, folder)
    assert [str(finding) for finding in graph.findings(os.path.realpath(folder))] == []
    assert build(kustomize, folder, graph).ended(0).out.decode() == (folder / "expected.txt").read_text()
    assert traces(tmp_path) == traces(folder) == []


@pytest.mark.parametrize(
    "text",
    [
        function("exec: {path: git}"),
        function("exec: {path: sh, args: ['-c', 'docker']}"),
        function("container: {image: evil/krmfn}"),
        function("container: {image: krmfn, network: true}"),
        "apiVersion: example.com/v1\nkind: Planted\nmetadata: {name: a}\n",
    ],
)
def test_programs_that_are_looked_up_by_name_are_not_there(
    kustomize: str, tmp_path: Path, hostile: Path, text: str
) -> None:
    """Without the graph's refusal, too: what is left is a path with a slash."""
    files = {
        "kustomization.yaml": "resources: [own.yaml]\ntransformers: [f.yaml]\n",
        "own.yaml": CONFIG_MAP,
        "f.yaml": text,
    }
    folder = plant(tmp_path / "app", files)
    assert [finding.rule for finding in graph_of(folder).findings(os.path.realpath(folder))] == ["KRM510"]
    assert not trace_of(kustomize, folder)
    assert traces(tmp_path) == []
