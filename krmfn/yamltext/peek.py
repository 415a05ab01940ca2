"""Single fields of an item's text, read without parsing it; UNSURE where only a parser can tell.

Sound for items in which no quoted scalar or flow collection runs over lines (`Cut.dubious` names the others): there
a line at the indent of a mapping's keys is a key of that mapping, a comment, or a list's dash, and nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from . import scalars


class Answer(Enum):
    """An answer that is not a value: MISSING when the field is not there, UNSURE when the text must be parsed."""

    MISSING = 0
    UNSURE = 1


MISSING: Final = Answer.MISSING
UNSURE: Final = Answer.UNSURE


class Block(NamedTuple):
    """A block mapping in a text: where its first key begins, where its lines end, the column of its keys."""

    start: int
    end: int
    indent: int


_PLAIN = r"[A-Za-z0-9/_.][A-Za-z0-9/_.+@-]*(?::[A-Za-z0-9/_.+@-]+)*"
_SCALAR = re.compile(rf" *({_PLAIN}|\"[^\"\\]*\"|'[^']*')(?: *| +#.*)")
_PAIR = re.compile(rb"([A-Za-z][A-Za-z0-9/_.-]*):( +[^\n]+)")
_NESTED = re.compile(rb" *(?:#[^\n]*)?\n(?: *(?:#[^\n]*)?\n)*( *)([^ \n])")


def kinds(text: bytes, starts: list[int], end: int, indent: int, keys: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield (index, kind) of the items whose kind stands plainly and once behind their first line.

    `starts` are the items' starts, `end` the end of the last one, `indent` the column of their dashes; `keys` is where
    lines at the keys' column begin with `kind` or in a way that may spell it oddly, () to have them looked for.
    """
    column = indent + 2
    if not keys:
        line = re.compile(rb"\n {%d}(?=kind|['\"?!&*<])" % column)
        keys = (match.end() for match in line.finditer(text, starts[0], end))
    plain = re.compile(rb"kind: +([A-Za-z][A-Za-z0-9]*) *(?=\n(?! *\n| {%d}))" % (column + 1))
    by_index: dict[int, str | None] = {}
    for at in keys:
        if starts[0] <= at < end:
            index = bisect_right(starts, at) - 1
            match = plain.match(text, at)
            kind = match[1].decode() if match and index not in by_index else None
            by_index[index] = kind if kind and type(scalars.read(kind)) is str else None
    for index, kind in by_index.items():
        first = text[starts[index] + column : starts[index] + column + 4]
        if kind and first.isalpha() and first != b"kind":
            yield index, kind


def item_block(text: bytes, indent: int) -> Block | Answer:
    """Return the mapping of an item `- key: ...`, its dash at column `indent` (-2: a document); else UNSURE."""
    column = indent + 2
    start = 0 if column == 0 else column
    if text[start : start + 1].isalpha() and (column == 0 or text.startswith(b" " * indent + b"- ")):
        return Block(start, len(text), column)
    return UNSURE


def block(text: bytes, within: Block, key: bytes) -> Block | Answer:
    """Return the block mapping under `key`; MISSING also when its value is empty."""
    behind = _find(text, within, key)
    if isinstance(behind, Answer):
        return behind
    nested = _NESTED.match(text, behind, within.end)
    if not nested or not nested[2].isalnum():
        return UNSURE
    indent = len(nested[1])
    if indent <= within.indent:
        return MISSING
    after = _shallower(within.indent).search(text, nested.end(), within.end)
    return Block(nested.start(2), after.end() if after else within.end, indent)


def scalar(text: bytes, within: Block, key: bytes) -> str | Answer:
    """Return the string under `key`; UNSURE for anything that is not plainly a string on one line."""
    behind = _find(text, within, key)
    if isinstance(behind, Answer):
        return behind
    end = text.find(b"\n", behind, within.end)
    if end < 0 or _continued(within.indent).match(text, end, within.end):
        return UNSURE
    return _string(text[behind:end].decode())


def strings(text: bytes, within: Block) -> dict[str, str] | Answer:
    """Return a flat mapping of strings (labels, annotations); UNSURE for any other line or a key that stands twice."""
    lines = text[within.start : within.end].removesuffix(b"\n").split(b"\n" + b" " * within.indent)
    pairs = list(map(_pair, lines))
    mapping = {} if None in pairs else dict(pairs)  # type: ignore[arg-type]  # no None is left
    return mapping if len(mapping) == len(pairs) else UNSURE


def _find(text: bytes, within: Block, key: bytes) -> int | Answer:
    """Return the offset behind `key:` in a mapping; UNSURE when it stands twice or may be spelled oddly."""
    first, others = _spelled(within.indent, key)
    at_start = first.match(text, within.start, within.end)
    matches = [*((at_start,) if at_start else ()), *others.finditer(text, within.start, within.end)]
    if not matches:
        return MISSING
    return matches[0].end(1) if len(matches) == 1 and matches[0][1] else UNSURE


@lru_cache(maxsize=4096)
def _string(line: str) -> str | Answer:
    """Return the string that stands behind `key: ` on a line."""
    match = _SCALAR.fullmatch(line)
    if not match:
        return UNSURE
    value = match[1]
    if value[0] in "\"'":
        return value[1:-1]
    plain = scalars.read(value)
    return plain if type(plain) is str else UNSURE


@lru_cache(maxsize=4096)
def _pair(line: bytes) -> tuple[str, str] | None:
    """Return the key and the string of a line; None when it is anything else."""
    match = _PAIR.fullmatch(line)
    value = _string(match[2].decode()) if match else UNSURE
    if not match or not isinstance(value, str):
        return None
    key = match[1].decode()
    return (key, value) if key not in scalars.WORDS else None  # to Kubernetes `yes:` is the key "true"


@lru_cache(maxsize=256)
def _spelled(indent: int, key: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return the patterns of `key:` as a mapping's first key and as a later one.

    Group 1 is the key in its plain spelling. Without group 1 the line may hold the key in another spelling: quoted,
    tagged, behind `? `, through a merge, before ` :`.
    """
    plain = rb"(%s:)(?=[ \n])|%s[ \t:]" % (re.escape(key), re.escape(key))
    return re.compile(plain), re.compile(rb"\n {%d}(?:%s|['\"?!&*<])" % (indent, plain))


@lru_cache(maxsize=64)
def _shallower(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n(?=%s)" % b"|".join(b" " * n + rb"[^ \n#]" for n in range(indent + 1)))


@lru_cache(maxsize=64)
def _continued(indent: int) -> re.Pattern[bytes]:
    """Return the pattern of a line end behind which a plain scalar goes on."""
    return re.compile(rb"\n(?: *\n)* {%d} *[^ \n#]" % (indent + 1))
