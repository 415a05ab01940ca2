"""Pictures of counts: numbers in, shapes for SVG out."""

from collections import Counter
from collections.abc import Sequence
from math import ceil, pi, sqrt

from krmfn.typed import NamedTuple

from ..fleet.table import DRIVEN
from . import states
from .states import State

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
    "terminating": "h9l-4.5 9z",
    "taint": "m4.5 0l4.5 9h-9z",
    "not labelled": "h9v4h-9z",
    "waiting": "h4v9h-4z",
    "other version": "v9h9z",
    "planned": SQUARE,
    "committed": "m3 0h3v9h-3z",
    "not selected": "m2.5 2.5h4v4h-4z",
}
"""The shape of each state, in the corner of a square: colours are not the only sign. The style sheet has the same."""
RADIUS = 54
BAR = 100


class Squares(NamedTuple):
    """A field of squares, or shapes in their places, column by column: one for some nodes."""

    name: str
    numbers: Counter[str]
    width: int
    height: int
    paths: Sequence[tuple[State, str]]


class Fields(NamedTuple):
    """The fields of squares of a page."""

    every: Sequence[Squares]
    per_square: int
    """For how many nodes a square stands."""
    zoom: float
    """How much the squares are enlarged, so that few of them fill the page, too."""


class Piece(NamedTuple):
    """A part of a bar: from `start`, `width` wide, of 100."""

    state: State
    nodes: int
    start: float
    width: float


def fields(named: Sequence[tuple[str, Counter[str]]]) -> Fields:
    """Return the fields of squares of some clusters: one for each, or one of all where there are many."""
    whole = sum((numbers for _, numbers in named), Counter[str]())
    if len(named) > FIELDS:
        named = [("all clusters", whole)]
    per_square = max(1, ceil(whole.total() / SQUARES))
    squares = whole.total() / per_square
    rows = max(2, min(8, round(sqrt(squares / 9))))  # all fields together are wide rather than high
    zoom = max(0.9, min(2.4, WIDEST / (max(1, squares) / rows * STEP)))
    return Fields([_squares(name, numbers, per_square, rows) for name, numbers in named], per_square, zoom)


def _squares(name: str, numbers: Counter[str], per_square: int, rows: int) -> Squares:
    """Return the field of squares of a cluster; a state that one node has gets a square, however large the fleet is."""
    at = 0
    paths = []
    for state, number in states.shown(numbers):
        count = ceil(number / per_square)
        places = (divmod(place, rows) for place in range(at, at + count))
        shape = SHAPES[state.key]
        paths.append((state, "".join(f"M{column * STEP} {row * STEP}{shape}" for column, row in places)))
        at += count
    margin = STEP - SIDE
    return Squares(name, numbers, ceil(at / rows) * STEP - margin, min(at, rows) * STEP - margin, paths)


def bar(numbers: Counter[str]) -> list[Piece]:
    """Return the parts of a bar, each wide enough to be seen."""
    whole, start = max(1, numbers.total()), 0.0
    found = states.shown(numbers)
    widths = [max(2.0, BAR * number / whole) for _, number in found]
    pieces = []
    for (state, number), width in zip(found, widths, strict=True):
        width = round(width * BAR / sum(widths), 2)
        pieces.append(Piece(state, number, round(start, 2), width))
        start += width
    return pieces


def ring(numbers: Counter[str]) -> tuple[int, str] | None:
    """Return how many per cent of the selected nodes have a driver, and the ring's dashes; None without such nodes."""
    selected, around = numbers.total() - numbers[states.UNSELECTED], 2 * pi * RADIUS
    if not selected:
        return None
    share = numbers[DRIVEN] / selected
    return numbers[DRIVEN] * 100 // selected, f"{around * share:.1f} {around:.1f}"
