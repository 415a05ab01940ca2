"""examples/fleet through all that a fleet goes through: each way in says the same of its 118 nodes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.fleet import inventory

from tests import builders
from tests.commands import ROOT, Done, environment, process
from tests.functions.comparing.test_base import OWN, commit, repository, run_git
from tests.gitops.github_runner import Runner

from .engines import EXEC, documents, must, path_of, run
from .test_fleet import CLUSTERS, bump, files

SIZES = {"dev": 8, "stage": 12, "prod-a": 58, "prod-b": 40}
RECIPE = ROOT / "gitops/ci/github"
LOCAL = 'config.kubernetes.io/local-config: "true"'
VERSION = "kmm.node.kubernetes.io/version-module.kmm.gpu"
INFO = ("kernelVersion", "architecture", "osImage")
MODULES = {"dev": 3, "stage": 3, "prod-a": 3, "prod-b": 2}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, kustomize: str) -> Path:
    """The fleet with three versions moved, beside the commit `main` that has the old ones."""
    recipe = {f".github/{path.relative_to(RECIPE)}": path.read_text() for path in RECIPE.rglob("*.yaml")}
    folder = repository(tmp_path_factory.mktemp("through") / "fleet", files() | recipe)
    bump(folder)
    commit(folder)
    return folder


def krmfn(folder: Path, *args: str, stdin: bytes = b"") -> Done:
    return process("krmfn", *args, cwd=folder, stdin=stdin, PATH=path_of()["PATH"], **OWN)


def rendered(folder: Path, name: str) -> dict[str, Any]:
    done = krmfn(folder / "clusters" / name, "render", ".").ended(0)
    return named(documents(done.text))


def test_nodes_are_all_there(fleet: Path) -> None:
    done = krmfn(fleet, "nodes", ".", "--format", "json").ended(0)
    names_of = {
        cluster["cluster"]: {row["node"] for row in cluster["rows"]} for cluster in json.loads(done.text)["clusters"]
    }
    assert {name: len(names) for name, names in names_of.items()} == SIZES


def test_images_are_of_the_new_versions_where_nothing_keeps_the_old(fleet: Path) -> None:
    done = krmfn(fleet, "images", ".").ended(0)
    names = [line.split()[0] for line in done.text.splitlines()[1:]]
    assert len(names) == 7
    assert all(any(f":{version}" in name for version in ("2.27.0", "1.9.0", "5.4")) for name in names)


def test_the_report_has_its_nodes_and_what_changes(fleet: Path) -> None:
    done = krmfn(fleet, "report", ".", "--base", "main").ended(0)
    for words in ("78 nodes in 4 clusters reload at once, 20 keep 2.26.0", *CLUSTERS, "118 nodes"):
        assert words in done.text, words


@pytest.mark.parametrize("name", CLUSTERS)
def test_an_inventory_of_its_nodes_is_the_one_that_it_has(name: str, fleet: Path, tmp_path: Path) -> None:
    kept = yaml.safe_load((fleet / f"inventories/{name}.yaml").read_text())
    nodes, _ = inventory.read(kept)
    items = [
        {
            **builders.node(node.name, **node.labels, other="x"),
            "spec": {"taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in node.taints]},
            "status": {"nodeInfo": dict(zip(INFO, (node.kernel, node.architecture, node.os_image), strict=True))},
        }
        for node in nodes
    ]
    dump = tmp_path / "nodes.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    done = krmfn(fleet, "inventory", str(dump), "--for", f"clusters/{name}", "--name", name).ended(0)
    listed = yaml.safe_load(done.text)
    assert sorted(inventory.read(listed)[0]) == sorted(nodes)
    # nothing is ordered on the other clusters, whose inventories hold the label of prod-b's versions, too
    assert set(kept["spec"]["labelKeys"]) - set(listed["spec"]["labelKeys"]) <= {VERSION}


def test_ci_and_the_workflow_say_what_changes(fleet: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"  # with a remote, as in the workflow: it decides what engines bring from elsewhere
    run_git(fleet, "clone", "-q", ".", str(copy))
    krmfn(copy, "ci", ".", "--base", "origin/main", "--out", str(tmp_path / "out")).ended(0)
    comment = (tmp_path / "out/comment.md").read_text()
    assert len(comment) <= 8_000
    env = environment(GITHUB_REPOSITORY="team/fleet", HOME=str(tmp_path), PATH=path_of()["PATH"], **OWN)
    known = {"event_name": "pull_request", "base_ref": "main", "event": {"pull_request": {"number": 7}}}
    runner = Runner(tmp_path / "run", fleet, "refs/heads/next", known, env, frozenset({"install"}))
    workflow = yaml.safe_load((fleet / ".github/workflows/krmfn.yaml").read_text())
    jobs = runner.run({**workflow, "jobs": {"krmfn": workflow["jobs"]["krmfn"]}})
    assert jobs["krmfn"].result == "success", jobs["krmfn"].out
    assert (tmp_path / "run/krmfn/github_step_summary").read_text().strip() == comment.strip()


@pytest.mark.parametrize("name", CLUSTERS)
def test_function_mode_and_kustomize_give_what_render_gives(
    name: str, fleet: Path, kustomize: str, tmp_path: Path
) -> None:
    expected = rendered(fleet, name)
    assert len(expected) == MODULES[name]
    plain = tmp_path / "plain"  # kustomize drops what is local
    shutil.copytree(fleet, plain, ignore=shutil.ignore_patterns(".git"))
    for path in plain.glob("base/*.yaml"):
        path.write_text(path.read_text().replace(LOCAL, "x: z"))
    items = documents(must(kustomize, "build", plain / "clusters" / name))
    listed = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": items}
    done = process("krmfn", stdin=yaml.safe_dump(listed).encode()).ended(0)
    assert named(yaml.safe_load(done.text)["items"]) == expected
    copy = tmp_path / "fleet"
    shutil.copytree(fleet, copy, ignore=shutil.ignore_patterns(".git"))
    (copy / f"clusters/{name}/render.yaml").write_text(
        "apiVersion: krmfn.dev/v1alpha1\nkind: RenderDeviceConfigs\nmetadata:\n  name: render\n"
        '  annotations: {config.kubernetes.io/function: "exec: {path: krmfn}"}\n'
    )
    path = copy / f"clusters/{name}/kustomization.yaml"
    path.write_text(path.read_text() + "transformers: [render.yaml]\n")
    out = must(kustomize, "build", *EXEC, path.parent)
    assert named(documents(out)) == expected


def named(manifests: list[Any]) -> dict[str, Any]:
    """The specs of the Modules by their names; what krmfn notes of itself is left out."""
    return {entry["metadata"]["name"]: entry["spec"] for entry in manifests if entry["kind"] == "Module"}


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_plugin_gives_what_render_gives(name: str, fleet: Path, tmp_path: Path) -> None:
    """With the command of plugin.yaml, in Argo CD's copy."""
    copy = tmp_path / "copy"
    run_git(tmp_path, "clone", "--quiet", f"file://{fleet}", str(copy))
    shutil.rmtree(copy / ".git")
    [plugin] = documents((ROOT / "gitops/argocd/plugin.yaml").read_text())
    spec = plugin["spec"]
    env = path_of() | {"ARGOCD_APP_SOURCE_PATH": f"clusters/{name}", "ARGOCD_APP_NAMESPACE": "kmm"}
    command = [*spec["generate"]["command"], *spec["generate"].get("args", [])]
    done = run(*command, cwd=copy / "clusters" / name, env=env | {"HOME": os.devnull}).ended(0)
    assert named(documents(done.text)) == rendered(fleet, name)
