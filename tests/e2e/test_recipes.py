"""The patches in docs/architecture.md: each applies, is complete, and touches no more of the product than it may.

A patch is a diff block with a comment above it:

    <!-- patch: a lint
    then: python tools/rules.py
    tests: tests/functions/commands/test_rule_examples.py -k KRM219
    also: tests/functions/kmm/lints
    -->

It is applied to a copy of the working tree; `then` makes the generated files anew. `tests` is what pytest runs in the
copy: it fails, or finds no test, without the product's part of the patch, and passes with it. `also` passes with it.

A patch that no longer applies is made anew: change the tree, then `git diff -U1 | grep -v '^index '`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import COMMANDS, ROOT
from tests.pages import blocks

PAGE = ROOT / "docs" / "architecture.md"
LIMITS = {"a lint": 1, "a field": 2, "an output format": 1, "a KMM version": 2, "a command": 3}
"""How many files of the product each patch may touch; what tools generate does not count."""
GENERATED = ("docs/rules.md", "functions/rendering/advice.json", "docs/fields.md", "schemas/")
TESTS = "tests/*"
NO_TESTS = 5
"""pytest's exit code when no test is selected."""


class Patch(NamedTuple):
    """A patch of the page."""

    name: str
    then: list[str]
    """The commands that make the generated files."""
    tests: list[str]
    """The arguments of pytest for what the patch adds."""
    also: list[str]
    """The arguments of pytest for what has to stay right."""
    diff: str

    @property
    def files(self) -> list[str]:
        return re.findall(r"^\+\+\+ b/(.+)$", self.diff, re.MULTILINE)


def patches() -> list[Patch]:
    """Every patch of the page, in its order."""
    recipes = [_patch(block.note, block.text) for block in blocks(PAGE) if block.language == "diff"]
    assert recipes
    return recipes


def _patch(note: str, diff: str) -> Patch:
    values: dict[str, list[str]] = {"then": [], "also": []}
    for key, _, value in (line.partition(":") for line in note.splitlines()):
        values.setdefault(key.strip(), []).append(value.strip())
    (name,), (tests,) = values.pop("patch"), values.pop("tests")
    assert set(values) == {"then", "also"}, note
    return Patch(name, values["then"], shlex.split(tests), shlex.split(" ".join(values["also"])), diff)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the working tree: what Git tracks, and new files that it does not ignore."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    folder = tmp_path / "copy"
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    packages = folder / ".packages"  # before the editable install, which leads to the working tree
    packages.mkdir()
    (packages / "krmfn").symlink_to("../krmfn")
    (packages / "krmfn_functions").symlink_to("../functions")
    return folder


def run(folder: Path, *command: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in the copy, with the copy's packages."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("KRMFN_", "PYTEST_"))}
    path = os.pathsep.join([str(COMMANDS), os.environ["PATH"]])
    env = {**kept, "PATH": path, "PYTHONPATH": str(folder / ".packages"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=folder, env=env, input=stdin, capture_output=True, text=True, timeout=300, check=False
    )


def test_every_patch_has_a_limit() -> None:
    names = [patch.name for patch in patches()]
    assert len(names) == len(set(names))
    assert set(names) <= set(LIMITS)


@pytest.mark.parametrize("patch", patches(), ids=lambda patch: patch.name)
def test_a_patch_applies_and_is_complete(patch: Patch, copy: Path) -> None:
    touched = [name for name in patch.files if not name.startswith(("tests/", *GENERATED))]
    assert 0 < len(touched) <= LIMITS[patch.name], touched
    assert not [name for name in patch.files if name.startswith(GENERATED)], "a tool makes these: name it in `then`"
    where = run(copy, sys.executable, "-c", "import krmfn, krmfn_functions as f; print(krmfn.__file__, f.__file__)")
    assert where.stdout.count(str(copy)) == 2, where.stdout + where.stderr

    apply(copy, patch, f"--include={TESTS}")
    without = pytest_in(copy, patch.tests)
    assert without.returncode in (1, NO_TESTS), f"no test needs the patch:\n{without.stdout}{without.stderr}"

    apply(copy, patch, f"--exclude={TESTS}")
    for command in patch.then:
        done = run(copy, *shlex.split(command))
        assert done.returncode == 0, done.stderr
    for tests in filter(None, (patch.tests, patch.also)):
        done = pytest_in(copy, tests)
        assert done.returncode == 0, done.stdout
    for check in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = run(copy, *check, *(name for name in patch.files if name.endswith(".py")))
        assert done.returncode == 0, done.stdout


def pytest_in(folder: Path, args: list[str]) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *args)


def apply(folder: Path, patch: Patch, option: str) -> None:
    """Apply the part of a patch that the option selects; it may be empty."""
    done = run(folder, "git", "apply", "--allow-empty", option, "-", stdin=patch.diff)
    assert done.returncode == 0, f"refresh the patch `{patch.name}` in {PAGE.name}:\n{done.stderr}"
