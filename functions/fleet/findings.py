"""Findings about a fleet: one function per rule."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Field, KrmfnError, Ref, Result, error, info, warning
from krmfn.printing import SHOWN, some
from krmfn.typed import NamedTuple

from ..finding import node_facts
from ..kmm.lookup import text
from ..kmm.resolution import NotJudged, resolver
from ..kmm.versions import Target
from ..sentence import Nodes, Sentence, Verb, named
from . import wording
from .cluster import Cluster, Placement, Workload, placements
from .coverage import Group, Outcome, State, by_driver, coverage
from .drivers import Driver
from .placing import at_config, at_mappings

MAPPING = "mapping"
"""The fact with the condition of a kernel mapping, as `wording.condition` has it."""
_DOUBT = "it is not known whether a kernel mapping has a driver for "


class Join(NamedTuple):
    """A cluster with its drivers and workloads joined to the nodes."""

    cluster: Cluster
    drivers: Sequence[tuple[Driver, list[tuple[Group, Outcome]]]]
    """The drivers, each with the groups of nodes that it selects."""
    workloads: Sequence[tuple[Workload, Placement]]
    """The DaemonSets whose nodes are known."""
    kmm: Target


def join(cluster: Cluster, exclusive: bool, kmm: Target) -> Join:
    """Return a cluster with its drivers and workloads joined to the nodes; arguments and errors as for `coverage`."""
    groups = coverage(cluster.fleet.nodes, cluster.drivers, exclusive, cluster.external)
    workloads = [(workload, placement) for workload, placement in placements(cluster, groups) if placement]
    return Join(cluster, by_driver(groups, cluster.drivers), workloads, kmm)


def inventory_is_valid(cluster: Cluster, today: str) -> Iterator[Result]:
    """Yield an error for an inventory whose `validUntil` is past."""
    for item in cluster.fleet.inventories:
        day = text(item.content.manifest.get("spec"), "validUntil")
        if day and day < today:
            message = f"was valid until {day}, but today is {today}"
            yield item.located(
                error(message, field=Field("spec.validUntil", day), remedy="regenerate it with `krmfn inventory`")
            )


def labels_are_held(cluster: Cluster, _: str) -> Iterator[Result]:
    """Yield an error for a label that a selector uses and the inventories do not hold."""
    for driver in cluster.drivers:
        yield from cluster.fleet.check_labels(driver.claim, driver.keys)
    labels_of_kmm = {key for driver in cluster.drivers for key in driver.set_by_kmm}
    for workload in cluster.workloads:
        missing = cluster.fleet.missing_labels_problem(workload.selector.keys() - labels_of_kmm, "where it runs")
        if missing and not labels_of_kmm.isdisjoint(workload.selector):
            field = Field("spec.template.spec.nodeSelector")
            message, remedy = missing
            yield warning(message, ref=workload.ref, field=field, remedy=remedy)


def kernels_are_mapped(joined: Join) -> Iterator[Result]:
    """Yield an error for a driver that some of its nodes do not get: no mapping matches their kernels, or KMM fails.

    And yield an info where that is not known, since nodes have not reported their kernels; an error where it is not
    known since a regexp is not judged.
    """
    for driver, selected in joined.drivers:
        uncovered: dict[tuple[str, str], list[str]] = {}
        for group, outcome in selected:
            if outcome.state in ("no mapping", "failure") or (outcome.state == "waiting" and outcome.failure):
                names = uncovered.setdefault((group.kernel, outcome.failure), [])
                names += [node.name for node in group.nodes]
        if uncovered:
            number = sum(map(len, uncovered.values()))
            nodes, get = Nodes(number, of=_number(selected)), Verb(number, "gets", "get")
            kernels = _kernels(uncovered)
            message: Sentence = (
                nodes,
                " that it selects ",
                get,
                " no driver, since no kernel mapping has one for ",
                *kernels,
            )
            if blocked := _number([pair for pair in selected if pair[1].state == "blocked"]):
                message += ("; KMM then does nothing on the other ", Nodes(blocked), " either")
            without = sorted(name for names in uncovered.values() for name in names)
            facts = (*node_facts(without), _module(driver))
            remedy = "add a kernel mapping for it, or narrow the selector"
            yield at_mappings(driver, error(message, facts=facts, remedy=remedy))
        yield from _not_judged(driver, selected)
        unknown = _names(selected, "kernel unknown")
        if unknown and not driver.module.takes_every_kernel:
            message = (_DOUBT, named(unknown), ": status.nodeInfo.kernelVersion is missing")
            remedy = "render with the inventory of a cluster on which they have reported it"
            about = info(message, facts=(*node_facts(unknown), _module(driver)), remedy=remedy)
            yield at_mappings(driver, about)


def _kernels(uncovered: Mapping[tuple[str, str], Sequence[str]]) -> Sentence:
    """Return some kernels with their nodes and failures, `5.14 on 2 nodes (a, b), ...`: those of most nodes first."""
    kernels = sorted(uncovered.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    parts = list[object]()
    for (kernel, failure), names in kernels[:SHOWN]:
        words = f"{', ' if parts else ''}{kernel} on "
        parts += [words, named(sorted(names)), f": KMM fails: {failure}" if failure else ""]
    rest = len(kernels) - SHOWN
    return (*parts, f" and {rest:,} more" if rest > 0 else "")


def _not_judged(driver: Driver, selected: Sequence[tuple[Group, Outcome]]) -> Iterator[Result]:
    """Yield an error where it is not known whether nodes get a driver, since a regexp is not judged (rule KRM216)."""
    if names := _names(selected, "not judged"):
        reason = next(outcome.failure for _, outcome in selected if outcome.state == "not judged")
        message = (_DOUBT, named(names), f": {reason}")
        yield at_mappings(driver, error(message, facts=(*node_facts(names), _module(driver))))


def selectors_match(joined: Join, pools: bool = False) -> Iterator[Result]:
    """Yield a warning for a selector that selects no node; `pools` says whether of a node pool, or of others."""
    fleet = joined.cluster.fleet
    clusters = Counter(node.cluster for node in fleet.nodes)
    candidates = [driver for driver, selected in joined.drivers if not selected and bool(driver.claim.pool) == pools]
    numbers = [sum(clusters[cluster] for cluster in clusters if driver.reaches(cluster)) for driver in candidates]
    idle_drivers = [(driver, number) for driver, number in zip(candidates, numbers, strict=True) if number]
    hint = wording.hints(fleet, [driver for driver, _ in idle_drivers])
    for driver, number in idle_drivers:
        none: Sentence = ("selects none of the ", Nodes(number))
        problem = none if number != 1 else ("does not select the only node",)
        reason, remedy = hint(driver)
        field, facts = Field(driver.claim.field), (_module(driver),)
        yield at_config(driver, warning((*problem, reason), field=field, facts=facts, remedy=remedy))


def mappings_are_reached(joined: Join) -> Iterator[Result]:
    """Yield an info for a kernel mapping that no selected node's kernel takes, where one takes another mapping.

    Nothing is said where a regexp is not judged: nobody knows which mapping takes a kernel then.
    """
    mappings_of: dict[Ref, list[object]] = {}  # of each config, those that some kernel takes
    positions_of: list[set[int]] = []  # of each driver
    for driver, selected in joined.drivers:
        used = _used_mappings(driver, selected)
        positions_of.append(used)
        mappings_of.setdefault(driver.claim.ref, []).extend(driver.module.mappings[position] for position in used)
    for (driver, selected), used in zip(joined.drivers, positions_of, strict=True):
        for position, entry in enumerate(driver.module.mappings if used else ()):
            if position not in used and entry not in mappings_of[driver.claim.ref]:  # another pool may use it
                number = _number(selected)
                condition = wording.condition(entry)
                words = f"kernelMappings[{position}] ({condition}) is not used for any kernel of the "
                message = (words, Nodes(number), " that ", Verb(number, "is", "are"), " selected")
                remedy = "remove it, unless it is for a kernel that is still to come"
                finding = info(message, facts=((MAPPING, condition), _module(driver)), remedy=remedy)
                yield at_mappings(driver, finding, f"[{position}]")


def _used_mappings(driver: Driver, selected: Sequence[tuple[Group, Outcome]]) -> set[int]:
    """Return the positions of the mappings that selected nodes take by their kernels; all where one is not judged."""
    positions = {outcome.resolution.mapping for _, outcome in selected}
    states = {outcome.state for _, outcome in selected}
    if not states.isdisjoint(("conflict", "taint", "waiting", "not judged")):
        resolve = resolver(driver.module)
        for kernel in {group.kernel for group, _ in selected if group.kernel}:
            try:
                positions.add(resolve(kernel).mapping)
            except NotJudged:
                return {*range(len(driver.module.mappings))}
            except KrmfnError:  # KMM fails on it, so it takes none
                continue
    return {position for position in positions if position is not None}


def workloads_tolerate(joined: Join) -> Iterator[Result]:
    """Yield a finding for a DaemonSet that waits for a Module and does not tolerate the taints of its nodes."""
    ready = {driver.ready: driver for driver, _ in joined.drivers}
    for workload, placement in joined.workloads:
        driver = next((ready[key] for key in workload.selector if key in ready), None)
        if driver and placement.repelled:
            taints = sorted({taint for _, untolerated in placement.repelled for taint in untolerated})
            names = sorted(node.name for node, _ in placement.repelled)
            nodes = named(names, len(names) + len(placement.nodes))
            reason = f"since it does not tolerate {some(map(str, taints), len(taints))}"
            message = ("does not run on ", nodes, f" on which {driver.ref} loads, {reason}")
            finding = warning if placement.nodes else error
            field = Field("spec.template.spec.tolerations")
            facts = (*node_facts(names), _module(driver))
            remedy = "give it the Module's tolerations"
            yield finding(message, ref=workload.ref, field=field, facts=facts, remedy=remedy)


def modules_tolerate(joined: Join) -> Iterator[Result]:
    """Yield a finding for a Module that does not tolerate the taints of nodes that it selects."""
    for driver, selected in joined.drivers:
        if names := _names(selected, "taint"):
            taints = sorted({taint for _, outcome in selected if outcome.state == "taint" for taint in outcome.taints})
            number = _number(selected)
            reason = f"since it does not tolerate {some(map(str, taints), len(taints))}"
            finding = error if len(names) == number else info
            message = ("loads no driver on ", named(names, number), f" that it selects, {reason}")
            facts = (*node_facts(names), _module(driver))
            remedy = "add `tolerations`, or select other nodes"
            yield at_config(driver, finding(message, field=Field(driver.claim.field), facts=facts, remedy=remedy))


def nodes_have_a_version(joined: Join) -> Iterator[Result]:
    """Yield an info for an ordered upgrade that waits for version labels that nodes do not have."""
    for driver, selected in joined.drivers:
        if names := _names(selected, "not labelled"):
            labels = ",".join(f"{key}={value}" for key, value in driver.selector.items())
            option = f"--selector {labels}" if labels else "--all"
            command = f"kubectl label nodes {option} {driver.version_label}={driver.module.version}"
            nodes = named(names, _number(selected))
            message = ("KMM loads nothing on ", nodes, " that it selects until they have a version label")
            facts = (*node_facts(names), _module(driver))
            about = info(message, field=Field(driver.claim.field), facts=facts, remedy=f"label them: `{command}`")
            yield at_config(driver, about)


def _module(driver: Driver) -> tuple[str, str]:
    """Return the fact that names a driver's Module: a config with several pools has several."""
    return "module", str(driver.ref)


def _number(selected: Sequence[tuple[Group, Outcome]]) -> int:
    """Return the number of nodes."""
    return sum(len(group.nodes) for group, _ in selected)


def _names(selected: Sequence[tuple[Group, Outcome]], state: State) -> list[str]:
    """Return the sorted names of the nodes on which a Module has this state."""
    return sorted(node.name for group, outcome in selected if outcome.state == state for node in group.nodes)
