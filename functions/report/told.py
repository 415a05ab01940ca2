"""What changes, as the page tells it: each change once, with the clusters that have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from krmfn import Result

from ..formats import changes, grouped
from ..formats.grouped import Row
from ..plan import Change, Comparison


class Told(NamedTuple):
    """The changes of one cluster, or of several."""

    headline: str
    """The whole of it in one line."""
    columns: Sequence[str]
    rows: Sequence[tuple[Row, str]]
    """A row per cluster with its summary; none for one cluster."""
    effects: Sequence[tuple[str, str]]
    """What happens on the nodes: a word and a sentence."""
    notes: Sequence[tuple[Result, str]]
    """With the clusters in words; "" for one cluster, as in what follows."""
    changes: Sequence[tuple[Change, str]]


def told(compared: Sequence[Comparison]) -> Told | None:
    """Return what changes; None where nobody asked."""
    if not compared:
        return None
    every = grouped.changes(compared)
    if len(compared) == 1:
        (one,) = compared
        effects = [(effect.what, f"{effect.ref}: {effect.message}") for effect in changes.untold(one)]
        notes = [(note, "") for note in one.notes]
        return Told(changes.summary(one), (), (), effects, notes, [(change, "") for change, _ in every])
    number = len(compared)
    rows = grouped.rows(compared)
    return Told(
        grouped.headline(compared, rows),
        grouped.columns(rows),
        [(row, changes.summary(one, with_nodes=False)) for one, row in zip(compared, rows, strict=True)],
        [effect for effect, _ in grouped.effects(compared, changes.untold)],
        [(note, grouped.where(names, number)) for note, names in grouped.notes(compared)],
        [(change, grouped.where(names, number)) for change, names in every],
    )
