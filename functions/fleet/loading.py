"""What a dump says of the drivers: which of the planned ones are loaded, and which are planned in Git only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from . import explanation
from .cluster import Cluster
from .coverage import Group, Outcome, coverage
from .drivers import Driver
from .live import Live


class Loss(NamedTuple):
    """A Module that the committed inventory plans for a node, and that does not select the live one."""

    node: Node
    """The live one; the committed one where the dump has none of this name."""
    outcome: Outcome
    """What became of the Module on the committed node."""
    reason: str


class Loading(NamedTuple):
    """A dump beside the inventory whose place its nodes take."""

    dump: Live
    losses: Sequence[Loss] = ()
    kept: int = 0
    """How many drivers that the inventory plans are for live nodes, too, whatever becomes of them there."""


def compared(dump: Live, live: Sequence[Group], committed: Sequence[Node], whole: Cluster, exclusive: bool) -> Loading:
    """Return a dump with what the committed nodes of a cluster get, and the `live` ones do not.

    `exclusive` as for `coverage`. Raises KrmfnError as it does.
    """
    drivers, groups = whole.every, coverage(committed, whole.drivers, exclusive, whole.theirs)
    nodes = {node.name: node for group in live for node in group.nodes}
    selected = {(node.name, one.driver) for group in live for node in group.nodes for one in group.outcomes}
    losses = list(_losses(groups, nodes, selected, drivers))
    lost = {(one.node.name, one.outcome.driver) for one in losses}
    kept = (
        (node.name, one.driver) not in lost
        for group in groups
        for one in group.outcomes
        if one.state == "planned" and drivers[one.driver].loads
        for node in group.nodes
    )
    return Loading(dump, losses, sum(kept))


def _losses(
    committed: Sequence[Group], nodes: Mapping[str, Node], selected: set[tuple[str, int]], drivers: Sequence[Driver]
) -> Iterator[Loss]:
    for group in committed:
        for outcome in (one for one in group.outcomes if one.state == "planned"):
            for node in (node for node in group.nodes if (node.name, outcome.driver) not in selected):
                live = nodes.get(node.name)
                missing = drivers[outcome.driver].lacking(live.labels) if live else {}
                labels = ", ".join(f"{key}={value}" for key, value in missing.items())
                without = f"the live node lacks {labels}" if labels else "the node is not in the dump"
                yield Loss(live or node, outcome, f"the committed inventory plans it, but {without}")


def is_left(node: Node, driver: Driver, dump: Live) -> bool:
    """Return whether a Module that a node is not to have is still loaded there."""
    return node.name in dump.nodes and explanation.is_left(node, driver, dump)


def loaded(node: Node, drivers: Sequence[Driver], outcome: Outcome, dump: Live) -> tuple[bool | None, str]:
    """Return whether a Module is loaded on a live node, and what is wrong where it is planned: what `why` says.

    None for a plugin alone. Of a dump without NodeModulesConfigs KMM's ready label is all that is known.
    """
    driver = drivers[outcome.driver]
    if outcome.state != "planned":
        return is_left(node, driver, dump) if driver.loads else None, ""
    if dump.is_of_nodes and not driver.loads:
        return None, ""
    holds, said = explanation.planned(node, driver, outcome, dump)
    if driver.loads and not dump.configured:
        is_there = not dump.modules or dump.modules.get(explanation.key_of(node, driver)[1:]) is False
        holds = driver.ready in node.labels and is_there
    wrong = explanation.plugin(node, driver, dump) or "; ".join(dump.troubles.get(node.name, ()))
    return holds if driver.loads else None, wrong if holds else said
