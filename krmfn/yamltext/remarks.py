"""The comments of a field: the one on its line, and the lines above it; read, and written into the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..typed import Any, NamedTuple
from .positions import entries, nodes

__all__ = ["Parts", "Spot", "above", "applied", "commented", "comments", "dash", "head", "rest", "spots", "stop"]

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


def spots(text: str, root: Any) -> dict[Parts, Spot]:
    """Return the fields that have a line of their own, by the parts of their paths; what is in brackets has none."""
    found: dict[Parts, Spot] = {}

    def visit(node: Any, path: Parts) -> None:
        if node is None or node.id == "scalar" or node.flow_style:
            return
        for key, name, value in entries(node):
            parts = (*path, str(name))
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
    return applied(text, sorted(patches))


def applied(text: str, patches: list[tuple[int, int, str]], offset: int = 0) -> str:
    """Return a piece of a text, which begins at `offset`, with the patches in it."""
    # inner additions come first, here and in the text
    for start, end, piece in sorted(patches, key=lambda patch: patch[0])[::-1]:
        text = text[: start - offset] + piece + text[end - offset :]
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
    scalars: list[Any] = []
    while start:
        row = text.rfind("\n", 0, start - 1) + 1
        if not re.match(_ABOVE, text[row:start]):
            break
        at = text.index("#", row)
        scalars = scalars or [node for node in nodes(root) if node.id == "scalar"]
        if any(node.start_mark.index < at < node.end_mark.index for node in scalars):
            break  # this is text
        begin, start = at, row
    return begin
