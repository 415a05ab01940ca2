"""The comments of a field: the one on its line, and the lines above it; read, and written into the text."""

import re
from collections.abc import Mapping

from ..typed import Any, NamedTuple
from . import beside, lineends
from .aliases import Aliases
from .positions import children, scalar_at

__all__ = [
    "Parts",
    "Spot",
    "above",
    "clearable",
    "column",
    "comment",
    "comments",
    "dash",
    "find",
    "head",
    "in_brackets",
    "patched",
    "rest",
    "stop",
    "with_comments",
]

Parts = tuple[str, ...]

_BLOCK = r"[|>][0-9+-]*"
_AFTER_KEY = r"[ \t]*:(?:[ \t]+[&!*][^\s,\[\]{}]*)*"
_REST = r"[ \t]*(?:(?<=[ \t])#[^\n]*)?(?=\r?\n|\Z)"
_PROPERTIES = r"[&!]\S*(?:[ \t]+[&!]\S*)*[ \t]*(?:(?<=[ \t])#[^\n]*)?\n\s*(?:#[^\n]*\n\s*)*"
"""Anchor and tag of a collection over lines, up to its first key or dash."""
_ABOVE = r" *(?:-[ ]+)*#"
_BEHIND_DASH = r"\n *(?:-[ ]+)+(?=#)"
"""The dash of an entry with a comment behind it, below a line with one."""


class Spot(NamedTuple):
    """A field with a line of its own."""

    begin: int
    """Where its key or dash is."""
    stop: int
    """Where a comment on its line may begin; -1 where no comment can belong to the field."""
    clearable: tuple[tuple[int, int], ...] = ()
    """Where comments are that can be cleared, and no other ones written: those of a field in brackets."""


def comments(text: str, root: Any) -> dict[Parts, str]:
    """Return the comments on the lines of fields, without `# `, by the parts of their paths."""
    texts: dict[Parts, str] = {}
    aliases = Aliases(text, root)

    def visit(node: Any, path: Parts) -> None:
        for name, (key, value) in children(node).items():
            alias = aliases.of(node, name, (key, value))
            begin, end = alias or (value.start_mark.index, value.end_mark.index)
            begin = key.start_mark.index if key else begin
            if not node.flow_style and text.find("#", begin, text.find("\n", end)) < 0:
                continue  # as nearly all are
            is_leaf, parts = _is_leaf(value), (*path, name)
            if node.flow_style:
                words = beside.words(text, _beside(text, key, value, alias).behind, " # ")
            elif is_leaf or text.find("#", begin, text.find("\n", begin)) >= 0:
                spot = _spot(text, node, (key, value), alias)
                span = rest(text, spot.stop) if spot else None
                words = _words(text[span[0] : span[1]]) if span else ""
            else:
                words = ""
            texts.update({parts: words} if words else {})
            if not is_leaf or _has_comments(text, value):
                visit(value, parts)

    if not _is_leaf(root) or _has_comments(text, root):
        visit(root, ())
    return texts


def _has_comments(text: str, node: Any) -> bool:
    """Return True for a collection in brackets that may have comments in it."""
    return node is not None and node.id != "scalar" and "#" in text[node.start_mark.index : node.end_mark.index]


def _beside(text: str, key: Any, value: Any, alias: tuple[int, int] | None) -> beside.Beside:
    """Return where the comments of an entry in brackets are; `alias`: where that stands, if it is one."""
    span = alias or (int(value.start_mark.index), int(value.end_mark.index))
    return beside.find(text, key, span)


def in_brackets(text: str, root: Any, parts: Parts) -> beside.Beside:
    """Return where the comments of a field in brackets are."""
    *above, name = parts
    top = root
    for part in above:
        root = children(root)[part][1] if part in children(root) else None
        if root is None or root.id == "scalar":
            return beside.NONE
    known = children(root) if root is not None and root.id != "scalar" and root.flow_style else {}
    if name not in known:
        return beside.NONE
    return _beside(text, *known[name], Aliases(text, top).of(root, name, known[name]))


def comment(text: str, root: Any, parts: Parts) -> str:
    """Return the comment on the line of a field, without `# `; "" for none."""
    if spot := find(text, root, parts):
        span = rest(text, spot.stop)
        return _words(text[slice(*span)]) if span else ""
    return beside.words(text, in_brackets(text, root, parts).behind, " # ")


def find(text: str, root: Any, parts: Parts) -> Spot | None:
    """Return where a field has its own line; None where there is none: it is in brackets, or is not there."""
    spot, node, aliases = None, root, Aliases(text, root)
    for part in parts:
        if _is_leaf(node) or part not in (known := children(node)):
            return None
        alias = aliases.of(node, part, known[part])
        spot, node = _spot(text, node, known[part], alias), known[part][1]
    return spot


