"""Edits that mend findings: a key with another name, quotes around a value, an entry less; at their places in a text.

A place that does not hold what the finding says gives no edit: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from krmfn.resource import is_index, split
from krmfn.results import MEND, QUOTE, REMOVE, RENAME, Result
from krmfn.typed import NamedTuple
from krmfn.yamltext.simple import scalar

from ..finding import fact
from . import pointers, removal

_NEVER = re.compile(r"(?i).*(?:selectors?|labels?|images?|namespaces?)|kind|apiVersion|taints|tolerations|\$patch")
"""The fields in which, and below which, no value is touched: what is selected, pulled, and where it is."""
_IDENTITY = (("metadata",), ("metadata", "name"), ("metadata", "namespace"))
"""The fields that make another resource of a resource."""
_PLAIN = re.compile(r"[A-Za-z0-9.+~][A-Za-z0-9.:+~-]*(?=[ \t]*(?:$|[ \t]#|\r?\n|[,\]}]))")
"""A plain scalar up to the end of its line, a comment, or what ends an entry of a flow collection."""
_QUOTES = "\"'"


class Edit(NamedTuple):
    """A part of a text, by its bounds in characters, and what stands there then."""

    start: int
    end: int
    text: str


def is_mendable(finding: Result) -> bool:
    """Return True for a finding that says how it is mended, in a field that may be mended, at a known place."""
    mend, place = fact(finding, MEND), finding.place
    if not (isinstance(mend, tuple) and finding.field and place and place.path and place.line and place.column):
        return False
    path = split(finding.field.path)
    if mend[0] == RENAME:
        return (*path[:-1], str(mend[-1])) not in _IDENTITY
    return mend[0] != QUOTE or not (path in _IDENTITY or any(_NEVER.fullmatch(part) for part in path))


def edit_of(finding: Result, text: str) -> Edit | None:
    """Return the edit of a file's text that mends a finding there; None where the text holds something else."""
    mend, place, field = fact(finding, MEND), finding.place, finding.field
    if not (isinstance(mend, tuple) and place and field):
        return None
    if (start := _offset(text, place.line, place.column)) is None:
        return None
    match mend:
        case (kind, written, name) if kind == RENAME:
            part = pointers.renamed(text, place, written, name)
            return Edit(*part) if part else _renamed(text, start, written, name)
        case (kind,) if kind == QUOTE:
            return _quoted(text, start, split(field.path)[-1], field.current)
        case (kind, rule) if kind == REMOVE:
            part = removal.without(text, place, rule)
            return Edit(*part) if part else None
    return None


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with all edits; of those that overlap the first one counts."""
    end = len(text)
    for edit in sorted(set(edits), reverse=True):
        if edit.end <= end:
            text, end = text[: edit.start] + edit.text + text[edit.end :], edit.start
    return text


def _offset(text: str, line: int, column: int) -> int | None:
    """Return where a line and column, both from 1, are in a text; None behind the end of the line."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
        if not start:
            return None
    end = text.find("\n", start)
    at = start + column - 1
    return at if at < (len(text) if end < 0 else end) else None


def _key_end(text: str, start: int, keys: Collection[str]) -> tuple[int, int] | None:
    """Return the bounds of the name of a key, one of `keys`, that stands at an offset, without its quotes."""
    quote = text[start] if text[start] in _QUOTES else ""
    for key in keys:
        begin = start + len(quote)
        end = begin + len(key)
        if text.startswith(f"{key}{quote}", begin) and re.compile(r"[ \t]*:(?=[ \t\r\n]|$)").match(
            text, end + len(quote)
        ):
            return begin, end
    return None


def _renamed(text: str, start: int, written: str, name: str) -> Edit | None:
    bounds = _key_end(text, start, [written])
    return Edit(*bounds, name) if bounds else None


def _quoted(text: str, start: int, key: str, current: object) -> Edit | None:
    """Return the edit that puts a plain scalar in quotes: the value of the key at an offset, or the entry there."""
    if not is_index(key):
        bounds = _key_end(text, start, [key, "value"])  # "value": of an operation of a JSON patch
        if not bounds:
            return None
        colon = re.compile(r"[\"']?[ \t]*:[ \t]+").match(text, bounds[1])
        start = colon.end() if colon else start
    word = _PLAIN.match(text, start)
    if not word or type(scalar(word[0])) is str or not _is_same(scalar(word[0]), word[0], current):
        return None
    return Edit(word.start(), word.end(), f'"{word[0]}"')


def _is_same(value: object, written: str, current: object) -> bool:
    """Return True when a plain scalar is what a finding says it holds: as data, or as it is written."""
    return current is None or current in (written, value) or str(current) == str(value)
