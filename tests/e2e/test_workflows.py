"""This repository's own workflows: what zizmor and actionlint say, the targets they call, and the base they ask for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.commands import ROOT
from tests.trees import plant

from .engines import find, must, path_of, run

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RECIPES = sorted((ROOT / "gitops" / "ci" / "github").rglob("*.yaml"))
"""The workflows and the action that users copy."""
RELEASE = ROOT / ".github" / "workflows" / "release.yml"


@pytest.fixture(scope="module")
def zizmor() -> Path:
    """The zizmor of requirements/release.txt."""
    must("make", ".venv/release/.ready", cwd=ROOT, timeout=600)
    return ROOT / ".venv" / "release" / "bin" / "zizmor"


def test_there_are_three() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "fuzz.yml", "release.yml"]


def test_zizmor_has_nothing_to_say(zizmor: Path, tmp_path: Path) -> None:
    options = ("--offline", "--no-config", "--persona", "pedantic")
    done = run(zizmor, *options, *WORKFLOWS).ended(0)
    done = run(zizmor, *options[:2], *RECIPES)
    assert len(RECIPES) == 3 and done.code == 0, done.out.decode() + done.err
    bad = tmp_path / "bad.yml"  # it does read them
    bad.write_text(re.sub(r"@[0-9a-f]{40}", "@main", RELEASE.read_text()))
    assert run(zizmor, *options, bad).code != 0


def test_actionlint_has_nothing_to_say(tmp_path: Path) -> None:
    actionlint = find("actionlint", "tests/e2e/install makes it with go")
    run(actionlint, *WORKFLOWS, *(path for path in RECIPES if path.parent.name == "workflows")).ended(0)
    bad = tmp_path / "bad.yml"
    bad.write_text(RELEASE.read_text().replace("vars.BASE", "varz.BASE"))
    assert run(actionlint, bad).code != 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_targets_that_they_call_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    runs = "\n".join(re.findall(r"(?m)^ *(?:run: |)(?:sudo .*)?(make .*)$", path.read_text()))
    called = {word for line in runs.splitlines() for word in line.split()[1:] if re.fullmatch(r"[a-z][a-z-]*", word)}
    assert called <= targets
    assert called or path.stem == "ci"


@pytest.mark.parametrize(
    ("base", "stops"),
    [
        ("", True),
        ("docker.io/library/python:3.13", True),
        ("python@sha256:abc", True),
        ("python@sha256:" + "a" * 64, False),
        ("python@sha256:" + "a" * 64 + "\nx", True),
    ],
)
def test_nothing_is_made_without_a_base_by_its_digest(base: str, stops: bool, tmp_path: Path) -> None:
    """What comes after is not run: `sudo` here says that it would be."""
    steps = yaml.safe_load(RELEASE.read_text())["jobs"]["make"]["steps"]
    [script] = [step["run"] for step in steps if "BASE" in step.get("env", ())]
    plant(tmp_path, {"sudo": "#!/bin/sh\necho reached; exit 7\n"})
    mine = path_of(tmp_path) | {"BASE": base, "OWNER": "Team"}
    done = run("bash", "-e", "-o", "pipefail", "-c", script, cwd=tmp_path, env=mine).ended(1 if stops else 7)
    assert ("reached" not in done.text) == stops
    assert ("::error::" in done.text) == stops
