"""The node tree of a simple text, by its lines: nodes as PyYAML's, as far as edits and comments need them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType

from ..typed import Any
from . import simple
from .blocks import NotSimple
from .brackets import Brackets
from .lines import ABSENT, Line
from .simple import PLAIN

__all__ = ["Mark", "Node", "read", "shared", "tree"]

_EMPTY = {list: "sequence", dict: "mapping"}
_Place = tuple[int, int]
"""A row of a text and a column in it."""


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
    aliases: Mapping[int, tuple[int, int]] = MappingProxyType({})
    """Where the aliases among its parts stand, by their numbers (see `aliases.Places`)."""

    def __init__(self, text: "_Text", kind: str, start: _Place, end: _Place, lines: tuple[int, int] = (0, 0)) -> None:
        """Take the kind, as PyYAML's `id`, where it begins and ends, and the lines of a collection over lines."""
        self.text, self.id, self.start, self.end, self.lines = text, kind, start, end, lines

    @property
    def start_mark(self) -> Mark:
        """Return where it begins; few are asked."""
        return self.text.mark(*self.start)

    @property
    def end_mark(self) -> Mark:
        """Return where it ends."""
        return self.text.mark(*self.end)

    @cached_property
    def value(self) -> Any:
        """Return the text of a scalar, the entries of a sequence, or pairs of a mapping; they are looked for here."""
        return list(self.text.parts(self))


def shared(root: Node) -> Counter[int]:
    """Return how often each scalar that has an alias stands in the tree, by its id."""
    return root.text.shared()


def tree(text: str, is_item: bool = False) -> Node:
    """Return the node tree of a text that `simple.read` has read; with `is_item` of the one entry of its list."""
    root = _Text(text).root()
    return root.value[0] if is_item else root


def read(text: str) -> tuple[Node, Any] | None:
    """Return the node tree of a text, and its data; None when the text is not simple."""
    try:
        source = _Text(text)
        data = simple.data_of([*source.lines])
        return source.root(), data
    except NotSimple:
        return None


class _Text:
    """A text that is known to be simple, by its lines."""

    def __init__(self, text: str) -> None:
        self.lines, spans = simple.lines_of(text)
        self.spans = [*spans]
        self.rows = text.split("\n")
        self.starts = [0, *accumulate(len(row) + 1 for row in self.rows)]
        anchors = enumerate(self.lines) if "&" in text else ()
        self.anchors = {line.anchor: at for at, line in anchors if line.anchor}
        self.anchored: dict[str, Node] = {}
        """The scalars with anchors that somebody has seen: their aliases are the same nodes."""

    def root(self) -> Node:
        return self.collection(0, len(self.spans))

    def shared(self) -> Counter[int]:
        numbers = Counter(line.alias for line in self.lines if line.alias)
        return Counter({id(self.with_anchor(name)): number + 1 for name, number in numbers.items()})

    def mark(self, row: int, column: int) -> Mark:
        return Mark(self.starts[row] + column, row, column)

    def collection(self, at: int, end: int, inner: int = 0) -> Node:
        """Return the collection on some lines; `inner`: how far it begins behind the first one's indent."""
        line, start, stop = self.lines[at], self.spans[at][0], self.spans[end - 1][1]
        kind = "sequence" if line.dash and not inner else "mapping"
        return Node(self, kind, (start, line.column + inner), (stop, 0), (at, end))

    def parts(self, node: Node) -> Iterator[Node | tuple[Node, Node]]:
        """Yield the entries of a sequence, or the pairs of a mapping."""
        (at, stop), column, is_mapping = node.lines, node.start[1], node.id == "mapping"
        aliases: dict[int, tuple[int, int]] = {}
        node.aliases, number = aliases, 0
        while at < stop:
            start, line, at = at, self.lines[at], at + 1
            # deeper lines belong to it; so does, in a mapping, a list whose dashes stand in the column of its key
            while at < stop and self.lines[at].column >= column + (not is_mapping or not self.lines[at].dash):
                at += 1
            number += 1 + is_mapping
            if line.alias and (is_mapping or line.key is None):  # else it is in the entry
                first = self.starts[self.spans[start][0]]
                aliases[number - 1] = first + line.span[0], first + line.span[1]
            if is_mapping:
                key = self.leaf("scalar", start, (column, column + len(line.key or "")), line.key)
                yield key, self.collection(start + 1, at) if at > start + 1 else self.scalar(start, line)
            elif line.key is None:
                yield self.scalar(start, line)
            else:
                yield self.collection(start, at, line.dash)

    def with_anchor(self, name: str) -> Node:
        """Return the scalar that has an anchor, the same one each time."""
        if name not in self.anchored:
            at = self.anchors[name]
            self.anchored[name] = self.without_name(at, self.lines[at])
        return self.anchored[name]

    def scalar(self, at: int, line: Line) -> Node:
        """Return the scalar, or the empty collection, on a line; for an alias that of its anchor."""
        name = line.anchor or line.alias
        return self.with_anchor(name) if name else self.without_name(at, line)

    def without_name(self, at: int, line: Line) -> Node:
        """Return the same for a line without an alias."""
        if type(line.value) is Brackets:
            return self.brackets(at, line.value, line.span)
        kind = _EMPTY.get(line.value, "scalar")
        value = "" if line.value is ABSENT else line.value
        node = self.leaf(kind, at, line.span, value if kind == "scalar" else [])
        node.flow_style, node.style = kind != "scalar", line.quote
        if line.quote in ("|", ">"):  # to a parser empty lines behind it are the block's
            row = self.spans[at][1]
            while row < len(self.rows) - 1 and not self.rows[row].strip(" "):
                row += 1
            node.end = (row, 0)
        return node

    def brackets(self, at: int, value: Brackets, span: tuple[int, int]) -> Node:
        """Return the collection in brackets on a line."""
        node = self.leaf("sequence" if value.is_list else "mapping", at, span, [])
        node.flow_style = True
        for part in value.parts:
            is_inner = type(part.value) is Brackets
            inner = (
                self.brackets(at, part.value, part.span) if is_inner else self.leaf("scalar", at, part.span, part.value)
            )
            inner.style = part.quote
            key = self.leaf("scalar", at, part.key_span, part.key)
            key.style = part.key_quote
            node.value.append(inner if value.is_list else (key, inner))
        return node

    def leaf(self, kind: str, at: int, span: tuple[int, int], value: Any) -> Node:
        """Return what stands between two columns of a line."""
        row = self.spans[at][0]
        node = Node(self, kind, (row, span[0]), (row, span[1]))
        node.value = value
        return node
