"""The documentation as pages of fenced blocks. The language of a block says how a test holds it:

console  a session: `$ command`, then what a terminal shows of it; run, and the output compared
sh       commands; run, and each has to succeed
python   a file, named in its first line (`# team.py`), that a session of the page runs
yaml     parsed; our resources fit their schemas; a named one is that file of the repository, or one for the sessions
diff     a patch of the repository; applied to a copy, whose tests are run (e2e/test_recipes.py)
text     a picture; held by reading

A block that cannot be run in a test has the comment `<!-- not run: the reason -->` above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.commands import ROOT

LANGUAGES = ("console", "sh", "python", "yaml", "diff", "text")
ROOMS = ("*", "docs/**/*", "examples/*", "examples/*/*", "functions/**/*", "gitops/*", "benchmark/*", "tests/*/*")
"""Where pages are; each has one at least."""

ENGINES = re.compile(r"\b(kustomize|kpt|podman|docker|kubectl|flux)\b")
"""Other programs: a block with one of these, in a command or in the comment above it, is for `make e2e`."""

_BLOCK = re.compile(
    r"(?:^ *<!--(?P<note>(?:(?!-->).)*)-->\n)?^(?P<indent> *)(?P<fence>```+)(?P<language>.*?)\n"
    r"(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_LINE = re.compile(r"^\$ ", re.MULTILINE)
_FILE = re.compile(r"# ([\w./-]+(?:\.\w+|/Kptfile))\n")


class Block(NamedTuple):
    """A fenced block of a page; `start` and `end` are where its text is in the page."""

    page: Path
    number: int
    language: str
    note: str
    """The HTML comment above it, "" without one."""
    text: str
    start: int
    end: int

    @property
    def id(self) -> str:
        return f"{self.page.relative_to(ROOT)}-{self.number}"

    @property
    def commands(self) -> list[str]:
        """The commands, a continued one with its further lines; none of a block that is no session."""
        if self.language == "sh":
            return [self.text]
        return [_command(part) for part in _LINE.split(self.text)[1:]] if self.language == "console" else []

    @property
    def is_run(self) -> bool:
        return bool(self.commands) and not self.note.startswith("not run:")

    @property
    def is_e2e(self) -> bool:
        """True when another program than ours is needed."""
        return any(ENGINES.search(text) for text in (*self.commands, self.note))

    @property
    def file(self) -> str:
        """The name in the first line of a file; "" without one."""
        named = _FILE.match(self.text) if self.language in ("python", "yaml") else None
        return named[1] if named else ""


def _command(part: str) -> str:
    lines = part.splitlines()
    count = 1
    while lines[count - 1].endswith("\\"):
        count += 1
    return "\n".join(lines[:count])


def pages() -> list[Path]:
    """Every page that people write; the others are made from what has tests of its own."""
    generated = {ROOT / "docs" / f"{name}.md" for name in ("reference/fields", "operate/incident")}
    generated |= {*(ROOT / "docs" / "reference" / "rules").glob("*.md")}
    paths: list[Path] = []
    for room in ROOMS:
        in_room = sorted(page for page in ROOT.glob(f"{room}.md") if page not in generated)
        assert in_room, f"no page is left in {room}"
        paths += in_room
    return paths


@cache
def blocks(page: Path) -> list[Block]:
    """The blocks of a page, numbered from 0."""
    return list(parse(page, page.read_text()))


def parse(page: Path, text: str) -> Iterator[Block]:
    for number, match in enumerate(_BLOCK.finditer(text)):
        note, language = (match["note"] or "").strip(), match["language"]
        yield Block(page, number, language, note, match["text"], match.start("text"), match.end("text"))


def sessions(e2e: bool) -> list[Block]:
    """The blocks of all pages that are run and need other programs, or those that need none."""
    runnable = [block for page in pages() for block in blocks(page) if block.is_run and block.is_e2e == e2e]
    assert runnable
    return runnable


def files(page: Path) -> dict[str, str]:
    """The files that a page makes for its sessions, by name: those of its named blocks that the repository has not."""
    named = {block.file: block.text for block in blocks(page) if block.file}
    return {name: text for name, text in named.items() if not (ROOT / name).exists()}
