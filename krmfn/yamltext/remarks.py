"""The comments of a field: the one on its line, and the lines above it; read, and written into the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .positions import nodes

__all__ = ["Parts", "above", "can_have", "comment", "commented", "dash", "line"]

Parts = tuple[str, ...]

_BLOCK = r"[|>][0-9+-]*"
_AFTER_KEY = r"[ \t]*:(?:[ \t]+[&!*][^\s,\[\]{}]*)*"
_REST = r"[ \t]*(?:(?<=[ \t])#[^\n]*)?(?=\r?\n|\Z)"
_ABOVE = r" *(?:-[ ]+)*#"


class _Spot(NamedTuple):
    """Where the comments of a field stand in the text: from, to."""

    line: tuple[int, int] | None
    """Behind the field on its line; None where no comment of its own can stand: a collection behind a dash."""
    head: tuple[int, int]
    """From the first comment line above it to its key or dash."""
    column: int


def comment(text: str, root: Node, parts: Parts, head: bool) -> str:
    """Return a field's comment, without `# `: that of its line, or the lines above it. "" when there is none."""
    spot = _spot(text, root, parts)
    span = (spot.head if head else spot.line) if spot else None
    rows = text[span[0] : span[1]].split("\n") if span else []
    return "\n".join(row.partition("#")[2].removeprefix(" ").rstrip() for row in rows if "#" in row)


def commented(text: str, root: Node, comments: Mapping[tuple[Parts, bool], str]) -> str:
    """Return the text with comments written to fields that can have one (see `can_have`).

    They are by the field's parts, and whether the lines above it are meant.
    """
    patches: list[tuple[int, int, str]] = []
    for (parts, head), words in comments.items():
        spot = _spot(text, root, parts)
        if spot and head:
            rows = [f"# {row}".rstrip() + "\n" + " " * spot.column for row in words.split("\n")] if words else []
            patches.append((*spot.head, "".join(rows)))
        elif spot and spot.line:
            patches.append((*spot.line, f" # {words}" if words else ""))
    for start, end, piece in sorted(patches, reverse=True):
        text = text[:start] + piece + text[end:]
    return text


def can_have(text: str, root: Node, parts: Parts, head: bool) -> bool:
    """Return True for a field with a line of its own: one in brackets has none."""
    spot = _spot(text, root, parts)
    return spot is not None and (head or spot.line is not None)


def _spot(text: str, root: Node, parts: Parts) -> _Spot | None:
    """Return where the comments of a field stand; None where it has no line of its own, as in brackets."""
    node: Any = root
    key, begin = None, -1
    for part in parts:
        if getattr(node, "flow_style", False):
            return None
        if isinstance(node, SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            key, begin, node = None, dash(text, node, node.value[int(part)]), node.value[int(part)]
        elif isinstance(node, MappingNode):
            pairs = [(name, value) for name, value in node.value if isinstance(name, ScalarNode) and name.value == part]
            if not pairs:
                return None
            key, node = pairs[-1]
        else:
            return None
    begin = key.start_mark.index if key else begin
    if begin < 0 or not re.fullmatch(r"[ -]*", text[text.rfind("\n", 0, begin) + 1 : begin]):
        return None
    return _Spot(line(text, key, node), (above(text, root, begin), begin), begin - text.rfind("\n", 0, begin) - 1)


def dash(text: str, node: Node, entry: Node) -> int:
    """Return where the dash of an entry of a list is; -1 for an alias, whose node stands elsewhere."""
    column, start = node.start_mark.column, text.rfind("\n", 0, entry.start_mark.index) + 1
    while start + column >= entry.start_mark.index or text[start + column] != "-":
        if not start:
            return -1
        start = text.rfind("\n", 0, start - 1) + 1
    return start + column if start + column >= node.start_mark.index else -1


def line(text: str, key: Any, node: Any) -> tuple[int, int] | None:
    """Return where the comment of a field's line stands, blanks before it included; None where there can be none."""
    collection = not isinstance(node, ScalarNode) and not node.flow_style
    if key is not None and (collection or node.start_mark.index < key.end_mark.index):  # the last: an alias
        match = re.compile(_AFTER_KEY).match(text, key.end_mark.index)
        end = match.end() if match else -1
    elif collection:
        return None
    elif getattr(node, "style", "") in ("|", ">") and isinstance(node, ScalarNode):
        match = re.compile(rf"(?:[&!]\S+[ \t]+)*{_BLOCK}").match(text, node.start_mark.index)
        end = match.end() if match else -1
    else:
        end = node.end_mark.index
    rest = re.compile(_REST).match(text, end) if end >= 0 else None
    return (end, rest.end()) if rest else None


def above(text: str, root: Node, begin: int) -> int:
    """Return where the comment lines right above a line begin: at their first `#`, or where the key or dash is."""
    start = text.rfind("\n", 0, begin) + 1
    first, longer = begin, list[tuple[int, int]]()
    while start:
        row = text.rfind("\n", 0, start - 1) + 1
        if not re.match(_ABOVE, text[row:start]):
            break
        longer = longer or [(node.start_mark.index, node.end_mark.index) for node in nodes(root) if _is_long(node)]
        if any(begins < text.index("#", row) < ends for begins, ends in longer):
            break  # this is text
        first, start = text.index("#", row), row
    return first


def _is_long(node: Node) -> bool:
    return isinstance(node, ScalarNode) and bool(node.end_mark.line > node.start_mark.line)
