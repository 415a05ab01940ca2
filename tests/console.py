"""Sessions of the documentation: commands that are run in a private copy of what a reader is sent to.

What a block shows is rewritten when KRMFN_UPDATE is set; the run fails nevertheless.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pytest

from tests import warm
from tests.commands import COMMANDS, HANGS, ROOT, environment, execute
from tests.pages import Block, files, parse

_MARK = "-- end of a command --"
_PLAIN = re.compile(r"krmfn(?: [\w./=:@,+%-]+)*")
"""A command that a shell would only start: it needs none, and no new process."""
_KEPT = re.compile(r"\bcd\b|^\w+=|^export\b")
"""What one shell has to remember for the next command; the exit code is handed on."""


def check(block: Block, folder: Path, env: dict[str, str] | None = None) -> None:
    """Run a block in a copy of the examples below `folder`; a session shows what it says, other commands succeed."""
    _prepare(block.page, folder)
    if block.language == "sh":
        codes, output = _run([f"(\nset -e\n{block.text})"], folder, env or environment())
        assert codes == [0], output
        return
    _, output = _run(block.commands, folder, env or environment())
    rewritten_unless(block, output)


def rewritten_unless(block: Block, expected: str) -> None:
    """Fail unless a block has this text; rewrite it first when KRMFN_UPDATE is set."""
    if block.text != expected and os.environ.get("KRMFN_UPDATE"):
        text = block.page.read_text()
        now = next(twin for twin in parse(block.page, text) if twin.number == block.number)  # others may be longer
        block.page.write_text(text[: now.start] + expected + text[now.end :])
        pytest.fail("rewritten; read the difference, then run again", pytrace=False)
    assert block.text == expected, block.id


def _prepare(page: Path, folder: Path) -> None:
    """Copy what a reader is sent to, and write the files that the page itself shows."""
    for name in ("examples", "gitops", "docs/incidents"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    for name, text in files(page).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _run(commands: list[str], folder: Path, env: dict[str, str]) -> tuple[list[int], str]:
    """Return the exit codes, and what a terminal shows: every command after its `$ `, then its output."""
    is_one = any(_KEPT.search(command) for command in commands)
    codes, text = [0], ""
    for is_plain, group in groupby(commands, lambda command: not is_one and bool(_PLAIN.fullmatch(command))):
        run = _started if is_plain else _in_a_shell
        ended, shown = run([*group], codes[-1], folder, env)
        codes += ended
        text += shown
    return codes[1:], text


def _started(commands: Sequence[str], _: int, folder: Path, env: dict[str, str]) -> tuple[list[int], str]:
    """Run commands that are words only."""
    codes, shown = [], ""
    for command in commands:
        program, *args = command.split()
        ended = warm.run([str(COMMANDS / program), *args], b"", folder, env, HANGS, together=True)
        codes.append(ended.code)
        shown += f"$ {command}\n{ended.out.decode()}"
    assert "Traceback" not in shown, shown
    return codes, shown


def _in_a_shell(commands: Sequence[str], before: int, folder: Path, env: dict[str, str]) -> tuple[list[int], str]:
    """Run commands by one shell, which knows the exit code of the command before them."""
    lines = [f"{command}\nset -- $?; echo '{_MARK}'$1; (exit $1)" for command in commands]
    lines.insert(0, f"(exit {before})")
    text = execute("bash", "-c", "\n".join(lines), cwd=folder, env=env, together=True).text
    first, *rest = text.split(_MARK)
    codes, outputs = [], [first]
    for part in rest:
        code, _, output = part.partition("\n")
        codes.append(int(code))
        outputs.append(output)
    assert len(codes) == len(commands), text
    assert "Traceback" not in text, text
    return codes, "".join(f"$ {command}\n{output}" for command, output in zip(commands, outputs, strict=False))
