"""Small edits in a simple text: a scalar replaced, a key or an entry added. Every other byte stays.

Faster than a round trip, and closer to the file; for anything else the answer is None and `edit` does the round trip.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from . import emit, simple
from .simple import ABSENT, Line, NotSimple, lines_of

__all__ = ["TooMuch", "applied", "patched", "written"]


class TooMuch(Exception):
    """The change is more than scalars, added keys and added entries."""


def patched(text: str, new: Any) -> str | None:
    """Return `text` changed to the data `new`; None when it is not simple, or that needs more than small edits."""
    try:
        patcher = _Patcher(text)
        first = patcher.lines[0]
        old, rest = simple.node([*patcher.lines], 0)
        if rest < len(patcher.ends):
            raise NotSimple
        if first.dash and len(old) == len(new) == 1:  # an item is itself, whatever is left of it
            patcher.entry(0, first.column, old[0], new[0])
        else:
            patcher.node(0, old, new)
    except (NotSimple, TooMuch):
        return None
    return applied(text, 0, patcher.patches)


def applied(text: str, offset: int, patches: list[tuple[int, int, str]]) -> str:
    """Return a piece of the text, which begins at `offset`, with the patches in it."""
    # inner additions come first, here and in the text
    ordered = sorted(patches, key=lambda patch: patch[0])
    for start, end, piece in reversed(ordered):
        text = text[: start - offset] + piece + text[end - offset :]
    return text


class _Patcher:
    """One walk over the lines of a simple text, next to the data that they should hold."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines, self.ends = lines_of(text)
        self.offsets = [0, *accumulate(len(row) + 1 for row in text.split("\n"))]
        self.patches: list[tuple[int, int, str]] = []
        """Characters from, to, and what stands there instead."""

    def node(self, at: int, old: Any, new: Any) -> int:
        """Walk over the collection that begins on a line; return the line behind it."""
        line = self.lines[at]
        return self.sequence(at, line.column, old, new) if line.dash else self.mapping(at, line.column, old, new)

    def sequence(self, at: int, column: int, old: Any, new: Any) -> int:
        if not isinstance(new, list) or not new or not isinstance(old, list):
            raise TooMuch
        if old != new[: len(old)]:
            from .align import aligned

            if aligned(old, new)[: len(old)] != list(range(len(old))):
                raise TooMuch
        for number, value in enumerate(old):
            at = self.entry(at, column, value, new[number])
        self.add(at, column, new[len(old) :])
        return at

    def entry(self, at: int, column: int, old: Any, new: Any) -> int:
        line = self.lines[at]
        if line.column != column or not line.dash:
            raise TooMuch
        if line.key is None:
            self.scalar(at, line, new)
            return at + 1
        self.lines[at] = Line(column + line.dash, 0, *line[2:])
        return self.mapping(at, column + line.dash, old, new)

    def mapping(self, at: int, column: int, old: Any, new: Any) -> int:
        if not isinstance(new, dict) or not isinstance(old, dict):
            raise TooMuch
        more = dict(new)
        while (line := self.lines[at]).column == column and not line.dash:
            if line.key not in more:
                raise TooMuch
            wanted = more.pop(line.key)
            at += 1
            below = self.lines[at]
            if line.value is not ABSENT:
                self.scalar(at - 1, line, wanted)
            elif below.column > column or (below.column == column and below.dash):
                at = self.node(at, old.get(line.key), wanted)
            elif wanted is not None:
                raise TooMuch
        self.add(at, column, more)
        return at

    def scalar(self, at: int, line: Line, new: Any) -> None:
        """Note the replacement of a scalar by another one that fits on the line."""
        old = line.value
        empty = old is list or old is dict
        if new == old() if empty else type(new) is type(old) and new == old:
            return
        if empty or isinstance(new, (dict, list)) or line.quote == "|":
            raise TooMuch
        start = self.offsets[self.ends[at] - 1]
        self.patches.append((start + line.span[0], start + line.span[1], written(new, line.quote)))

    def add(self, at: int, column: int, more: Any) -> None:
        """Note keys or entries that are added behind the line before `at`."""
        if not more:
            return
        end = self.offsets[self.ends[at - 1]]
        if end > len(self.text):  # the last line has no end
            raise TooMuch
        self.patches.append((end, end, emit.dump(more, column)))


def written(value: Any, quote: str) -> str:
    """Return a scalar on one line, in the quotes of the old one."""
    text: str = emit.quoted(value) if type(value) is str else emit.dump(value).rstrip("\n")
    if text != value or not quote:
        return text
    escaped = text.replace("'", "''") if quote == "'" else text.replace("\\", "\\\\").replace('"', '\\"')
    return f"{quote}{escaped}{quote}"
