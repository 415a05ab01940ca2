"""The table of nodes: a few rows that every reader sees, and all of them in short for the page's script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from ..fleet import wording
from ..fleet.coverage import Group, Outcome
from ..fleet.drivers import Driver
from . import states, tallies
from .parts import Part
from .states import State

SHOWN = 200
"""Rows for a reader without JavaScript."""


class Gets(NamedTuple):
    """What a node gets of one Module."""

    module: str
    state: State
    mapping: str
    what: str
    """The image, or why there is no driver."""


class Row(NamedTuple):
    """A node."""

    name: str
    cluster: str
    kernel: str
    state: State
    gets: Sequence[Gets]


def first(parts: Sequence[Part]) -> list[Row]:
    """Return the first rows, those of nodes without a driver before others."""
    return list(islice(_rows(parts), SHOWN))


def _rows(parts: Sequence[Part]) -> Iterator[Row]:
    for part, group in ordered(parts):
        gets = [got(part.whole.every, outcome) for outcome in group.outcomes]
        state = states.STATES[states.RANK[states.of_group(group)]]
        yield from (Row(node.name, part.name, group.kernel, state, gets) for node in group.nodes)


def ordered(parts: Sequence[Part]) -> list[tuple[Part, Group]]:
    """Return the groups of alike nodes of all clusters, the worst first."""
    pairs = [(part, group) for part in parts for group in part.groups]
    return sorted(pairs, key=lambda pair: states.RANK[states.of_group(pair[1])])


def got(drivers: Sequence[Driver], outcome: Outcome) -> Gets:
    """Return what becomes of a Module, in words."""
    driver = drivers[outcome.driver]
    resolution = outcome.resolution
    first = f"removes {', '.join(resolution.in_tree)} first" if resolution.in_tree else ""
    what = "; ".join(filter(None, (wording.reason(drivers, outcome), resolution.image, first)))
    state = states.STATES[states.RANK[outcome.state]]
    return Gets(tallies.named(driver), state, wording.mapping(driver, outcome), what or "plugin only")


def packed(parts: Sequence[Part]) -> dict[str, Any]:
    """Return all nodes as JSON data; texts that occur often are written once and named by their positions.

    A group is `[cluster, kernel, state, [[module, state, mapping, what], ...], "node node ..."]`; no node's name has a
    space (rule KRM601).
    """
    clusters, kernels, texts = _Numbers(), _Numbers(), _Numbers()
    gets: dict[tuple[str, Outcome], list[int]] = {}
    groups = []
    for part, group in ordered(parts):
        for outcome in group.outcomes:
            if (part.name, outcome) not in gets:
                one = got(part.whole.every, outcome)
                state = states.RANK[one.state.key]
                gets[part.name, outcome] = [texts(one.module), state, texts(one.mapping), texts(one.what)]
        names = " ".join(node.name for node in group.nodes)
        state = states.RANK[states.of_group(group)]
        of_group = [gets[part.name, outcome] for outcome in group.outcomes]
        groups.append([clusters(part.name), kernels(group.kernel), state, of_group, names])
    named = [[state.label, state.style] for state in states.STATES]
    return {
        "clusters": clusters.values,
        "kernels": kernels.values,
        "texts": texts.values,
        "states": named,
        "groups": groups,
    }


class _Numbers:
    """Texts by the numbers under which they are written."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.values))
        if number == len(self.values):
            self.values.append(text)
        return number
