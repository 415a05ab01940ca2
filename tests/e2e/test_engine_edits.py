"""What engines write into a kustomization before they build it: krmfn builds the same objects."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.cluster import layout
from krmfn_functions.kustomization import builds
from krmfn_functions.options import RunOptions
from krmfn_functions.sources import Sources

from tests.functions.cluster.test_engine_additions import CONSUMER, MODULE
from tests.trees import config_map, plant

from .argo_loop import ARGO, Loop
from .engines import documents, must
from .flux_engine import library

KUSTOMIZATION = """\
# made for tests
resources: [a.yaml, b]
namePrefix: own-
images: [{name: registry.example.com/plugin, newName: registry.example.com/other, newTag: "3"}]
commonLabels: {team: a}
patches:
- target: {kind: Module}
  patch: |-
    - {op: add, path: /metadata/annotations, value: {a: b}}
"""
WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n"
FILES = {
    "lab/kustomization.yaml": KUSTOMIZATION,
    "lab/a.yaml": MODULE + CONSUMER,
    "lab/b/kustomization.yaml": "resources: [c.yaml]\nnameSuffix: -b\n",
    "lab/b/c.yaml": f"{config_map('c')}---\n{WEB}",
    "lab/p.yaml": "- {op: add, path: /data/d, value: e}\n",
    "more/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [d.yaml]\n",
    "more/d.yaml": config_map("d"),
}
PATCHES: list[dict[str, Any]] = [
    {"patch": "- {op: replace, path: /spec/selector, value: {card: y}}", "target": {"kind": "Module", "name": "gpu"}},
    {"patch": "kind: DaemonSet\napiVersion: apps/v1\nmetadata: {name: plugin, namespace: kmm, labels: {x: more}}\n"},
]
OPERATIONS = [{"op": "replace", "path": "/spec/selector", "value": {"card": "z"}}]
MODULE_TARGET = {"group": "kmm.sigs.x-k8s.io", "version": "v1beta1", "kind": "Module", "name": "gpu"}
FLUX: dict[str, dict[str, Any]] = {
    "namespace": {"targetNamespace": "other"},
    "names": {"namePrefix": "a-", "nameSuffix": "-z"},
    "patches": {"patches": PATCHES},
    "merges": {"patchesStrategicMerge": [yaml.safe_load(PATCHES[1]["patch"])]},
    "operations": {"patchesJson6902": [{"patch": OPERATIONS, "target": MODULE_TARGET}]},
    "components": {"components": ["../more"]},
    "tag": {"images": [{"name": "registry.example.com/plugin", "newTag": "5"}]},
    "digest": {"images": [{"name": "registry.example.com/plugin", "digest": f"sha256:{'0' * 64}"}]},
    "image": {"images": [{"name": "registry.example.com/more", "newName": "a"}]},
    "all": {"targetNamespace": "other", "namePrefix": "a-", "components": ["../more"], "patches": PATCHES},
}
ARGOCD: dict[str, dict[str, Any]] = {
    "namespace": {"namespace": "other"},
    "names": {"namePrefix": "a-", "nameSuffix": "-z"},
    "patches": {"patches": [*PATCHES, {"path": "p.yaml", "target": {"kind": "ConfigMap"}}]},
    "components": {"components": ["../more", "../more"]},
    "tag": {"images": ["registry.example.com/plugin:5"]},
    "name": {"images": ["registry.example.com/plugin=localhost:5000/new", "x=y:1@sha256:0"]},
    "kept": {"images": ["registry.example.com/plugin=*:7"]},
    "replicas": {"replicas": [{"name": "web", "count": "3"}]},
    "labels": {"commonLabels": {"a": "b"}},
    "forced": {"commonLabels": {"team": "c"}, "forceCommonLabels": True},
    "plain labels": {"commonLabels": {"a": "b", "c": "d"}, "labelWithoutSelector": True},
    "labels of pods": {"commonLabels": {"a": "b"}, "labelWithoutSelector": True, "labelIncludeTemplates": True},
    "annotations": {"commonAnnotations": {"a": "b$c", "e": "true"}},
    "all": {"namespace": "other", "namePrefix": "a-", "commonLabels": {"a": "b"}, "patches": PATCHES},
}


def read_by_krmfn(folder: Path, engine: dict[str, Any]) -> list[Any]:
    """Return the objects that krmfn builds of the folder `lab` as an object of an engine deploys it."""
    plant(folder, {"engines/a.yaml": yaml.safe_dump(engine)})
    clusters = layout.layout([str(folder)], RunOptions(), {}).clusters
    (root,) = [root for cluster in clusters for root in cluster.roots if root.path.endswith("/lab")]
    assert root.editor
    items = builds.build(RunOptions(), Sources(), root.name, root.path, root.graph).items
    return [item.manifest for item in items if not item.is_local]


def by_name(objects: list[Any]) -> list[Any]:
    return sorted(objects, key=lambda item: (item["kind"], item["metadata"]["name"]))


@pytest.mark.parametrize("name", FLUX)
def test_flux_builds_the_same(name: str, tmp_path: Path) -> None:
    plant(tmp_path / "flux", FILES)
    spec = {"path": "./lab", "sourceRef": {"kind": "GitRepository", "name": "f"}, **FLUX[name]}
    metadata = {"name": "lab", "namespace": "flux-system"}
    manifest = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata}
    mine = read_by_krmfn(plant(tmp_path / "krmfn", FILES), manifest | {"spec": spec})
    assert by_name(mine) == by_name(built_by_flux(tmp_path / "flux", manifest | {"spec": spec}))


def built_by_flux(folder: Path, kustomization: dict[str, Any]) -> list[Any]:
    """Return the objects that Flux makes of the folder `lab`, which it does not sort."""
    done = library("build", folder, folder / "lab", "strict", question=kustomization)
    assert done.code == 0, done.err
    return documents(done.out)


UNLISTED = {name: text for name, text in FILES.items() if name not in ("lab/kustomization.yaml", "lab/p.yaml")} | {
    "lab/.hidden.yml": config_map("hidden"),
    "lab/.folder/inner/e.yaml": config_map("e"),
    "lab/b/unlisted.yaml": config_map("unlisted"),
    "lab/b/below/unlisted.yaml": config_map("unlisted"),
    "lab/f/g.yaml": f"{config_map('g')}---\n# nothing\n---\n{config_map('h')}",
    "lab/f/local.yaml": config_map("local").replace(
        "{name: local}", "{name: local, annotations: {config.kubernetes.io/local-config: 'true'}}"
    ),
    "lab/f/z.json": "{}",
    "lab/z/kustomization.yml/x.yaml": config_map("folder"),
}

HIDDEN = {
    "lab/.more/kustomization.yaml": "namePrefix: m-\nresources: [m.yaml]\n",
    "lab/.more/m.yaml": config_map("m"),
}
"""Of these alone Flux writes nothing into the kustomization, and krmfn has no root for them."""


@pytest.mark.parametrize("name", [*FLUX, "nothing"])
def test_of_a_folder_without_a_kustomization_flux_builds_the_same(name: str, tmp_path: Path) -> None:
    files = UNLISTED if name != "nothing" else UNLISTED | HIDDEN
    spec = {"path": "./lab", "sourceRef": {"kind": "GitRepository", "name": "f"}, **FLUX.get(name, {})}
    metadata = {"name": "lab", "namespace": "flux-system"}
    manifest = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata}
    mine = read_by_krmfn(plant(tmp_path / "krmfn", files), manifest | {"spec": spec})
    assert by_name(mine) == by_name(built_by_flux(plant(tmp_path / "flux", files), manifest | {"spec": spec}))


def commands_of(options: dict[str, Any], folder: Path) -> Iterator[list[str]]:
    """Yield the calls of kustomize by which Argo CD applies options, and write its patches.

    Source: Argo CD 3.2.1, util/kustomize/kustomize.go, Build.
    """
    for field, verb in (("namePrefix", "nameprefix"), ("nameSuffix", "namesuffix")):
        if field in options:
            yield ["edit", "set", verb, "--", options[field]]
    if "images" in options:
        yield ["edit", "set", "image", *options["images"]]
    if "replicas" in options:
        yield ["edit", "set", "replicas", *(f"{entry['name']}={entry['count']}" for entry in options["replicas"])]
    for field, verb, flags in (
        ("commonLabels", "label", ("forceCommonLabels", "labelWithoutSelector", "labelIncludeTemplates")),
        ("commonAnnotations", "annotation", ("forceCommonAnnotations",)),
    ):
        if field in options:
            names = {"labelWithoutSelector": "--without-selector", "labelIncludeTemplates": "--include-templates"}
            names_of_flags = [names.get(flag, "--force") for flag in flags if options.get(flag)]
            yield ["edit", "add", verb, *names_of_flags, *(f"{key}:{value}" for key, value in options[field].items())]
    if "namespace" in options:
        yield ["edit", "set", "namespace", "--", options["namespace"]]
    if "patches" in options:
        path = folder / "kustomization.yaml"
        data = yaml.safe_load(path.read_text())
        path.write_text(yaml.safe_dump(data | {"patches": [*data.get("patches", ()), *options["patches"]]}))
    if "components" in options:
        yield ["edit", "add", "component", *options["components"]]


def application(source: dict[str, Any], name: str = "lab") -> dict[str, Any]:
    spec = {"source": source, "destination": {"name": "lab", "namespace": "kmm"}}
    return {"apiVersion": ARGO, "kind": "Application", "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize("name", ARGOCD)
def test_argo_cd_builds_the_same(name: str, tmp_path: Path) -> None:
    folder = plant(tmp_path / "argocd", FILES) / "lab"
    source = {"repoURL": "https://git.example.com/a.git", "path": "lab", "kustomize": ARGOCD[name]}
    mine = read_by_krmfn(plant(tmp_path / "krmfn", FILES), application(source))
    for command in commands_of(ARGOCD[name], folder):
        must("kustomize", *command, cwd=folder)
    assert mine == documents(must("kustomize", "build", folder))


LOOPED = {"kustomize": {"namePrefix": "a-", "nameSuffix": "-z", "namespace": "edited", "images": ["x=y:1"]}}


def has_resources(loop: Loop, name: str) -> bool:
    return bool(loop.status(name).get("resources"))


def test_the_repo_server_names_the_same(loop: Loop, tmp_path: Path) -> None:
    files = {
        "edited/lab/kustomization.yaml": "resources: [c.yaml]\nnamePrefix: own-\n",
        "edited/lab/c.yaml": config_map("c"),
    }
    plant(loop.repository, files)
    loop.commit("edited")
    source = {"repoURL": f"file://{loop.repository}", "targetRevision": "main", "path": "edited/lab", **LOOPED}
    loop.create("edited", {"project": "default", "source": source})
    loop.until("its resources are known", "edited", partial(has_resources, loop, "edited"))
    applied = {(row["name"], row["namespace"]) for row in loop.status("edited")["resources"]}
    mine = read_by_krmfn(plant(tmp_path, files), application(source))
    assert applied == {(item["metadata"]["name"], item["metadata"]["namespace"]) for item in mine}, json.dumps(mine)


def test_an_edit_leaves_the_repository_as_it_is(tmp_path: Path) -> None:
    source = {"repoURL": "https://git.example.com/a.git", "path": "lab", "kustomize": ARGOCD["all"]}
    read_by_krmfn(plant(tmp_path / "krmfn", FILES), application(source))
    shutil.rmtree(tmp_path / "krmfn" / "engines")
    assert (tmp_path / "krmfn" / "lab" / "kustomization.yaml").read_text() == KUSTOMIZATION
