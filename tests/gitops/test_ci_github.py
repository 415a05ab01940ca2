"""The recipe for GitHub: its workflow and action, run step by step on pull requests.

tests/e2e/test_ci_recipes.py does so with the real gh, and installs krmfn as the recipe says.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.functions.comparing.test_base import commit, run_git
from tests.functions.formats.test_ci import sound
from tests.trees import altered

from .ci_server import Service, serving
from .hub import REPOSITORY, Hub, fleet
from .pull_requests import BRANCH, CHANGES, Change, check_comments, check_updates, harmless


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    with serving(Service()) as service:
        yield Hub(fleet(tmp_path), service, tmp_path)


def log_of(sarif: dict[str, Any]) -> dict[str, Any]:
    """The SARIF log that was uploaded."""
    text = gzip.decompress(base64.b64decode(sarif["sarif"])).decode()
    return sound(text, len(json.loads(text)["runs"][0]["results"]))


@pytest.mark.parametrize("name", CHANGES)
def test_a_pull_request(name: str, hub: Hub) -> None:
    change = CHANGES[name]
    jobs = hub.pull_request(change, branch=BRANCH)
    assert jobs["krmfn"].result == ("success" if change.passes else "failure"), jobs["krmfn"].out
    assert jobs["comment"].result == "success", jobs["comment"].out
    check_comments(hub.service, change)
    assert change.comment in hub.summary
    errors = re.findall(r"^::error .*title=(\w+)::", jobs["krmfn"].out, re.MULTILINE)
    assert (change.finding in errors) if change.finding else errors == []
    uploaded = [log_of(sarif) for sarif in hub.service.sarifs]
    if name == "unreadable":
        assert (jobs["code-scanning"].result, uploaded) == ("failure", [])
    else:
        assert jobs["code-scanning"].result == "success", jobs["code-scanning"].out
        (run,) = uploaded
        assert {result.get("ruleId", "krmfn") for result in run["results"] if result["level"] == "error"} == set(errors)
    assert (hub.results / "report.html").exists() == (name != "unreadable")
    for job in jobs.values():
        harmless(job.out, hub.folder)


def test_what_the_report_of_an_upload_says_of_itself(hub: Hub) -> None:
    hub.pull_request(CHANGES["clean"])
    (sarif,) = hub.service.sarifs
    assert (sarif["ref"], len(sarif["commit_sha"])) == ("refs/pull/7/merge", 40)
    assert sarif["commit_sha"] == run_git(hub.repo, "rev-parse", "refs/pull/7/merge")


def test_only_the_pull_request_s_own_changes_are_told(hub: Hub) -> None:
    """main has gone on since the branch left it, and the commit that GitHub checks out is their merge.

    A warning about what main has got stands in every output, in the comment, too.
    """
    hub.pull_request(CHANGES["clean"])
    (comment,) = hub.service.comments
    about_the_change = [line for line in comment["body"].splitlines() if "[KRM605]" not in line]
    assert not any("nic" in line or "later" in line for line in about_the_change)


def test_the_comment_is_updated_in_place(hub: Hub) -> None:
    path = f"/repos/{REPOSITORY}/issues/comments/{check_updates(hub.service, hub.pull_request)}"
    changed = [(method, path) for method, path in hub.service.calls if "comments" in path]
    assert changed == [("POST", f"/repos/{REPOSITORY}/issues/7/comments"), *[("PATCH", path)] * 3]


def test_a_job_that_fails_early_leaves_no_comment_that_says_otherwise(hub: Hub) -> None:
    hub.pull_request(CHANGES["clean"])
    action = hub.repo / ".github" / "actions" / "krmfn" / "action.yaml"
    text = action.read_text().replace("    id: install\n", "", 1).replace("git init", "false; git init")
    jobs = hub.pull_request(Change({".github/actions/krmfn/action.yaml": text}, False, "", ""))
    assert (jobs["krmfn"].result, jobs["comment"].result) == ("failure", "success")
    (comment,) = hub.service.comments
    link = "[job krmfn](https://github.example.com/team/fleet/actions/runs/99)"
    assert f"That is not known: the {link}" in comment["body"]
    assert jobs["code-scanning"].result == "failure"


def test_a_pull_request_from_a_fork_writes_nothing_and_shows_all(hub: Hub) -> None:
    jobs = hub.pull_request(CHANGES["clean"], fork=True)
    assert [jobs[name].result for name in ("krmfn", "comment", "code-scanning")] == ["success", "skipped", "skipped"]
    assert hub.service.calls == []
    assert "**1 changed" in hub.summary


def test_a_push_is_checked_and_compared_with_nothing(hub: Hub) -> None:
    jobs = hub.push()
    assert [jobs[name].result for name in ("krmfn", "comment", "code-scanning")] == ["success", "skipped", "success"]
    assert len(hub.service.sarifs) == 1
    assert hub.service.sarifs[0]["ref"] == "refs/heads/main"
    assert not (hub.results / "comment.md").exists()


@pytest.mark.parametrize(
    ("status", "message", "result"),
    [
        (403, "Advanced Security must be enabled for this repository to use code scanning.", "success"),
        (403, "Code scanning is not enabled for this repository.", "success"),
        (403, "Resource not accessible by integration", "failure"),
        (500, "Server Error", "failure"),
    ],
)
def test_a_repository_without_code_scanning(status: int, message: str, result: str, hub: Hub) -> None:
    hub.service.refusal = (status, message)
    job = hub.push()["code-scanning"]
    assert job.result == result, job.out
    assert ("::notice::Code scanning is not enabled" in job.out) == (result == "success")
    assert (message in job.out) == (result == "failure")


def test_what_fails_is_an_input_of_the_action(hub: Hub) -> None:
    altered(hub.repo / ".github" / "workflows" / "krmfn.yaml", "fail-on: lost", "fail-on: warning change")
    commit(hub.repo)
    jobs = hub.pull_request(CHANGES["clean"])
    assert jobs["krmfn"].result == "failure"
    assert "(--fail-on change)" in jobs["krmfn"].out
