"""Which node gets which Module, and why not: the join of nodes with selectors, kernel mappings and tolerations.

Cost: near-linear in nodes + selectors + matches. Nodes that look the same to all selectors are matched once, by each
selector's rarest label (`exclusivity.selectors.match`); a kernel is resolved once per Module, a set of taints judged
once per Module, and nodes for which all of that is equal are one group with one list of outcomes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from krmfn import KrmfnError
from krmfn.typed import Literal, NamedTuple

from .. import exclusivity
from ..exclusivity.claim import Rivals, index_rivals
from ..exclusivity.node import Node, Taint
from ..exclusivity.selectors import Exhausted, Name, Work, match
from ..grouping import grouped
from ..kmm.envsubst import UnfitKernel
from ..kmm.resolution import NotJudged, Resolution, resolver
from .drivers import Driver, Drivers
from .facts import PASSING, tolerates

State = Literal[
    "planned", "conflict", "terminating", "taint", "kernel unknown", "no mapping",
    "failure", "not judged", "not labelled", "other version", "waiting", "blocked",
]  # fmt: skip
"""What becomes of a Module on a node that it selects; where several hold, the first in this order:

conflict: it excludes another Module that the node gets, too; terminating: the Module is being deleted; taint: it does
not tolerate a taint of the node; kernel unknown: the node has not reported its kernel; no mapping: none matches the
kernel; failure: KMM fails on the kernel; not judged: a regexp decides about the kernel that is not judged here; not
labelled, other version: in an ordered upgrade the node's version label is missing (nothing is loaded), or keeps another
version; waiting: nothing is loaded while the node is cordoned, not ready,
or the like (`facts.PASSING`); blocked: KMM fails on another node that the Module selects, so it does nothing with the
Module on any node.
"""
Cluster = tuple[tuple[str, str], ...] | None
"""The labels of a cluster that a hub manages; None: this one."""
LOADING = ("planned", "not labelled", "other version", "waiting", "blocked")
"""The states in which KMM looks for the image of a Module, at once or as soon as nothing keeps the node from it."""
STEPS = 50_000_000
"""The bound on the work of matching, in look-ups: some tens of seconds."""
_Judge = Callable[[int, str, tuple[Taint, ...], str | None], "Outcome"]
"""Takes the position of a driver, the kernel and the taints of a node, and the value of its version label."""


class Outcome(NamedTuple):
    """What becomes of one Module on the nodes of a group."""

    driver: int
    """Its position in the list of drivers."""
    state: State
    resolution: Resolution = Resolution()
    """Mapping, image and in-tree modules for the nodes' kernel; empty where there is none."""
    taints: tuple[Taint, ...] = ()
    """Those that are not tolerated."""
    others: frozenset[int] = frozenset()
    """The drivers that it is in conflict with, itself included."""
    failure: str = ""
    """Why KMM fails, in its words, also in a conflict; of `not judged` why; in state `other version` that version."""
    last_kernel: str = ""
    """The kernel that this other version was loaded for, where the node boots another kernel."""
    problem: str = ""
    """The failure without what KMM expects instead; "" where it says nothing of that."""
    blocker: str = ""
    """The first node that KMM fails on, perhaps this one: it then leaves the Module alone in the whole cluster."""


class Group(NamedTuple):
    """Nodes with the same outcomes for the same Modules; without outcomes, nodes that no selector selects."""

    nodes: list[Node]
    """In the order of their names."""
    kernel: str
    outcomes: tuple[Outcome, ...]
    external: tuple[Outcome, ...] = ()
    """The outcomes of external drivers, whose positions follow those of the other drivers."""


def coverage(nodes: Iterable[Node], drivers: Drivers, exclusive: bool = True, external: Drivers = ()) -> list[Group]:
    """Return what every node gets, each node once, in the order of their first names.

    `exclusive` is False where node exclusivity is off. `external` are Modules from elsewhere (--against). Names must be
    unique, and all labels that selectors and version labels use must be known (rules KRM601 and KRM603).
    Raises KrmfnError when too many selectors share their labels to be decided in bounded work.
    """
    nodes, number, drivers = list(nodes), len(drivers), [*drivers, *external]
    is_of_hub = any(driver.cluster is not None for driver in drivers) or any(node.cluster is not None for node in nodes)
    selectors = [_hub_labels(driver.selector, driver.cluster) if is_of_hub else driver.selector for driver in drivers]
    rivals_of = index_rivals([driver.claim for driver in drivers])
    judge, version_labels = _judge(drivers), [driver.version_label for driver in drivers]
    groups: list[Group] = []
    # two clusters of a hub may have nodes of one name
    names = [(node.name, position) for position, node in enumerate(nodes)]
    labels = (_hub_labels(node.labels, node.cluster) if is_of_hub else node.labels for node in nodes)
    for selected, members in matches(enumerate(selectors), zip(names, labels, strict=True), "which node gets what"):
        keys = {position: version_labels[position] for position in selected}
        rivals = rivals_of(selected) if exclusive else {}
        groups += _groups([nodes[position] for _, position in members], keys, rivals, judge)
    groups.sort(key=lambda group: group.nodes[0].name)
    blockers: dict[tuple[int, Cluster], tuple[str, Outcome]] = {}
    for group in groups:
        node = group.nodes[0]
        for outcome in group.outcomes:
            if outcome.failure and outcome.state in ("failure", "conflict"):
                blockers.setdefault((outcome.driver, node.cluster), (node.name, outcome))
    return [_with_blockers(group, blockers, number) for group in groups] if blockers or external else groups


