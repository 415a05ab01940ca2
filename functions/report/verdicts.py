"""The verdict of a run from what its page shows of each cluster: its nodes by what they get, and those not known."""

from collections.abc import Sequence

from ..fleet.table import ASSUMED, DRIVEN
from ..formats.checked import Checked
from ..formats.verdict import Nodes, Verdict, verdict
from ..plan import Comparison
from . import states
from .parts import Part

_WAITING = ("not labelled", "waiting", ASSUMED, states.NOT_LOADED)


def verdict_of(parts: Sequence[Part], checked: Checked, comparisons: Sequence[Comparison] = ()) -> Verdict:
    """Return the verdict of a run about these clusters; `checked` has its findings, those about the change, too."""
    nodes = {part.name: _nodes(part) for part in parts}
    unjudged = [part.name for part in parts if part.is_unjudged]
    return verdict(checked, nodes, unjudged, comparisons)


def _nodes(part: Part) -> Nodes:
    """Return how many nodes are in which state; those of a cluster that was not evaluated are not known."""
    numbers = states.of_nodes(part.groups)
    known = numbers.total()
    planned = sum(numbers[key] for key in (DRIVEN, states.LOADED, states.UNSURE, states.DIFFERS))
    return Nodes(known, max(0, part.nodes - known), planned, sum(numbers[state] for state in _WAITING))
