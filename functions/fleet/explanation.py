"""The Modules on nodes, explained by a dump of the cluster: why a node has one or not, and which only Git plans."""

from collections.abc import Iterator, Sequence

from krmfn.printing import some
from krmfn.typed import Any, NamedTuple

from ..exclusivity.node import Node
from . import wording
from .cluster import Cluster
from .coverage import Group, Outcome, coverage
from .drivers import Driver, Drivers
from .live import Key, Live


class Answer(NamedTuple):
    """A sentence about a Module on a node, and the steps that lead to it."""

    holds: bool
    """Whether the node has what is planned; without a dump, whether KMM will load the Module."""
    sentence: str
    steps: tuple[str, ...] = ()
    first: str = ""
    """The first broken link of KMM's chain; "" for none."""
    links: tuple[dict[str, Any], ...] = ()
    """The links of the chain, in order: link, state, evidence, reason, command; without a dump there are none."""
    headline: str = ""
    """The broken link that the sentence is about: `first`, or what is broken on the node where nothing is synced."""
    chain: tuple[str, ...] = ()
    """The links as lines of text."""


class LiveNodes(NamedTuple):
    """A dump, and how its nodes differ from the committed ones."""

    dump: Live
    losses: Sequence[tuple[Node, Outcome, str]]
    """The Modules that the committed inventory plans for a node, and that do not select the live one.

    Each has the live node (the committed one where the dump has none of this name), the outcome on the committed one,
    and the reason.
    """
    kept: int
    """How many planned drivers of committed nodes also select the live ones, whatever their outcome there."""
    cluster: str = ""
    """The name of the cluster, which an engine's object there may have."""


def compare(dump: Live, live: Sequence[Group], committed: list[Node], cluster: Cluster, exclusive: bool) -> LiveNodes:
    """Return a dump with the planned Modules of the committed nodes that do not select the `live` ones.

    `live` is the coverage of the dump's nodes. Raises KrmfnError as `coverage` does, which explains `exclusive`.
    """
    nodes = {node.name: node for group in live for node in group.nodes}
    selected = {(node.name, outcome.driver) for group in live for node in group.nodes for outcome in group.outcomes}
    losses, kept = list[tuple[Node, Outcome, str]](), 0
    for group in coverage(committed, cluster.drivers, exclusive, cluster.external):
        for outcome in group.outcomes:
            for node in group.nodes if outcome.state == "planned" else ():
                driver, live_node = cluster.drivers[outcome.driver], nodes.get(node.name)
                if (node.name, outcome.driver) in selected:
                    kept += driver.loads
                    continue
                labels = ", ".join(map("=".join, driver.missing_labels(live_node.labels).items())) if live_node else ""
                problem = f"the live node lacks {labels}" if labels else "the node is not in the dump"
                losses.append((live_node or node, outcome, f"the committed inventory plans it, but {problem}"))
    return LiveNodes(dump, losses, kept)


def _key_of(node: Node, driver: Driver) -> Key:
    """Return how a dump names a Module on a node."""
    return node.name, driver.module.ref.namespace, driver.module.ref.name


def answers(node: Node, drivers: Drivers, outcomes: Sequence[Outcome]) -> Iterator[Answer]:
    """Yield the answers about a node of an inventory: what is planned for it."""
    yield from (_answer(node, drivers, outcome) for outcome in outcomes)
    if not outcomes:
        local = [driver for driver in drivers if driver.cluster == node.cluster]
        yield unselected_answer(node, local, None, None)


def _answer(node: Node, drivers: Drivers, outcome: Outcome) -> Answer:
    """Return the answer about a Module that selects a node of an inventory."""
    driver, is_planned = drivers[outcome.driver], outcome.state == "planned"
    subject = f"{node.name}: {driver.module.ref.namespace}/{driver.module.ref.name}"
    predicate = "is planned" if is_planned else f"is not planned to run: {wording.reason(drivers, outcome)}"
    return Answer(is_planned, f"{subject} {predicate}", tuple(_steps(node, driver, outcome)))


def _steps(node: Node, driver: Driver, outcome: Outcome) -> Iterator[str]:
    """Yield the steps to an answer: the config, the mapping, the kernel and taints of the node."""
    yield f"planned by {wording.name(driver)}"
    if mapping := wording.mapping(driver, outcome):
        yield f"mapping {mapping}: {outcome.resolution.image or 'no image'}"
    elif outcome.state == "no mapping":
        yield f"mappings {', '.join(map(wording.condition, driver.module.mappings))}"
    yield f"kernel {node.kernel or 'not known'}; taints {', '.join(map(str, node.taints)) or 'none'}"


def unselected_answer(node: Node, drivers: Drivers, live: Live | None, committed: Node | None) -> Answer:
    """Return the answer about a node that none of the drivers selects: the nearest one, and the labels it asks for."""
    if not drivers:
        return Answer(False, f"{node.name}: nothing selects it: there is no Module")
    labels = sorted(driver.ready for driver in drivers if driver.ready in node.labels)
    suffix = f"; KMM's label {some(labels, len(labels))} is still there" if labels else ""
    inventory = ", and by the inventory nothing did" if committed else ", and the inventory does not have it"
    nearest = f"the nearest, {wording.nearest(node, drivers)}"
    return Answer(False, f"{node.name}: nothing selects it{inventory if live else ''}; {nearest}{suffix}")
