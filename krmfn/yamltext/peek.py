"""Cheap looks into an item's text: single fields of a block mapping without parsing it; UNSURE where parsing is due.

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
    """What is not a value: the field is not there; the text must be parsed to know."""

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
    """(index, kind) of the items whose kind stands plainly and once behind their first line.

    `starts` are the items' starts, `end` the end of the last one, `indent` the column of their dashes; `keys` is where
    lines at the keys' column begin with `kind` or in a way that may spell it oddly, () to have them looked for.
    """
    column = indent + 2
    if not keys:
        line = re.compile(rb"\n {%d}(?=kind|['\"?!&*<])" % column)
        keys = (match.end() for match in line.finditer(text, starts[0], end))
    plain = re.compile(rb"kind: +([A-Za-z][A-Za-z0-9]*) *(?=\n(?! *\n| {%d}))" % (column + 1))
    found: dict[int, str | None] = {}
    for at in keys:
        if starts[0] <= at < end:
            index = bisect_right(starts, at) - 1
            match = plain.match(text, at)
            kind = match[1].decode() if match and index not in found else None
            found[index] = kind if kind and type(scalars.read(kind)) is str else None
    for index, kind in found.items():
        first = text[starts[index] + column : starts[index] + column + 4]
        if kind and first.isalpha() and first != b"kind":
            yield index, kind


def item_block(text: bytes, indent: int) -> Block | Answer:
    """The mapping of an item `- key: ...` whose dash stands at column `indent` (-2: a document); UNSURE otherwise."""
    column = indent + 2
    start = 0 if column == 0 else column
    if text[start : start + 1].isalpha() and (column == 0 or text.startswith(b" " * indent + b"- ")):
        return Block(start, len(text), column)
    return UNSURE


def block(text: bytes, within: Block, key: bytes) -> Block | Answer:
    """The block mapping under `key`; MISSING also when its value is empty."""
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
    """The string under `key`; UNSURE for anything that is not plainly a string on one line."""
    behind = _find(text, within, key)
    if isinstance(behind, Answer):
        return behind
    end = text.find(b"\n", behind, within.end)
    if end < 0 or _continued(within.indent).match(text, end, within.end):
        return UNSURE
    return _string(text[behind:end].decode())


def strings(text: bytes, within: Block) -> dict[str, str] | Answer:
    """A flat mapping of strings (labels, annotations); UNSURE when a line is anything else or a key stands twice."""
    lines = text[within.start : within.end].removesuffix(b"\n").split(b"\n" + b" " * within.indent)
    pairs = list(map(_pair, lines))
    found = {} if None in pairs else dict(pairs)  # type: ignore[arg-type]  # no None is left
    return found if len(found) == len(pairs) else UNSURE


def _find(text: bytes, within: Block, key: bytes) -> int | Answer:
    """The offset behind `key:` among the keys of a mapping; UNSURE when it stands twice or may be spelled oddly."""
    first, others = _spelled(within.indent, key)
    at_start = first.match(text, within.start, within.end)
    found = [*((at_start,) if at_start else ()), *others.finditer(text, within.start, within.end)]
    if not found:
        return MISSING
    return found[0].end(1) if len(found) == 1 and found[0][1] else UNSURE


@lru_cache(maxsize=4096)
def _string(line: str) -> str | Answer:
    """The string that stands behind `key: ` on a line."""
    found = _SCALAR.fullmatch(line)
    if not found:
        return UNSURE
    value = found[1]
    if value[0] in "\"'":
        return value[1:-1]
    plain = scalars.read(value)
    return plain if type(plain) is str else UNSURE


@lru_cache(maxsize=4096)
def _pair(line: bytes) -> tuple[str, str] | None:
    """The key and the string of a line; None when it is anything else."""
    found = _PAIR.fullmatch(line)
    value = _string(found[2].decode()) if found else UNSURE
    if not found or not isinstance(value, str):
        return None
    key = found[1].decode()
    return (key, value) if key not in scalars.WORDS else None  # to Kubernetes `yes:` is the key "true"


@lru_cache(maxsize=256)
def _spelled(indent: int, key: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What finds `key:` as a mapping's first key and as another one: group 1 in its plain spelling; nothing in
    group 1 where it may be the key in another one: quoted, tagged, behind `? `, through a merge, before ` :`."""
    plain = rb"(%s:)(?=[ \n])|%s[ \t:]" % (re.escape(key), re.escape(key))
    return re.compile(plain), re.compile(rb"\n {%d}(?:%s|['\"?!&*<])" % (indent, plain))


@lru_cache(maxsize=64)
def _shallower(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n(?=%s)" % b"|".join(b" " * n + rb"[^ \n#]" for n in range(indent + 1)))


@lru_cache(maxsize=64)
def _continued(indent: int) -> re.Pattern[bytes]:
    """A line end behind which a plain scalar goes on."""
    return re.compile(rb"\n(?: *\n)* {%d} *[^ \n#]" % (indent + 1))
