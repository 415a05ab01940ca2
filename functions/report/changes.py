"""What changes since the base: what it does on the nodes, and every object with its fields."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from krmfn import Result
from krmfn.plan import Change, Comparison
from krmfn.reports import changes as texts

SHOWN = 200
"""Changes of one cluster that are shown, and fields of one change."""
LINES = 100
"""Lines of one field's values."""


class Object(NamedTuple):
    """An object that changes."""

    what: str
    name: str
    fields: Sequence[tuple[str, Sequence[str]]]
    """The path of each field that changes, and its values: old lines begin with -, new ones with +."""


class Changed(NamedTuple):
    """What changes in a cluster."""

    name: str
    failed: bool
    summary: str
    effects: Sequence[tuple[str, str, str]]
    """What becomes of nodes: a word for it, the object, a sentence."""
    notes: Sequence[Result]
    objects: Sequence[Object]
    more: int
    """Further objects that are not shown."""


def changed(compared: Sequence[Comparison]) -> list[Changed]:
    """Return what changes, cluster by cluster."""
    return [
        Changed(
            one.name,
            one.failed,
            texts.summary(one),
            [(effect.what, str(effect.ref), effect.message) for effect in texts.untold(one)],
            one.notes,
            [_object(change) for change in one.plan.changes[:SHOWN]],
            max(0, len(one.plan.changes) - SHOWN),
        )
        for one in compared
    ]


def _object(change: Change) -> Object:
    fields = [(field.path, list(islice(texts.values(field), LINES))) for field in change.fields[:SHOWN]]
    return Object(change.what, texts.named(change), fields)


def refused(compared: Sequence[Comparison]) -> list[Result]:
    """Return the errors about what changes: the cluster would refuse it, or it is not known."""
    return [note for one in compared for note in one.notes if note.severity == "error"]
