"""Texts for what happens to a Module on nodes, the same in tables, findings and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krmfn.counts import counted, some

from ..exclusivity.node import Node
from ..kmm.lookup import text
from .coverage import Outcome
from .drivers import Driver
from .facts import PASSING


def nodes_named(names: Sequence[str]) -> str:
    """Return `1 node (a)`, `7 nodes (a, b, c, d, e and 2 more)`; the names are in order."""
    return f"{counted(len(names), 'node')} ({some(names, len(names))})"


def mapping(driver: Driver, outcome: Outcome) -> str:
    """Return the kernel mapping of an outcome: `kernelMappings[1] regexp ^.+$`; "" without one."""
    at = outcome.resolution.mapping
    return "" if at is None else f"kernelMappings[{at}] {condition(driver.module.mappings[at])}"


def condition(entry: Mapping[str, object]) -> str:
    """Return which kernels a mapping takes: `regexp ^.+$`."""
    kind = "literal" if text(entry, "literal") else "regexp"
    return f"{kind} {text(entry, kind)}"


def reason(drivers: Sequence[Driver], outcome: Outcome) -> str:
    """Return why a Module does not run on a node; "" when it does."""
    driver, failure = drivers[outcome.driver], outcome.failure
    taints, label = ", ".join(map(str, outcome.taints)), driver.version_label
    if outcome.state == "conflict":
        others = [other for other in sorted(outcome.others) if other != outcome.driver]
        return f"in conflict with {some((name(drivers[other]) for other in others), len(others))}"
    if outcome.state == "waiting":
        states = " and ".join(f"{PASSING[taint.key]} ({taint})" for taint in outcome.taints)
        return f"waits while the node is {states}{f'; then KMM fails: {failure}' if failure else ''}"
    if outcome.state == "other version" and outcome.last_kernel:
        late = f"so KMM loads the image for {outcome.last_kernel} after the reboot, if any; set it before"
        return f"the label {label} is {failure}, {late}"
    reasons = {
        "terminating": "is being deleted (metadata.deletionTimestamp), so KMM unloads it",
        "taint": f"does not tolerate {taints}",
        "kernel unknown": "the node's kernel is not known",
        "no mapping": "no kernel mapping matches",
        "failure": f"KMM fails: {failure}",
        "blocked": f"blocked by node {outcome.blocker}: KMM fails there, and does nothing on any node: {failure}",
        "not labelled": f"not loaded until the node has the label {label}: {driver.module.version}",
        "other version": f"keeps what it has, if anything, while the label {label} is {failure}, not "
        f"{driver.module.version}",
    }
    return reasons.get(outcome.state, "")


def name(driver: Driver) -> str:
    """Return the name of a driver for people: its config's, with the pool and the Profile, else the Module's."""
    pool = f"pool {driver.claim.pool} of " if driver.claim.pool else ""
    return f"{pool}{driver.owner or driver.ref}" + (f" ({driver.product})" if driver.product else "")


def nearest(node: Node, drivers: Sequence[Driver]) -> str:
    """Return the Module, of some that do not select a node, with the fewest labels that it lacks, and name these."""

    def lacking(driver: Driver) -> list[str]:
        return sorted(key for key, value in driver.selector.items() if node.labels.get(key) != value)

    near = min(drivers, key=lambda driver: (len(lacking(driver)), name(driver)))
    differences = [
        f"{key}={near.selector[key]} ({f'it is {node.labels[key]}' if key in node.labels else 'missing'})"
        for key in lacking(near)
    ]
    return f"{name(near)} asks for {', '.join(differences)}"
