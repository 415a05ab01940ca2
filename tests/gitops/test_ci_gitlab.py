"""The recipe for GitLab: its jobs, run on merge requests; tests/e2e/test_ci_recipes.py installs krmfn as it says."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from krmfn_functions.commands.ci import FILES

from tests.commands import ROOT, environment, execute
from tests.functions.comparing.test_base import run_git
from tests.functions.formats.test_ci import entries

from .ci_server import Service, serving
from .pull_requests import BRANCH, CHANGES, Change, base, check_comments, check_updates, harmless, propose

RECIPE = ROOT / "gitops" / "ci" / "gitlab"
NOTES = "/api/v4/projects/5/merge_requests/7/notes"


class Done(NamedTuple):
    """The two jobs of a pipeline: exit codes and logs; `folder` is where the first one worked."""

    codes: tuple[int, int | None]
    logs: tuple[str, str]
    folder: Path


class Lab:
    """A project on GitLab: proposes changes, and runs the pipeline of each."""

    def __init__(self, folder: Path, service: Service) -> None:
        self.repo = base(folder / "fleet", RECIPE)
        self.folder, self.service, self.runs = folder, service, 0

    def merge_request(
        self, change: Change, branch: str = "next", token: str = "secret", merged_results: bool = False
    ) -> Done:
        """Run a pipeline for the head of a merge request, or for what merging it would make."""
        head, merged = propose(self.repo, change, branch)
        known = {
            "CI_PIPELINE_SOURCE": "merge_request_event",
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "5",
            "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": branch,
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": run_git(self.repo, "merge-base", head, "main"),
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": run_git(self.repo, "rev-parse", "main") if merged_results else "",
            "KRMFN_TOKEN": token,
        }
        return self.run(merged if merged_results else head, known)

    def run(self, commit: str, known: Mapping[str, str]) -> Done:
        """Run the jobs that the rules select, one after the other, each in its own folder."""
        self.runs += 1
        folder = self.folder / f"run-{self.runs}"
        work = folder / "krmfn"
        folder.mkdir()
        run_git(folder, "clone", "--quiet", f"file://{self.repo}", "krmfn")
        run_git(work, "fetch", "--quiet", "origin", "refs/pull/*:refs/pull/*")
        run_git(work, "checkout", "--quiet", "--detach", commit)
        recipe = yaml.safe_load((work / ".gitlab-ci.yml").read_text())
        known = {
            "CI_API_V4_URL": f"{self.service.url}/api/v4",
            "CI_COMMIT_SHA": commit,
            "CI_DEFAULT_BRANCH": "main",
            "CI_PIPELINE_URL": "https://gitlab.example.com/p/99",
            **known,
        }
        code, log = job(recipe, "krmfn", work, known)
        if not (known.get("CI_PIPELINE_SOURCE") == "merge_request_event" and known.get("KRMFN_TOKEN")):
            return Done((code, None), (log, ""), work)
        note = folder / "note"
        note.mkdir()
        for path in recipe["krmfn"]["artifacts"]["paths"]:
            if (work / path).exists():
                shutil.copytree(work / path, note / path)
        noted, note_log = job(recipe, "krmfn-note", note, known)
        return Done((code, noted), (log, note_log), work)


def job(recipe: Mapping[str, Any], name: str, work: Path, known: Mapping[str, str]) -> tuple[int, str]:
    """Run the script of a job as GitLab's runner does: line after line in one bash."""
    variables = {**recipe["variables"], **recipe[name].get("variables", {})}
    lines = "\n".join(recipe[name]["script"])
    lines = lines.replace("/tmp/note.py", str(work / "note.py"))  # other tests run beside this one
    env = environment(**{key: str(value) for key, value in variables.items()}, **known)
    done = execute("bash", "-eo", "pipefail", "-c", lines, cwd=work, env=env, together=True)
    return done.code, done.text


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    with serving(Service()) as service:
        yield Lab(tmp_path, service)


