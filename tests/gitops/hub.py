"""A repository on GitHub, whose workflow runs for each pull request that a test makes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.commands import COMMANDS, ROOT, environment
from tests.functions.comparing.test_base import run_git
from tests.trees import plant

from .ci_server import Service
from .github_runner import Job, Runner
from .pull_requests import Change, base, propose

RECIPE = ROOT / "gitops" / "ci" / "github"
REPOSITORY = "team/fleet"


def fleet(folder: Path) -> Path:
    """A repository of configs with the recipe, as a person copies it."""
    (folder / "recipe").mkdir()
    shutil.copytree(RECIPE, folder / "recipe" / ".github")
    return base(folder / "fleet", folder / "recipe")


class Hub:
    """A repository on GitHub: proposes changes, and runs the workflow of each."""

    def __init__(self, repo: Path, service: Service, folder: Path, gh: str = "") -> None:
        """`gh` is the real one; without it there is a stand-in."""
        self.repo, self.service, self.folder, self.runs = repo, service, folder, 0
        self.programs = folder / "programs"
        self.programs.mkdir()
        command = gh or f"{sys.executable} -IS {Path(__file__).with_name('standin.py')}"
        plant(self.programs, {"gh": f'#!/bin/sh\nexec {command} "$@"\n'})

    def pull_request(self, change: Change, fork: bool = False, branch: str = "next", **options: Any) -> dict[str, Job]:
        head, merged = propose(self.repo, change, branch)
        owner = {"repo": {"full_name": "somebody/fleet" if fork else REPOSITORY}, "sha": head, "ref": branch}
        event = {"pull_request": {"number": 7, "head": owner}}
        known = {"event_name": "pull_request", "event": event, "base_ref": "main", "head_ref": branch}
        return self.run("refs/pull/7/merge", merged, known, **options)

    def push(self) -> dict[str, Job]:
        known = {"event_name": "push", "event": {}, "base_ref": "", "head_ref": ""}
        return self.run("refs/heads/main", run_git(self.repo, "rev-parse", "main"), known)

    def run(self, ref: str, sha: str, known: dict[str, Any], install: bool = False) -> dict[str, Job]:
        self.runs += 1
        folder = self.folder / f"run-{self.runs}"
        env = environment(
            **{f"GITHUB_{key}": value for key, value in (("REPOSITORY", REPOSITORY), ("REF", ref), ("SHA", sha))},
            GITHUB_SERVER_URL="https://github.example.com",
            GITHUB_RUN_ID="99",
            GH_HOST="github.localhost",
            HOME=str(self.folder),
            http_proxy=self.service.url,
            no_proxy="",
        )
        env["PATH"] = os.pathsep.join([str(self.programs), env["PATH"]])
        if install:
            env["PATH"] = os.pathsep.join(path for path in env["PATH"].split(os.pathsep) if path != str(COMMANDS))
            del env["http_proxy"]
        context = {**known, "repository": REPOSITORY, "ref": ref, "sha": sha, "token": "secret"}
        without = frozenset() if install else frozenset({"install"})
        runner = Runner(folder, self.repo, ref, context, env, without)
        workflow = yaml.safe_load((self.repo / ".github" / "workflows" / "krmfn.yaml").read_text())
        jobs = runner.run(workflow)
        self.summary = (folder / "krmfn" / "github_step_summary").read_text()
        self.results = folder / "krmfn" / "temp" / "krmfn-results"
        return jobs
