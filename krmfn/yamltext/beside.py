"""The comments of an entry in brackets: above it, behind it or its key, and behind its comma."""

import re
from collections.abc import Iterable

from ..typed import Any, NamedTuple

__all__ = ["BLANK", "COMMENT", "NONE", "Beside", "cleared", "find", "rows", "words"]

BLANK = r"(?:\s|#[^\n]*(?=\n))*"
COMMENT = r"[ \t]*#[^\n]*"
_HASH = re.compile(r"#[^\n]*")
_Span = tuple[int, int]


class Beside(NamedTuple):
    """Where the comments of an entry begin and end."""

    above: list[_Span]
    behind: list[_Span]


NONE = Beside([], [])


def find(text: str, key: Any, span: _Span) -> Beside:
    """Return where the comments of an entry in brackets are; `key`: None in a list; `span`: where its value is."""
    begin, end = span
    start = int(key.start_mark.index) if key else begin
    above, at = list[_Span](), start
    while at and text[at - 1] in " \t":  # what else is on the line may be long, and have many entries
        at -= 1
    is_above = bool(at) and text[at - 1] == "\n"
    while is_above and at:
        begin = text.rfind("\n", 0, at - 1) + 1
        row = text[begin : at - 1].strip()
        is_above = not row or row[0] == "#"
        above += [(text.index("#", begin), at - 1)] if row and is_above else []
        at = begin
    comma = re.compile(BLANK + ",").match(text, end)
    tail = re.compile(COMMENT).match(text, comma.end() if comma else end)
    behind = [*_comments(text, key.end_mark.index, begin)] if key else []
    behind += _comments(text, end, comma.end() if comma else end)
    behind += _comments(text, *tail.span()) if tail else ()
    return Beside(above[::-1], behind)


def _comments(text: str, start: int, end: int) -> Iterable[_Span]:
    return [match.span() for match in _HASH.finditer(text, start, end)]


def rows(text: str, spans: list[_Span]) -> list[str]:
    """Return some comments, each with its `#`."""
    return [text[slice(*span)].rstrip() for span in spans]


def words(text: str, spans: list[_Span], between: str) -> str:
    """Return the words of some comments, without `# `; `between`: what is put between two."""
    return between.join(row[1:].strip() for row in rows(text, spans))


def cleared(text: str, spans: Iterable[_Span]) -> list[tuple[int, int, str]]:
    """Return the patches that take out comments: those alone on a line with their lines."""
    patches = []
    for start, end in spans:
        line = text.rfind("\n", 0, start) + 1
        is_alone = not text[line:start].strip()
        begin = line if is_alone else len(text[:start].rstrip(" \t"))
        patches.append((begin, end + 1 if is_alone else len(text[:end].rstrip("\r")), ""))
    return patches
