"""YAML in the layout that kyaml and most people write: a line is a key, a key with a scalar, or a list's entry.

It is read without a parser: hardly faster (1.0 to 1.2 times), but PyYAML is not imported, 20 to 36 ms of start-up.
Only a text in which every line is of that kind or in a literal block is read: everything else that begins a scalar or a
collection over several lines, a tag, an anchor, an alias, a merge or an escape makes the answer None, "not simple", and
a real parser reads the text. Nothing is guessed: a construct that runs over lines begins on a line that is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from . import scalars


class Scalar(NamedTuple):
    """A value on one line: its data, where it stands in the text, the quote it stands in ("" for none).

    A literal block (quote "|") and a missing value have no place: they start where they end.
    """

    data: Any
    start: int
    end: int
    quote: str


class Mapping(NamedTuple):
    """A block mapping: the column of its keys, its values, where its last line ends; start and end of a lone `{}`."""

    column: int
    values: dict[str, Tree]
    end: int


class Sequence(NamedTuple):
    """A block sequence: the column of its dashes, its values, where its last line ends."""

    column: int
    values: list[Tree]
    end: int


Tree = Scalar | Mapping | Sequence


class _Line(NamedTuple):
    column: int
    dash: int
    """Columns from the dash to what stands behind it; 0 without a dash."""
    key: str | None
    value: Scalar | None
    end: int


class _NotSimple(Exception):
    """A parser must read this text."""


_WORD = r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`\\]|-(?=[^\s-])|--(?=[^\s-]))[^\s:#\\]*(?:(?: +|:)[^\s:#\\]+)*"
_VALUE = rf"({_WORD}|\"[^\"\\\n]*\"|'[^'\n]*'|\[\]|\{{\}}|\|[-+]?)"
_LINE = re.compile(
    rf"( {{0,100}})(- +)?(?:([A-Za-z_$][A-Za-z0-9_./$-]*):(?: +{_VALUE})?|{_VALUE}) *(?:(?<= )#[^\n]*)?(?:\n|\Z)"
)
# Other line breaks, and characters that YAML does not allow.
_ODD = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_SKIP = re.compile(r"(?: *(?:#[^\n]*)?\n)*")
_EMPTY = {"[]": list, "{}": dict}


def parse(text: str) -> Tree | None:
    """Return the tree of a document or of list items; None when the text is not simple."""
    if _ODD.search(text):
        return None
    try:
        lines = _lines(text)
        tree, rest = _node(lines, 0, lines[0].column)
    except _NotSimple:
        return None
    return tree if rest == len(lines) else None


def data(tree: Tree) -> Any:
    """Return the data of a tree."""
    if isinstance(tree, Scalar):
        return tree.data() if tree.data in (list, dict) else tree.data
    if isinstance(tree, Sequence):
        return [data(value) for value in tree.values]
    return {key: data(value) for key, value in tree.values.items()}


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    at, end = _SKIP.match(text).end(), len(text)  # type: ignore[union-attr]  # matches the empty string too
    while at < end:
        match = _LINE.match(text, at)
        if not match:
            raise _NotSimple
        indent, dash, key, value, entry = match.groups()
        if key in scalars.WORDS:  # to Kubernetes `yes:` is the key "true"
            raise _NotSimple
        raw, at = value or entry, match.end()
        column, width = len(indent), len(dash or "")
        scalar: Scalar | None = None
        if raw and raw[0] == "|":
            scalar, at = _literal(text, at, raw, column + width if key else column)
        elif raw:
            scalar = _scalar(raw, match.start(4 if value else 5))
        lines.append(_Line(column, width, key, scalar, at))
        at = _SKIP.match(text, at).end()  # type: ignore[union-attr]
    if not lines:
        raise _NotSimple
    return lines


def _scalar(raw: str, start: int) -> Scalar:
    end = start + len(raw)
    if raw[0] in "\"'":
        return Scalar(raw[1:-1], start, end, raw[0])
    return Scalar(_EMPTY.get(raw) or scalars.read(raw), start, end, "")


def _literal(text: str, at: int, header: str, column: int) -> tuple[Scalar, int]:
    """Return the literal block whose lines begin at `at`, deeper than `column`, and the end of its text."""
    lines = _deeper(column).match(text, at)[0].split("\n")[:-1]  # type: ignore[index]  # matches the empty string too
    first = next((line for line in lines if line.strip(" ")), "\t")
    indent = len(first) - len(first.lstrip(" "))
    if header != "|+":
        while lines and len(lines[-1]) <= indent and not lines[-1].strip(" "):  # longer ones are text
            lines.pop()
    before = lines[: lines.index(first)] if first in lines else []
    even = all(line.startswith(first[:indent]) or not line.strip(" ") for line in lines)
    if not even or first[indent] == "\t" or any(len(line) > indent for line in before):
        raise _NotSimple
    value = "".join(line[indent:] + "\n" for line in lines)
    end = at + sum(map(len, lines)) + len(lines)
    return Scalar(value[:-1] if header == "|-" else value, end, end, "|"), end


@lru_cache(maxsize=64)
def _deeper(column: int) -> re.Pattern[str]:
    return re.compile(rf"(?: {{{column + 1}}}[^\n]*\n| *\n)*")


def _node(lines: list[_Line], at: int, column: int) -> tuple[Tree, int]:
    return _sequence(lines, at, column) if lines[at].dash else _mapping(lines, at, column)


def _sequence(lines: list[_Line], at: int, column: int) -> tuple[Tree, int]:
    values: list[Tree] = []
    while at < len(lines) and lines[at].column == column and lines[at].dash:
        line = lines[at]
        if line.key is not None:
            inner = column + line.dash
            lines[at] = line._replace(column=inner, dash=0)
            value, at = _mapping(lines, at, inner)
        elif line.value is not None:
            value, at = line.value, at + 1
        else:
            raise _NotSimple
        values.append(value)
    return Sequence(column, values, lines[at - 1].end), at


def _mapping(lines: list[_Line], at: int, column: int) -> tuple[Tree, int]:
    values: dict[str, Tree] = {}
    while at < len(lines) and lines[at].column == column and not lines[at].dash:
        key, value = lines[at].key, lines[at].value
        if key is None or key in values:
            raise _NotSimple
        at += 1
        values[key], at = (value, at) if value is not None else _below(lines, at, column)
    if at < len(lines) and lines[at].column > column:
        raise _NotSimple
    return Mapping(column, values, lines[at - 1].end), at


def _below(lines: list[_Line], at: int, column: int) -> tuple[Tree, int]:
    """Return what stands under `key:`: deeper lines, dashes at the key's own column, or nothing (null)."""
    if at < len(lines) and (lines[at].column > column or (lines[at].column == column and lines[at].dash)):
        return _node(lines, at, lines[at].column)
    end = lines[at - 1].end
    return Scalar(None, end, end, ""), at
