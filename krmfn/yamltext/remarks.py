"""The comments of a field: the one on its line, and the lines above it; read, and written into the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import accumulate

from ..typed import Any, NamedTuple
from .positions import nodes
from .simple import NotSimple, lines_of

__all__ = ["Parts", "Spot", "above", "commented", "comments", "dash", "head", "rest", "spots", "stop"]

Parts = tuple[str, ...]

_BLOCK = r"[|>][0-9+-]*"
_AFTER_KEY = r"[ \t]*:(?:[ \t]+[&!*][^\s,\[\]{}]*)*"
_REST = r"[ \t]*(?:(?<=[ \t])#[^\n]*)?(?=\r?\n|\Z)"
_ABOVE = r" *(?:-[ ]+)*#"


class Spot(NamedTuple):
    """A field with a line of its own."""

    begin: int
    """Where its key or dash is."""
    stop: int
    """Behind what may stand a comment on its line; -1 where no comment can be the field's."""


def spots(text: str, root: Callable[[], Any], is_item: bool) -> dict[Parts, Spot]:
    """Return the fields that have a line of their own, by the parts of their paths; what is in brackets has none.

    `is_item` says that the resource is the one entry of a list; `root` returns its node tree, which takes longer.
    """
    try:
        found = _by_lines(text)
    except NotSimple:
        return _by_nodes(text, root())
    return {parts[1:]: spot for parts, spot in found.items() if len(parts) > 1} if is_item else found


def _by_lines(text: str) -> dict[Parts, Spot]:
    """Return the same for a simple text without literal blocks. Raises NotSimple."""
    lines, spans = lines_of(text)
    starts = [0, *accumulate(len(row) + 1 for row in text.split("\n"))]
    found: dict[Parts, Spot] = {}
    within: list[tuple[int, str, bool]] = []  # columns and parts of the keys and entries around; True for an entry
    for line, (row, _) in zip(lines, spans, strict=False):
        if line.quote == "|":
            raise NotSimple
        column, start = line.column, starts[row]
        while within and (within[-1][0] > column or (within[-1][0] == column and not line.dash)):
            within.pop()
        if line.dash:
            follows = bool(within) and within[-1][0] == column and within[-1][2]
            within.append((column, str(int(within.pop()[1]) + 1) if follows else "0", True))
            stop = start + line.span[1] if line.key is None else -1
            found[tuple([part for _, part, _ in within])] = Spot(start + column, stop)
            column += line.dash
        if line.key is not None:
            within.append((column, line.key, False))
            stop = start + (line.span[1] or column + len(line.key) + 1)
            found[tuple([part for _, part, _ in within])] = Spot(start + column, stop)
    return found


def _by_nodes(text: str, root: Any) -> dict[Parts, Spot]:
    """Return the same for any text, from its node tree."""
    found: dict[Parts, Spot] = {}

    def visit(node: Any, path: Parts) -> None:
        if node is None or node.id == "scalar" or node.flow_style:
            return
        for at, entry in enumerate(node.value):
            key, value = entry if isinstance(entry, tuple) else (None, entry)
            parts = (*path, key.value if key else str(at))
            begin = key.start_mark.index if key else dash(text, node, value)
            if begin >= 0 and not text[text.rfind("\n", 0, begin) + 1 : begin].strip(" -"):
                found[parts] = Spot(begin, stop(text, key, value))
            visit(value, parts)

    visit(root, ())
    return found


def comments(text: str, spots: Mapping[Parts, Spot]) -> dict[Parts, str]:
    """Return the comments on the lines of fields, without `# `; a field without one is not there."""
    found = {}
    for parts, spot in spots.items():
        if spot.stop >= 0 and text.find("#", spot.stop, text.find("\n", spot.stop)) >= 0:
            span = rest(text, spot.stop)
            if span and (words := _words(text[span[0] : span[1]])):
                found[parts] = words
    return found


def head(text: str, root: Any, spot: Spot) -> str:
    """Return the comment lines right above a field, without `# `; "" for none."""
    return _words(text[above(text, root, spot.begin) : spot.begin])


def _words(comment: str) -> str:
    return "\n".join(row.partition("#")[2].removeprefix(" ").rstrip() for row in comment.split("\n") if "#" in row)


def commented(
    text: str, root: Callable[[], Any], spots: Mapping[Parts, Spot], new: Mapping[tuple[Parts, bool], str]
) -> str:
    """Return the text with comments written to fields that can have one; `root` returns its node tree.

    They are by the field's parts, and whether the lines above it are meant.
    """
    patches: list[tuple[int, int, str]] = []
    for (parts, is_head), words in new.items():
        spot = spots[parts]
        begin = spot.begin
        if is_head:
            pad = " " * (begin - text.rfind("\n", 0, begin) - 1)
            rows = [f"# {row}".rstrip() + f"\n{pad}" for row in words.split("\n")] if words else []
            patches.append((above(text, root(), begin), begin, "".join(rows)))
        elif span := rest(text, spot.stop):
            patches.append((*span, f" # {words}" if words else ""))
    for start, end, piece in sorted(patches, reverse=True):
        text = text[:start] + piece + text[end:]
    return text


def dash(text: str, node: Any, entry: Any) -> int:
    """Return where the dash of an entry of a list is; -1 for an alias, whose node stands elsewhere."""
    column, start = node.start_mark.column, text.rfind("\n", 0, entry.start_mark.index) + 1
    while start + column >= entry.start_mark.index or text[start + column] != "-":
        if not start:
            return -1
        start = text.rfind("\n", 0, start - 1) + 1
    return start + column if start + column >= node.start_mark.index else -1


def rest(text: str, stop: int) -> tuple[int, int] | None:
    """Return where the comment behind a place in a line stands; None where something else does."""
    match = re.compile(_REST).match(text, stop) if stop >= 0 else None
    return (stop, match.end()) if match else None


def stop(text: str, key: Any, node: Any) -> int:
    """Return where what a field has on its first line ends; -1 where no comment can be behind it."""
    is_leaf = node.id == "scalar" or node.flow_style
    if key is not None and (not is_leaf or node.start_mark.index < key.end_mark.index):  # with an alias, or lines below
        match = re.compile(_AFTER_KEY).match(text, key.end_mark.index)
    elif node.id == "scalar" and node.style in ("|", ">"):
        match = re.compile(rf"(?:[&!]\S+[ \t]+)*{_BLOCK}").match(text, node.start_mark.index)
    else:
        return int(node.end_mark.index) if is_leaf else -1
    return match.end() if match else -1


def above(text: str, root: Any, begin: int) -> int:
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


def _is_long(node: Any) -> bool:
    return node.id == "scalar" and bool(node.end_mark.line > node.start_mark.line)
