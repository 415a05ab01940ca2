"""What a pull request hides from its own comparison: files by `exclude`, a lost driver by labels that it commits."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.plan import plan

from krmfn import Manifest
from tests.builders import manifest, resource_list
from tests.commands import process
from tests.functions.final.lists import judged, levels
from tests.trees import config_map, plant

from .test_base import commit_to_main, diff, repository

ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: kmm}\nrules: []\n"
HIDING: dict[str, tuple[dict[str, str], dict[str, str], str]] = {
    "a new file": ({}, {".krmfn.yaml": "exclude: [site/role.yaml]\n"}, "site/role.yaml"),
    "a folder": ({}, {".krmfn.yaml": "exclude: [site/]\n"}, "site/a.yaml, site/role.yaml"),
    "one more": ({".krmfn.yaml": "exclude: [x]\n"}, {".krmfn.yaml": "exclude: [x, role.yaml]\n"}, "site/role.yaml"),
    "as before": ({".krmfn.yaml": "exclude: [role.yaml]\n"}, {}, ""),
    "fewer": ({".krmfn.yaml": "exclude: [role.yaml]\n"}, {".krmfn.yaml": "exclude: []\n"}, ""),
    "no resource": ({}, {".krmfn.yaml": "exclude: [values.yaml]\n"}, ""),
}


@pytest.mark.parametrize("name", HIDING)
def test_files_that_are_newly_excluded_are_named_first(name: str, tmp_path: Path) -> None:
    before, after, says = HIDING[name]
    repo = repository(tmp_path / "repo", {"site/a.yaml": config_map("a"), "values.yaml": "a: 1\n"})
    commit_to_main(repo, before)
    plant(repo, {"site/role.yaml": ROLE, **after})
    done = diff(repo, "--fail-on", "lost").ended(int(bool(says)))
    assert done.text.startswith(f"! error: .krmfn.yaml newly excludes {says}: ") is bool(says)
    assert (done.text + done.err).count("newly excludes ") == bool(says), "told once"


def test_of_two_folders_each_has_its_own_configuration(tmp_path: Path) -> None:
    plant(tmp_path, {"old/a.yaml": config_map("a"), "new/a.yaml": config_map("a"), "new/r.yaml": ROLE})
    plant(tmp_path, {"new/.krmfn.yaml": "exclude: [r.yaml]\n"})
    process("krmfn", "diff", "old", "new", "--fail-on", "lost", cwd=tmp_path).ended(1)
    process("krmfn", "diff", "old", "old", "--fail-on", "lost", cwd=tmp_path).ended(0)


def driver(value: str, version: str = "1.0") -> str:
    return (
        "apiVersion: krmfn.dev/v1alpha1\nkind: DeviceConfig\nmetadata: {name: gpu, namespace: kmm}\nspec:\n"
        f"  {{moduleName: gpu, driverImage: registry.example.com/gpu, driverVersion: '{version}', "
        f"nodeSelector: {{card: '{value}'}}}}\n"
    )


def nodes(*values: str) -> str:
    return "---\n".join(
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: n{at}, labels: {{card: '{value}'}}}}\n"
        "status: {nodeInfo: {kernelVersion: 6.1.0-test, architecture: amd64, osImage: x}}\n"
        for at, value in enumerate(values)
    )


LABELS: dict[str, tuple[str, str, bool]] = {
    "selector and label": (driver("b"), nodes("b"), True),
    "selector alone": (driver("b"), nodes("a"), True),
    "label alone": (driver("a"), nodes("b"), True),
    "neither": (driver("a"), nodes("a"), False),
    "a node that is new, with its label": (driver("a"), nodes("a", "a"), False),
    "another label": (driver("a"), nodes("a").replace("card:", "other: x, card:"), False),
}


@pytest.mark.parametrize("name", LABELS)
def test_a_driver_is_lost_by_the_labels_that_nodes_have(name: str, tmp_path: Path) -> None:
    """Nobody relabels a node by a commit."""
    config, fleet, is_lost = LABELS[name]
    repo = repository(tmp_path / "repo", {"dc.yaml": driver("a"), "nodes.yaml": nodes("a")})
    plant(repo, {"dc.yaml": config, "nodes.yaml": fleet})
    diff(repo, "--fail-on", "lost").ended(int(is_lost))


def test_labels_that_the_base_did_not_hold_are_those_of_the_change(tmp_path: Path) -> None:
    def inventory(*labels: str) -> str:
        return (
            "apiVersion: krmfn.dev/v1alpha1\nkind: NodeInventory\nmetadata: {name: lab}\nspec:\n"
            f"  labelKeys: [{', '.join(labels)}]\n  groups:\n"
            f"  - labels: {{{', '.join(f'{key}: a' for key in labels)}}}\n"
            "    nodes: |\n      n0 6.1.0-test\n"
        )

    repo = repository(tmp_path / "repo", {"dc.yaml": driver("a"), "nodes.yaml": inventory("card")})
    plant(repo, {"dc.yaml": driver("a").replace("card:", "other: a, card:"), "nodes.yaml": inventory("card", "other")})
    diff(repo, "--fail-on", "lost").ended(0)


def placed(namespace: str, kind: str = "ClusterRoleBinding") -> Manifest:
    return manifest("rbac.authorization.k8s.io/v1", kind, "b", namespace)


def test_an_object_without_namespaces_is_the_same_with_one() -> None:
    """Whoever applies it drops the namespace, so a second one replaces the first."""
    assert [change.what for change in plan([placed("")], [placed("kmm")]).changes] == ["changed"]
    assert ("KRM705", "error") in levels(judged(placed(""), placed("kmm")))
    assert [change.what for change in plan([placed("a", "Role")], [placed("b", "Role")]).changes] == [
        "created",
        "deleted",
    ]
    assert resource_list(placed("")).items[0].ref.namespace == ""


def test_a_loose_folder_that_is_moved_out_of_every_cluster_is_doubtful(tmp_path: Path) -> None:
    clusters = "clusters: {lab: [lab], prod: [prod]}\n"
    files = {"lab/a.yaml": config_map("a"), "prod/b.yaml": config_map("b"), ".krmfn.yaml": clusters}
    repo = repository(tmp_path / "repo", files)
    (repo / "lab" / "a.yaml").unlink()
    plant(repo, {"apps/a.yaml": config_map("a"), ".krmfn.yaml": "clusters: {prod: [prod]}\n"})
    assert "lab is gone or moved" in diff(repo, "--fail-on", "lost").ended(1).text
