"""Small edits by the marks of a parsed text: a scalar replaced, a key added. Every other byte stays.

Faster than a round trip, and closer to the file; for anything else the answer is None and `edit` does the round trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode

from . import emit

_Patch = tuple[int, int, str]
"""Characters from, to, and what stands there instead."""


class _TooMuch(Exception):
    """The change is more than scalars and added keys."""


def patched(text: str, node: Node, old: Any, new: Any) -> str | None:
    """`text`, whose tree is `node` and whose data is `old`, changed to mean `new`; None when that needs more."""
    try:
        patches = sorted(_patches(text, node, old, new), reverse=True)
    except _TooMuch:
        return None
    for start, end, piece in patches:
        text = text[:start] + piece + text[end:]
    return text


def _patches(text: str, node: Node, old: Any, new: Any) -> Iterator[_Patch]:
    if type(old) is type(new) and old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict) and isinstance(node, MappingNode):
        yield from _mapping(text, node, old, new)
    elif isinstance(node, ScalarNode) and not isinstance(new, (dict, list)) and node.style not in ("|", ">"):
        start, end = _span(node)
        if start == end or "\n" in text[start:end]:
            raise _TooMuch
        yield start, end, _scalar(new, node.style)
    else:
        raise _TooMuch


def _mapping(text: str, node: MappingNode, old: dict[Any, Any], new: dict[Any, Any]) -> Iterator[_Patch]:
    values = {key.value: value for key, value in node.value}
    if len(values) != len(node.value) or set(values) != set(old) or set(old) - set(new):
        raise _TooMuch
    for key, value in values.items():
        yield from _patches(text, value, old[key], new[key])
    added = {key: value for key, value in new.items() if key not in old}
    if added:
        if node.flow_style or not values:
            raise _TooMuch
        behind = text.find("\n", _last(node)) + 1
        if not behind:
            raise _TooMuch
        yield behind, behind, emit.dump(added, node.value[0][0].start_mark.column)


def _last(node: Node) -> int:
    """Where the last thing inside a node ends, on its line."""
    while isinstance(node, CollectionNode) and node.value and not node.flow_style:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        raise _TooMuch
    return _span(node)[1]


def _span(node: Node) -> tuple[int, int]:
    if node.start_mark is None or node.end_mark is None:
        raise _TooMuch
    return node.start_mark.index, node.end_mark.index


def _scalar(value: Any, style: str | None) -> str:
    """A scalar on one line, in the quotes that stood there before."""
    text = emit.quoted(value) if isinstance(value, str) else emit.dump(value).rstrip("\n")
    if isinstance(value, str) and text == value and style in ("'", '"'):
        if style == "'":
            return "'" + value.replace("'", "''") + "'"
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return text
