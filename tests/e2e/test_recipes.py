"""The patches in docs/internals/architecture.md: each applies, is complete, and touches only what it may.

A patch is a diff block with the comment `<!-- patch: a lint -->`, and the block above it has the commands:

    python tools/rules.py
    pytest tests/functions/commands/test_rule_examples.py -k KRM219
    pytest tests/functions/kmm/lints

It is applied to a copy of the working tree; what comes before pytest makes the generated files anew. The first pytest
fails in the copy, or finds no test, without the product's part of the patch, and passes with it; so does the second.

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

from tests.commands import COMMANDS, HANGS, ROOT, Done, execute
from tests.pages import Block, blocks
from tests.trees import plant

PAGE = ROOT / "docs" / "internals" / "architecture.md"
LIMITS = {"a lint": 1, "a field": 2, "an output format": 2, "a KMM version": 3, "a command": 3}
"""How many files of the product each patch may touch; what tools generate does not count."""
GENERATED = ("docs/reference/rules/", "functions/rendering/advice.json", "docs/reference/fields.md", "schemas/")
TESTS = "tests/*"
NO_TESTS = 5
"""pytest's exit code when no test is selected."""


class Patch(NamedTuple):
    """A patch of the page."""

    name: str
    then: list[str]
    """The commands that make the generated files."""
    tests: str
    """The arguments of pytest for what the patch adds."""
    also: str
    """The arguments of pytest for what has to stay right."""
    diff: str

    @property
    def files(self) -> list[str]:
        return re.findall(r"^\+\+\+ b/(.+)$", self.diff, re.MULTILINE)


def patches() -> list[Patch]:
    """Every patch of the page, in its order."""
    of_page = blocks(PAGE)
    recipes = [_patch(block, of_page[block.number - 1]) for block in of_page if block.language == "diff"]
    assert recipes
    return recipes


def _patch(block: Block, commands: Block) -> Patch:
    assert block.note.startswith("patch: ") and commands.language == "sh", block.note
    then, *tests = commands.text.split("pytest ")
    first, second = map(str.strip, tests)
    return Patch(block.note.removeprefix("patch: "), then.splitlines(), first, second, block.text)


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
    for words in ("init -q", "add -A"):  # tests ask Git which files there are
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    packages = folder / ".packages"  # before the editable install, which leads to the working tree
    packages.mkdir()
    plant(packages, {"krmfn": "-> ../krmfn", "krmfn_functions": "-> ../functions"})
    return folder


def run(folder: Path, *command: str, stdin: str = "") -> Done:
    """Run a command in the copy, with the copy's packages."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("KRMFN_", "PYTEST_"))}
    path = os.pathsep.join([str(COMMANDS), os.environ["PATH"]])
    env = {**kept, "PATH": path, "PYTHONPATH": str(folder / ".packages"), "PYTHONDONTWRITEBYTECODE": "1"}
    return execute(*command, cwd=folder, env=env, stdin=stdin.encode(), timeout=3 * HANGS)


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
    assert where.text.count(str(copy)) == 2, where

    apply(copy, patch, f"--include={TESTS}")
    without = pytest_in(copy, patch.tests)
    assert without.code in (1, NO_TESTS), f"no test needs the patch:\n{without.text}{without.err}"

    apply(copy, patch, f"--exclude={TESTS}")
    for command in patch.then:
        run(copy, *shlex.split(command)).ended(0)
    for tests in (patch.tests, patch.also):
        pytest_in(copy, tests).ended(0)
    for check in (["ruff", "check"], ["ruff", "format", "--check"]):
        run(copy, *check, *(name for name in patch.files if name.endswith(".py"))).ended(0)


def pytest_in(folder: Path, args: str) -> Done:
    options = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist")
    return run(folder, sys.executable, "-m", "pytest", *options, *shlex.split(args))


def apply(folder: Path, patch: Patch, option: str) -> None:
    """Apply the part of a patch that the option selects; it may be empty."""
    done = run(folder, "git", "apply", "--allow-empty", option, "-", stdin=patch.diff)
    assert done.code == 0, f"refresh the patch `{patch.name}` in {PAGE.name}:\n{done.err}"
