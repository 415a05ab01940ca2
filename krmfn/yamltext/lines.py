"""What stands on the lines of a simple text, as values."""

from ..typed import Any, NamedTuple
from .blocks import NotSimple

__all__ = ["ABSENT", "Line", "resolve"]


class Line(NamedTuple):
    """A line that holds something; a literal block counts as one with its header."""

    column: int
    dash: int
    """Columns from the dash to what stands behind it; 0 without a dash."""
    key: str | None
    value: Any
    """The scalar; ABSENT without one; `Brackets`; `list` and `dict` for `[]` and `{}`: each reading makes new ones."""
    quote: str
    """The quote of the scalar: `'`, `"`, "|" for a literal block, ">" for a folded one, "" for none."""
    span: tuple[int, int]
    """Where the scalar begins and ends in the line, its anchor and quotes included; without one behind the colon."""
    anchor: str = ""
    alias: str = ""
    """The name of the anchor that it stands for; `value` is that anchor's then."""


ABSENT: Any = object()


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
