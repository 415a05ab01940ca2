"""What changes, as readers are told: each change, note and effect once, with the clusters that have it. Pure values."""

from __future__ import annotations

from collections.abc import Sequence

from krmfn import Result, counts
from krmfn.typed import NamedTuple

from ..plan import Change, Comparison, Effect, Plan
from . import grouped
from .grouped import Row

SIGNS = {"created": "+", "changed": "~", "deleted": "-", "unknown": "?"}
Names = Sequence[str]
"""The clusters that have something; none where there is only one cluster."""


class Told(NamedTuple):
    """The changes of one cluster, or of several."""

    number: int
    """How many clusters there are."""
    headline: str
    """The whole of it in one line."""
    columns: Sequence[str]
    rows: Sequence[tuple[Row, str]]
    """A row per cluster with its summary; none for one cluster."""
    effects: Sequence[tuple[str, str, Names]]
    """What happens on the nodes: a word and a sentence."""
    notes: Sequence[tuple[Result, Names]]
    changes: Sequence[tuple[Change, Names]]

    def where(self, names: Names) -> str:
        """Return the clusters in words; "" where there is only one."""
        return grouped.where(names, self.number) if self.rows else ""


def told(compared: Sequence[Comparison], is_fleet: bool) -> Told:
    """Return what changes: of a fleet with the names of clusters, also where only one of them has changes."""
    changes = grouped.changes(compared)
    if not is_fleet:
        (one,) = compared
        effects = [(effect.what, f"{effect.ref}: {effect.message}", ()) for effect in untold(one)]
        notes = [(note, ()) for note in one.notes]
        return Told(1, summary(one), (), (), effects, notes, [(change, ()) for change, _ in changes])
    rows = grouped.rows(compared)
    return Told(
        len(compared),
        grouped.headline(compared, rows),
        grouped.columns(rows),
        [(row, summary(one, with_nodes=False)) for one, row in zip(compared, rows, strict=True)],
        [(what, line, names) for (what, line), names in grouped.effects(compared, untold)],
        grouped.notes(compared),
        changes,
    )


def first(compared: Sequence[Comparison]) -> list[str]:
    """Return what is told before all else, with its clusters where there are several; nothing is left out."""
    whose: dict[str, list[str]] = {}
    for one in compared:
        for line in one.first:
            whose.setdefault(line, []).append(one.name)
    several = len(compared) > 1
    return [f"{line} ({grouped.where(names, len(compared))})" if several else line for line, names in whose.items()]


def summary(compared: Comparison, with_nodes: bool = True) -> str:
    """Return `1 created, 2 changed, 12 unchanged`; a count of zero is left out."""
    if compared.failed:
        return "cannot be rendered, so what changes is not known"
    if compared.is_same:
        return "nothing changes: its files are those of the base"
    parts = [f"{count:,} {what}" for what, count in counted(compared.plan).items() if count]
    parts += [f"{counts.counted(compared.hidden, 'change')} of other kinds"] if compared.hidden else []
    effects = (effect for effect in compared.plan.effects if effect.what != "kept")
    nodes = len({name for effect in effects for name in effect.nodes})
    if nodes and with_nodes:
        parts.append(f"{counts.counted(nodes, 'node')} affected")
    still = ["no object changes" if nodes or compared.notes else "nothing changes"]
    return ", ".join(parts if compared.plan.changes else [*still, *parts])


def untold(compared: Comparison) -> list[Effect]:
    """Return the effects that no note says in the same words."""
    messages = {note.message for note in compared.notes}
    return [effect for effect in compared.plan.effects if effect.message not in messages]


def counted(plan: Plan) -> dict[str, int]:
    """Return how many objects are created, changed, deleted and unchanged; unknown ones only if there are some."""
    numbers = {what: sum(change.what == what for change in plan.changes) for what in SIGNS}
    unknown = numbers.pop("unknown")
    return {**numbers, "unchanged": plan.unchanged, **({"unknown": unknown} if unknown else {})}
