"""Edits in any text by the places of its nodes: what changed is replaced, added, removed or moved, with its comments.

Slower than `patch`, which reads simple texts by their lines; what comes out is read back by `edit`.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..resource import same
from . import emit, load, remarks
from .align import aligned
from .patch import TooMuch, applied, written
from .values import build, is_merge

__all__ = ["patched"]

_IN_FLOW = r"[^,\[\]{}#:]*"


def patched(text: str, new: Any) -> str | None:
    """Return `text` changed to the data `new`; None when that needs more than edits of its parts."""
    root = load.compose(text.encode())
    walk = _Walk(text, root)
    try:
        walk.value(root, build(root), new)
    except TooMuch:
        return None
    return applied(text, 0, walk.patches)


class _Walk:
    """One walk over a node tree, next to the data that it should hold."""

    def __init__(self, text: str, root: Any) -> None:
        self.text, self.root = text, root
        self.patches: list[tuple[int, int, str]] = []

    def value(self, node: Any, old: Any, new: Any) -> None:
        """Note what changes in a value. Raises TooMuch where it has to be written anew with its key or dash."""
        if same(old, new):
            return
        if isinstance(node, ScalarNode) and not isinstance(new, (dict, list)) and node.style not in ("|", ">"):
            if not node.value and not node.style:
                raise TooMuch  # a null without a word
            if isinstance(new, str) and emit.style(new) == "|":
                raise TooMuch
            self.patch(node, written(new, node.style or ""))
        elif isinstance(node, MappingNode) and isinstance(new, dict) and new and not node.flow_style:
            self.mapping(node, old, new)
        elif isinstance(node, SequenceNode) and isinstance(new, list) and new and not node.flow_style:
            self.sequence(node, old, new)
        elif old and getattr(node, "flow_style", False) and isinstance(new, (dict, list)):
            self.patch(node, self.flow(node, old, new))
        else:
            raise TooMuch

    def patch(self, node: Node, piece: str) -> None:
        self.patches.append((node.start_mark.index, node.end_mark.index, piece))

    def mapping(self, node: MappingNode, old: dict[str, Any], new: dict[str, Any]) -> None:
        names = [key.value for key, _ in node.value]
        if any(map(is_merge, (key for key, _ in node.value))) or names != [*old] or not new.keys() & old.keys():
            raise TooMuch
        column = node.value[0][0].start_mark.column
        begins = [self.begin(key.start_mark.index) for key, _ in node.value]
        ends = [*begins[1:], self.end(node.value[-1])]
        for (key, value), name, begin, end in zip(node.value, names, begins, ends, strict=True):
            if name not in new:
                self.remove(node, begin, end)
            elif not same(old[name], new[name]):
                self.child(key, value, old[name], {name: new[name]}, column)
        more = {key: value for key, value in new.items() if key not in old}
        if more:
            self.insert(ends[-1], emit.dump(more, column))

    def remove(self, node: MappingNode, begin: int, end: int) -> None:
        """Note that a key goes; where it stands behind a dash the next one that stays takes its place."""
        start = self.text.rfind("\n", 0, begin) + 1
        if self.text[start:begin].strip():
            nexts = [key.start_mark.index for key, _ in node.value if key.start_mark.index >= end]
            if not nexts:
                raise TooMuch
            end = remarks.above(self.text, self.root, nexts[0])
        self.patches.append((begin, end, ""))

    def child(self, key: Any, value: Any, old: Any, new: dict[str, Any], column: int) -> None:
        """Note what changes below a key; where it is more than edits, the key with its value is written anew."""
        count, wanted = len(self.patches), next(iter(new.values()))
        try:
            if value.start_mark.index < key.end_mark.index:
                raise TooMuch  # an alias
            self.value(value, old, wanted)
        except TooMuch:
            del self.patches[count:]
            line = remarks.line(self.text, key, value)
            comment = self.text[line[0] : line[1]].strip() if line else ""
            first, *rest = emit.dump(new, column)[column:].split("\n")
            head = f"{first} {comment}" if comment else first
            self.patches.append((key.start_mark.index, self.end((key, value)), "\n".join([head, *rest])))

    def sequence(self, node: SequenceNode, old: list[Any], new: list[Any]) -> None:
        dashes = [remarks.dash(self.text, node, entry) for entry in node.value]
        column, end = node.start_mark.column, self.end((None, node))
        if self.text[dashes[0] - column : dashes[0]].strip() or dashes != sorted({*dashes}):
            raise TooMuch  # behind another dash, or with an alias
        begins = [self.begin(dash) for dash in dashes]
        is_item = node is self.root and len(old) == len(new) == 1  # it is itself, whatever is left of it
        matches = [0] if is_item else aligned(old, new)
        places = {match: at for at, match in enumerate(matches) if match is not None}
        outer, blocks = self.patches, dict[int, str]()
        for number, (begin, until) in enumerate(pairwise([*begins, end])):
            self.patches = []
            if number in places:
                self.entry(node.value[number], old[number], new[places[number]], dashes[number], until, column)
            blocks[number] = applied(self.text[begin:until], begin, self.patches)
            blocks[number] += "" if blocks[number].endswith("\n") else "\n"
        pieces = (
            emit.dump([value], column) if match is None else blocks[match]
            for value, match in zip(new, matches, strict=True)
        )
        self.patches = [*outer, (begins[0], end, "".join(pieces))]

    def entry(self, node: Any, old: Any, new: Any, dash: int, end: int, column: int) -> None:
        try:
            if same(old, new):
                return
            self.value(node, old, new)
        except TooMuch:
            self.patches = [(dash, end, emit.dump([new], column)[column:])]

    def flow(self, node: Any, old: Any, new: Any) -> str:
        """Return a collection in brackets with other data: parts that stay are kept as they are written."""
        before = self.text[node.start_mark.index : node.end_mark.index]
        if re.search(r"[#\n]", before) or type(old) is not type(new) or any(map(is_merge, self.keys(node))):
            raise TooMuch
        if isinstance(new, list):
            matches = aligned(old, new)
            entries = [None if match is None else (node.value[match], old[match]) for match in matches]
            return "[" + ", ".join(self.part(known, value) for known, value in zip(entries, new, strict=True)) + "]"
        table = {key.value: (value, old.get(key.value)) for key, value in node.value}
        pairs = (f"{_flow(key)}: {self.part(table.get(key), value)}" for key, value in new.items())
        return "{" + ", ".join(pairs) + "}"

    def keys(self, node: Any) -> list[Any]:
        return [key for key, _ in node.value] if isinstance(node, MappingNode) else []

    def part(self, known: tuple[Any, Any] | None, new: Any) -> str:
        if known is None:
            return _flow(new)
        node, old = known
        if same(old, new):
            return self.text[node.start_mark.index : node.end_mark.index]
        if isinstance(node, ScalarNode) or type(old) is not type(new):
            return _flow(new)
        return self.flow(node, old, new)

    def insert(self, at: int, piece: str) -> None:
        ended = not at or self.text[at - 1] == "\n"
        self.patches.append((at, at, piece if ended else "\n" + piece.rstrip("\n")))

    def begin(self, at: int) -> int:
        """Return where the lines of a key or dash begin: comment lines above belong to it."""
        above = remarks.above(self.text, self.root, at)
        rows = [self.text.rfind("\n", 0, place) + 1 for place in (at, above)]
        dashed = self.text[rows[0] : at].strip() or self.text[rows[1] : above].strip()
        return at if dashed else rows[1]

    def end(self, entry: tuple[Any, Any]) -> int:
        """Return where the lines of a key or entry with its value end."""
        key, node = entry
        while not (is_alias := key is not None and node.start_mark.index < key.start_mark.index):
            if isinstance(node, ScalarNode) or node.flow_style:
                break
            last = node.value[-1]
            key, node = last if isinstance(last, tuple) else (None, last)
        at = int((key if is_alias else node).end_mark.index)
        if at and self.text[at - 1] == "\n":
            return at
        found = self.text.find("\n", at)
        return len(self.text) if found < 0 else found + 1


def _flow(value: Any) -> str:
    """Return a value as it is written in brackets."""
    if isinstance(value, str) and re.fullmatch(_IN_FLOW, value):
        return emit.quoted(value)
    return emit.dump_json(value)
