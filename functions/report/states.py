"""The states of nodes with their Modules, as the page names, orders and draws them, the worst first.

The page's table of nodes has a few rows for every reader; its script gets all nodes as short data. Pictures are made
from counts: numbers in, shapes for SVG out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from math import ceil, pi, sqrt

from krmfn.typed import Any, NamedTuple

from ..fleet.table import ASSUMED, DRIVEN
from .parts import NodeGroup, Part

ROWS = 200
"""Rows of the table for a reader without JavaScript."""


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


NOT_LOADED, DIFFERS, UNSURE, LOADED = "not loaded", "not as planned", "perhaps not as planned", "loaded"
"""States of live nodes, which `nodes` prints as `planned` or `other version` with what is loaded."""
STATES = (
    State("conflict", "Conflict", "two Modules that exclude each other select the node"),
    State("failure", "KMM fails", "KMM fails on the node's kernel"),
    State("blocked", "Blocked", "KMM fails on another node, and does nothing with the Module on any"),
    State("no mapping", "No mapping", "no kernel mapping has a driver for the node's kernel"),
    State("committed", "Only committed", "the committed inventory plans it, and nothing selects the live node"),
    State(NOT_LOADED, "Not loaded", "planned, and KMM's ready label is not on the live node"),
    State("kernel unknown", "Kernel not known", "the node has not reported its kernel"),
    State("not judged", "Not judged", "a regexp that is too large to be judged decides about the node's kernel"),
    State("terminating", "Terminating", "the Module is being deleted: KMM unloads it"),
    State("taint", "Taint", "the Module does not tolerate a taint of the node"),
    State("not labelled", "Waits for a label", "ordered upgrade: nothing is loaded before the node has its label"),
    State("waiting", "Waits for the node", "nothing is loaded while the node is cordoned, not ready or unreachable"),
    State(
        "other version", "Other version", "ordered upgrade: what is loaded, if anything, stays until the label changes"
    ),
    State(DIFFERS, "Not as planned", "a driver runs on the live node: not the planned one, or not all of it is well"),
    State(
        UNSURE, "Perhaps not as planned", "what this checkout plans is loaded; whether Git plans it now is not known"
    ),
    State(LOADED, "Loaded", "KMM's ready label is on the live node, and the driver is the planned one"),
    State("planned", "Planned", "KMM loads the driver, if it has not yet"),
    State("not selected", "Not selected", "no selector selects the node"),
    State("not evaluated", "Not known", "the nodes of the cluster were not evaluated"),
)
FIELDS = 40
"""Clusters that have a field of squares each."""
SQUARES = 1_200
"""Squares in all the fields of squares of one page."""
WIDEST = 1_050
"""The width of the page, in pixels."""
STEP, SIDE = 11, 9
"""From one square to the next, and a square's width, in units of the picture."""
SQUARE = "h9v9h-9z"
SHAPES = {
    "conflict": "m4.5 0l4.5 4.5l-4.5 4.5l-4.5 -4.5z",
    "failure": "m3 0h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "blocked": "h9v3h-9zm0 6h9v3h-9z",
    "no mapping": "h9v9h-9zm2.5 2.5v4h4v-4z",
    "kernel unknown": "m0 4.5a4.5 4.5 0 1 1 9 0a4.5 4.5 0 1 1 -9 0z",
    "not judged": "m0 0h9v2h-3.5v7h-2v-7h-3.5z",
    "terminating": "h9l-4.5 9z",
    "taint": "m4.5 0l4.5 9h-9z",
    "not labelled": "h9v4h-9z",
    "waiting": "h4v9h-4z",
    "other version": "v9h9z",
    "planned": SQUARE,
    NOT_LOADED: "m3 0h3v4.5h3l-4.5 4.5l-4.5 -4.5h3z",
    DIFFERS: "h9v4.5h-4.5v4.5h-4.5z",
    UNSURE: "h4.5v4.5h4.5v4.5h-9z",
    LOADED: "m2 0h5l2 2v5l-2 2h-5l-2 -2v-5z",
    "committed": "m3 0h3v9h-3z",
    "not selected": "m2.5 2.5h4v4h-4z",
    "not evaluated": "h9v1.5h-7.5v6h6v-6h1.5v7.5h-9z",
}
"""The shape of each state, in the corner of a square: colours are not the only sign. The style sheet has the same."""
RADIUS = 54
BAR = 100


Squares = tuple[str, Counter[str], int, int, Sequence[tuple[State, str]]]
"""A field of squares, or other shapes, column by column: name, nodes per state, width, height, a path per state."""
RANK = {state.key: rank for rank, state in enumerate(STATES)}
UNKNOWN, UNSELECTED, UNEVALUATED = ("kernel unknown", "not judged"), "not selected", "not evaluated"


def of_group(group: NodeGroup) -> str:
    """Return the state of the nodes of a group: the worst one of their Modules."""
    return min((outcome.state for outcome in group.outcomes), key=RANK.__getitem__, default=UNSELECTED)


def of_nodes(groups: Iterable[NodeGroup]) -> Counter[str]:
    """Return how many nodes are in each state."""
    numbers: Counter[str] = Counter()
    for group in groups:
        numbers[of_group(group)] += len(group.names)
    return numbers


