"""Sessions of the documentation: commands that are run in a private copy of what a reader is sent to.

What a block shows is rewritten when KRMFN_UPDATE is set; the run fails nevertheless.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.commands import ROOT, environment, execute
from tests.pages import Block, files, parse

_MARK = "-- end of a command --"


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
    lines = [f"{command}\nset -- $?; echo '{_MARK}'$1; (exit $1)" for command in commands]
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
