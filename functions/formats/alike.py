"""Rows of many clusters: those that are alike as one. Pure values."""

from collections.abc import Sequence

from krmfn.printing import counted
from krmfn.typed import TypeVar

from .. import grouping
from .grouped import Row

T = TypeVar("T")
_ROWS = 10
"""How many clusters have a row each; of more those that are alike are one."""


def alike(table: Sequence[tuple[Row, T]]) -> list[tuple[Row, T]]:
    """Return the rows of many clusters, those that are alike as one, behind those that differ: `a ... f: 6 clusters`.

    Each has a value beside it, which has to be the same, too. The numbers are those of all clusters of the row.
    """
    if len(table) <= _ROWS:
        return [*table]
    groups = grouping.grouped(
        ((repr((sorted(row.numbers.items()), row.is_known, value))), (row, value)) for row, value in table
    )
    merged = [_merged_row([row for row, _ in rows], rows[0][1]) for rows in groups.values()]
    return sorted(merged, key=lambda entry: len(groups) > 1 and entry[0].clusters > 1)


def _merged_row(rows: Sequence[Row], value: T) -> tuple[Row, T]:
    first, last = rows[0], rows[-1]
    if first is last:
        return first, value
    nodes = sum(number for word, number in first.numbers.items() if word != "waiting")
    suffix = f", {counted(nodes, 'node')} each" if nodes else ""
    name = f"{first.name} ... {last.name}: {len(rows):,} clusters{suffix}"
    return Row(
        name, {word: number * len(rows) for word, number in first.numbers.items()}, first.is_known, len(rows)
    ), value
