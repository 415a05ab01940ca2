"""Which node gets which Module, and why not: the join of nodes with selectors, kernel mappings and tolerations.

Cost: near-linear in nodes + selectors + matches. Nodes that look the same to all selectors are matched once, by each
selector's rarest label (`exclusivity.selectors.match`); a kernel is resolved once per Module, a set of taints judged
once per Module, and nodes for which all of that is equal are one group with one list of outcomes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from krmfn import KrmfnError
from krmfn.typed import Literal, NamedTuple

from .. import exclusivity
from ..exclusivity.claim import clashing
from ..exclusivity.node import Node, Taint
from ..exclusivity.selectors import Exhausted, Name, Work, match
from ..grouping import grouped
from ..kmm.resolution import Resolution, resolver
from .drivers import Driver
from .facts import PASSING, tolerates

State = Literal[
    "planned", "conflict", "terminating", "taint", "kernel unknown", "no mapping",
    "failure", "not labelled", "other version", "waiting", "blocked",
]  # fmt: skip
"""What becomes of a Module on a node that it selects; of several reasons the first one in this order:

conflict: another one that the node also gets excludes it; terminating: the Module is being deleted; taint: the node has
one that is not tolerated; kernel unknown: the node has not reported one; no mapping: none for its kernel; failure: KMM
fails on its kernel; not labelled, other version: in an ordered upgrade the node's version label is missing (nothing is
loaded), or keeps another version; waiting: nothing is loaded while the node is cordoned, not ready, or the like
(`facts.PASSING`); blocked: KMM fails on another node that the Module selects, and so does nothing with it on any.
"""
Cluster = tuple[tuple[str, str], ...] | None
"""The labels of a cluster that a hub manages; None: this one."""
LOADING = ("planned", "not labelled", "other version", "waiting", "blocked")
"""The states in which KMM looks for the image of a Module, at once or when what keeps the node from it ends."""
STEPS = 50_000_000
"""The bound on the work of matching, in look-ups: some tens of seconds."""
_Judge = Callable[[int, str, tuple[Taint, ...], str | None], "Outcome"]
"""From a driver's position, a node's kernel and taints, and the value of its version label."""


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
    """Why KMM fails, in its words, also in a conflict; of a node with another version that version."""
    last_kernel: str = ""
    """The kernel that this other version was loaded for, of a node that boots another one."""
    blocker: str = ""
    """The first node that KMM fails on, itself included: it does nothing with the Module on any node of the cluster."""


class Group(NamedTuple):
    """Nodes on which the same becomes of the same Modules; no outcome: no selector selects them."""

    nodes: list[Node]
    """In the order of their names."""
    kernel: str
    outcomes: tuple[Outcome, ...]
    external: tuple[Outcome, ...] = ()
    """What becomes of Modules that stand elsewhere; their positions follow those of the drivers here."""


def coverage(
    nodes: Iterable[Node], drivers: Sequence[Driver], exclusive: bool = True, external: Sequence[Driver] = ()
) -> list[Group]:
    """Return what every node gets, each node once, in the order of their first names.

    `exclusive` is False where node exclusivity is off. `external` are Modules from elsewhere (--against). Names must be
    unique, and all labels that selectors and version labels use must be known (rules KRM601 and KRM603).
    Raises KrmfnError when too many selectors share their labels to be decided in bounded work.
    """
    nodes, number, drivers = list(nodes), len(drivers), [*drivers, *external]
    scoped = any(one.cluster is not None for one in drivers) or any(one.cluster is not None for one in nodes)
    selectors = [_scoped(driver.selector, driver.cluster) if scoped else driver.selector for driver in drivers]
    excluded = clashing([driver.claim for driver in drivers])
    judge, version_labels = _judge(drivers), [driver.version_label for driver in drivers]
    groups: list[Group] = []
    # two clusters of a hub may have nodes of one name
    names = [(node.name, at) for at, node in enumerate(nodes)]
    labels = (_scoped(node.labels, node.cluster) if scoped else node.labels for node in nodes)
    for selected, members in matched(enumerate(selectors), zip(names, labels, strict=True), "which node gets what"):
        keys = {position: version_labels[position] for position in selected}
        groups += _groups([nodes[at] for _, at in members], keys, excluded(selected) if exclusive else {}, judge)
    groups.sort(key=lambda group: group.nodes[0].name)
    blocker: dict[tuple[int, Cluster], tuple[str, str]] = {}
    for group in groups:
        for one in group.outcomes:
            if one.failure and one.state in ("failure", "conflict"):
                blocker.setdefault((one.driver, group.nodes[0].cluster), (group.nodes[0].name, one.failure))
    return [_settled(group, blocker, number) for group in groups] if blocker or external else groups


def matched(
    selectors: Iterable[tuple[int, Mapping[str, str]]], nodes: Iterable[tuple[Name, Mapping[str, str]]], what: str
) -> Iterator[tuple[list[int], list[Name]]]:
    """Yield, for all nodes (name and labels), the numbers of the selectors that select them, and the nodes' names.

    Raises KrmfnError, about `what`, when too many selectors share their labels to be decided in bounded work.
    """
    numbers = grouped((frozenset(selector.items()), number) for number, selector in selectors)
    same_selector = list(numbers.values())
    try:
        for selecting, names in match(list(numbers), nodes, Work(STEPS)):
            yield sorted(number for at in selecting for number in same_selector[at]), names
    except Exhausted as failure:
        raise KrmfnError(f"{what} could not be decided: {exclusivity.TOO_MUCH}") from failure


def by_driver(groups: Iterable[Group], drivers: Sequence[Driver]) -> list[tuple[Driver, list[tuple[Group, Outcome]]]]:
    """Return the drivers, each with the groups of nodes that it selects."""
    selected = grouped((outcome.driver, (group, outcome)) for group in groups for outcome in group.outcomes)
    return [(driver, selected.get(at, [])) for at, driver in enumerate(drivers)]


def _settled(group: Group, blocker: Mapping[tuple[int, Cluster], tuple[str, str]], number: int) -> Group:
    """Return a group with what becomes of Modules that KMM fails with on some node: `blocker` has the first, and why.

    Outcomes are those of so many drivers; those of the drivers behind them are theirs.
    Source: KMM v2.6.0 and main, internal/controllers/module_reconciler.go: it joins the errors of all nodes of the
    cluster, and returns before it schedules any.
    """

    def judged(one: Outcome) -> Outcome:
        if (found := blocker.get((one.driver, group.nodes[0].cluster))) is None:
            return one
        own = one._replace(blocker=found[0])
        return own._replace(state="blocked", failure=found[1]) if one.state == "planned" else own

    outcomes = tuple(map(judged, group.outcomes))
    own = sum(one.driver < number for one in outcomes)
    return group._replace(outcomes=outcomes[:own], external=outcomes[own:])


def _scoped(labels: Mapping[str, str], cluster: Iterable[tuple[str, str]] | None) -> dict[str, str]:
    """Return the labels of a node, or of a selector, together with those of its cluster; no label key has a space."""
    of_cluster = {f"cluster {key}": value for key, value in cluster or ()}
    return {**labels, **of_cluster, "is managed": str(cluster is not None)}


def _groups(
    nodes: list[Node], selected: Mapping[int, str], excluded: Mapping[int, frozenset[int]], judge: _Judge
) -> Iterator[Group]:
    """Yield the groups of nodes that the same drivers select; `selected` are these, with their version labels."""
    labels = {position: key for position, key in selected.items() if key}
    keys = labels.values()
    told = ((node, tuple(map(node.labels.get, keys))) for node in nodes)
    alike = grouped(((node.kernel, node.last_kernel, node.taints, node.cluster, of), node) for node, of in told)
    for (kernel, last_kernel, taints, _, versions), members in alike.items():
        version_of = dict(zip(labels, versions, strict=True))
        outcomes = []
        for position in selected:
            found = judge(position, kernel, taints, version_of.get(position))
            if position in excluded:  # KMM minds no conflict, and may fail all the same
                failure = found.failure if found.state == "failure" else ""
                found = Outcome(position, "conflict", others=excluded[position], failure=failure)
            elif found.state == "other version":
                found = found._replace(last_kernel=last_kernel)
            outcomes.append(found)
        yield Group(members, kernel, tuple(outcomes))


def _judge(drivers: Sequence[Driver]) -> _Judge:
    """Return the function that decides what becomes of a driver on a node; each kernel is resolved once per driver."""
    resolvers = [resolver(driver.module) if driver.loads else None for driver in drivers]

    @cache
    def of_kernel(position: int, kernel: str) -> Outcome:
        if (resolve := resolvers[position]) is None:
            return Outcome(position, "planned")
        if not kernel:
            return Outcome(position, "kernel unknown")
        try:
            resolution = resolve(kernel)
        except KrmfnError as failure:
            return Outcome(position, "failure", failure=str(failure))
        return Outcome(position, "planned" if resolution.mapping is not None else "no mapping", resolution)

    @cache
    def outcome(position: int, kernel: str, taints: tuple[Taint, ...], version: str | None) -> Outcome:
        driver = drivers[position]
        if driver.is_terminating:
            return Outcome(position, "terminating")
        left = tuple(taint for taint in taints if not tolerates(driver.tolerations, taint))
        if not {taint.key for taint in left} <= PASSING.keys():
            return Outcome(position, "taint", taints=left)
        found = of_kernel(position, kernel)
        if found.state == "planned" and driver.version_label and version != driver.module.version:
            # an empty label is none
            found = found._replace(state="other version" if version else "not labelled", failure=version or "")
        return _waiting(found, left) if left else found

    return outcome


def _waiting(outcome: Outcome, taints: tuple[Taint, ...]) -> Outcome:
    """Return what becomes of a Module that would get this outcome on a node without these taints, which will end.

    KMM unloads it until then, also what is there of another version.
    """
    if outcome.state in ("planned", "failure"):
        return outcome._replace(state="waiting", taints=taints)
    if outcome.state == "other version":
        return outcome._replace(state="not labelled", failure="", taints=taints)
    return outcome._replace(taints=taints)