def without_driver(numbers: Counter[str]) -> int:
    """Return how many of these nodes are selected and surely lack a driver."""
    without = {*numbers} - {DRIVEN, LOADED, UNSURE, DIFFERS, ASSUMED, *UNKNOWN, UNSELECTED, UNEVALUATED}
    return sum(numbers[key] for key in without)


def of_row(state: str, loaded: bool | None, reason: str, doubt: str = "") -> str:
    """Return the state of a row of `nodes` as the page has it: of a live node, what is loaded there."""
    if state == DRIVEN and not (loaded is None and not reason):
        return NOT_LOADED if loaded is False else DIFFERS if reason else UNSURE if doubt else LOADED
    if state == ASSUMED and loaded is not None:
        return DIFFERS if loaded else NOT_LOADED
    return state


def counts(numbers: Counter[str]) -> list[tuple[State, int]]:
    """Return the states that nodes are in, with how many are, the worst first."""
    return [(state, numbers[state.key]) for state in STATES if numbers[state.key]]


def description(numbers: Counter[str]) -> str:
    """Return the states with their numbers, for a reader who does not see a picture of them."""
    return ", ".join(f"{state.label}: {number:,}" for state, number in counts(numbers))


def groups_of(parts: Sequence[Part]) -> list[tuple[Part, NodeGroup]]:
    """Return the groups of nodes of all clusters, the worst first."""
    pairs = [(part, group) for part in parts for group in part.groups]
    return sorted(pairs, key=lambda pair: RANK[of_group(pair[1])])


def node_data(parts: Sequence[Part]) -> dict[str, Any]:
    """Return all nodes as JSON data; texts that occur often are written once and named by their positions.

    A group is `[cluster, kernel, state, [[module, state, mapping, text], ...], "node node ..."]`; no node's name has a
    space (rule KRM601).
    """
    clusters, kernels, texts = (defaultdict[str, int](count().__next__) for _ in range(3))
    groups = []
    for part, group in groups_of(parts):
        outcomes = []
        for module, state, mapping, text in group.outcomes:
            outcomes.append([texts[part.modules[module].name], RANK[state], texts[mapping], texts[text]])
        facts = [clusters[part.name], kernels[group.kernel], RANK[of_group(group)]]
        groups.append([*facts, outcomes, " ".join(group.names)])
    labels = [[state.label, state.style] for state in STATES]
    return {"clusters": [*clusters], "kernels": [*kernels], "texts": [*texts], "states": labels, "groups": groups}


def fields(clusters: Sequence[tuple[str, Counter[str]]]) -> tuple[Sequence[Squares], int, float]:
    """Return the fields of squares of some clusters: one for each, or one of all where there are many.

    Also return how many nodes a square stands for, and the factor by which it is enlarged, so that a few squares fill
    the page, too.
    """
    totals = sum((numbers for _, numbers in clusters), Counter[str]())
    if len(clusters) > FIELDS:
        clusters = [("all clusters", totals)]
    per_square = max(1, ceil(totals.total() / SQUARES))
    squares = totals.total() / per_square
    rows = max(2, min(8, round(sqrt(squares / 9))))  # all fields together are wide rather than high
    zoom = max(0.9, min(2.4, WIDEST / (max(1, squares) / rows * STEP)))
    return [_squares(name, numbers, per_square, rows) for name, numbers in clusters], per_square, zoom


def _squares(name: str, numbers: Counter[str], per_square: int, rows: int) -> Squares:
    """Return the field of squares of a cluster; a state that one node has gets a square, however large the fleet is."""
    at, paths = 0, []
    for state, number in counts(numbers):
        squares = ceil(number / per_square)
        places = (divmod(place, rows) for place in range(at, at + squares))
        shape = SHAPES[state.key]
        paths.append((state, "".join(f"M{column * STEP} {row * STEP}{shape}" for column, row in places)))
        at += squares
    margin = STEP - SIDE
    return name, numbers, ceil(at / rows) * STEP - margin, min(at, rows) * STEP - margin, paths


def bar(numbers: Counter[str]) -> Iterator[tuple[State, int, float, float]]:
    """Yield the parts of a bar: state, nodes, where it starts, and its width, which is enough to be seen."""
    pairs, start = counts(numbers), 0.0
    widths = [max(2.0, BAR * number / numbers.total()) for _, number in pairs]
    for (state, number), width in zip(pairs, widths, strict=True):
        width = round(width * BAR / sum(widths), 2)
        yield state, number, round(start, 2), width
        start += width


def ring(numbers: Counter[str]) -> tuple[int, str] | None:
    """Return how many per cent of the selected nodes are planned to get a driver, and the ring's dashes.

    None without such nodes.
    """
    selected, circumference = numbers.total() - numbers[UNSELECTED], 2 * pi * RADIUS
    if not selected:
        return None
    driven = sum(numbers[key] for key in (DRIVEN, LOADED, UNSURE, DIFFERS))
    share = driven / selected
    return driven * 100 // selected, f"{circumference * share:.1f} {circumference:.1f}"
