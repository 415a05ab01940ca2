"""The contributors' hook: a commit that ruff refuses is not made, and one without a fault is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.commands import ROOT

HOOK = "tools/hooks/pre-commit"


@pytest.mark.parametrize("code", [0, 1])
def test_a_commit_waits_for_the_checks(code: int, tmp_path: Path) -> None:
    hook, programs = tmp_path / HOOK, tmp_path / ".venv/bin"
    hook.parent.mkdir(parents=True)
    shutil.copy(ROOT / HOOK, hook)
    programs.mkdir(parents=True)
    for name, answer in (("ruff", code), ("pytest", 0)):
        (programs / name).write_text(f"#!/bin/sh\necho {name} ran >&2; exit {answer}\n")
        (programs / name).chmod(0o755)
    target = next(line for line in (ROOT / "Makefile").read_text().splitlines() if "core.hooksPath" in line)
    for command in (["git", "init", "-q"], target.split(), ["git", "add", "."]):
        subprocess.run(command, cwd=tmp_path, check=True)
    author = ["-c", "user.name=me", "-c", "user.email=me@example.com"]
    done = subprocess.run(
        ["git", *author, "commit", "-m", "a"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert bool(done.returncode) is bool(code), done.stderr
    assert ("pytest ran" in done.stderr) is (code == 0), done.stderr


def test_what_the_hook_calls_is_there() -> None:
    words = (ROOT / HOOK).read_text().split()
    assert [word for word in words if word.startswith("tests/") and not (ROOT / word).is_file()] == []
