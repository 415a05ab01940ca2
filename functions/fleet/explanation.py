"""The Modules on nodes, explained by a dump of the cluster: why a node has one or not, and which only Git plans."""

import shlex
from collections.abc import Iterator, Sequence

from krmfn.printing import some
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from ..kmm.lookup import has
from ..kmm.module import PLUGINS
from . import wording
from .cluster import Cluster
from .coverage import Group, Outcome, coverage
from .drivers import Driver, Drivers
from .live import ROLES, Key, Live

_NOTHING = "nothing, as far as the dump says"
_PODS = "add `pods` to the dump"
_NOUNS = frozenset({"conflict", "failure", "kernel unknown", "no mapping"})
"""States whose reason has no verb, so that it cannot follow the name of a Module."""


class Answer(NamedTuple):
    """A sentence about a Module on a node, and the steps that lead to it."""

    holds: bool
    """Whether the node has what is planned; without a dump, whether KMM will load the Module."""
    sentence: str
    steps: tuple[str, ...] = ()


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


def loaded(node: Node, drivers: Drivers, outcome: Outcome, dump: Live) -> tuple[bool | None, str]:
    """Return whether a Module is loaded on a live node, and the problem where it is planned, in the words of `why`.

    None stands for a Module with a plugin only. Without NodeModulesConfigs in the dump only KMM's ready label counts.
    """
    driver = drivers[outcome.driver]
    if outcome.state != "planned":
        return is_still_loaded(node, driver, dump) if driver.loads else None, ""
    if dump.is_of_nodes and not driver.loads:
        return None, ""
    holds, predicate = _planned_status(node, driver, outcome, dump)
    if driver.loads and not dump.configured:
        exists = not dump.modules or dump.modules.get(_key_of(node, driver)[1:]) is False
        holds = driver.ready in node.labels and exists
    problem = _plugin_problem(node, driver, dump) or "; ".join(dump.troubles.get(node.name, ()))
    return holds if driver.loads else None, problem if holds else predicate


def is_still_loaded(node: Node, driver: Driver, dump: Live) -> bool:
    """Return whether a Module that a node shall not have is loaded there; False where the dump lacks the node."""
    return node.name in dump.nodes and _is_loaded(node, driver, dump)


def _key_of(node: Node, driver: Driver) -> Key:
    """Return how a dump names a Module on a node."""
    return node.name, driver.module.ref.namespace, driver.module.ref.name


def answer(node: Node, drivers: Drivers, outcome: Outcome, live: Live | None) -> Answer:
    """Return the answer about a Module that selects a node; `live` is None where there is no dump."""
    driver = drivers[outcome.driver]
    key = _key_of(node, driver)
    subject = f"{node.name}: {key[1]}/{key[2]}"
    steps, is_planned = tuple(_steps(key, node, driver, outcome, live)), outcome.state == "planned"
    reason = wording.reason(drivers, outcome)
    if live is None:
        predicate = "is planned" if is_planned else f"is not planned to run: {reason}"
        return Answer(is_planned, f"{subject} {predicate}", steps)
    if is_planned:
        holds, predicate = _planned_status(node, driver, outcome, live)
        problem = _plugin_problem(node, driver, live) if holds and driver.loads else ""
        sentence = f"{subject} is loaded, but {problem}" if problem else f"{subject} {predicate}"
        return Answer(holds and not problem, sentence, steps)
    if outcome.state in _NOUNS:
        reason = f"gets no driver: {reason}{f' {node.kernel}' if outcome.state == 'no mapping' else ''}"
    suffix = "; it is still loaded" if _is_loaded(node, driver, live) else ""
    worker = f"{':' if suffix else ';'} {_worker(key, driver, live)}" if key in live.workers else ""
    return Answer(False, f"{subject} {reason}{suffix}{worker}", steps)


def _planned_status(node: Node, driver: Driver, outcome: Outcome, live: Live) -> tuple[bool, str]:
    """Return whether the node has a Module that is planned, and the predicate of the sentence about it.

    The first reason counts. Plugins of a Module that loads a kernel module are not judged (see `_plugin_problem`).
    """
    key, is_ready = _key_of(node, driver), driver.ready in node.labels
    scheduled, loaded, image = live.scheduled.get(key), live.loaded.get(key), outcome.resolution.image or ""
    if live.modules and key[1:] not in live.modules:
        return False, "is planned, but the Module is not on the cluster: has it been synced?"
    if live.modules.get(key[1:]):
        return False, "is being deleted on the cluster, so KMM unloads it"
    if not driver.loads:
        is_known = any((*key, role) in live.plugins for role in ROLES)
        unknown = "" if is_known else f"whether its plugin is running is not known: {_PODS}"
        problem = _plugin_problem(node, driver, live) or unknown
        return not problem, f"loads nothing, and {problem or 'its plugin is running'}"
    if not live.configured:
        label = "has its ready label" if is_ready else "lacks its ready label"
        worker = f"; {_worker(key, driver, live)}" if key in live.workers else ""
        return False, f"{label}; the loaded image is not known: add `nodemodulesconfigs` to the dump{worker}"
    if scheduled is None:
        return False, f"is not scheduled by KMM: it has not found the image {image}, or has not got to it yet"
    kernel = node.kernel.removesuffix("+")  # as KMM writes it
    if (scheduled.image, scheduled.kernel) != (image, kernel):
        return False, f"shall get {image} for {kernel}, but KMM schedules {scheduled}"
    worker = _worker(key, driver, live)
    if loaded is None or (loaded.image, loaded.kernel) != (image, kernel):
        return False, f"{f'{loaded} is loaded, not {image}' if loaded else 'is not loaded'}: {worker}"
    if not loaded.boot or not live.boots.get(node.name):
        unknown = "but whether since the node's last boot is not known: the dump has no boot"
        return False, f"was loaded as {image}, {unknown}"
    if loaded.boot != live.boots[node.name]:
        return False, f"was loaded before the node's last boot, and not since: {worker}"
    if not is_ready:
        return False, f"is loaded, but the node lacks the label {driver.ready}"
    if key in live.workers and live.workers[key].action != "Load":  # an uncordon does not cancel it
        return False, f"is loaded, and about to be unloaded: {worker}"
    return True, f"is loaded: {image}"


