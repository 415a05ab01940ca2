"""Findings about a fleet: one function per rule."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from krmfn import Field, KrmfnError, Result, error, info, warning
from krmfn.printing import counted, some
from krmfn.typed import NamedTuple

from ..kmm.lookup import text
from ..kmm.module import MAPPINGS
from ..kmm.resolution import resolver
from ..kmm.versions import Target
from . import wording
from .cluster import Cluster, Placement, Workload, placements
from .coverage import Group, Outcome, by_driver, coverage
from .drivers import Driver


class Joined(NamedTuple):
    """A cluster joined with what stands on it."""

    whole: Cluster
    selected: Sequence[tuple[Driver, list[tuple[Group, Outcome]]]]
    """The drivers, each with the groups of nodes that it selects."""
    workloads: Sequence[tuple[Workload, Placement]]
    """The DaemonSets whose nodes are known."""
    kmm: Target


def joined(whole: Cluster, exclusive: bool, kmm: Target) -> Joined:
    """Return a cluster joined with the drivers and the workloads on it; `exclusive` as for `coverage`."""
    groups = coverage(whole.fleet.nodes, whole.drivers, exclusive, whole.external)
    placed = zip(
        whole.workloads, placements(whole.workloads, groups, whole.all_drivers, whole.fleet.label_keys), strict=True
    )
    known = [(workload, where) for workload, where in placed if where]
    return Joined(whole, by_driver(groups, whole.drivers), known, kmm)


def inventory_is_valid(whole: Cluster, today: str) -> Iterator[Result]:
    """Yield an error for an inventory after the last day on which it may be relied on."""
    for item in whole.fleet.inventories:
        day = text(item.content.manifest.get("spec"), "validUntil")
        if day and day < today:
            message = f"was valid until {day}, but today is {today}; regenerate it with `krmfn inventory`"
            yield item.located(error(message, field=Field("spec.validUntil", day)))


def labels_are_held(whole: Cluster, _: str) -> Iterator[Result]:
    """Yield an error for a label that a selector uses and the inventories do not hold."""
    for driver in whole.drivers:
        yield from whole.fleet.check_labels(driver.claim, driver.keys)
    own = {key for driver in whole.drivers for key in driver.set_by_kmm}
    for workload in whole.workloads:
        missing = whole.fleet.missing_labels_problem(workload.selector.keys() - own, "where it runs")
        if missing and not own.isdisjoint(workload.selector):
            yield warning(missing, ref=workload.ref, field=Field("spec.template.spec.nodeSelector"))


def kernels_are_mapped(joined: Joined) -> Iterator[Result]:
    """Yield an error for a driver that some of its nodes do not get: no mapping matches their kernels, or KMM fails.

    And an info for one of which that is not known, since its nodes have not reported their kernels.
    """
    for driver, selected in joined.selected:
        uncovered: dict[tuple[str, str], list[str]] = {}
        for group, outcome in selected:
            if outcome.state in ("no mapping", "failure") or (outcome.state == "waiting" and outcome.failure):
                names = uncovered.setdefault((group.kernel, outcome.failure), [])
                names += [node.name for node in group.nodes]
        if uncovered:
            kernels = [
                f"{kernel} on {wording.nodes_named(sorted(names))}{f': KMM fails: {failure}' if failure else ''}"
                for (kernel, failure), names in sorted(uncovered.items(), key=lambda pair: (-len(pair[1]), pair[0]))
            ]
            number, whole = sum(map(len, uncovered.values())), _number(selected)
            get = "gets" if number == 1 else "get"
            why = f"since no kernel mapping has one for {some(kernels, len(kernels))}"
            message = f"{number:,} of the {counted(whole, 'node')} that it selects {get} no driver, {why}"
            if blocked := sum(len(group.nodes) for group, one in selected if one.state == "blocked"):
                message += f"; KMM then does nothing on the other {counted(blocked, 'node')} either"
            yield about_mappings(driver, error(message))
        unknown = [node.name for group, one in selected if one.state == "kernel unknown" for node in group.nodes]
        if unknown and not driver.module.takes_every_kernel:
            lacking = f"{wording.nodes_named(sorted(unknown))}: status.nodeInfo.kernelVersion is missing"
            message = f"it is not known whether a kernel mapping has a driver for {lacking}"
            yield about_mappings(driver, info(message))


def selectors_match(joined: Joined, pools: bool = False) -> Iterator[Result]:
    """Yield a warning for a selector that selects none of the nodes: of a node pool, or of anything else."""
    fleet = joined.whole.fleet
    numbers = Counter(node.cluster is not None for node in fleet.nodes)
    empty = [driver for driver, selected in joined.selected if not selected and bool(driver.claim.pool) == pools]
    idle = [driver for driver in empty if numbers[driver.cluster is not None]]
    hint = wording.hints(fleet, idle)
    for driver in idle:
        number = numbers[driver.cluster is not None]
        none = f"selects none of the {counted(number, 'node')}" if number != 1 else "does not select the only node"
        yield about(driver, warning(f"{none}{hint(driver)}", field=Field(driver.claim.field)))


def mappings_are_reached(joined: Joined) -> Iterator[Result]:
    """Yield an info for a kernel mapping that no selected node's kernel takes, where some kernel takes another one."""
    used: dict[object, list[object]] = {}
    taken_by = []
    for driver, selected in joined.selected:
        taken = {outcome.resolution.mapping for _, outcome in selected}
        if any(outcome.state in ("conflict", "taint", "waiting") for _, outcome in selected):
            resolve = resolver(driver.module)
            for kernel in {group.kernel for group, _ in selected if group.kernel}:
                with suppress(KrmfnError):  # KMM fails on it, so it takes none
                    taken.add(resolve(kernel).mapping)
        taken_by.append(taken - {None})
        used.setdefault(driver.claim.ref, []).extend(driver.module.mappings[at] for at in taken if at is not None)
    for (driver, selected), taken in zip(joined.selected, taken_by, strict=True):
        for position, entry in enumerate(driver.module.mappings if taken else ()):
            if position not in taken and entry not in used[driver.claim.ref]:  # another pool may use it
                number = _number(selected)
                nodes = f"the {counted(number, 'node')} that {'is' if number == 1 else 'are'} selected"
                mapping = f"kernelMappings[{position}] ({wording.condition(entry)})"
                message = f"{mapping} is not used for any kernel of {nodes}"
                yield about_mappings(driver, info(message), f"[{position}]")


