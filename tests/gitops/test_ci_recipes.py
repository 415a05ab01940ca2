"""What the CI recipes may do: their rights, what they run, and where text of a stranger goes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commands import ROOT

CI = ROOT / "gitops" / "ci"
WORKFLOWS = CI / "github" / "workflows"
WORKFLOW, ACTION = WORKFLOWS / "krmfn.yaml", CI / "github" / "actions" / "krmfn" / "action.yaml"
INVENTORY = WORKFLOWS / "inventory.yaml"
GITLAB, PRE_COMMIT = CI / "gitlab" / ".gitlab-ci.yml", CI / "pre-commit" / ".pre-commit-config.yaml"
RIGHTS = {
    "krmfn": {"contents": "read"},
    "code-scanning": {"security-events": "write"},
    "comment": {"pull-requests": "write"},
}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every step of the recipe for GitHub, with its job."""
    for workflow in (WORKFLOW, INVENTORY):
        for name, job in read(workflow)["jobs"].items():
            yield from ((name, step) for step in job["steps"])
    yield from (("krmfn", step) for step in read(ACTION)["runs"]["steps"])


def test_each_job_has_the_rights_that_it_needs_and_no_other() -> None:
    workflow = read(WORKFLOW)
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == RIGHTS
    assert set(workflow[True]) == {"pull_request", "push"}, "pull_request_target has rights that a fork must not have"


def test_the_inventory_s_pull_request_is_opened_by_a_job_that_reads_nothing_of_it() -> None:
    jobs = read(INVENTORY)["jobs"]
    assert read(INVENTORY)["permissions"] == {}
    rights = {name: job["permissions"] for name, job in jobs.items()}
    assert rights == {"krmfn": {"contents": "read"}, "open": {"contents": "read", "pull-requests": "write"}}
    assert jobs["open"]["needs"] == "krmfn", "no pull request for what is refused"
    assert set(read(INVENTORY)[True]) == {"push", "schedule"}
    assert read(INVENTORY)[True]["push"] == {"branches": ["inventory/**"]}


def test_what_may_write_runs_nothing_of_a_pull_request() -> None:
    for job, step in steps():
        uses = step.get("uses", "")
        assert job == "krmfn" or not uses.startswith(("./", "actions/checkout")), job
        assert "GH_TOKEN" not in step.get("env", {}) or job != "krmfn"
        assert not uses.startswith("actions/checkout") or step["with"]["persist-credentials"] is False


def test_every_action_is_pinned_by_its_commit() -> None:
    used = [step["uses"] for _, step in steps() if "uses" in step]
    lines = re.findall(r"uses: (\S+)(.*)", WORKFLOW.read_text() + INVENTORY.read_text() + ACTION.read_text())
    assert sorted(name for name, _ in lines) == sorted(used)
    for name, comment in lines:
        local = name.startswith("./")
        assert local or re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", name), name
        assert local or re.fullmatch(r" # v\d+\.\d+\.\d+", comment), name


def test_no_text_of_a_stranger_becomes_a_command() -> None:
    """GitHub fills in `${{ }}` before bash reads the line; in the environment it stays text."""
    for _, step in steps():
        assert "${{" not in step.get("run", ""), step


def test_the_hook_that_pre_commit_runs_is_there() -> None:
    (repository,) = read(PRE_COMMIT)["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [
        hook["id"] for hook in read(ROOT / ".pre-commit-hooks.yaml")
    ]


@pytest.mark.parametrize("path", [WORKFLOW, INVENTORY, GITLAB, PRE_COMMIT], ids=lambda path: path.name)
def test_what_is_to_be_filled_in_stands_there_once(path: Path) -> None:
    text = path.read_text()
    assert (text.count("https://git.example.com/krmfn"), text.count("0" * 40)) == (1, 1)


def test_both_run_the_same_locked_install() -> None:
    for text in (ACTION.read_text(), GITLAB.read_text()):
        assert "--require-hashes -r" in text
        for name in ("run.txt", "build.txt"):
            assert f"/requirements/{name}" in text
            assert (ROOT / "requirements" / name).exists()
