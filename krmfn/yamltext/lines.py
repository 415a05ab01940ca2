"""What stands on the lines of a simple text, as values, and the data that these make."""

from ..typed import Any, NamedTuple
from .blocks import NotSimple
from .brackets import Brackets

__all__ = ["ABSENT", "END", "Line", "Parsed", "node", "resolve"]


class Line(NamedTuple):
    """A line that holds something; a literal block counts as one with its header."""

    column: int
    dash: int
    """Columns from the dash to what stands behind it; 0 without a dash."""
    key: str | None
    value: Any
    """The scalar; ABSENT without one; `Brackets`; `Parsed`; `list` and `dict` for `[]` and `{}`.

    Each reading makes new collections.
    """
    quote: str
    """The quote of the scalar: `'`, `"`, "|" for a literal block, ">" for a folded one, "" for none."""
    span: tuple[int, int]
    """Where the scalar begins and ends in the line, its anchor and quotes included; without one behind the colon."""
    anchor: str = ""
    alias: str = ""
    """The name of the anchor that it stands for; `value` is that anchor's then."""


class Parsed(NamedTuple):
    """What a parser has read on a line and those that belong to it (see `oddlines`)."""

    data: Any


ABSENT: Any = object()
END = Line(-1, 0, None, ABSENT, "", (0, 0))
"""What stands behind the last line."""


def resolve(lines: list[Line]) -> None:
    """Give aliases the value of their anchor before them. Raises NotSimple for another one, and an anchor again."""
    anchors: dict[str, Any] = {}
    for at, line in enumerate(lines):
        if line.anchor in anchors or (line.alias and line.alias not in anchors):
            raise NotSimple
        if line.anchor:
            anchors[line.anchor] = line.value
        elif line.alias:
            lines[at] = line._replace(value=anchors[line.alias])


def node(lines: list[Line], at: int) -> tuple[Any, int]:
    """Return the collection that begins on a line, and the line behind it; `lines` are changed."""
    line = lines[at]
    return _sequence(lines, at, line.column) if line.dash else _mapping(lines, at, line.column)


def _sequence(lines: list[Line], at: int, column: int) -> tuple[list[Any], int]:
    values: list[Any] = []
    while lines[at].column == column and lines[at].dash:
        line = lines[at]
        if line.key is not None:
            inner = column + line.dash
            lines[at] = Line(inner, 0, *line[2:])
            mapping, at = _mapping(lines, at, inner)
            values.append(mapping)
        elif line.value is ABSENT:
            raise NotSimple
        else:
            values.append(_anew(line.value))
            at += 1
    return values, at


def _mapping(lines: list[Line], at: int, column: int) -> tuple[dict[str, Any], int]:
    values: dict[str, Any] = {}
    while True:
        indent, dash, key, value, _, _, _, _ = lines[at]
        if indent != column or dash:
            break
        if key is None or key in values:
            raise NotSimple
        at += 1
        if value is ABSENT:  # deeper lines, dashes at the key's own column, or null
            below = lines[at]
            nested = below.column > column or (below.column == column and below.dash)
            value, at = node(lines, at) if nested else (None, at)
        elif type(value) in _COLLECTIONS:
            value = _anew(value)
        values[key] = value
    if indent > column or not values:
        raise NotSimple
    return values, at


_COLLECTIONS = frozenset((type, Brackets, Parsed))
"""What a line has in the place of a collection: `list` and `dict` for empty brackets."""


def _anew(value: Any) -> Any:
    """Return the value of a line, a collection as a new one."""
    if type(value) not in _COLLECTIONS:
        return value
    return value() if value is list or value is dict else value.data
