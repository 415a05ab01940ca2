"""Documentation that is run: the ```console blocks of README.md and of the examples.

A block is a small session at the top of the repository: a line `$ command`, then what a terminal shows of it, stdout
and stderr together. It runs in a private copy, so that a command may change files. What a block shows is rewritten
when KRMFN_UPDATE is set; the run fails nevertheless.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import REPO, environment

ENGINES = re.compile(r"\b(kustomize|kpt|podman|docker|kubectl|flux)\b")
"""Other programs: a block with one of these is for `make e2e`."""

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"^\$ ", re.MULTILINE)
_MARK = "-- end of a command --"


class Block(NamedTuple):
    """A console block of a page; `start` and `end` are where its text stands there."""

    page: Path
    number: int
    text: str
    start: int
    end: int

    @property
    def id(self) -> str:
        return f"{self.page.relative_to(REPO)}-{self.number}"

    @property
    def commands(self) -> list[str]:
        """The commands, a continued one with its further lines."""
        return [_command(part) for part in _LINE.split(self.text)[1:]]

    @property
    def is_e2e(self) -> bool:
        """True when another program than ours is needed."""
        return any(ENGINES.search(command) for command in self.commands)


def pages() -> list[Path]:
    """README.md and the README of every example and function."""
    found = [
        REPO / "README.md",
        *sorted(REPO.glob("examples/*/README.md")),
        *sorted(REPO.glob("functions/*/README.md")),
    ]
    assert len(found) > 1
    return found


def blocks(e2e: bool) -> list[Block]:
    """The console blocks of all pages that need other programs, or those that need none."""
    found = [block for page in pages() for block in _blocks(page) if block.is_e2e == e2e]
    assert found
    return found


def _blocks(page: Path) -> Iterator[Block]:
    for number, match in enumerate(_BLOCK.finditer(page.read_text())):
        yield Block(page, number, match[1], match.start(1), match.end(1))


def check(block: Block, folder: Path, env: dict[str, str] | None = None) -> None:
    """Run a block in a copy of the repository's examples below `folder`, and compare what it shows."""
    shown = _session(block.commands, _copy(folder), env or environment())
    if shown == block.text:
        return
    if os.environ.get("KRMFN_UPDATE"):
        text = block.page.read_text()
        page = next(one for one in _blocks(block.page) if one.number == block.number)  # earlier ones may have changed
        block.page.write_text(text[: page.start] + shown + text[page.end :])
        pytest.fail("rewritten; read the difference, then run again", pytrace=False)
    assert shown == block.text, block.id


def _command(part: str) -> str:
    lines = part.splitlines()
    count = 1
    while lines[count - 1].endswith("\\"):
        count += 1
    return "\n".join(lines[:count])


def _copy(folder: Path) -> Path:
    """The parts of the repository that a reader is sent to."""
    for name in ("examples", "gitops"):
        shutil.copytree(REPO / name, folder / name, dirs_exist_ok=True)
    return folder


def _session(commands: list[str], folder: Path, env: dict[str, str]) -> str:
    """What a terminal shows: every command after its `$ `, then its output."""
    lines = [f"{command}\nset -- $?; echo '{_MARK}'; (exit $1)" for command in commands]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    parts = done.stdout.split(f"{_MARK}\n")
    assert len(parts) == len(commands) + 1, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    shown = (f"$ {command}\n{part}" for command, part in zip(commands, parts[:-1], strict=True))
    return "".join(shown)
