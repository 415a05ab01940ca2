"""Rows of the table of `nodes` as lines of text: aligned, the state in its colour, no wider than a terminal."""

from collections.abc import Mapping, Sequence

from krmfn import printing

from .. import terminal
from ..formats.columns import aligned, fitted

_OPTIONAL = ("CLUSTER", "LOADED")
"""Columns that are left out where no row has anything in them."""


Lines = Sequence[Sequence[str]]
"""Lines of cells, the head first."""


def painted(
    rows: Lines, paint: terminal.Paint, styles: Mapping[str, str], width: int = 0, narrow_rows: Lines = ()
) -> str:
    """Return aligned columns; with a `width` no line is wider, and where one would be, `narrow_rows` take their place.

    These are the same rows with shorter words.
    """
    lines = _printable(rows)
    column, padded = lines[0].index("STATE"), aligned(lines)
    if width and max(len("  ".join(line).rstrip()) for line in padded) > width:

        def paint_cell(at: int, cell: str) -> str:
            return paint(cell, styles[cell]) if at == column and cell in styles else cell

        return "".join(f"{line}\n" for line in fitted(_printable(narrow_rows), width, paint_cell))
    for line, padded_line in zip(lines[1:], padded[1:], strict=True):
        state, cell = line[column], padded_line[column]
        padded_line[column] = paint(state, styles[state]) + cell[len(state) :]
    return "".join(f"{'  '.join(line).rstrip()}\n" for line in padded)


def compact(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows without the optional columns in which no row has anything."""
    columns = [at for at, name in enumerate(rows[0]) if name not in _OPTIONAL or any(row[at] for row in rows[1:])]
    return [[row[at] for at in columns] for row in rows]


def _printable(rows: Lines) -> list[tuple[str, ...]]:
    return [tuple(map(printing.printable, line)) for line in compact(rows)]
