"""Lists and mappings in brackets on one line, in the layout that people write: `[a, "b"]`, `{cpu: 1, tags: [x]}`.

Only that is read: a comma at the end, a key without a value, a pair in a list and whatever else readers may take
differently is left to a parser.
"""

import re
from collections.abc import Callable

from ..typed import Any, NamedTuple
from .blocks import NotSimple

__all__ = ["LONGEST", "Brackets", "Part", "read"]

_DEEPEST = 20
"""Levels of brackets in brackets; nobody writes as many."""
LONGEST = 10_000
"""Characters of a line with brackets that is read here: of millions of parts not all may be held before they are
refused, and a pattern needs memory for each, too."""
_INNER = r"[^\s:?#\\,\[\]{}'\"&*!|>%@`]"
_WORD = rf"(?:[^\s\-?:,\[\]{{}}#&*!|>'\"%@`\\]|--?(?=[^\s\-?:#\\,\[\]{{}}'\"&*!|>%@`])){_INNER}*(?:(?: +|:){_INNER}+)*"
_VALUE = rf"(?:{_WORD}|\"[^\"\\]*\"|'[^']*')"
_KEY = r"([\"']?)([A-Za-z_$][A-Za-z0-9_./$-]{0,250})\1: +"


class Part(NamedTuple):
    """An entry of a list, or a key with its value."""

    key: str
    """Without its quotes; "" in a list."""
    key_quote: str
    key_span: tuple[int, int]
    """Where the key begins and ends in the line, quotes included."""
    value: Any
    """The scalar, or `Brackets`."""
    quote: str
    span: tuple[int, int]


class Brackets(NamedTuple):
    """A list, or a mapping, and where its parts stand in the line."""

    is_list: bool
    parts: tuple[Part, ...]

    @property
    def data(self) -> Any:
        """Return what it holds; each call makes it anew."""
        values = [part.value.data if type(part.value) is Brackets else part.value for part in self.parts]
        return values if self.is_list else dict(zip((part.key for part in self.parts), values, strict=True))


def read(row: str, span: tuple[int, int], plain: Callable[[str], Any]) -> Brackets:
    """Return what stands in brackets between two columns of a line; `plain` reads a plain scalar.

    Raises NotSimple for anything but the usual layout.
    """
    try:
        value, stop = _Reader(row, plain).collection(span[0], 0)
    except IndexError:
        raise NotSimple from None
    if stop != span[1]:
        raise NotSimple
    return value


class _Reader:
    """A line that is read from left to right."""

    def __init__(self, row: str, plain: Callable[[str], Any]) -> None:
        self.row, self.plain = row, plain

    def collection(self, at: int, depth: int) -> tuple[Brackets, int]:
        """Return the collection that begins in a column, and the column behind it."""
        is_list, parts, row = self.row[at] == "[", list[Part](), self.row
        close, at = "]" if is_list else "}", self.behind_blanks(at + 1)
        while row[at] != close or parts:
            part, at = self.part(at, is_list, depth)
            parts.append(part)
            at = self.behind_blanks(at)
            if row[at] == close:
                break
            if row[at] != ",":
                raise NotSimple
            at = self.behind_blanks(at + 1)
        if not is_list and len({part.key for part in parts}) < len(parts):
            raise NotSimple
        return Brackets(is_list, tuple(parts)), at + 1

    def part(self, at: int, is_list: bool, depth: int) -> tuple[Part, int]:
        """Return the entry of a list, or the key with its value, that begins in a column."""
        key, quote, span = "", "", (at, at)
        if not is_list:
            match = re.compile(_KEY).match(self.row, at)
            if not match or not isinstance(self.plain(match[2]), str):
                raise NotSimple
            key, quote, span, at = match[2], match[1], (at, match.end(2) + len(match[1])), match.end()
        if self.row[at] in "[{":
            if depth == _DEEPEST:
                raise NotSimple
            value, stop = self.collection(at, depth + 1)
            return Part(key, quote, span, value, "", (at, stop)), stop
        match = re.compile(_VALUE).match(self.row, at)
        if not match:
            raise NotSimple
        raw, style = match[0], match[0][0] if match[0][0] in "\"'" else ""
        return Part(key, quote, span, raw[1:-1] if style else self.plain(raw), style, match.span()), match.end()

    def behind_blanks(self, at: int) -> int:
        """Return the first column from one on that has no blank."""
        while self.row[at] == " ":
            at += 1
        return at
