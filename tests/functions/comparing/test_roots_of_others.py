"""A pull request that breaks a root: what `check` says of the new state, `diff` and `ci` say, too.

A root that is ours before the change is an error for all three, however it breaks.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import process
from tests.examples import pairs_of
from tests.functions.cluster.test_blocked import RIGHT
from tests.functions.comparing.test_base import repository
from tests.trees import config_map, plant


def config(name: str) -> str:
    """Return a config with a kernel module and nodes of its own."""
    return RIGHT.replace("gpu", name).replace("card: x", f"card: {name}")


WEB = {"web/kustomization.yaml": "resources: [a.yaml]\n", "web/a.yaml": config_map("a"), "cards/gpu.yaml": RIGHT}
APPLICATION = (
    "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {0}, namespace: argocd}}\nspec:\n"
    "  source: {{repoURL: 'https://git.example.com/fleet.git', path: {0}{1}}}\n  destination: {{name: lab}}\n"
)
APPLICATIONS = {
    "apps/cards.yaml": APPLICATION.format("cards", ", plugin: {name: krmfn}"),
    "apps/web.yaml": APPLICATION.format("web", ""),
}
BASES = {
    "foreign": WEB,
    "beside": WEB | APPLICATIONS,
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
OTHERS = ("foreign", "beside")
ROWS = pairs_of(BASES, BREAKS) + pairs_of(OTHERS, HIDES)


@pytest.mark.parametrize(("state", "edit"), ROWS)
def test_check_diff_and_ci_agree(state: str, edit: str, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASES[state])
    plant(repo, (BREAKS | HIDES)[edit])
    is_error = state not in OTHERS or edit in HIDES
    by_diff = process("krmfn", "diff", "--base", "HEAD", "--fail-on", "error", cwd=repo)
    by_ci = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", cwd=repo)
    assert (bool(by_diff.code), bool(by_ci.code)) == (is_error, is_error), by_diff.text + by_ci.text
    if state != "ours elsewhere":  # what the broken root listed is then one of its own here
        assert bool(process("krmfn", "check", ".", cwd=repo).code) == is_error


def test_beside_a_broken_root_the_rest_of_the_cluster_is_compared(tmp_path: Path) -> None:
    """What only the base has of the broken root is not deleted; what changes in ours is seen, by both commands."""
    repo = repository(tmp_path / "repo", BASES["beside"])
    plant(repo, BREAKS["lists a missing file"] | {"cards/gpu.yaml": RIGHT.replace('"1"', '"2"')})
    done = process("krmfn", "diff", "--base", "HEAD", "--format", "json", cwd=repo)
    assert [(row["change"], row["ref"]["kind"]) for row in json.loads(done.text)["changes"]] == [("changed", "Module")]
    text = process("krmfn", "diff", "--base", "HEAD", cwd=repo).text
    assert "web cannot be read, and holds nothing of krmfn's: what changes is not known" in text
    assert "roots of others (not built: web)" in text
    by_ci = process("krmfn", "ci", "--base", "HEAD", "--out", "../out", "--fail-on", "unjudged", cwd=repo)
    assert (by_ci.code, "Module kmm/gpu" in (tmp_path / "out/comment.md").read_text()) == (1, True)


@pytest.mark.parametrize("edit", BREAKS)
def test_a_broken_root_that_is_mended_fails_nothing(edit: str, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASES["beside"] | BREAKS[edit])
    plant(repo, BASES["beside"])
    done = process("krmfn", "diff", "--base", "HEAD", "--fail-on", "error", cwd=repo).ended(0)
    assert "what changes is not known" in done.text, done.text


def test_a_new_root_of_others_that_is_broken_fails_nothing(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", BASES["beside"])
    plant(repo, {"apps/new.yaml": APPLICATION.format("new", ""), "new/kustomization.yaml": "resources: [gone.yaml]\n"})
    process("krmfn", "check", ".", cwd=repo).ended(0)
    done = process("krmfn", "diff", "--base", "HEAD", "--fail-on", "error", cwd=repo).ended(0)
    assert "new cannot be read, and holds nothing of krmfn's" in done.text, done.text
