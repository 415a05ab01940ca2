"""A pull request that breaks a root: what `check` says of the new state, `diff` and `ci` say, too.

A root that is ours before the change is an error for all three, however it breaks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.cluster.test_blocked import RIGHT
from tests.functions.comparing.test_base import repository
from tests.trees import config_map, plant


def config(name: str) -> str:
    """Return a config with a kernel module and nodes of its own."""
    return RIGHT.replace("gpu", name).replace("card: x", f"card: {name}")


WEB = {"web/kustomization.yaml": "resources: [a.yaml]\n", "web/a.yaml": config_map("a"), "cards/gpu.yaml": RIGHT}
BASES = {
    "foreign": WEB,
    "ours": WEB | {"web/kustomization.yaml": "resources: [a.yaml, nic.yaml]\n", "web/nic.yaml": config("nic")},
    "ours elsewhere": WEB
    | {
        "web/kustomization.yaml": "resources: [a.yaml, ../nics]\n",
        "nics/nic.yaml": config("nic"),
        "nics/kustomization.yaml": "resources: [nic.yaml]\n",
    },
}
TEXT = "web/kustomization.yaml"
BREAKS = {
    "lists a missing file": {TEXT: "resources: [a.yaml, gone.yaml]\n"},
    "is no YAML": {TEXT: "resources: [a.yaml\n"},
    "has an unknown field": {TEXT: "resources: [a.yaml]\nresorces: []\n"},
    "is empty": {TEXT: ""},
    "lists what is no YAML": {"web/a.yaml": "kind: {\n"},
}
HIDES = {
    "ours in what is no YAML": {"web/a.yaml": config("new") + "x: {\n"},
    "ours beside what is no YAML": {TEXT: "resources: [a.yaml, new.yaml\n", "web/new.yaml": config("new")},
    "ours under a misspelt name": {TEXT: "resources: [a.yaml, nwe.yaml]\n", "web/new.yaml": config("new")},
    "ours beside a missing file": {
        TEXT: "resources: [a.yaml, gone.yaml, new.yaml]\n",
        "web/new.yaml": config("new"),
    },
}
ROWS = [(state, edit) for state in BASES for edit in BREAKS] + [("foreign", edit) for edit in HIDES]


@pytest.mark.parametrize(("state", "edit"), ROWS)
def test_check_diff_and_ci_agree(state: str, edit: str, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASES[state])
    plant(repo, (BREAKS | HIDES)[edit])
    is_error = state != "foreign" or edit in HIDES
    by_diff = process("krmfn", "diff", "--base", "HEAD", "--fail-on", "error", cwd=repo)
    by_ci = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo)
    assert (bool(by_diff.code), bool(by_ci.code)) == (is_error, is_error), by_diff.text + by_ci.text
    if state != "ours elsewhere":  # what the broken root listed is then one of its own here
        assert bool(process("krmfn", "check", ".", cwd=repo).code) == is_error
