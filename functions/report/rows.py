"""The table of nodes: a few rows that every reader sees, and all of them in short for the page's script."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from krmfn.typed import Any

from . import states
from .parts import Alike, Gets, Part

SHOWN = 200
"""Rows for a reader without JavaScript."""


def first(parts: Sequence[Part]) -> list[tuple[str, Part, Alike]]:
    """Return the names of the first nodes, those without a driver before others, with their clusters and groups."""
    return list(islice(((name, part, group) for part, group in ordered(parts) for name in group.names), SHOWN))


def ordered(parts: Sequence[Part]) -> list[tuple[Part, Alike]]:
    """Return the groups of alike nodes of all clusters, the worst first."""
    pairs = [(part, group) for part in parts for group in part.groups]
    return sorted(pairs, key=lambda pair: states.RANK[states.of_group(pair[1])])


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