def _is_loaded(node: Node, driver: Driver, live: Live) -> bool:
    """Return whether a Module that a node shall not have is loaded there, and since the last boot."""
    key = _key_of(node, driver)
    boots = {live.loaded[key].boot, live.boots.get(node.name, "")} if key in live.loaded else set[str]()
    return len(boots - {""}) < 2 if boots else driver.ready in node.labels


def _plugin_problem(node: Node, driver: Driver, live: Live) -> str:
    """Return what is wrong with a Module's device plugin or DRA driver on a node; "" where nothing is known to be."""
    key = _key_of(node, driver)
    for role, field in ROLES.items():
        if not has(driver.module.spec, field):
            continue
        absence = "the dump has pods of it on other nodes, and none on this one"
        if problem := live.plugins.get((*key, role), absence if (*key[1:], role) in live.roles else ""):
            return f"its {PLUGINS[field]} is not running: {problem}"
    return ""


def _worker(key: Key, driver: Driver, live: Live) -> str:
    """Return what KMM's worker pod does; while it unloads, also which pods may hold the kernel module."""
    if (worker := live.workers.get(key)) is None:
        return "no worker pod is in the dump" if live.pods or live.workers else f"why is not known, {_PODS}"
    pods = live.pods.get(key[0], ()) if worker.action == "Unload" else ()
    holders = sorted(pod for pod, keys in pods if keys & set(driver.set_by_kmm))
    reason = f"; {some(holders, len(holders))} may hold the kernel module" if holders else ""
    return f"the pod {worker.pod} ({worker.action}) {worker.status}{reason}"


def _steps(key: Key, node: Node, driver: Driver, outcome: Outcome, live: Live | None) -> Iterator[str]:
    """Yield the steps to an answer: the mapping, the kernel and taints of the node, and what the dump says."""
    yield f"planned by {wording.name(driver)}"
    if mapping := wording.mapping(driver, outcome):
        yield f"mapping {mapping}: {outcome.resolution.image or 'no image'}"
    elif outcome.state == "no mapping":
        yield f"mappings {', '.join(map(wording.condition, driver.module.mappings))}"
    yield f"kernel {node.kernel or 'not known'}; taints {', '.join(map(str, node.taints)) or 'none'}"
    if live is not None:
        yield f"label {driver.ready}: {'there' if driver.ready in node.labels else 'not there'}"
        nothing = _NOTHING if live.configured else "(not known: add `nodemodulesconfigs` to the dump)"
        yield f"KMM schedules {live.scheduled.get(key, nothing)}"
        yield f"KMM has loaded {live.loaded.get(key, nothing)}"


def answers(
    node: Node, drivers: Drivers, outcomes: Sequence[Outcome], live: Live | None, committed: Node | None
) -> Iterator[Answer]:
    """Yield the answers about a node; `committed` is the inventory's node in place of a live one, if it has one."""
    local = [driver for driver in drivers if driver.cluster == node.cluster]
    former = [driver for driver in local if live and committed and not driver.missing_labels(committed.labels)]
    lost = [driver for driver in former if driver.missing_labels(node.labels)]
    yield from (Answer(False, _loss(node, driver, live)) for driver in lost)
    troubles = live.troubles.get(node.name, ()) if live else ()
    yield from (Answer(False, f"{node.name}: {trouble}") for trouble in troubles)
    yield from (answer(node, drivers, outcome, live) for outcome in outcomes)
    if not (outcomes or lost):
        yield _unselected_answer(node, local, live, committed)


def _loss(node: Node, driver: Driver, live: Live | None) -> str:
    """Return the sentence about a Module that selects the committed node, and not the live one."""
    key = _key_of(node, driver)
    missing = driver.missing_labels(node.labels)
    labels = [f"{name}={value}" for name, value in missing.items()]
    others = [f"{name}={node.labels[name]}" for name in missing if name in node.labels]
    difference = f"has, and the live node has {', '.join(others)}" if others else "has and the live node lacks"
    command = shlex.join(["kubectl", "label", "node", node.name, *labels, *(["--overwrite"] if others else [])])
    suffix = ", and is still loaded" if live and _is_loaded(node, driver, live) else ""
    reason = f"{wording.name(driver)} asks for {', '.join(labels)}, which the inventory {difference}"
    return f"{node.name}: {key[1]}/{key[2]} is not planned any more{suffix}: {reason}; {command}"


def _unselected_answer(node: Node, drivers: Drivers, live: Live | None, committed: Node | None) -> Answer:
    """Return the answer about a node that none of the drivers selects: the nearest one, and the labels it asks for."""
    if not drivers:
        return Answer(False, f"{node.name}: nothing selects it: there is no Module")
    labels = sorted(driver.ready for driver in drivers if driver.ready in node.labels)
    suffix = f"; KMM's label {some(labels, len(labels))} is still there" if labels else ""
    inventory = ", and by the inventory nothing did" if committed else ", and the inventory does not have it"
    nearest = f"the nearest, {wording.nearest(node, drivers)}"
    return Answer(False, f"{node.name}: nothing selects it{inventory if live else ''}; {nearest}{suffix}")
