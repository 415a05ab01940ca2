"""`render`, `check` and `diff` of kustomizations that call us: kustomize calls us, and nobody else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from krmfn_functions.kustomization import kustomize as kustomizing
from krmfn_functions.kustomization import provenance, reading
from krmfn_functions.kustomization.kustomize import Decision
from krmfn_functions.kustomization.tree import tree
from krmfn_functions.kustomization.workspace import Workspace

from tests.builders import CONFIG
from tests.commands import Done
from tests.functions.kustomization.test_untouched import EVERY
from tests.functions.profile.vendor import CR, PROFILE
from tests.trees import COMPONENT, OURS, config_map, function, plant

from .engines import copy_of, must, path_of, run

CALLED = "resources: [config.yaml]\ntransformers: [function.yaml]\n"
LOCAL = CONFIG.replace("metadata: {", 'metadata: {annotations: {config.kubernetes.io/local-config: "true"}, ', 1)
FUNCTION = function("exec: {path: krmfn}")


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A folder whose kustomization calls us."""
    return plant(tmp_path / "app", {"kustomization.yaml": CALLED, "config.yaml": LOCAL, "function.yaml": FUNCTION})


def findings(done: Done) -> list[tuple[str, str]]:
    return [(finding["severity"], finding["rule"]) for finding in json.loads(done.out)["findings"]]


@pytest.mark.parametrize("spec", ["exec: {path: krmfn}", "container: {image: localhost/krmfn}"])
def test_render_prints_what_kustomize_builds(kustomize: str, tmp_path: Path, spec: str) -> None:
    folder = copy_of("kustomize-transformer", tmp_path)
    (folder / "function.yaml").write_text(function(spec) + "spec: {defaults: {imagePullPolicy: IfNotPresent}}\n")
    assert must("krmfn", "render", folder).decode() == (folder / "expected.txt").read_text()
    assert findings(run("krmfn", "check", "--strict", "--format", "json", folder).ended(0)) == []
    run("krmfn", "diff", folder / "expected.txt", folder).ended(0, "")


def test_a_mark_is_for_kustomizations_that_call_us(kustomize: str, app: Path) -> None:
    """Without a call a plain `kustomize build` would print nothing, and whoever syncs that would prune all drivers."""
    assert ("warning", "KRM190") not in findings(run("krmfn", "check", "--format", "json", app))
    (app / "kustomization.yaml").write_text("resources: [config.yaml, pt.yaml, amd.yaml, profile.yaml]\n")
    (app / "function.yaml").unlink()
    metadata = {"name": "pt", "namespace": "kmm", "annotations": {"config.kubernetes.io/local-config": "true"}}
    pt = {"apiVersion": "pt.example.com/v1alpha1", "kind": "Ptemplate", "spec": {"selector": {"a": "pt"}}}
    (app / "pt.yaml").write_text(json.dumps({**pt, "metadata": metadata}))
    plant(app, {"amd.yaml": json.dumps({**CR, "metadata": metadata}), "profile.yaml": PROFILE})
    done = run("krmfn", "check", "--format", "json", app)
    marked = [finding for finding in json.loads(done.out)["findings"] if finding["rule"] == "KRM190"]
    assert sorted(Path(finding["file"]).name for finding in marked) == ["amd.yaml", "config.yaml", "pt.yaml"], done.out
    assert all("remove the annotation" in finding["remedy"] for finding in marked)
    annotation = "metadata: {annotations: {krmfn.dev/ignore: 'KRM190: every engine here calls krmfn', "
    (app / "config.yaml").write_text(LOCAL.replace("metadata: {annotations: {", annotation, 1))
    assert run("krmfn", "check", "--format", "json", app).out.count(b"KRM190") == done.out.count(b"KRM190") - 1


