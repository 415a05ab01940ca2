"""Which files Argo CD applies of a directory, and which folders an ApplicationSet names: as krmfn reads them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tests.commands import process
from tests.trees import config_map, plant

from .argo_loop import ARGO, Loop

MARK = "# +argocd:skip-file-rendering\n"
DEEP = {"recurse": True}
ROWS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "hidden": (DEEP, {".a.yaml": "a", "x/.b.yml": "b", ".x/c.yaml": "c"}),
    "charts": (DEEP, {"x/templates/a.yaml": "a", "x/values.yaml.txt": ""}),
    "unlisted": (DEEP, {"a.yaml": "a", "x/b.yaml": "b"}),
    "kustomized": (DEEP, {"a.yaml": "a", "b.yaml": "b", "kustomization.yaml": "resources: [a.yaml]\n"}),
    "flat": ({}, {"a.yaml": "a", "x/b.yaml": "b"}),
    "included": (DEEP | {"include": "{a,x/{b,c}}.yaml"}, {"a.yaml": "a", "x/b.yaml": "b", "x/d.yaml": "d"}),
    "excluded": (DEEP | {"exclude": "*/b*"}, {"a.yaml": "a", "b.yaml": "b", "x/b.yaml": "c", "x/y/b1.yaml": "d"}),
    "both": (DEEP | {"include": "*.yaml", "exclude": "[a-b].yaml"}, {"a.yaml": "a", "x/b.yaml": "b", "c.yml": "c"}),
    "named": (DEEP | {"include": "\\*.yaml"}, {"a.yaml": "a", "*.yaml": "b"}),
    "marked": (DEEP, {"a.yaml": "a", "b.yaml": MARK}),
    "linked": (DEEP, {"a.yaml": "a", "b.yaml": "-> ../linked-more/x.yaml", "x": "-> ../linked-more"}),
}
"""By the name of the folder: what stands under `directory` of the Application, and the files; the letter is a name."""


def files_of(name: str) -> dict[str, str]:
    """Return the files of a row by their paths; those that a link leads to stand in a folder beside it."""
    files = {"linked-more/x.yaml": config_map("x")} if name == "linked" else {}
    for path, text in ROWS[name][1].items():
        is_name = len(text) == 1
        files[f"{name}/{path}"] = config_map(text) if is_name else MARK + config_map("m") if text == MARK else text
    return files


def read_by_krmfn(name: str, folder: Path) -> set[str]:
    """Return the names of the ConfigMaps that krmfn takes for those of the Application's cluster."""
    spec = {"source": {"repoURL": "https://git.example.com/a.git", "path": name, "directory": ROWS[name][0]}}
    spec["destination"] = {"name": "lab", "namespace": name}
    application = {"apiVersion": ARGO, "kind": "Application", "metadata": {"name": name}, "spec": spec}
    apps = {"apps/a.yaml": yaml.safe_dump(application)}
    before, after = (plant(folder / side, apps | files) for side, files in (("old", {}), ("new", files_of(name))))
    (before / name).mkdir()
    changes = json.loads(process("krmfn", "diff", str(before), str(after), "--format", "json").out)["changes"]
    return {row["ref"]["name"] for row in changes if row["ref"]["kind"] == "ConfigMap" and "lab" in row["clusters"]}


def has_resources(loop: Loop, name: str) -> bool:
    return bool(loop.status(name).get("resources"))


def test_a_directory_holds_the_files_that_krmfn_reads(loop: Loop, tmp_path: Path) -> None:
    for name in ROWS:
        plant(loop.repository, files_of(name))
    loop.commit("directories")
    source = {"repoURL": f"file://{loop.repository}", "targetRevision": "main"}
    for name, (directory, _) in ROWS.items():
        loop.create(name, {"project": "default", "source": source | {"path": name, "directory": directory}})
    applied: dict[str, set[str]] = {}
    for name in ROWS:
        loop.until("its resources are known", name, partial(has_resources, loop, name))
        applied[name] = {resource["name"] for resource in loop.status(name)["resources"]}
    assert applied == {name: read_by_krmfn(name, tmp_path / name) for name in ROWS}


DIRECTORIES = [{"path": "made/*/*"}, {"path": "made/prod/*", "exclude": True}]
LIST = [{"name": "one", "folder": "made/prod/a"}, {"name": "two", "folder": "made/lab/b"}]
MATRIX = [{"list": {"elements": [{"stage": "lab"}, {"stage": "prod"}]}}, {"list": {"elements": [{"part": "a"}]}}]
SETS: dict[str, tuple[dict[str, Any], str, str]] = {
    "made-git": ({"git": {"directories": DIRECTORIES}}, "{{path}}", "{{path[1]}}-{{path.basename}}"),
    "made-git-go": (
        {"git": {"directories": DIRECTORIES}},
        "{{.path.path}}",
        "{{index .path.segments 1}}-{{.path.basename}}",
    ),
    "made-list": ({"list": {"elements": LIST}}, "{{folder}}", "{{name}}"),
    "made-matrix-go": ({"matrix": {"generators": MATRIX}}, "made/{{.stage}}/{{.part}}", "{{.stage}}-{{.part}}"),
}
"""By the name of an ApplicationSet: its generator, the path, and what makes the name of an Application."""


def application_set(name: str, url: str, server: str) -> dict[str, Any]:
    """Return an ApplicationSet for a repository and a cluster."""
    generator, path, suffix = SETS[name]
    if "git" in generator:
        generator = {"git": {"repoURL": url, "revision": "main", **generator["git"]}}
    source = {"repoURL": url, "targetRevision": "main", "path": path}
    spec = {"project": "default", "source": source, "destination": {"server": server, "namespace": "made"}}
    template = {"metadata": {"name": f"{name}-{suffix}"}, "spec": spec}
    body = {"goTemplate": name.endswith("-go"), "generators": [generator], "template": template}
    return {"apiVersion": ARGO, "kind": "ApplicationSet", "metadata": {"name": name}, "spec": body}


def makes(loop: Loop, name: str, paths: set[str]) -> bool:
    """Return whether the Applications of a set have these paths."""
    answer = loop.cluster.get(f"/apis/{ARGO}/namespaces/argocd/applications") or {"items": []}
    made = [row for row in answer["items"] if row["metadata"]["name"].startswith(f"{name}-")]
    owned = [row for row in made if row["metadata"].get("ownerReferences", [{}])[0].get("name") == name]
    return {row["spec"]["source"]["path"] for row in owned} == paths


def test_a_set_makes_the_applications_that_krmfn_reads(loop: Loop, tmp_path: Path) -> None:
    folders = [f"made/{stage}/{part}" for stage in ("lab", "prod") for part in ("a", "b")]
    files = {f"{folder}/a.yaml": config_map("a") for folder in folders}
    plant(loop.repository, files)
    loop.commit("folders of sets")
    for name in SETS:
        manifest = application_set(name, f"file://{loop.repository}", loop.cluster.url)
        loop.cluster.apply(loop.cluster.place_of(manifest, "argocd"), json.dumps(manifest).encode())
        plant(tmp_path, files | {"sets/a.yaml": yaml.safe_dump(manifest)})
        clusters = json.loads(process("krmfn", "clusters", ".", "--format", "json", cwd=tmp_path).out)["clusters"]
        paths = {root["path"] for cluster in clusters for root in cluster["roots"] if root["engine"] == "argocd"}
        assert paths, name
        loop.until(f"its Applications are those of {sorted(paths)}", name, partial(makes, loop, name, paths))