def workloads_tolerate(joined: Joined) -> Iterator[Result]:
    """Yield a finding for a DaemonSet that waits for a Module and does not tolerate the taints of its nodes."""
    ready = {driver.ready: driver for driver, _ in joined.selected}
    for workload, where in joined.workloads:
        if (module := next((ready[key] for key in workload.selector if key in ready), None)) and where.repelled:
            taints = sorted({taint for _, left in where.repelled for taint in left})
            names = sorted(node.name for node, _ in where.repelled)
            nodes = f"the {counted(len(names) + len(where.nodes), 'node')} ({some(names, len(names))})"
            why = f"since it does not tolerate {some(map(str, taints), len(taints))}"
            message = f"does not run on {len(names):,} of {nodes} on which {module.ref} loads, {why}"
            finding = warning if where.nodes else error
            yield finding(message, ref=workload.ref, field=Field("spec.template.spec.tolerations"))


def modules_tolerate(joined: Joined) -> Iterator[Result]:
    """Yield a finding for a Module that does not tolerate the taints of nodes that it selects."""
    for driver, selected in joined.selected:
        if not (repelled := [(group, outcome) for group, outcome in selected if outcome.state == "taint"]):
            continue
        taints = sorted({taint for _, outcome in repelled for taint in outcome.taints})
        names = sorted(node.name for group, _ in repelled for node in group.nodes)
        whole = _number(selected)
        nodes = f"the {counted(whole, 'node')} ({some(names, len(names))}) that it selects"
        why = f"since it does not tolerate {some(map(str, taints), len(taints))}"
        message = f"loads no driver on {len(names):,} of {nodes}, {why}"
        finding = error if len(names) == whole else info
        yield about(driver, finding(message, field=Field(driver.claim.field)))


def nodes_have_a_version(joined: Joined) -> Iterator[Result]:
    """Yield an info for an ordered upgrade that waits for version labels which nodes do not have at all."""
    for driver, selected in joined.selected:
        names = sorted(node.name for group, one in selected if one.state == "not labelled" for node in group.nodes)
        if names:
            keys = ",".join(f"{key}={value}" for key, value in driver.selector.items())
            every = f"--selector {keys}" if keys else "--all"
            command = f"kubectl label nodes {every} {driver.version_label}={driver.module.version}"
            nodes = f"{len(names):,} of the {counted(_number(selected), 'node')} ({some(names, len(names))})"
            message = f"KMM loads nothing on {nodes} that it selects until they have a version label: `{command}`"
            yield about(driver, info(message, field=Field(driver.claim.field)))


def _number(selected: Sequence[tuple[Group, Outcome]]) -> int:
    return sum(len(group.nodes) for group, _ in selected)


def about_mappings(driver: Driver, finding: Result, at: str = "") -> Result:
    """Return the finding about the kernel mappings of a driver, or about one (`[1]`), placed where it is written."""
    path = f"{MAPPINGS if driver.cluster is None else MAPPINGS.replace('spec.', 'spec.moduleSpec.', 1)}{at}"
    own = about(driver, finding._replace(field=Field(f"spec.kernelMappings{at}" if driver.owner else path)))
    written = driver.origin(info("", field=Field(path)))
    if not (written and written.field):
        return own
    if written.ref == driver.claim.ref:
        return own._replace(field=written.field)
    where = f"written in {written.ref}, {written.field.path}: change it there"
    place = written.place
    if place and (find := place.finder):  # it looks for the field of the finding
        place = place._replace(finder=lambda finding: finding._replace(place=find(written).place))
    return own._replace(message=f"{own.message}; {where}", place=place)


def about(driver: Driver, finding: Result) -> Result:
    """Return the finding about a driver, placed at the config that it is made from."""
    pool = f"pool {driver.claim.pool}: " if driver.claim.pool else ""
    return finding._replace(message=f"{pool}{finding.message}", ref=driver.claim.ref, place=driver.claim.place)