def test_what_the_function_reports_in_the_build_is_a_finding(kustomize: str, app: Path) -> None:
    """A warning stays one, so that --strict fails; an error is exit code 1 and nothing is printed."""
    (app / "config.yaml").write_text(CONFIG)
    warned = run("krmfn", "check", "--strict", "--format", "json", app).ended(1)
    assert ("warning", "KRM104") in findings(warned), findings(warned)
    (app / "config.yaml").write_text(LOCAL.replace("moduleName", "moduelName"))
    wrong = run("krmfn", "check", "--format", "json", app).ended(1)
    assert {finding for finding in findings(wrong) if finding[0] == "error"} == {("error", "KRM101")}
    assert "unknown field 'moduelName'" in run("krmfn", "render", app).refused(1)
    assert run("krmfn", "diff", "/dev/null", app).code == 2


def test_a_config_that_no_call_has_seen_is_an_error(kustomize: str, app: Path) -> None:
    above = plant(app.parent / "lab", {"kustomization.yaml": "resources: [../app]\nnamePrefix: lab-\n"})
    for command in ("check", "render"):
        done = run("krmfn", command, above).ended(1)
        assert "[KRM514]" in done.text + done.err


def test_a_module_that_an_overlay_adds_is_judged(kustomize: str, app: Path) -> None:
    module = must("krmfn", "render", app).decode().replace("name: drv", "name: other")
    files = {"kustomization.yaml": "resources: [../app, own.yaml]\n", "own.yaml": module}
    done = run("krmfn", "check", "--format", "json", plant(app.parent / "lab", files)).ended(1)
    assert [finding for finding in findings(done) if finding[0] == "error"]


@pytest.mark.parametrize("option", ["--function-config=function.yaml", "--namespace=a", "--prune=never"])
def test_an_option_that_would_have_no_effect_is_refused(kustomize: str, app: Path, option: str) -> None:
    assert f"{option.partition('=')[0]} would have no effect" in run("krmfn", "render", option, ".", cwd=app).refused()


@pytest.mark.parametrize("command", ["render", "check", "diff"])
@pytest.mark.parametrize(
    "spec",
    [
        "exec: {path: ./krmfn}",
        "exec: {path: planted}",
        "container: {image: evil/krmfn}",
        "container: {image: krmfn, network: true}",
        "exec: {path: krmfn, args: [rules]}",
    ],
)
def test_a_foreign_function_is_named_and_never_run(kustomize: str, app: Path, command: str, spec: str) -> None:
    (app / "function.yaml").write_text(function(spec))
    trace = app.parent / "trace"
    for name in ("bin/planted", "bin/docker", "app/planted", "app/krmfn"):
        plant(app.parent, {name: f"#!/bin/sh\n: > {trace}\n"})
    hostile = path_of(app.parent / "bin")
    paths = ["/dev/null", "app"] if command == "diff" else ["app"]
    done = run("krmfn", command, *paths, env=hostile, cwd=app.parent).ended(2)
    output = done.text + done.err
    assert "app/kustomization.yaml:2:16: error: transformers[0]: " in output or "function.yaml" in output
    assert "[KRM510]" in output
    assert not trace.exists()


def test_a_remote_base_and_a_path_outside_are_errors_at_their_line(kustomize: str, app: Path) -> None:
    text = "resources:\n- config.yaml\n- https://github.com/example/app//deploy?ref=v1\n- /etc\n"
    (app / "kustomization.yaml").write_text(text)
    done = run("krmfn", "check", "--root", ".", ".", cwd=app).ended(2)
    assert "kustomization.yaml:3:3: error: resources[1]: " in done.text
    assert "kustomization.yaml:4:3: error: resources[2]: " in done.text
    assert "[KRM509]" in done.text
    assert "[KRM508]" in done.text


def test_a_path_with_dots_and_a_component_are_built(kustomize: str, app: Path) -> None:
    odd = app.rename(app.with_name("a..b"))
    output = must("krmfn", "render", odd)
    (odd / "kustomization.yaml").write_text(COMPONENT + CALLED)
    assert must("krmfn", "render", odd) == output


def test_a_function_that_cannot_do_its_work_is_a_failure_and_no_finding(kustomize: str, app: Path) -> None:
    err = run("krmfn", "check", app, env={**path_of(), "KRMFN_MAX_BYTES": "900"}).refused()
    assert "the input is larger than 900 bytes" in err


