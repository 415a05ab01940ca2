"""The node tree of a simple text, by its lines: nodes as PyYAML's, as far as edits and comments need them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from ..typed import Any
from . import simple
from .simple import ABSENT, PLAIN, Line, NotSimple, lines_of

__all__ = ["Mark", "Node", "tree"]


class Mark:
    """A place in a text, by characters, lines and columns from 0."""

    __slots__ = ("column", "index", "line")

    def __init__(self, index: int, line: int, column: int) -> None:
        """Take all three."""
        self.index, self.line, self.column = index, line, column


class Node:
    """A node: a scalar, or an empty collection, between two columns of a line, or a collection over lines."""

    tag = PLAIN
    style = ""
    flow_style = False
    last = 0
    """The column behind it, where it stands on one line."""

    def __init__(self, text: _Text, kind: str, at: int, end: int, column: int, value: Any = None) -> None:
        """Take the kind, as PyYAML's `id`, its lines, the column where it begins, and what it holds, if known."""
        self.text, self.id, self.at, self.end, self.column, self._value = text, kind, at, end, column, value

    @property
    def value(self) -> Any:
        """Return the text of a scalar, the entries of a sequence, or pairs of a mapping; they are looked for here."""
        if self._value is None:
            self._value = list(self.text.parts(self))
        return self._value

    @property
    def start_mark(self) -> Mark:
        """Return where it begins."""
        return self.text.mark(self.at, self.column)

    @property
    def end_mark(self) -> Mark:
        """Return where it ends; only for what stands on one line, and a literal block."""
        return self.text.block_end(self.at) if self.style == "|" else self.text.mark(self.at, self.last)


def tree(text: str) -> tuple[Node, Any]:
    """Return the node tree of a text, and its data. Raises NotSimple."""
    lines, spans = lines_of(text)
    data, rest = simple.node([*lines], 0)
    if rest < len(spans):
        raise NotSimple
    return _Text(text, lines, spans).collection(0, len(spans)), data


class _Text:
    """A text that is known to be simple, by its lines."""

    def __init__(self, text: str, lines: list[Line], spans: list[tuple[int, int]]) -> None:
        self.lines, self.spans, self.rows = lines, spans, text.split("\n")
        self.starts = [0, *accumulate(len(row) + 1 for row in self.rows)]

    def collection(self, at: int, end: int) -> Node:
        """Return the collection on some lines."""
        line = self.lines[at]
        return Node(self, "sequence" if line.dash else "mapping", at, end, line.column)

    def parts(self, node: Node) -> Iterator[Node | tuple[Node, Node]]:
        """Yield the entries of a sequence, or the pairs of a mapping."""
        at, column, is_mapping = node.at, node.column, node.id == "mapping"
        while at < node.end:
            start, line, at = at, self.lines[at], at + 1
            # deeper lines belong to it; so does, in a mapping, a list whose dashes stand in the column of its key
            while at < node.end and self.lines[at].column >= column + (not is_mapping or not self.lines[at].dash):
                at += 1
            if is_mapping:
                key = Node(self, "scalar", start, at, column, line.key)
                key.last = column + len(line.key or "")
                yield key, self.collection(start + 1, at) if at > start + 1 else self.scalar(start, line)
            elif line.key is None:
                yield self.scalar(start, line)
            else:
                yield Node(self, "mapping", start, at, column + line.dash)

    def scalar(self, at: int, line: Line) -> Node:
        """Return the scalar, or the empty collection, on a line."""
        value, (first, last) = line.value, line.span
        if value is ABSENT:
            value, first = "", line.column + line.dash + len(line.key or "") + 1
            last = first
        kind = "sequence" if value is list else "mapping" if value is dict else "scalar"
        node = Node(self, kind, at, at + 1, first, value if kind == "scalar" else [])
        node.last, node.style, node.flow_style = last, line.quote, kind != "scalar"
        return node

    def mark(self, at: int, column: int) -> Mark:
        row = self.spans[at][0]
        return Mark(self.starts[row] + column, row, column)

    def block_end(self, at: int) -> Mark:
        """Return where a literal block ends: to a parser empty lines behind it are the block's."""
        row = self.spans[at][1]
        while row < len(self.rows) - 1 and not self.rows[row].strip(" "):
            row += 1
        return Mark(self.starts[row], row, 0)
