"""Small edits in a simple text: a scalar replaced, a key or an entry added. Every other byte stays.

Faster than a round trip, and closer to the file; for anything else the answer is None and `edit` does the round trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import emit
from .simple import Mapping, Scalar, Sequence, Tree

_Patch = tuple[int, int, str]
"""Characters from, to, and what stands there instead."""


class _TooMuch(Exception):
    """The change is more than scalars, added keys and added entries."""


def patched(text: str, tree: Tree, new: Any) -> str | None:
    """Return `text`, whose tree is `tree`, changed to the data `new`; None when that needs more than small edits."""
    try:
        patches = sorted(_patches(text, tree, new), key=lambda patch: patch[0])
    except _TooMuch:
        return None
    for start, end, piece in reversed(patches):  # inner additions come first, here and in the text
        text = text[:start] + piece + text[end:]
    return text


def _patches(text: str, tree: Tree, new: Any) -> Iterator[_Patch]:
    if isinstance(tree, Scalar):
        yield from _scalar(tree, new)
    elif isinstance(tree, Mapping) and isinstance(new, dict) and tree.values.keys() <= new.keys():
        for key, value in tree.values.items():
            yield from _patches(text, value, new[key])
        yield from _added(text, tree, {key: value for key, value in new.items() if key not in tree.values})
    elif isinstance(tree, Sequence) and isinstance(new, list) and len(new) >= len(tree.values):
        for value, wanted in zip(tree.values, new, strict=False):
            yield from _patches(text, value, wanted)
        yield from _added(text, tree, new[len(tree.values) :])
    else:
        raise _TooMuch


def _added(text: str, tree: Mapping | Sequence, more: Any) -> Iterator[_Patch]:
    if more and text[tree.end - 1 : tree.end] != "\n":
        raise _TooMuch
    if more:
        yield tree.end, tree.end, emit.dump(more, tree.column)


def _scalar(old: Scalar, new: Any) -> Iterator[_Patch]:
    empty = old.data in (list, dict)
    if type(new) is type(old.data) and new == old.data:
        return
    if empty and new == old.data():
        return
    if empty or isinstance(new, (dict, list)) or old.start == old.end:
        raise _TooMuch
    yield old.start, old.end, _written(new, old.quote)


def _written(value: Any, quote: str) -> str:
    """Return a scalar on one line, in the quotes of the old one."""
    text: str = emit.quoted(value) if type(value) is str else emit.dump(value).rstrip("\n")
    if text != value or not quote:
        return text
    escaped = text.replace("'", "''") if quote == "'" else text.replace("\\", "\\\\").replace('"', '\\"')
    return f"{quote}{escaped}{quote}"
