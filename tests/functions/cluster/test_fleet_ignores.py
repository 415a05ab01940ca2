"""Files that Fleet does not deploy, since a `.fleetignore` in the bundle leaves them out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_engine_additions import MODULE
from tests.functions.comparing.test_base import repository

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
