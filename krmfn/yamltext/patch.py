"""Small edits in a simple text: a scalar replaced, a key added. Every other byte stays.

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
    """The change is more than scalars and added keys."""


def patched(text: str, tree: Tree, new: Any) -> str | None:
    """`text`, whose tree is `tree`, changed to mean `new`; None when that needs more than small edits."""
    try:
        patches = sorted(_patches(text, tree, new), reverse=True)
    except _TooMuch:
        return None
    for start, end, piece in patches:
        text = text[:start] + piece + text[end:]
    return text


def _patches(text: str, tree: Tree, new: Any) -> Iterator[_Patch]:
    if isinstance(tree, Scalar):
        yield from _scalar(tree, new)
    elif isinstance(tree, Mapping) and isinstance(new, dict) and tree.values.keys() <= new.keys():
        for key, value in tree.values.items():
            yield from _patches(text, value, new[key])
        added = {key: value for key, value in new.items() if key not in tree.values}
        if added and text[tree.end - 1 : tree.end] != "\n":
            raise _TooMuch
        if added:
            yield tree.end, tree.end, emit.dump(added, tree.column)
    elif isinstance(tree, Sequence) and isinstance(new, list) and len(new) == len(tree.values):
        for value, wanted in zip(tree.values, new, strict=True):
            yield from _patches(text, value, wanted)
    else:
        raise _TooMuch


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
    """A scalar on one line, in the quotes that stood there before."""
    text: str = emit.quoted(value) if isinstance(value, str) else emit.dump(value).rstrip("\n")
    if quote and text == value:
        return quote + (text.replace("'", "''") if quote == "'" else text) + quote
    return text
