"""The node tree of a simple text, by its lines: nodes as PyYAML's, as far as edits and comments need them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from ..typed import Any
from . import simple
from .simple import ABSENT, PLAIN, Line

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

    def __init__(self, text: _Text, kind: str, at: int, end: int, column: int, value: Any = None) -> None:
        """Take the kind, as PyYAML's `id`, its lines, the column where it begins, and what it holds, if known."""
        self.text, self.id, self.at, self.end, self._value = text, kind, at, end, value
        self.start_mark = self.end_mark = text.mark(text.spans[at][0], column)
        """Where it ends is known only of what stands on one line, and of a literal block."""

    @property
    def value(self) -> Any:
        """Return the text of a scalar, the entries of a sequence, or pairs of a mapping; they are looked for here."""
        if self._value is None:
            self._value = list(self.text.parts(self))
        return self._value


def tree(text: str, is_item: bool = False) -> Node:
    """Return the node tree of a text that `simple.read` has read; with `is_item` of the one entry of its list."""
    whole = _Text(text)
    root = whole.collection(0, len(whole.spans))
    return root.value[0] if is_item else root


class _Text:
    """A text that is known to be simple, by its lines."""

    def __init__(self, text: str) -> None:
        self.lines, self.spans = simple.lines_of(text)
        self.rows = text.split("\n")
        self.starts = [0, *accumulate(len(row) + 1 for row in self.rows)]

    def mark(self, row: int, column: int) -> Mark:
        return Mark(self.starts[row] + column, row, column)

    def collection(self, at: int, end: int) -> Node:
        """Return the collection on some lines."""
        line = self.lines[at]
        return Node(self, "sequence" if line.dash else "mapping", at, end, line.column)

    def parts(self, node: Node) -> Iterator[Node | tuple[Node, Node]]:
        """Yield the entries of a sequence, or the pairs of a mapping."""
        at, column, is_mapping = node.at, node.start_mark.column, node.id == "mapping"
        while at < node.end:
            start, line, at = at, self.lines[at], at + 1
            # deeper lines belong to it; so does, in a mapping, a list whose dashes stand in the column of its key
            while at < node.end and self.lines[at].column >= column + (not is_mapping or not self.lines[at].dash):
                at += 1
            if is_mapping:
                key = self.word("scalar", start, (column, column + len(line.key or "")), line.key)
                yield key, self.collection(start + 1, at) if at > start + 1 else self.scalar(start, line)
            elif line.key is None:
                yield self.scalar(start, line)
            else:
                yield Node(self, "mapping", start, at, column + line.dash)

    def scalar(self, at: int, line: Line) -> Node:
        """Return the scalar, or the empty collection, on a line."""
        if line.value is ABSENT:
            behind = line.column + line.dash + len(line.key or "") + 1
            return self.word("scalar", at, (behind, behind), "")
        if line.value is list or line.value is dict:
            node = self.word("sequence" if line.value is list else "mapping", at, line.span, [])
            node.flow_style = True
        else:
            node = self.word("scalar", at, line.span, line.value)
            node.style = line.quote
        if line.quote == "|":  # to a parser empty lines behind it are the block's
            row = self.spans[at][1]
            while row < len(self.rows) - 1 and not self.rows[row].strip(" "):
                row += 1
            node.end_mark = self.mark(row, 0)
        return node

    def word(self, kind: str, at: int, span: tuple[int, int], value: Any) -> Node:
        """Return what stands between two columns of a line."""
        node = Node(self, kind, at, at + 1, span[0], value)
        node.end_mark = self.mark(self.spans[at][0], span[1])
        return node