def matches(
    selectors: Iterable[tuple[int, Mapping[str, str]]], nodes: Iterable[tuple[Name, Mapping[str, str]]], question: str
) -> Iterator[tuple[list[int], list[Name]]]:
    """Yield, for all nodes (name and labels), the numbers of the selectors that select them, and the nodes' names.

    Raises KrmfnError that names the question when too many selectors share labels to be decided in bounded work.
    """
    numbers_of = grouped((frozenset(selector.items()), number) for number, selector in selectors)
    same_selector = list(numbers_of.values())
    try:
        for positions, names in match(list(numbers_of), nodes, Work(STEPS)):
            yield sorted(number for position in positions for number in same_selector[position]), names
    except Exhausted as failure:
        raise KrmfnError(f"{question} could not be decided: {exclusivity.TOO_MUCH.text}") from failure


def by_driver(groups: Iterable[Group], drivers: Drivers) -> list[tuple[Driver, list[tuple[Group, Outcome]]]]:
    """Return the drivers, each with the groups of nodes that it selects."""
    selected = grouped((outcome.driver, (group, outcome)) for group in groups for outcome in group.outcomes)
    return [(driver, selected.get(position, [])) for position, driver in enumerate(drivers)]


def _with_blockers(group: Group, blockers: Mapping[tuple[int, Cluster], tuple[str, Outcome]], number: int) -> Group:
    """Return a group in which the Modules that KMM fails with on some node are blocked.

    `blockers` has the first such node and the outcome there, per driver and cluster. The first `number` drivers are
    those of the input, the others are external.
    Source: KMM v2.6.0 and main, internal/controllers/module_reconciler.go: it joins the errors of all nodes of the
    cluster, and returns before it schedules any.
    """
    outcomes = []
    for outcome in group.outcomes:
        if blocker := blockers.get((outcome.driver, group.nodes[0].cluster)):
            name, first = blocker
            if outcome.state == "planned":
                outcome = outcome._replace(state="blocked", failure=first.failure, problem=first.problem)
            outcome = outcome._replace(blocker=name)
        outcomes.append(outcome)
    local = sum(outcome.driver < number for outcome in outcomes)
    return group._replace(outcomes=tuple(outcomes[:local]), external=tuple(outcomes[local:]))


def _hub_labels(labels: Mapping[str, str], cluster: Iterable[tuple[str, str]] | None) -> dict[str, str]:
    """Return the labels of a node, or of a selector, together with those of its cluster; no label key has a space."""
    of_cluster = {f"cluster {key}": value for key, value in cluster or ()}
    return {**labels, **of_cluster, "is managed": str(cluster is not None)}


def _groups(nodes: list[Node], selected: Mapping[int, str], rivals: Rivals, judge: _Judge) -> Iterator[Group]:
    """Yield the groups of nodes that the same drivers select.

    `selected` has these drivers with their version labels, `rivals` those that exclude each other.
    """
    labels = {position: key for position, key in selected.items() if key}
    pairs = ((node, tuple(map(node.labels.get, labels.values()))) for node in nodes)
    members_of = grouped(((node.kernel, node.last_kernel, node.taints, node.cluster, v), node) for node, v in pairs)
    for (kernel, last_kernel, taints, _, versions), members in members_of.items():
        version_of = dict(zip(labels, versions, strict=True))
        outcomes = []
        for position in selected:
            outcome = judge(position, kernel, taints, version_of.get(position))
            if position in rivals:  # KMM does not know of conflicts, so it may fail as well
                fails = outcome if outcome.state == "failure" else Outcome(position, "conflict")
                outcome = Outcome(
                    position, "conflict", others=rivals[position], failure=fails.failure, problem=fails.problem
                )
            elif outcome.state == "other version":
                outcome = outcome._replace(last_kernel=last_kernel)
            outcomes.append(outcome)
        yield Group(members, kernel, tuple(outcomes))


def _judge(drivers: Drivers) -> _Judge:
    """Return the function that gives the outcome of a driver on a node; each kernel is resolved once per driver."""
    resolvers = [resolver(driver.module, driver.through_hub) if driver.loads else None for driver in drivers]

    @cache
    def of_kernel(position: int, kernel: str) -> Outcome:
        if (resolve := resolvers[position]) is None:
            return Outcome(position, "planned")
        if not kernel:
            return Outcome(position, "kernel unknown")
        try:
            resolution = resolve(kernel)
        except NotJudged as unknown:
            return Outcome(position, "not judged", failure=str(unknown))
        except KrmfnError as failure:
            problem = failure.problem if isinstance(failure, UnfitKernel) else ""
            return Outcome(position, "failure", failure=str(failure), problem=problem)
        return Outcome(position, "planned" if resolution.mapping is not None else "no mapping", resolution)

    @cache
    def judge(position: int, kernel: str, taints: tuple[Taint, ...], version: str | None) -> Outcome:
        driver = drivers[position]
        if driver.is_terminating:
            return Outcome(position, "terminating")
        untolerated = tuple(taint for taint in taints if not tolerates(driver.tolerations, taint))
        if not {taint.key for taint in untolerated} <= PASSING.keys():
            return Outcome(position, "taint", taints=untolerated)
        outcome = of_kernel(position, kernel)
        if outcome.state == "planned" and driver.version_label and version != driver.module.version:
            # an empty label is none
            outcome = outcome._replace(state="other version" if version else "not labelled", failure=version or "")
        # while a passing taint lasts KMM unloads the Module, also another version of it
        if untolerated and outcome.state in ("planned", "failure"):
            return outcome._replace(state="waiting", taints=untolerated)
        if untolerated and outcome.state == "other version":
            return outcome._replace(state="not labelled", failure="", taints=untolerated)
        return outcome._replace(taints=untolerated)

    return judge
