"""Files that Fleet does not deploy, since a `.fleetignore` in the bundle leaves them out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engine_additions import MODULE
from tests.functions.comparing.test_base import repository
from tests.trees import config_map

GIT_REPO = (
    "apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: f, namespace: fleet-default}\nspec:\n"
    "  repo: https://git.example.com/fleet.git\n  paths: [bundles/nic]\n  targets: [{clusterName: lab}]\n"
)
DRAFT = MODULE.replace("name: gpu", "name: draft")
FILES = {"gitrepo.yaml": GIT_REPO, "bundles/nic/m.yaml": MODULE, "bundles/nic/x/draft.yaml": DRAFT}
IGNORING: dict[str, tuple[str, str, bool]] = {
    "nothing": ("bundles/nic/x/other", "", False),
    "by name": ("bundles/nic/.fleetignore", "draft.yaml\n", True),
    "by a pattern": ("bundles/nic/.fleetignore", "# drafts\ndra*.y?ml  \n", True),
    "beside it": ("bundles/nic/x/.fleetignore", "draft.yaml", True),
    "the folder": ("bundles/nic/.fleetignore", "x", True),
    "all in the folder": ("bundles/nic/.fleetignore", "x/*", True),
    "a path, which no name is": ("bundles/nic/.fleetignore", "x/draft.yaml", False),
    "only folders": ("bundles/nic/.fleetignore", "draft.yaml/*", False),
    "above the bundle": ("bundles/.fleetignore", "draft.yaml", False),
    "a comment": ("bundles/nic/.fleetignore", "#draft.yaml", False),
    "a bad pattern": ("bundles/nic/.fleetignore", "[draft.yaml", False),
}


@pytest.mark.parametrize("name", IGNORING)
def test_what_fleet_leaves_out_is_not_judged_and_is_told(name: str, tmp_path: Path) -> None:
    file, text, is_left_out = IGNORING[name]
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, FILES | {file: text}))
    assert ("[KRM304]" in done.text) is not is_left_out, done.text
    assert ("bundles/nic/x/draft.yaml: warning: a .fleetignore leaves it out" in done.text) is is_left_out, done.text


def test_a_pattern_that_is_added_deletes(tmp_path: Path) -> None:
    repo = repository(tmp_path, FILES | {"bundles/nic/x/draft.yaml": MODULE.replace("gpu", "draft")})
    (repo / "bundles/nic/.fleetignore").write_text("x\n")
    done = process("krmfn", "diff", "--base", "main", ".", "--format", "json", cwd=repo)
    changes = json.loads(done.out)["changes"]
    assert [(row["change"], row["ref"]["name"]) for row in changes] == [("deleted", "draft")]


def test_a_hidden_file_is_not_deployed_and_is_told(tmp_path: Path) -> None:
    """Fleet takes neither hidden files nor what stands in hidden folders; a workflow beside them is none of these."""
    hidden = {"bundles/nic/.draft.yaml": DRAFT, "bundles/nic/.x/draft.yaml": DRAFT, "bundles/nic/.ci.yaml": "# krmfn\n"}
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, FILES | {"bundles/nic/x/draft.yaml": ""} | hidden))
    words = "its name, or that of its folder, begins with a dot: Fleet leaves it out of what it deploys"
    assert [line for line in done.ended(0).text.splitlines() if "warning" in line][:-1] == [
        f"bundles/nic/{name}: warning: {words} for GitRepo fleet-default/f, so no cluster gets it [KRM537]"
        for name in (".draft.yaml", ".x/draft.yaml")
    ]


BASE = {"base/kustomization.yaml": "resources: [m.yaml]\n", "base/m.yaml": MODULE}
BUNDLE = {"gitrepo.yaml": GIT_REPO, "bundles/nic/kustomization.yaml": "resources: [m.yaml]\n"}
IN_BUNDLE = {f"bundles/nic/{name}": text for name, text in BASE.items()}
LISTED: dict[str, tuple[dict[str, str], list[str]]] = {
    "its own file": (BUNDLE | {"bundles/nic/m.yaml": MODULE}, []),
    "a base in the bundle": (BUNDLE | IN_BUNDLE | {"bundles/nic/kustomization.yaml": "resources: [base]\n"}, []),
    "a base outside": (
        BUNDLE | BASE | {"bundles/nic/kustomization.yaml": "resources: [../../base]\n"},
        ["base is outside of its bundle"],
    ),
    "a hidden file": (
        BUNDLE | {"bundles/nic/kustomization.yaml": "resources: [.m.yaml]\n", "bundles/nic/.m.yaml": MODULE},
        ["bundles/nic/.m.yaml is hidden, so Fleet leaves it out"],
    ),
    "a file that is left out": (
        BUNDLE | {"bundles/nic/m.yaml": MODULE, "bundles/nic/.fleetignore": "m.yaml\n"},
        ["bundles/nic/m.yaml is left out by a .fleetignore"],
    ),
    "a folder of the bundle": (
        BUNDLE
        | IN_BUNDLE
        | {"bundles/nic/fleet.yaml": "kustomize: {dir: lab}\n"}
        | {"bundles/nic/lab/kustomization.yaml": "resources: [../base]\n"},
        [],
    ),
    "nothing of ours": (
        BUNDLE
        | {"bundles/nic/kustomization.yaml": "resources: [../a.yaml]\n", "bundles/a.yaml": config_map("a")}
        | {"x/m.yaml": MODULE},
        [],
    ),
}


@pytest.mark.parametrize("name", LISTED)
def test_what_fleet_cannot_build_is_an_error(name: str, tmp_path: Path) -> None:
    files, reasons = LISTED[name]
    done = process("krmfn", "check", ".", cwd=repository(tmp_path, files))
    assert [line.partition("gets it: ")[2] for line in done.text.splitlines() if "[KRM539]" in line] == [
        f"{reason} [KRM539]" for reason in reasons
    ]
    assert done.code == int(bool(reasons)), done.text


OVERLAY = "bundles/nic/overlays/lab/draft.yaml"
BUILT = {"bundles/nic/kustomization.yaml": "resources: [m.yaml, overlays/lab/draft.yaml]\n"}
OVERLAYS: dict[str, tuple[dict[str, str], bool]] = {
    "of raw files": ({}, False),
    "beside a kustomization that is not built": ({"bundles/nic/y/kustomization.yml": "resources: []\n"}, False),
    "chosen": ({"bundles/nic/fleet.yaml": "yaml: {overlays: [lab]}\n"}, False),
    "in a built bundle": (BUILT, True),
}


@pytest.mark.parametrize("name", OVERLAYS)
def test_an_overlay_is_laid_over_the_files_for_those_that_choose_it(name: str, tmp_path: Path) -> None:
    """Its files were deployed to each cluster of the bundle, as any others are."""
    more, is_deployed = OVERLAYS[name]
    files = {key: text for key, text in FILES.items() if "/x/" not in key} | {OVERLAY: DRAFT} | more
    repo = repository(tmp_path, files)
    done = process("krmfn", "check", ".", cwd=repo)
    assert ("[KRM304]" in done.text) is is_deployed, done.text
    words = f"{OVERLAY}: warning: Fleet lays overlays/lab over what GitRepo fleet-default/f gives to clusters"
    assert (words in done.text) is not is_deployed, done.text
    (repo / OVERLAY).write_text(config_map("a"))
    assert "Fleet lays" not in process("krmfn", "check", ".", cwd=repo).text
