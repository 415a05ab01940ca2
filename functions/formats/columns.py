"""Rows of cells as aligned columns."""

from collections.abc import Iterable, Sequence

from krmfn.printing import printable


def aligned(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of cells, each cell as wide as the widest of its column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]


def lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a line per row, its cells below those of the row before; what is not printable is shown as such."""
    return ["  ".join(row).rstrip() for row in aligned([tuple(map(printable, row)) for row in rows])]
