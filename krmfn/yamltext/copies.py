"""Copies of what stays: an anchor is only where it was, as two of one name are no YAML to many readers."""

import re

from ..typed import Any
from . import lent, losses, positions

__all__ = ["anchors"]

_ANCHOR = re.compile(r"(?:![^\s,\[\]{}]*[ \t]+)?(&[^\s,\[\]{}]+[ \t]*)")


def anchors(origin: Any, value: Any, start: int, end: int) -> list[tuple[int, int, str]]:
    """Return patches that take the anchors out of a piece of the text in which a value stood, where it is twice now."""
    text, nodes = origin.walk.text, positions.nodes(origin.node) if "&" in origin.walk.text[start:end] else ()
    marked = [node for node in nodes if start <= node.start_mark.index < end and losses.anchor(text, node)]
    if not marked or not _is_twice(origin.walk, value):
        return []
    return [_anchor(text, int(node.start_mark.index), start) for node in marked]


def _is_twice(walk: Any, value: Any) -> bool:
    """Return True when more than one place of the new data has what was read at one place."""
    known = walk.lists.get(id(value))
    others = filter(None, (walk.lists.get(id(part)) for part in lent.parts(walk.new))) if known else ()
    return sum(other.origin is known.origin for other in others) > 1


def _anchor(text: str, place: int, start: int) -> tuple[int, int, str]:
    """Return the patch that takes out the anchor at a place, and the blanks before it at the end of a line."""
    match = _ANCHOR.match(text, place)
    begin, end = match.span(1) if match else (place, place)
    if text[end : end + 1] in ("\n", ""):
        begin = max(start, len(text[:begin].rstrip(" \t")))
    return begin, end, ""
