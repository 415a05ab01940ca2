"""Texts about Modules on nodes for tables, findings and reports, and hints about selectors without nodes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache

from krmfn.printing import SHOWN, closest, counted, some

from ..exclusivity.node import Node
from ..kmm.lookup import text
from ..sentence import Aside, Sentence
from ..sentence import text as sentence_text
from .coverage import Outcome
from .drivers import Driver, Drivers
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
    """Return the condition of a kernel mapping: `regexp ^.+$`."""
    kind = "literal" if text(entry, "literal") else "regexp"
    return f"{kind} {text(entry, kind)}"


def reason(drivers: Drivers, outcome: Outcome) -> str:
    """Return why a Module does not run on a node; "" when it does."""
    return sentence_text(because(drivers, outcome))


def because(drivers: Drivers, outcome: Outcome) -> Sentence:
    """Return why a Module does not run on a node, with the taints aside that it waits for; () when it runs."""
    if outcome.state == "waiting":
        return (*waits(outcome), *([f"; then KMM fails: {outcome.failure}"] if outcome.failure else []))
    words = _because(drivers, outcome)
    return (words,) if words else ()


def _because(drivers: Drivers, outcome: Outcome) -> str:
    """Return why a Module does not run on a node where it does not wait; "" when it runs."""
    if outcome.state == "planned":
        return ""
    driver, failure = drivers[outcome.driver], outcome.failure
    taints, label = ", ".join(map(str, outcome.taints)), driver.version_label
    if outcome.state == "conflict":
        others = [other for other in sorted(outcome.others) if other != outcome.driver]
        return f"in conflict with {some((name(drivers[other]) for other in others), len(others))}"
    if outcome.state == "other version" and outcome.last_kernel:
        effect = f"so KMM loads the image for {outcome.last_kernel} after the reboot, if any; set the label before it"
        return f"the label {label} is {failure}, {effect}"
    reasons = {
        "terminating": "is being deleted (metadata.deletionTimestamp), so KMM unloads it",
        "taint": f"does not tolerate {taints}",
        "kernel unknown": "the node's kernel is not known",
        "no mapping": "no kernel mapping matches",
        "failure": f"KMM fails: {failure}",
        "not judged": f"it is not known what KMM does with this kernel: {failure}",
        "blocked": f"blocked by node {outcome.blocker}: KMM fails there, and does nothing on any node: {failure}",
        "not labelled": f"not loaded until the node has the label {label}: {driver.module.version}",
        "other version": f"keeps what it has, if anything, while the label {label} is {failure}, not "
        f"{driver.module.version}",
    }
    return reasons.get(outcome.state, "")


def waits(outcome: Outcome) -> Sentence:
    """Return what KMM waits for before it does anything on a node, with the taints that say so aside."""
    head = "waits while the node is "
    parts: list[Hashable] = []
    for taint in outcome.taints:
        parts += [" and " if parts else head, PASSING[taint.key], Aside(f" ({taint})", taint)]
    return tuple(parts)


def image_or_reason(reason: str, image: str, in_tree: Sequence[str], doubt: str = "") -> str:
    """Return the reason, if any, the image, which in-tree modules are removed first, and what is not known of a row."""
    removal = f"removes {', '.join(in_tree)} first" if in_tree else ""
    words = "; ".join(filter(None, (reason, image, removal))) or "plugin only"
    return f"{words}; {doubt}" if doubt else words


def name(driver: Driver) -> str:
    """Return the name of a driver for people: its config's, with the pool and the Profile, else the Module's."""
    pool = f"pool {driver.claim.pool} of " if driver.claim.pool else ""
    return f"{pool}{driver.owner or driver.ref}" + (f" ({driver.product})" if driver.product else "")


def nearest(node: Node, drivers: Drivers) -> str:
    """Return the Module whose selector fits a node best, and the labels that the node lacks for it."""
    driver = min(drivers, key=lambda driver: (len(driver.missing_labels(node.labels)), name(driver)))
    labels, missing = node.labels, driver.missing_labels(node.labels).items()
    texts = [f"{key}={value} ({f'it is {labels[key]}' if key in labels else 'missing'})" for key, value in missing]
    return f"{name(driver)} asks for {', '.join(texts)}"


_COMPARED = 100_000
"""How many words are compared in all to find the one that was meant; selectors after that get no suggestion."""


def hints(fleet: Fleet, idle: Iterable[Driver]) -> Callable[[Driver], tuple[str, str]]:
    """Return the function that says why one of the idle drivers selects no node, a label, and what to do about it.

    It returns "" for both where nothing can be said.
    """
    keys, compared = {key for driver in idle for key in driver.selector}, 0
    values_of: defaultdict[str, Counter[str]] = defaultdict(Counter)  # how many nodes have each value of each label
    for labels in (node.labels for node in fleet.nodes) if keys else ():
        for key in keys if len(keys) < len(labels) else keys & labels.keys():
            if key in labels:
                values_of[key][labels[key]] += 1
    known_keys = cache(lambda: sorted(set[str]().union(*(node.labels for node in fleet.nodes))))
    usual_values = cache(lambda key: [repr(value) for value, _ in values_of[key].most_common(SHOWN)])

    def suggestion(word: str, known: Collection[str]) -> str:
        """Return the known word closest to this one; "" without any, and when enough have been compared."""
        nonlocal compared
        if compared > _COMPARED:
            return ""
        compared += len(known)
        return closest(word, known)

    def hint(driver: Driver) -> tuple[str, str]:
        for key, value in sorted(driver.selector.items()):
            if (values := values_of.get(key)) is None:
                close = suggestion(key, known_keys())
                remedy = f"did you mean {close}?" if close else "correct the label, or set it on the nodes"
                return f": none has the label {key}", remedy
            if value not in values:
                close = suggestion(value, values)
                usual = repr(close) if close else some(usual_values(key), len(values))
                # the selector may be right, and the labels wrong
                return f": none has {key} with the value {value!r}", f"use {usual}, or set the label on the nodes"
        if len(driver.selector) < 2:
            return "", ""
        reason = ": each of its labels is on some node, but no node has all of them"
        return reason, "leave out the label that the meant nodes lack, or set it on them"

    return hint
