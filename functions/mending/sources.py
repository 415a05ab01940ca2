"""The YAML around a line of a file: the document, the patch that is written in it, and the path of a key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn.item import Item
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import documents, positions

Path = tuple[str, ...]
Part = tuple[int, int, str]
"""A part of a text, by its bounds in characters, and what stands there then."""


class Source(NamedTuple):
    """A document of a file, or a patch that is written in one as a literal block."""

    start: int
    """The offset of its first line in the text of the file."""
    text: str
    line: int
    """The line of the file on which it begins, from 1."""
    column: int = 0
    """How many blanks stand before each of its lines."""

    @property
    def item(self) -> Item:
        """Return it as an item that can be edited. Its fields raise KrmfnError where it is no YAML."""
        data = self.text.encode()
        return Item(data, 0, len(data), -2)

    def indented(self, text: str) -> str:
        """Return a text as it stands in the file."""
        return re.sub(r"(?m)^(?=[^\n])", " " * self.column, text)

    def offset(self, mark: Any) -> int:
        """Return where a mark of its node tree is in the text of the file."""
        rows = self.text.split("\n")[: mark.line]
        blanks = sum(self.column for row in rows if row)
        return self.start + sum(len(row) + 1 for row in rows) + blanks + self.column + int(mark.column)


def sources(text: str, line: int) -> Iterator[Source]:
    """Yield the document that holds a line of a file, and the patch in it that does. Raises KrmfnError for no YAML."""
    start = 0
    for part in documents.parts(text.encode()):
        document = part.text.decode()
        last = part.line + document.count("\n")
        if part.line <= line <= last and not part.is_nothing:
            source = Source(start, document, part.line)
            yield source
            yield from _block(text, source, line)
        start += len(document) + len("---")


def _block(text: str, around: Source, line: int) -> Iterator[Source]:
    """Yield the literal block of a document that holds a line: a patch, written where it is used."""
    for node in positions.nodes(around.item.content.composed):
        begin, end = node.start_mark.line + 1, node.end_mark.line
        if getattr(node, "style", None) == "|" and begin <= line - around.line < max(end, begin + 1):
            lines = around.text.split("\n")
            column = len(lines[begin]) - len(lines[begin].lstrip(" "))
            offset = around.start + sum(len(row) + 1 for row in lines[:begin])
            block = Source(offset, node.value, around.line + begin, column)
            if text.startswith(block.indented(block.text), offset):
                yield block


def path_at(root: Any, line: int, column: int) -> Path:
    """Return the path of the key that stands at a line and column, from 0; () for none."""
    stack: list[tuple[Any, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        for key, name, value in positions.entries(node):
            mark = key.start_mark if key is not None else None
            if mark and (mark.line, mark.column) == (line, column):
                return (*path, str(name))
            stack.append((value, (*path, str(name))))
    return ()
