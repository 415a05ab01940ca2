"""Texts about a Module on nodes, the same in tables, findings and reports; hints about a selector without nodes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

from krmfn.printing import SHOWN, closest, counted, some

from ..exclusivity.node import Node
from ..kmm.lookup import text
from .coverage import Outcome
from .drivers import Driver
from .facts import PASSING
from .nodes import Fleet


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
    if outcome.state == "planned":
        return ""
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


def image_or_reason(reason: str, image: str, in_tree: Sequence[str]) -> str:
    """Return why there is no driver, or the image and what is removed before it is loaded."""
    first = f"removes {', '.join(in_tree)} first" if in_tree else ""
    return "; ".join(filter(None, (reason, image, first))) or "plugin only"


def name(driver: Driver) -> str:
    """Return the name of a driver for people: its config's, with the pool and the Profile, else the Module's."""
    pool = f"pool {driver.claim.pool} of " if driver.claim.pool else ""
    return f"{pool}{driver.owner or driver.ref}" + (f" ({driver.product})" if driver.product else "")


def nearest(node: Node, drivers: Sequence[Driver]) -> str:
    """Return the Module, of some that do not select a node, with the fewest labels that it lacks, and name these."""
    near = min(drivers, key=lambda driver: (len(driver.missing_labels(node.labels)), name(driver)))
    has, lacks = node.labels, near.missing_labels(node.labels).items()
    differences = [f"{key}={value} ({f'it is {has[key]}' if key in has else 'missing'})" for key, value in lacks]
    return f"{name(near)} asks for {', '.join(differences)}"


_COMPARED = 100_000
"""How many words are compared, at most, to say which one was meant: of thousands of selectors the first get a hint."""


def hints(fleet: Fleet, idle: Iterable[Driver]) -> Callable[[Driver], str]:
    """Return the function that says which label of a selector without nodes is at fault, and what may have been meant.

    It returns "" where nothing can be said; it is asked about drivers among the idle ones.
    """
    wanted, compared = {key for driver in idle for key in driver.selector}, 0
    values_of: defaultdict[str, Counter[str]] = defaultdict(Counter)  # how many nodes have each value of each label
    for labels in (node.labels for node in fleet.nodes) if wanted else ():
        for key in wanted if len(wanted) < len(labels) else wanted & labels.keys():
            if key in labels:
                values_of[key][labels[key]] += 1
    keys = cache(lambda: sorted(set[str]().union(*(node.labels for node in fleet.nodes))))
    usual = cache(lambda key: [repr(name) for name, _ in values_of[key].most_common(SHOWN)])

    def near(word: str, known: Collection[str]) -> str:
        """Return the known word that is most like this one; "" without any, and when enough have been compared."""
        nonlocal compared
        if compared > _COMPARED:
            return ""
        compared += len(known)
        return closest(word, known)

    def about(driver: Driver) -> str:
        for key, value in sorted(driver.selector.items()):
            if (values := values_of.get(key)) is None:
                meant = near(key, keys())
                return f": none has the label {key}" + (f"; did you mean {meant}?" if meant else "")
            if value not in values:
                other = near(value, values)
                meant = f"did you mean {other!r}?" if other else f"there are {some(usual(key), len(values))}"
                return f": none has {key} with the value {value!r}; {meant}"
        return ": each of its labels is on some node, but no node has all of them" if len(driver.selector) > 1 else ""

    return about
