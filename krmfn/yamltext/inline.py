"""Edits within a line: scalars, blocks of text, values in brackets, and how keys are spelled."""

import re

from ..resource import same
from ..typed import Any
from . import emit, linetree, losses, moves, positions
from .align import Lists, match_entries
from .positions import key_name
from .simple import is_merge

__all__ = ["TooMuch", "check_keys", "flow", "renamed", "respelled", "scalar_patch"]

_IN_FLOW = r"[^,\[\]{}#:]*"
_ANCHOR = re.compile(r"&[^\s,\[\]{}]+[ \t]+")
_HEADER = re.compile(r"((?:&\S+[ \t]+)?)[|>][0-9+-]*(?![0-9+-])([^\n]*\n)")


class TooMuch(Exception):
    """Edits of parts cannot make the change: the value above must be written anew."""


def _odd_keys(node: Any) -> dict[str, Any]:
    """Return the keys of a mapping that Kubernetes reads otherwise than they are spelled, by their spellings."""
    if isinstance(node, linetree.Node):
        return {}  # a text with such a key is not read by its lines
    return {key.value: key for key, _ in node.value if not is_merge(key) and key_name(key) != key.value}


def check_keys(node: Any, new: dict[str, Any], path: list[str]) -> None:
    """Raise WouldLose for a key that would stand there twice to kustomize: plain, where it is no string, and as one."""
    for spelling, key in _odd_keys(node).items():
        if spelling in new and key_name(key) in new:
            odd = positions.Ambiguous(spelling, key.start_mark.line + 1, spelling, is_key=True)
            raise losses.WouldLose(f"cannot be written: {odd}", (*path, spelling))


def respelled(node: Any, new: dict[str, Any]) -> dict[str, str]:
    """Return the keys that get quotes where they stand: by what they are to Kubernetes, as they are spelled."""
    odd = _odd_keys(node).items()
    return {key_name(key): spelling for spelling, key in odd if spelling in new and key_name(key) not in new}


def renamed(names: set[str], new: dict[str, Any], lists: Lists | None) -> dict[str, str]:
    """Return the new names of keys that were renamed in place, by those in the text."""
    known = (lists or {}).get(id(new))
    pairs = known.renamed.items() if known and known.value is new else ()
    return {
        old: name
        for name, old in pairs
        if name in new and old in names and not {old} & new.keys() and name not in names
    }


def scalar_patch(text: str, node: Any, new: Any) -> tuple[int, int, str]:
    """Return the patch that writes a scalar; its anchor, its quotes and its style stay. Raises TooMuch."""
    start, end = int(node.start_mark.index), int(node.end_mark.index)
    if node.style in ("|", ">"):
        return _block(text, start, end, new)
    if node.value == "" and not node.style:
        raise TooMuch  # a null without a word
    mark = _ANCHOR.match(text, start)
    return mark.end() if mark else start, end, emit.rewritten(new, node.style or "")


def _block(text: str, start: int, end: int, new: Any) -> tuple[int, int, str]:
    """Return the patch of a block of text: the comment behind its mark stays, and it stays a block where it can."""
    header, behind = _HEADER.match(text, start, end), text[:end].rstrip(" \t\r\n")
    if not header or len(behind) < header.end():
        raise TooMuch
    stop = len(behind) + 1 if len(behind) < end else end
    comment = header[2].rstrip()
    if isinstance(new, str) and "\n" in new.lstrip("\n") and emit.is_literal(new):
        row = text[header.end() :].lstrip("\n")
        pad = row[: len(row) - len(row.lstrip(" "))]
        first, *rows = emit.literal(new, pad).split("\n")
        return start, stop, "\n".join([header[1] + first + comment, *rows]) + text[len(behind) : stop]
    return start, stop, header[1] + emit.rewritten(new, "") + comment + text[len(behind) : stop]


def flow(walk: Any, node: Any, old: Any, new: Any) -> str:
    """Return a value in brackets with other data; parts that stay are kept as they are written."""
    text, start, end = walk.text, node.start_mark.index, node.end_mark.index
    if same(old, new):
        return str(text[start:end])
    if id(node) in walk.shared:
        walk.check_anchors(node)
    origin = walk.known(new)
    if origin and origin.node is not node:  # it takes the place of what is here
        moves.check_brackets(walk, new)
    if node.id == "scalar" or type(old) is not type(new):
        moves.check_brackets(walk, new)
        is_quoted = node.id == "scalar" and node.style and isinstance(new, str)
        return emit.rewritten(new, node.style) if is_quoted else _in_brackets(new)
    if isinstance(new, list):
        nodes, matches = dict[Any, Any](enumerate(node.value)), list[Any](match_entries(old, new, walk.lists))
    else:
        check_keys(node, new, walk.path)
        nodes = {key_name(key): child for key, child in node.value}
        matches = [key if key in nodes and key in old else None for key in new]
    if [*nodes] != matches:  # parts come, go or move
        if re.search(r"[#\n]", text[start:end]):
            raise TooMuch
        return _rebuilt(walk, node, (old, new), (nodes, matches))
    pieces, at = list[str](), start
    for key, child in nodes.items():
        if not same(old[key], new[key]):
            if not start < child.start_mark.index < child.end_mark.index <= end:
                raise TooMuch  # an alias, or nothing
            if origin := walk.rebuilt.get((id(new), key)):
                moves.check_brackets(walk, new[key], origin)
            pieces += text[at : child.start_mark.index], flow(walk, child, old[key], new[key])
            at = child.end_mark.index
    return "".join(pieces) + str(text[at:end])


def _rebuilt(walk: Any, node: Any, values: tuple[Any, Any], parts: tuple[dict[Any, Any], list[Any]]) -> str:
    """Return a value in brackets on one line whose parts come, go or move, as `flow` does."""
    (old, new), (nodes, matches) = values, parts
    start, end = node.start_mark.index, node.end_mark.index
    inner = {match for match, child in nodes.items() if start < child.start_mark.index <= end}  # and no alias
    walk.check_anchors(*(child for match, child in nodes.items() if match in inner and match not in matches))
    for match, (name, value) in zip(matches, enumerate(new) if isinstance(new, list) else new.items(), strict=True):
        if match not in inner or (id(new), name) in walk.rebuilt:
            moves.check_brackets(walk, value, walk.origin(new, name))
    pieces = [
        flow(walk, nodes[match], old[match], value) if match in inner else _in_brackets(value)
        for match, value in zip(matches, new if isinstance(new, list) else new.values(), strict=True)
    ]
    if isinstance(new, list):
        return "[" + ", ".join(pieces) + "]"
    odd = {key_name(key): spelling for spelling, key in _odd_keys(node).items()}
    names = (odd.get(key) or _in_brackets(key) for key in new)
    return "{" + ", ".join(map(": ".join, zip(names, pieces, strict=True))) + "}"


def _in_brackets(value: Any) -> str:
    """Return a value as it is written in brackets."""
    if isinstance(value, str) and re.fullmatch(_IN_FLOW, value):
        return emit.quoted(value)
    return emit.dump_json(value)
