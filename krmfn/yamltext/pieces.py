"""The lines of a mapping inside a text: an edit of it needs no more of the text than these.

Only a text that was read by its lines has them (see `simple.read` and `oddlines.read`): there each line in the column
of a mapping's first key begins a key of it, and whatever runs over lines is deeper.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from ..typed import Any

__all__ = ["groups", "is_apart", "span"]

_Path = tuple[str, ...]
_DEEPEST = 100
"""Columns that a line may be indented; the readers by lines take no more."""


def span(text: str, path: _Path, column: int) -> tuple[int, int] | None:
    """Return where the lines of the key at a path begin and end, the item's own keys in a column; None for "not sure".

    Each key on the way is a plain word that stands alone on its line, but for a comment.
    """
    start, end = 0, len(text)
    for at, key in enumerate(path):
        if at:  # the column of the first key below
            first = _first_key().match(text, text.find("\n", start), end)
            if not first or len(first[1]) <= column:
                return None
            column = len(first[1])
        row = _head(column, key).search(text, max(start - 1, 0), end)
        if not row:
            return None
        start = row.start() + 1
        below = _next_key(column).search(text, row.end(), end)
        end = below.start() + 1 if below else end
    return start, end


def is_apart(text: str, item: Any, parts: _Path, column: int) -> bool:
    """Return True when nothing above a field has an anchor, or stands behind an alias; False is no proof.

    What is above it has its keys in the text then, each alone on its line.
    """
    if parts[0] in _without_marks(text, column):
        return True
    depth, value = 0, item
    while depth < len(parts) - 1 and isinstance(value, dict) and isinstance(value.get(parts[depth]), (dict, list)):
        value, depth = value[parts[depth]], depth + 1
    lines = span(text, parts[:depth], column)
    is_last = depth == len(parts) - 1 or isinstance(value, dict)  # else it is in the list that begins here
    return lines is not None and (is_last or not any(mark in text[slice(*lines)] for mark in "&*"))


@lru_cache(maxsize=16)
def _without_marks(text: str, column: int) -> frozenset[str]:
    """Return the item's own keys whose lines have neither an anchor nor an alias."""
    rows = [*_own_key(column).finditer(text)]
    ends = [*(row.start() for row in rows[1:]), len(text)]
    sections = ((row[1], text[row.start() : end]) for row, end in zip(rows, ends, strict=False))
    return frozenset(key for key, lines in sections if key and "&" not in lines and "*" not in lines)


def groups(paths: Iterable[_Path]) -> list[_Path]:
    """Return the paths that are below no other one: their lines do not overlap."""
    outer: list[_Path] = []
    for path in sorted(paths):
        if not outer or path[: len(outer[-1])] != outer[-1]:
            outer.append(path)
    return outer


@lru_cache(maxsize=1)
def _first_key() -> re.Pattern[str]:
    """Return the pattern of the first line below a key that is no comment, which is no list's entry."""
    return re.compile(r"(?:\n *(?:#[^\n]*)?(?=\n))*\n( *)(?=[^\s#-])")


@lru_cache(maxsize=_DEEPEST + 1)
def _own_key(column: int) -> re.Pattern[str]:
    """Return the pattern of a line whose key stands in a column; its group is a key that is a plain word."""
    return re.compile(rf"\n {{{column}}}(?=[^\s#\]}}-])(?:([A-Za-z_$][A-Za-z0-9_./$-]*):(?=[ \n]))?")


@lru_cache(maxsize=1024)
def _head(column: int, key: str) -> re.Pattern[str]:
    """Return the pattern of a line on which a key stands alone, but for a comment."""
    return re.compile(rf"\n {{{column}}}{re.escape(key)}:(?= *(?: #[^\n]*)?\n)")


@lru_cache(maxsize=_DEEPEST + 1)
def _next_key(column: int) -> re.Pattern[str]:
    """Return the pattern of a line whose key stands in a column or before it."""
    return re.compile(rf"\n {{0,{column}}}(?=[^\s#-])")
