"""The first keys of a list's items, which nearly all have in one layout: apiVersion, kind, metadata."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from . import split
from .peek import UNSURE, UNUSUAL, Answer, Mapping, end_of, pattern, string

__all__ = ["heads", "metadata"]

_HEADS = rb"\n%b(?=[akm" + UNUSUAL + rb"])"
_HEAD = rb"- apiVersion: +[A-Za-z0-9./-]+ *\n%b()kind: +[A-Za-z0-9]+ *()(?=\n(?! *\n|%b))"
_HEAD += rb"(?:\n%b()metadata:\n%b()(?=[A-Za-z]))?"
"""The first keys of an item; its groups are where the kind begins and ends, and metadata and their first key begin."""
_FIRST = (b"apiVersion", b"kind", b"metadata")
_SHARED = 1024
"""How many heads are kept: most kinds stand in a list often."""


def heads(
    text: bytes, starts: Sequence[int], end: int, indent: int, lines: Sequence[int] = ()
) -> Iterator[tuple[int, str, str, int]]:
    """Yield (index, apiVersion, kind, metadata) of the items that begin with these keys, plainly, and have none twice.

    `metadata` is where the first key of the metadata begins; 0 where these are not the next key, or stand elsewhere,
    too. `starts` are the items' starts, `end` the end of the last one, `indent` the column of their dashes; `lines` is
    where the lines begin, in order, that may hold one of the keys or an odd one, () to have them looked for.
    """
    column = indent + 2
    if not lines:
        lines = [match.end() for match in pattern(_HEADS, column).finditer(text, starts[0], end)]
    usual = pattern(_HEAD, column, column + 1, column, column + 2)
    candidates: list[tuple[int, re.Match[bytes]]] = []
    known = set[int]()
    for index, start in enumerate(starts):
        if match := usual.match(text, start + indent):
            candidates.append((index, match))
            known.update((match.start(1), match.start(3)))
    others = [at for at in lines if at not in known and (text[at] in UNUSUAL or text.startswith(_FIRST, at))]
    doubtful, twice = set[int](), set[int]()
    for at in others:
        if starts[0] <= at < end:
            (twice if text.startswith(b"metadata", at) else doubtful).add(bisect_right(starts, at) - 1)
    for index, match in candidates:
        names = _names(text[match.start() : match.start(2)]) if index not in doubtful else None
        if names:
            yield index, *names, max(match.start(4), 0) if index not in twice else 0


@lru_cache(maxsize=_SHARED)
def _names(head: bytes) -> tuple[str, str] | None:
    """Return apiVersion and kind from the lines of both; None when one of them is no string."""
    version, kind = (string(line.partition(b":")[2].decode()) for line in head.split(b"\n"))
    return (version, kind) if isinstance(version, str) and isinstance(kind, str) else None


def metadata(text: bytes, start: int, end: int, column: int) -> Mapping | Answer:
    """Return the metadata of the item that ends at `end`; `start` is that of the first key (see `heads`).

    Return UNSURE where something in them runs over lines: they may then end elsewhere, and hold a key again.
    """
    stop = end_of(text, start, end, column)
    return Mapping(text, start, stop, column) if split.has_lone_lines(text, start, stop) else UNSURE
