"""Edits within a line: scalars, blocks of text, and how keys are spelled."""

import re

from ..typed import Any
from . import emit, linetree, losses, positions
from .align import Lists
from .positions import key_name
from .simple import is_merge

__all__ = ["TooMuch", "check_keys", "renamed", "respelled", "scalar_patch"]

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
