"""Roots are judged as their engines build them: with what an Application or Kustomization writes into them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import Done, process
from tests.functions.cluster.test_engine_additions import CONSUMER, MODULE
from tests.functions.cluster.test_engines import application, kustomization, root
from tests.functions.comparing.test_base import repository
from tests.trees import COMPONENT, altered

FIRST = application("a", "lab", "kustomize: {namePrefix: x-}")
SECOND = FIRST.replace("x-", "y-").replace("{name: a}", "{name: y}")
DISJOINT = '[{"op": "replace", "path": "/spec/selector/card", "value": "y"}]'
FURTHER = SECOND.replace("y-}", f"y-, patches: [{{target: {{kind: Module}}, patch: '{DISJOINT}'}}]}}")
TWICE = {"apps/x.yaml": FIRST, "apps/y.yaml": SECOND}


def flux(spec: str) -> dict[str, str]:
    return {"clusters/lab/ks.yaml": f"{kustomization('a').rstrip()[:-1]}, {spec}}}\n"}


CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "nothing": (flux("prune: true"), []),
    "its own namespace": (flux("targetNamespace: kmm"), []),
    "the namespace of another": (flux("targetNamespace: other"), ["a/a.yaml [KRM701]"]),
    "a prefix": (flux("namePrefix: b-"), ["a/a.yaml [KRM701]"]),
    "a suffix by Argo CD": (
        {"apps/a.yaml": application("a", "lab", "kustomize: {nameSuffix: -b}")},
        ["a/a.yaml [KRM701]"],
    ),
    "a plugin, which Argo CD does not use then": (
        {"apps/a.yaml": application("a", "lab", "plugin: {name: krmfn}, kustomize: {nameSuffix: -b}")},
        ["apps/a.yaml [KRM543]"],
    ),
    "a component that is not there": (flux("components: [../c]"), ["clusters/lab/ks.yaml [KRM504]"]),
    "a component from elsewhere": (
        flux("components: ['https://git.example.com/c.git']"),
        ["clusters/lab/ks.yaml [KRM509]"],
    ),
    "a patch without a target": (
        flux("patches: [{patch: '{apiVersion: v1, kind: Secret, metadata: {name: a}}'}]"),
        ["a/kustomization.yaml"],
    ),
    "one kernel module twice": (TWICE, ["a/a.yaml [KRM304]"]),
    "one kernel module on other nodes": (TWICE | {"apps/y.yaml": FURTHER}, []),
    "in two clusters": (TWICE | {"apps/y.yaml": SECOND.replace("name: lab", "name: prod")}, []),
}


def test_a_folder_that_is_applied_as_a_directory_has_what_no_kustomization_lists(tmp_path: Path) -> None:
    """The type that an Application names goes before what Argo CD would find in the folder."""
    files = root("a", MODULE) | {"a/b.yaml": MODULE.replace("name: gpu", "name: more")}
    for source, findings in (("directory: {recurse: true}", ["a/a.yaml [KRM304]"]), ("x: y", ["a/b.yaml [KRM524]"])):
        repo = repository(tmp_path / source[:1], files | {"apps/a.yaml": application("a", "lab", source)})
        assert told(process("krmfn", "check", ".", cwd=repo)) == findings


def told(done: Done) -> list[str]:
    """Return the files of the errors and warnings, each with its rule."""
    lines = [line for line in done.text.splitlines() if ": error: " in line or ": warning: " in line]
    rules = (line.rpartition("[KRM")[2][:3] if "[KRM" in line else "" for line in lines)
    pairs = {(line.partition(":")[0], rule) for line, rule in zip(lines, rules, strict=True)}
    return sorted(f"{file} [KRM{rule}]" if rule else file for file, rule in pairs)


@pytest.mark.parametrize("name", CASES)
def test_a_root_is_judged_as_its_engine_builds_it(name: str, tmp_path: Path) -> None:
    engines, findings = CASES[name]
    text = MODULE if "kernel module" in name or "clusters" in name else MODULE + CONSUMER
    files = root("a", text) | engines
    assert told(process("krmfn", "check", ".", cwd=repository(tmp_path, files))) == findings


def test_what_kustomize_refuses_names_the_object_that_wants_it(tmp_path: Path) -> None:
    engines, _ = CASES["a patch without a target"]
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, root("a", MODULE) | engines)).ended(2)
    assert "(built with what Kustomization f/a (clusters/lab/ks.yaml) adds)" in done.text


def test_what_clusters_share_is_named_once(tmp_path: Path) -> None:
    """Two clusters get one build, and so one error."""
    patch = "patches: [{patch: '{apiVersion: v1, kind: Secret, metadata: {name: a}}'}]"
    spec = (
        "{generators: [{list: {elements: [{c: lab}, {c: prod}]}}], template: {metadata: {name: 'a-{{c}}'}, spec: {"
        f"source: {{repoURL: 'https://git.example.com/fleet.git', path: a, kustomize: {{{patch}}}}}, "
        "destination: {name: '{{c}}'}}}}"
    )
    head = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a, namespace: argocd}\n"
    files = root("a", MODULE) | {"apps/a.yaml": f"{head}spec: {spec}\n"}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(2)
    assert done.text.count("(built with what ApplicationSet argocd/a (apps/a.yaml) adds)") == 1, done.text
    assert "(all 2 clusters)" in done.text


def test_a_component_and_a_patch_by_a_former_name_are_built(tmp_path: Path) -> None:
    image = "/spec/moduleLoader/container/kernelMappings/0/containerImage"
    operations = json.dumps([{"op": "replace", "path": image, "value": "r.example.com/b:1"}])
    spec = f"components: [../c], patches: [{{target: {{kind: Module, name: gpu}}, patch: '{operations}'}}]"
    component = {"c/kustomization.yaml": f"{COMPONENT}resources: [c.yaml]\n", "c/c.yaml": MODULE.replace("gpu", "nic")}
    files = root("a", MODULE) | flux(spec) | component
    files["a/kustomization.yaml"] += "namePrefix: own-\n"
    done = process("krmfn", "images", ".", "--kernel", "6.1.0", cwd=repository(tmp_path, files))
    images = [word for word in done.out.decode().split() if "example.com" in word]
    assert images == ["r.example.com/b:1", "registry.example.com/nic:1-6.1.0"], done.err


CHANGES = {
    "apps/a.yaml": ("namePrefix: x-", "namePrefix: z-", {("created", "z-gpu"), ("deleted", "x-gpu")}),
    "apps/b.yaml": ("namespace: kmm", "namespace: other", {("created", "nic"), ("deleted", "nic")}),
}


@pytest.mark.parametrize("path", CHANGES)
def test_a_change_of_what_an_engine_adds_is_a_change(path: str, tmp_path: Path) -> None:
    """The files of the roots stay as they are, so both sides were taken for the same."""
    old, new, expected = CHANGES[path]
    bare = MODULE.replace("gpu", "nic").replace(", namespace: kmm", "")
    files = (
        root("a", MODULE) | root("b", bare) | {"apps/a.yaml": FIRST, "apps/b.yaml": application("b", "prod", "a: b")}
    )
    altered(repository(tmp_path, files) / path, old, new)
    done = process("krmfn", "diff", "--base", "main", ".", "--format", "json", cwd=tmp_path)
    assert set(rows(done)) == expected, done.err


def rows(done: Done) -> Iterator[tuple[str, str]]:
    for change in json.loads(done.out)["changes"]:
        if change["ref"]["kind"] == "Module":
            yield change["change"], change["ref"]["name"]


def test_render_prints_what_the_folder_gives(tmp_path: Path) -> None:
    """Its output is for the engine, which adds its part then."""
    out = (
        process("krmfn", "render", "a", cwd=repository(tmp_path, root("a", MODULE) | {"apps/a.yaml": FIRST}))
        .ended(0)
        .out
    )
    assert b"name: gpu\n" in out and b"x-gpu" not in out


def test_what_an_addition_does_wrong_is_said_at_each_object_that_has_it(tmp_path: Path) -> None:
    """Two Applications of one folder with equal options: each cluster's finding is at its own."""
    wrong = application("a", "lab", "kustomize: {components: [../c]}")
    other = wrong.replace("{name: a}", "{name: y}").replace("name: lab", "name: prod")
    files = root("a", MODULE) | {"apps/x.yaml": wrong, "apps/y.yaml": other}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(2)
    assert {line.partition(":")[0] for line in done.text.splitlines() if "[KRM504]" in line} == {
        "apps/x.yaml",
        "apps/y.yaml",
    }


def test_a_field_of_the_file_with_another_type_stays_its_own_error(tmp_path: Path) -> None:
    files = root("a", MODULE) | {"apps/a.yaml": application("a", "lab", "kustomize: {images: ['a=b:1']}")}
    files["a/kustomization.yaml"] += "images: x\n"
    assert "images" in process("krmfn", "check", ".", cwd=repository(tmp_path, files)).ended(2).text