def clearable(text: str, root: Any, parts: Parts, head: bool) -> Spot | None:
    """Return where the comments of a field in brackets are, `head`: those above it; None for none."""
    spans = in_brackets(text, root, parts)
    places = spans.above if head else spans.behind
    return Spot(-1, -1, tuple(places)) if places else None


def _is_leaf(node: Any) -> bool:
    return node is None or node.id == "scalar" or bool(node.flow_style)


def _spot(text: str, node: Any, entry: tuple[Any, Any], alias: tuple[int, int] | None) -> Spot | None:
    """Return where a key with its value, or an entry, has its line; `alias`: where that stands, if it is one."""
    key, value = entry
    at, end = alias or (value.start_mark.index, 0)
    begin = key.start_mark.index if key else dash(text, node, at)
    has_line = begin >= 0 and not text[text.rfind("\n", 0, begin) + 1 : begin].strip(" -")
    is_entry = alias is not None and key is None
    return Spot(begin, end if is_entry else stop(text, key, value)) if has_line else None


def head(text: str, root: Any, parts: Parts) -> str:
    """Return the comment lines right above a field, without `# `; "" for none."""
    spot = find(text, root, parts)
    if spot is None:
        return beside.words(text, in_brackets(text, root, parts).above, "\n")
    return _words(text[above(text, root, spot.begin) : spot.begin])


def _words(comment: str) -> str:
    return "\n".join(row.partition("#")[2].removeprefix(" ").rstrip() for row in comment.split("\n") if "#" in row)


def with_comments(text: str, root: Any, new: Mapping[tuple[Parts, bool], tuple[Spot, str]]) -> str:
    """Return the text with comments written to fields, by their parts and whether the lines above are meant."""
    patches: list[tuple[int, int, str]] = []
    for (_, is_head), ((begin, stop, clearable), words) in new.items():
        if clearable:
            patches += beside.cleared(text, clearable)
        elif is_head:
            start, line = above(text, root, begin), text.rfind("\n", 0, begin) + 1
            if behind := re.compile(_BEHIND_DASH).search(text, start, begin):  # and above it: all goes behind it
                start = text.rfind("\n", 0, start) + 1
                patches.append((start, begin, behind[0][1:] + _rows(words, begin - line)))
                continue
            if start < line:  # it is above the dash, too, where the field stands behind one
                begin -= len(text[line:begin].lstrip())
            column, old = begin - line, start - text.rfind("\n", 0, start) - 1
            rows = _rows(words, column)
            if not rows:  # the field takes the place of the comment, which may stand in another column
                start, rows = start - max(old - column, 0), " " * (column - old)
            patches.append((start, begin, rows))
        elif span := rest(text, stop):
            patches.append((*span, f" # {words}" if words else ""))
    return lineends.like(text.encode(), patched(text, sorted(patches)).encode()).decode()


def _rows(words: str, column: int) -> str:
    """Return the comment lines above a field, and the blanks before it; "" for none."""
    return "".join(f"# {row}".rstrip() + "\n" + " " * column for row in words.split("\n")) if words else ""


def patched(text: str, patches: list[tuple[int, int, str]], offset: int = 0) -> str:
    """Return a piece of a text, which begins at `offset`, with the patches in it."""
    # inner additions come first, here and in the text
    for start, end, piece in sorted(patches, key=lambda patch: patch[0])[::-1]:
        text = text[: start - offset] + piece + text[end - offset :]
    return text


def dash(text: str, node: Any, place: int) -> int:
    """Return where the dash is of an entry that begins at a place; -1 for none."""
    first, start = column(text, node), text.rfind("\n", 0, place) + 1
    while start + first >= place or text[start + first] != "-":
        if not start:
            return -1
        start = text.rfind("\n", 0, start - 1) + 1
    return start + first if start + first >= node.start_mark.index else -1


def column(text: str, node: Any) -> int:
    """Return the column of the keys or dashes of a collection over lines; its anchor and tag may stand above them."""
    start = node.start_mark
    mark = re.compile(_PROPERTIES).match(text, start.index) if text[start.index] in "&!" else None
    return mark.end() - text.rfind("\n", 0, mark.end()) - 1 if mark else int(start.column)


def rest(text: str, stop: int) -> tuple[int, int] | None:
    """Return the span of the comment behind a place in a line, empty without one; None where other text follows."""
    match = re.compile(_REST).match(text, stop) if stop >= 0 else None
    return (stop, match.end()) if match else None


def stop(text: str, key: Any, node: Any) -> int:
    """Return where the text of a field ends on its first line; -1 where no comment can follow it."""
    is_leaf = _is_leaf(node)
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
    while start:
        row = text.rfind("\n", 0, start - 1) + 1
        if not re.match(_ABOVE, text[row:start]):
            break
        at = text.index("#", row)
        if scalar_at(root, at) is not None:
            break  # this is text
        begin, start = at, row
    return begin
