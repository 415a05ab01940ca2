"""The CI recipes with the real gh, krmfn installed as they say, and GitHub's workflow read by actionlint.

tests/gitops/test_ci_github.py and test_ci_gitlab.py run the same recipes on every kind of change.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.commands import COMMANDS, Done, environment, execute
from tests.functions.comparing.test_base import commit, run_git
from tests.gitops.ci_server import Service, serving
from tests.gitops.hub import REPOSITORY, Hub, fleet
from tests.gitops.pull_requests import BRANCH, CHANGES, harmless, inert, snapshot
from tests.gitops.test_ci_gitlab import RECIPE as GITLAB
from tests.trees import altered

from .engines import find, must, run

DEBIAN = "tests/e2e/install takes it from a Debian package"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Hub]:
    gh = find("gh", DEBIAN)
    with serving(Service()) as service:
        yield Hub(fleet(tmp_path), service, tmp_path, gh)


def test_the_real_gh_writes_the_comment_once_and_anew(hub: Hub) -> None:
    hub.service.add("<!-- krmfn diff -->\nnot ours", "somebody", 1)
    hub.service.add("first", "somebody", 1)
    hub.service.add("of another workflow")
    for name in ("clean", "hostile", "nothing"):
        jobs = hub.pull_request(CHANGES[name], branch=BRANCH)
        assert [job.result for job in jobs.values()] == ["success"] * 3, [job.out for job in jobs.values()]
        inert(hub.service.comments[3]["body"])
        for job in jobs.values():
            harmless(job.out, hub.folder)
    comments = [(method, path) for method, path in hub.service.calls if "comments" in path]
    number = f"/repos/{REPOSITORY}/issues/comments/{hub.service.comments[3]['id']}"
    assert comments == [("POST", f"/repos/{REPOSITORY}/issues/7/comments"), *[("PATCH", number)] * 2]
    assert len(hub.service.comments) == 4
    assert len(hub.service.sarifs) == 3
    assert hub.service.sarifs[2]["commit_sha"] == run_git(hub.repo, "rev-parse", "refs/pull/7/merge")


@pytest.mark.parametrize(("message", "result"), [("Code scanning is not enabled", "success"), ("No", "failure")])
def test_what_the_real_gh_says_of_a_refusal(message: str, result: str, hub: Hub) -> None:
    hub.service.refusal = (403, message)
    job = hub.push()["code-scanning"]
    assert job.result == result, job.out


def filled_in(path: Path, source: Path) -> None:
    """Write the repository and the commit of krmfn into a recipe, as a person does."""
    text = path.read_text()
    for old, new in (
        ("https://git.example.com/krmfn", f"file://{source}"),
        ("0" * 40, run_git(source, "rev-parse", "HEAD")),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    path.write_text(text)


def test_github_installs_from_the_repository_and_a_commit_alone(hub: Hub, tmp_path: Path) -> None:
    filled_in(hub.repo / ".github" / "workflows" / "krmfn.yaml", snapshot(tmp_path / "source"))
    commit(hub.repo)
    jobs = hub.pull_request(CHANGES["clean"], fork=True, install=True)
    assert jobs["krmfn"].result == "success", jobs["krmfn"].out
    assert "**1 changed" in hub.summary


def test_gitlab_installs_from_the_repository_and_a_commit_alone(tmp_path: Path) -> None:
    """With a kustomize of a given digest; another one is refused."""
    archive = tmp_path / "kustomize.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(find("kustomize", "tests/e2e/install makes it with go"), "kustomize")
    recipe = tmp_path / "recipe.yml"
    recipe.write_text((GITLAB / ".gitlab-ci.yml").read_text())
    filled_in(recipe, snapshot(tmp_path / "source"))
    read = yaml.safe_load(recipe.read_text())
    env = environment(
        **{key: str(value) for key, value in read["variables"].items()} | {"KUSTOMIZE": f"file://{archive}"},
        TOOLS=str(tmp_path / "tools"),
    )
    env["PATH"] = os.pathsep.join(path for path in env["PATH"].split(os.pathsep) if path != str(COMMANDS))
    script = "\n".join([*read["krmfn"]["before_script"], "type -p krmfn kustomize; krmfn check /dev/null || true"])
    assert "kustomize.tar.gz: FAILED" in bash(script, env).ended(1).text
    env["KUSTOMIZE_SHA256"] = hashlib.sha256(archive.read_bytes()).hexdigest()
    done = bash(script, env).ended(0)
    assert done.text.splitlines()[:2] == [str(tmp_path / f"tools/bin/{name}") for name in ("krmfn", "kustomize")]


def bash(script: str, env: dict[str, str]) -> Done:
    return execute("bash", "-eo", "pipefail", "-c", script, env=env, timeout=600, together=True)


def test_actionlint_has_nothing_to_say(hub: Hub) -> None:
    """With shellcheck, which reads the commands; both have something to say of a workflow that is wrong."""
    actionlint = find("actionlint", "tests/e2e/install makes it with go")
    shellcheck = find("shellcheck", DEBIAN)
    must(actionlint, "-shellcheck", shellcheck, cwd=hub.repo)
    altered(hub.repo / ".github" / "workflows" / "krmfn.yaml", 'cat "$RUNNER_TEMP/answer"', "cat $RUNNER_TEMP/answer")
    assert "SC2086" in run(actionlint, "-shellcheck", shellcheck, cwd=hub.repo).ended(1).text


def test_zizmor_has_nothing_to_say(hub: Hub) -> None:
    """Of workflow and action; it has of one that fills a stranger's text into a command."""
    zizmor = [find("zizmor", "tests/e2e/install makes it with pip"), "--offline", "--quiet", "--format", "json"]
    assert json.loads(must(*zizmor, ".", cwd=hub.repo)) == []
    altered(hub.repo / ".github" / "workflows" / "krmfn.yaml", "$NUMBER", "${{ github.head_ref }}")
    assert [finding["ident"] for finding in json.loads(run(*zizmor, ".", cwd=hub.repo).out)] == ["template-injection"]


def test_shellcheck_has_nothing_to_say_of_the_other_commands(hub: Hub, tmp_path: Path) -> None:
    """Of the action, which actionlint does not read, and of GitLab's jobs."""
    action = yaml.safe_load((hub.repo / ".github" / "actions" / "krmfn" / "action.yaml").read_text())
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    recipe = yaml.safe_load((GITLAB / ".gitlab-ci.yml").read_text())
    for name in ("krmfn", "krmfn-note"):
        scripts.append("\n".join([*recipe[name].get("before_script", []), *recipe[name]["script"]]))
    assert len(scripts) == 6
    for number, script in enumerate(scripts):
        file = tmp_path / f"{number}.sh"
        file.write_text(script)
        must(find("shellcheck", DEBIAN), "--shell", "bash", file)
