"""The table of nodes: a few rows that every reader sees, and all of them in short for the page's script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from . import states
from .parts import Alike, Gets, Part
from .states import State

SHOWN = 200
"""Rows for a reader without JavaScript."""


class Shown(NamedTuple):
    """What a node gets of one Module."""

    module: str
    state: State
    mapping: str
    what: str


class Row(NamedTuple):
    """A node."""

    name: str
    cluster: str
    kernel: str
    state: State
    gets: Sequence[Shown]


def first(parts: Sequence[Part]) -> list[Row]:
    """Return the first rows, those of nodes without a driver before others."""
    return list(islice(_rows(parts), SHOWN))


def _rows(parts: Sequence[Part]) -> Iterator[Row]:
    for part, group in ordered(parts):
        gets = [shown(part, one) for one in group.gets]
        state = states.STATES[states.RANK[states.of_group(group)]]
        yield from (Row(name, part.name, group.kernel, state, gets) for name in group.names)


def ordered(parts: Sequence[Part]) -> list[tuple[Part, Alike]]:
    """Return the groups of alike nodes of all clusters, the worst first."""
    pairs = [(part, group) for part in parts for group in part.groups]
    return sorted(pairs, key=lambda pair: states.RANK[states.of_group(pair[1])])


def shown(part: Part, one: Gets) -> Shown:
    """Return what becomes of a Module, as a reader sees it."""
    state = states.STATES[states.RANK[one.state]]
    return Shown(part.modules[one.module].name, state, one.mapping, one.what)


def packed(parts: Sequence[Part]) -> dict[str, Any]:
    """Return all nodes as JSON data; texts that occur often are written once and named by their positions.

    A group is `[cluster, kernel, state, [[module, state, mapping, what], ...], "node node ..."]`; no node's name has a
    space (rule KRM601).
    """
    clusters, kernels, texts = _Numbers(), _Numbers(), _Numbers()
    gets: dict[tuple[str, Gets], list[int]] = {}
    groups = []
    for part, group in ordered(parts):
        for one in group.gets:
            if (part.name, one) not in gets:
                module, state = part.modules[one.module].name, states.RANK[one.state]
                gets[part.name, one] = [texts(module), state, texts(one.mapping), texts(one.what)]
        of_group = [gets[part.name, one] for one in group.gets]
        state = states.RANK[states.of_group(group)]
        groups.append([clusters(part.name), kernels(group.kernel), state, of_group, " ".join(group.names)])
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
