"""The states of nodes with their Modules, as the page names and orders them, the worst first; the table of nodes.

A few rows of the table are there for every reader, and all of them in short for the page's script.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from krmfn.typed import Any, NamedTuple

from ..fleet.table import ASSUMED, DRIVEN
from .parts import Alike, Gets, Part

SHOWN = 200
"""Rows for a reader without JavaScript."""


class State(NamedTuple):
    """A state as a reader sees it."""

    key: str
    """As `nodes` prints it."""
    label: str
    meaning: str

    @property
    def style(self) -> str:
        """The class of the page's style sheet."""
        return f"s-{self.key.replace(' ', '-')}"


STATES = (
    State("conflict", "Conflict", "two Modules that exclude each other select the node"),
    State("failure", "KMM fails", "KMM fails on the node's kernel"),
    State("blocked", "Blocked", "KMM fails on another node, and does nothing with the Module on any"),
    State("no mapping", "No mapping", "no kernel mapping has a driver for the node's kernel"),
    State("kernel unknown", "Kernel not known", "the node has not reported its kernel"),
    State("terminating", "Terminating", "the Module is being deleted: KMM unloads it"),
    State("taint", "Taint", "the Module does not tolerate a taint of the node"),
    State("not labelled", "Waits for a label", "ordered upgrade: nothing is loaded before the node has its label"),
    State("waiting", "Waits for the node", "nothing is loaded while the node is cordoned, not ready, or the like"),
    State(
        "other version", "Other version", "ordered upgrade: what is loaded, if anything, stays until the label changes"
    ),
    State("planned", "Planned", "KMM loads the driver, if it has not yet"),
    State("committed", "Only committed", "the committed inventory plans it, and nothing selects the live node"),
    State("not selected", "Not selected", "no selector selects the node"),
)
RANK = {state.key: rank for rank, state in enumerate(STATES)}
UNKNOWN, UNSELECTED = "kernel unknown", "not selected"


def of_group(group: Alike) -> str:
    """Return the state of the nodes of a group: the worst one of their Modules."""
    return min((one.state for one in group.gets), key=RANK.__getitem__, default=UNSELECTED)


def of_nodes(groups: Iterable[Alike]) -> Counter[str]:
    """Return how many nodes are in each state."""
    numbers: Counter[str] = Counter()
    for group in groups:
        numbers[of_group(group)] += len(group.names)
    return numbers


def without_driver(numbers: Counter[str]) -> int:
    """Return how many of these nodes are selected and lack a driver; of some it is not known."""
    return sum(number for key, number in numbers.items() if key not in (DRIVEN, ASSUMED, UNKNOWN, UNSELECTED))


def shown(numbers: Counter[str]) -> list[tuple[State, int]]:
    """Return the states that occur with their numbers, the worst first."""
    return [(state, numbers[state.key]) for state in STATES if numbers[state.key]]


def spoken(numbers: Counter[str]) -> str:
    """Return the states with their numbers, for a reader who does not see a picture of them."""
    return ", ".join(f"{state.label}: {number:,}" for state, number in shown(numbers))


def first_rows(parts: Sequence[Part]) -> list[tuple[str, Part, Alike]]:
    """Return the names of the first nodes, those without a driver before others, with their clusters and groups."""
    return list(islice(((name, part, group) for part, group in ordered(parts) for name in group.names), SHOWN))


def ordered(parts: Sequence[Part]) -> list[tuple[Part, Alike]]:
    """Return the groups of alike nodes of all clusters, the worst first."""
    pairs = [(part, group) for part in parts for group in part.groups]
    return sorted(pairs, key=lambda pair: RANK[of_group(pair[1])])


def packed(parts: Sequence[Part]) -> dict[str, Any]:
    """Return all nodes as JSON data; texts that occur often are written once and named by their positions.

    A group is `[cluster, kernel, state, [[module, state, mapping, what], ...], "node node ..."]`; no node's name has a
    space (rule KRM601).
    """
    clusters, kernels, texts = dict[str, int](), dict[str, int](), dict[str, int]()
    gets: dict[tuple[str, Gets], list[int]] = {}
    groups = []
    for part, group in ordered(parts):
        for one in group.gets:
            if (part.name, one) not in gets:
                module = _numbered(texts, part.modules[one.module].name)
                gets[part.name, one] = [module, RANK[one.state], *(_numbered(texts, text) for text in one[2:])]
        facts = [_numbered(clusters, part.name), _numbered(kernels, group.kernel), RANK[of_group(group)]]
        groups.append([*facts, [gets[part.name, one] for one in group.gets], " ".join(group.names)])
    named = [[state.label, state.style] for state in STATES]
    return {"clusters": [*clusters], "kernels": [*kernels], "texts": [*texts], "states": named, "groups": groups}


def _numbered(known: dict[str, int], text: str) -> int:
    """Return the number under which a text is written: its position among those that are known."""
    return known.setdefault(text, len(known))
