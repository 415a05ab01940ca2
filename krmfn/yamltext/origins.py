"""Where values stood in a text, and which comments are theirs."""

from collections.abc import Iterator

from ..typed import Any, NamedTuple
from . import beside, losses, positions, remarks
from .positions import key_name
from .simple import is_merge

__all__ = ["Origin", "known_below", "parts_of"]


class Origin(NamedTuple):
    """Where a value stood in a text."""

    walk: Any
    """The walk over that text."""
    key: Any
    """The node of its key; None in a list."""
    node: Any
    begin: int
    """Where its key or dash is; -1 in brackets."""
    old: Any
    """What it held."""
    is_alone: bool = False
    """Whether it is all that a mapping has: a comment behind the dash of that goes with it."""
    has_left_key: bool = False
    """Whether its key, or its place in a list, has another value now: the comments beside it stay there."""

    @property
    def is_tied(self) -> bool:
        """Return True where an anchor or an alias is in it: another text has not what these name."""
        nodes = [*positions.nodes(self.node)]
        return any(id(node) in self.walk.shared or losses.anchor(self.walk.text, node) for node in nodes)

    @property
    def has_lines(self) -> bool:
        """Return True for a value that took the lines of its key or dash along."""
        return self.begin >= 0 and not self.has_left_key

    @property
    def span(self) -> tuple[int, int]:
        """Return where its lines begin and end, comment lines above it included."""
        if not self.has_lines:
            return int(self.node.start_mark.index), int(self.node.end_mark.index)
        return self.walk.rows.begin(self.begin), self.walk.rows.end((self.key, self.node))

    @property
    def beside(self) -> beside.Beside:
        """Return where the comments beside it are, which stood in brackets."""
        is_there = self.begin < 0 and not self.has_left_key
        span = int(self.node.start_mark.index), int(self.node.end_mark.index)
        return beside.find(self.walk.text, self.key, span) if is_there else beside.NONE

    @property
    def heads(self) -> list[str]:
        """Return the comments above it; of the only key behind a dash also one behind that, none above it."""
        text = self.walk.text
        if not self.has_lines:
            return beside.rows(text, self.beside.above)
        above = remarks.above(text, self.walk.root, self.begin) if self.is_alone else self.span[0]
        rows = [row.strip() for row in text[above : self.begin].splitlines() if row.strip()]
        dash = max((at for at, row in enumerate(rows) if row[0] == "-"), default=-1)
        rows = [rows[dash].lstrip("- "), *rows[dash + 1 :]] if dash >= 0 else rows
        return [row for row in rows if row]

    @property
    def comment(self) -> str:
        """Return the comment on its line; "" where it has none of its own."""
        text = self.walk.text
        if not self.has_lines:
            return " ".join(beside.rows(text, self.beside.behind))
        span = remarks.rest(text, remarks.stop(text, self.key, self.node))
        return str(text[slice(*span)].strip()) if span else ""

    @property
    def comments(self) -> list[str]:
        """Return all comments that are its own or in it; behind its dash, too, where another value is in its place."""
        text, (start, end) = self.walk.text, self.span
        start = self.begin if self.has_left_key and self.key is None and self.begin >= 0 else start
        inner = losses.comments(text, self.walk.root, start, end) if "#" in text[start:end] else []
        return beside.rows(text, [*self.beside.above, *inner, *self.beside.behind])


def parts_of(walk: Any, node: Any, old: Any) -> Iterator[tuple[Any, Origin]]:
    """Yield the key or index of each part of a collection, with where it stands; no alias, nothing that `<<` brings.

    Of another item's text also what an alias there needs: it is refused where it has comments (see `is_tied`).
    """
    if node.id == "mapping" and isinstance(old, dict):
        last = {key_name(key): (key, value) for key, value in node.value if not is_merge(key)}  # of a key that is twice
        for name, (key, value) in last.items():
            if value.start_mark.index >= key.end_mark.index and (walk.source or id(value) not in walk.shared):
                begin = -1 if node.flow_style else key.start_mark.index
                yield name, Origin(walk, key, value, begin, old[name], len(node.value) == 1)
    elif node.id == "sequence" and isinstance(old, list):
        for at, value in enumerate(node.value):
            if not walk.rows.alias(node, at) and (walk.source or id(value) not in walk.shared):
                begin = -1 if node.flow_style else walk.rows.dash(node, at, value)
                yield at, Origin(walk, None, value, begin, old[at])


def known_below(walk: Any, node: Any, old: Any, known: Any, lists: Any) -> Iterator[tuple[int, Origin]]:
    """Yield each collection below a node by the identity that it had; `known` is the collection that the node gave."""
    entries = lists.get(id(known))
    parts = entries.entries if entries else ()
    kind = "mapping" if isinstance(parts, dict) else "sequence"
    if not parts or node.id != kind:  # what has become another kind gave nothing
        return
    for name, origin in parts_of(walk, node, old):
        part = parts.get(name) if isinstance(parts, dict) else parts[name] if name < len(parts) else None
        if isinstance(part, (dict, list)):
            yield id(part), origin
            yield from known_below(walk, origin.node, origin.old, part, lists)
