"""Rows of cells as aligned columns."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

from krmfn.printing import printable

_LEAST = 12
"""The least characters of a column that is made narrower."""
_INDENT = "    "
Cell = Callable[[int, str], str]
"""Returns how a padded cell is shown, given its column: in its colour, perhaps."""


def aligned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of cells, each cell as wide as the widest of its column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]


def lines(rows: Iterable[Sequence[str]], width: int = 0) -> list[str]:
    """Return a line per row, its cells below those of the row before; what is not printable is shown as such.

    With a `width`, that of a terminal, a row may be several lines, and none is wider.
    """
    cells = [tuple(map(printable, row)) for row in rows]
    in_one_line = ["  ".join(row).rstrip() for row in aligned(cells)]
    return in_one_line if not width or max(map(len, in_one_line), default=0) <= width else fitted(cells, width)


def terminal_width() -> int:
    """Return the width of the terminal that stdout is; 0 where it is none, and may have lines of any width."""
    if not (sys.stdout and sys.stdout.isatty()):
        return 0
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0


def fitted(rows: Sequence[Sequence[str]], width: int, paint_cell: Cell = lambda column, cell: cell) -> list[str]:
    """Return rows as lines of at most `width` characters: the last cell below the others, each in its column."""
    from textwrap import wrap

    heads, lasts = [row[:-1] for row in rows], [row[-1] for row in rows]
    widths = _narrowed(heads, width)
    fitting = list[str]()
    for head, last in zip(heads, lasts, strict=True):
        parts = [
            wrap(cell, max(size, 1), break_on_hyphens=False) or [""] for cell, size in zip(head, widths, strict=True)
        ]
        for cells in zip_longest(*parts, fillvalue=""):
            padded = (paint_cell(at, cell) + " " * (widths[at] - len(cell)) for at, cell in enumerate(cells))
            fitting.append("  ".join(padded).rstrip())
        fitting += wrap(last, width, initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False)
    return fitting


def _narrowed(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of columns that fit into a width; those that have words to wrap are made narrower first."""
    columns = [*zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    excess = sum(widths) + 2 * (len(widths) - 1) - width
    for least in (words, [_LEAST] * len(widths)):
        for at in sorted(range(len(widths)), key=lambda at: least[at] - widths[at]):
            cut = max(0, min(excess, widths[at] - least[at]))
            widths[at] -= cut
            excess -= cut
    return widths