@pytest.mark.parametrize("name", CHANGES)
def test_a_merge_request(name: str, lab: Lab) -> None:
    change = CHANGES[name]
    done = lab.merge_request(change, branch=BRANCH)
    assert done.codes == (2 if name == "unreadable" else int(not change.passes), 0), done.logs
    check_comments(lab.service, change)
    report = done.folder / ".krmfn" / "codequality.json"
    if name == "unreadable":
        assert not report.exists()
    else:
        rules = {entry["check_name"] for entry in entries(report.read_text()) if entry["severity"] == "critical"}
        assert rules == ({change.finding} if change.finding else set())
    assert change.finding == "krmfn" or change.finding in done.logs[0]
    assert (done.folder / ".krmfn" / "report.html").exists() == (name != "unreadable")
    for log in done.logs:
        harmless(log, lab.folder)
        assert not re.search(r"^section_(start|end):", log, re.MULTILINE)


def test_what_would_be_merged_is_compared_with_the_target(lab: Lab) -> None:
    done = lab.merge_request(CHANGES["clean"], merged_results=True)
    assert done.codes == (0, 0), done.logs
    (note,) = lab.service.comments
    assert "**1 changed" in note["body"]
    about_the_change = [line for line in note["body"].splitlines() if "[KRM605]" not in line]
    assert not any("later" in line for line in about_the_change), "main has it since the branch left"


def test_the_note_is_updated_in_place(lab: Lab) -> None:
    number = check_updates(lab.service, lab.merge_request)
    assert lab.service.calls == [("POST", NOTES), *[("PUT", f"{NOTES}/{number}")] * 3]


def test_a_job_that_fails_early_leaves_no_note_that_says_otherwise(lab: Lab) -> None:
    lab.merge_request(CHANGES["clean"])
    text = (lab.repo / ".gitlab-ci.yml").read_text().replace("krmfn ci ", "false ")
    done = lab.merge_request(Change({".gitlab-ci.yml": text}, False, "", ""))
    assert done.codes == (1, 0), done.logs
    (note,) = lab.service.comments
    assert "That is not known: the [job krmfn](https://gitlab.example.com/p/99) failed." in note["body"]


def test_without_a_token_there_is_no_note(lab: Lab) -> None:
    """As in the pipeline of a fork, which runs in the fork's own project."""
    done = lab.merge_request(CHANGES["clean"], token="")
    assert done.codes == (0, None)
    assert "**1 changed" in (done.folder / ".krmfn" / "comment.md").read_text()


def test_a_token_that_may_not_write_is_said(lab: Lab) -> None:
    lab.service.refusal = (403, "insufficient_scope")
    done = lab.merge_request(CHANGES["clean"])
    assert done.codes == (0, 1)
    assert ": 403 Forbidden; KRMFN_TOKEN has to be a project access token" in done.logs[1]
    assert "secret" not in done.logs[1]


def test_the_default_branch_is_checked_and_compared_with_nothing(lab: Lab) -> None:
    done = lab.run(run_git(lab.repo, "rev-parse", "main"), {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main"})
    assert done.codes == (0, None)
    assert {path.name for path in (done.folder / ".krmfn").iterdir()} == {*FILES} - {"comment.md"}
    assert json.loads((done.folder / ".krmfn" / "codequality.json").read_text()) == []


def test_the_rules_of_the_jobs() -> None:
    recipe = yaml.safe_load((RECIPE / ".gitlab-ci.yml").read_text())
    merge_request = '$CI_PIPELINE_SOURCE == "merge_request_event"'
    assert recipe["krmfn"]["rules"] == [{"if": merge_request}, {"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    assert recipe["krmfn-note"]["rules"] == [{"if": f"{merge_request} && $KRMFN_TOKEN", "when": "always"}]
    assert recipe["krmfn"]["variables"]["GIT_DEPTH"] == "0"
    assert recipe["krmfn-note"]["variables"]["GIT_STRATEGY"] == "none", "nothing of the merge request is cloned"
    assert recipe["krmfn"]["before_script"][0] == "unset KRMFN_TOKEN"


def test_what_fails_is_a_variable(lab: Lab) -> None:
    text = (RECIPE / ".gitlab-ci.yml").read_text().replace("KRMFN_FAIL_ON: lost", "KRMFN_FAIL_ON: warning change")
    change = CHANGES["clean"]
    done = lab.merge_request(change._replace(files={**change.files, ".gitlab-ci.yml": text}))
    assert done.codes == (1, 0)
    assert "(--fail-on change)" in done.logs[0]