@pytest.mark.parametrize(
    "sort",
    [
        "{order: fifo}",
        "{order: legacy}",
        "{order: legacy, legacySortOptions: {orderFirst: [Secret], orderLast: [ServiceAccount]}}",
        "{order: legacy, legacySortOptions: {orderFirst: [ConfigMap, Secret]}}",
    ],
)
def test_what_only_the_outermost_kustomization_decides_counts(kustomize: str, tmp_path: Path, sort: str) -> None:
    named = [f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n" for kind in ("Secret", "ServiceAccount")]
    files = {
        "kustomization.yaml": f"resources: [a.yaml]\nbuildMetadata: [managedByLabel]\nsortOptions: {sort}\n",
        "a.yaml": "---\n".join([config_map("b"), *named, config_map("a")]),
    }
    folder = plant(tmp_path / "app", files)
    assert must("krmfn", "render", folder) == must(kustomize, "build", folder)


def test_a_generated_object_that_is_renamed_after_the_call_is_a_warning(kustomize: str, app: Path) -> None:
    """Labels and marks that name it still have the old name."""
    patch = (
        "patches:\n- target: {kind: Module}\n  options: {allowNameChange: true}\n"
        '  patch: \'[{"op": "replace", "path": "/metadata/name", "value": "other"}]\'\n'
    )
    above = plant(app.parent / "lab", {"kustomization.yaml": f"resources: [../app]\n{patch}"})
    done = run("krmfn", "check", "--format", "json", above)
    assert ("warning", "KRM117") in findings(done)


WORDS = "krmfn.dev/aside-while-kustomize-builds"
"""The name to which the mark was once moved: anybody could write it."""
MARKED = f"""\
apiVersion: v1
data:
  {WORDS}: {WORDS}
kind: ConfigMap
metadata:
  annotations:
    a: "1"
    config.kubernetes.io/local-config: "false"
    {WORDS}: "true"
    krmfn.dev/profile: x
  name: marked
"""
BUILT = f"""\
apiVersion: v1
data:
  {WORDS}: {WORDS}
kind: ConfigMap
metadata:
  annotations:
    a: "1"
    {WORDS}: "true"
    config.kubernetes.io/local-config: "false"
    krmfn.dev/profile: x
  name: marked
"""


def test_only_the_mark_itself_is_moved_and_moved_back(
    kustomize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an annotation the name means nothing, which `check` says: the object does not vanish. In data it stays."""
    monkeypatch.setenv("PATH", path_of()["PATH"])
    plant(tmp_path, {"kustomization.yaml": "resources: [marked.yaml]\n", "marked.yaml": MARKED})
    assert kustomizing.build(kustomizing.BuildCall(str(tmp_path))).stream.decode() == BUILT
    traced = kustomizing.build(kustomizing.BuildCall(str(tmp_path), origins=True))
    assert traced.stream.count(b"    config.kubernetes.io/origin: |") == 1
    assert provenance.without_wrapper(traced.stream, traced.base).decode().count(f"    {WORDS}: ") == 1
    assert f"{WORDS}/" not in traced.stream.decode()
    assert "marked.yaml:9:5: error" in run("krmfn", "render", tmp_path).refused(1)
    plant(tmp_path, {"marked.yaml": MARKED.replace(f'    {WORDS}: "true"\n', "")})
    assert must("krmfn", "render", tmp_path).decode() == BUILT.replace(f'    {WORDS}: "true"\n', "")


@pytest.mark.parametrize("name", sorted(EVERY))
def test_what_leaves_annotations_alone_is_built_alike_with_notes(
    name: str, kustomize: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path_of()["PATH"])
    plant(tmp_path, EVERY[name])
    graph, workspace = reading.read([str(tmp_path)], None, OURS), Workspace()
    direct = tree(graph, os.path.realpath(tmp_path), build_name=workspace.build_name)
    for traced in (
        kustomizing.build(kustomizing.BuildCall(str(tmp_path), origins=True)),
        kustomizing.build(kustomizing.BuildCall(str(tmp_path), direct, (), Decision(()), shared=workspace)),
    ):
        assert traced.stream.count(provenance.ORIGIN.encode()) >= 1
        assert provenance.without_notes(traced.stream) == kustomizing.build(kustomizing.BuildCall(str(tmp_path))).stream
