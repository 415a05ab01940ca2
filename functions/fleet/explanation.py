"""What a dump says of the Modules on nodes: why a node has one, or has it not, and which are planned in Git only."""

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
from .drivers import Driver
from .live import ROLES, Key, Live

_NOTHING = "nothing, as far as the dump says"
_PODS = "add `pods` to the dump"
_NOUNS = frozenset({"conflict", "failure", "kernel unknown", "no mapping"})
"""States whose reason is no verb that a Module can do."""


class Answer(NamedTuple):
    """A sentence about a node and a Module, and the steps to it."""

    holds: bool
    """The node has what is planned; without a dump: something is planned that KMM will load."""
    sentence: str
    steps: tuple[str, ...] = ()


class Loading(NamedTuple):
    """A dump beside the inventory whose place its nodes take."""

    dump: Live
    losses: Sequence[tuple[Node, Outcome, str]]
    """The Modules that the committed inventory plans for a node, and that do not select the live one.

    Each has the live node (the committed one where the dump has none of this name), what became of the Module on the
    committed one, and the reason.
    """
    kept: int
    """How many drivers that the inventory plans are for live nodes, too, whatever becomes of them there."""


def compare(dump: Live, live: Sequence[Group], committed: Sequence[Node], whole: Cluster, exclusive: bool) -> Loading:
    """Return a dump with what the committed nodes of a cluster get, and the `live` ones do not.

    `exclusive` as for `coverage`. Raises KrmfnError as it does.
    """
    nodes = {node.name: node for group in live for node in group.nodes}
    selected = {(node.name, one.driver) for group in live for node in group.nodes for one in group.outcomes}
    groups = coverage(committed, whole.drivers, exclusive, whole.external)
    planned = [(group, one) for group in groups for one in group.outcomes if one.state == "planned"]
    losses, kept = list[tuple[Node, Outcome, str]](), 0
    for node, outcome in ((node, one) for group, one in planned for node in group.nodes):
        driver, there = whole.drivers[outcome.driver], nodes.get(node.name)
        if (node.name, outcome.driver) in selected:
            kept += driver.loads
            continue
        labels = ", ".join(map("=".join, driver.lacking(there.labels).items())) if there else ""
        without = f"the live node lacks {labels}" if labels else "the node is not in the dump"
        losses.append((there or node, outcome, f"the committed inventory plans it, but {without}"))
    return Loading(dump, losses, kept)


def loaded(node: Node, drivers: Sequence[Driver], outcome: Outcome, dump: Live) -> tuple[bool | None, str]:
    """Return whether a Module is loaded on a live node, and what is wrong where it is planned: what `why` says.

    None for a plugin alone. Of a dump without NodeModulesConfigs KMM's ready label is all that is known.
    """
    driver = drivers[outcome.driver]
    if outcome.state != "planned":
        return is_still_loaded(node, driver, dump) if driver.loads else None, ""
    if dump.is_of_nodes and not driver.loads:
        return None, ""
    holds, said = _planned(node, driver, outcome, dump)
    if driver.loads and not dump.configured:
        is_there = not dump.modules or dump.modules.get(_key_of(node, driver)[1:]) is False
        holds = driver.ready in node.labels and is_there
    wrong = _plugin(node, driver, dump) or "; ".join(dump.troubles.get(node.name, ()))
    return holds if driver.loads else None, wrong if holds else said


def is_still_loaded(node: Node, driver: Driver, dump: Live) -> bool:
    """Return whether a Module that a node is not to have is loaded there, where the dump has the node."""
    return node.name in dump.nodes and _is_left(node, driver, dump)


def _key_of(node: Node, driver: Driver) -> Key:
    """Return how a dump names a Module on a node."""
    return node.name, driver.module.ref.namespace, driver.module.ref.name


def answer(node: Node, drivers: Sequence[Driver], outcome: Outcome, live: Live | None) -> Answer:
    """Return what is known of a Module on a node that it selects; `live` is None where there is no dump."""
    driver = drivers[outcome.driver]
    key = _key_of(node, driver)
    named = f"{node.name}: {key[1]}/{key[2]}"
    steps, is_planned = tuple(_steps(key, node, driver, outcome, live)), outcome.state == "planned"
    reason = wording.reason(drivers, outcome)
    if live is None:
        return Answer(
            is_planned, f"{named} {'is planned' if is_planned else f'is not planned to run: {reason}'}", steps
        )
    if is_planned:
        holds, said = _planned(node, driver, outcome, live)
        wrong = _plugin(node, driver, live) if holds and driver.loads else ""
        return Answer(holds and not wrong, f"{named} {f'is loaded, but {wrong}' if wrong else said}", steps)
    if outcome.state in _NOUNS:
        reason = f"gets no driver: {reason}{f' {node.kernel}' if outcome.state == 'no mapping' else ''}"
    left = "; it is still loaded" if _is_left(node, driver, live) else ""
    said = f"{':' if left else ';'} {_worker(key, driver, live)}" if key in live.workers else ""
    return Answer(False, f"{named} {reason}{left}{said}", steps)


def _planned(node: Node, driver: Driver, outcome: Outcome, live: Live) -> tuple[bool, str]:
    """Return whether the node has a Module that it shall have, and the end of the sentence; the first reason counts.

    Of a Module that loads a kernel module, its plugins aside (see `_plugin`).
    """
    key, is_ready = _key_of(node, driver), driver.ready in node.labels
    wanted, loaded, image = live.wanted.get(key), live.loaded.get(key), outcome.resolution.image or ""
    if live.modules and key[1:] not in live.modules:
        return False, "is planned, but the Module is not on the cluster: has it been synced?"
    if live.modules.get(key[1:]):
        return False, "is being deleted on the cluster, so KMM unloads it"
    if not driver.loads:
        is_there = any((*key, role) in live.plugins for role in ROLES)
        unknown = "" if is_there else f"whether its plugin is running is not known: {_PODS}"
        wrong = _plugin(node, driver, live) or unknown
        return not wrong, f"loads nothing, and {wrong or 'its plugin is running'}"
    if not live.configured:
        there = "has its ready label" if is_ready else "lacks its ready label"
        said = f"; {_worker(key, driver, live)}" if key in live.workers else ""
        return False, f"{there}; of which image is not known: add `nodemodulesconfigs` to the dump{said}"
    if wanted is None:
        return False, f"is not scheduled by KMM: it has not found the image {image}, or has not come to it"
    if (wanted.image, wanted.kernel) != (image, kernel := node.kernel.removesuffix("+")):  # as KMM writes it
        return False, f"shall get {image} for {kernel}, but KMM schedules {wanted}"
    said = _worker(key, driver, live)
    if loaded is None or (loaded.image, loaded.kernel) != (wanted.image, wanted.kernel):
        return False, f"{f'{loaded} is loaded, not {image}' if loaded else 'is not loaded'}: {said}"
    if not loaded.boot or not live.boots.get(node.name):
        unknown = "but whether since the node's last boot is not known: the dump has no boot"
        return False, f"was loaded as {image}, {unknown}"
    if loaded.boot != live.boots[node.name]:
        return False, f"was loaded before the node's last boot, and not since: {said}"
    if not is_ready:
        return False, f"is loaded, but the node lacks the label {driver.ready}"
    if (worker := live.workers.get(key)) and worker.action != "Load":  # an uncordon does not cancel it
        return False, f"is loaded, and about to be unloaded: {said}"
    return True, f"is loaded: {image}"


def _is_left(node: Node, driver: Driver, live: Live) -> bool:
    """Return whether a Module that a node shall not have is loaded there: nothing is after another boot."""
    key = _key_of(node, driver)
    boots = {live.loaded[key].boot, live.boots.get(node.name, "")} if key in live.loaded else set[str]()
    return len(boots - {""}) < 2 if boots else driver.ready in node.labels


def _plugin(node: Node, driver: Driver, live: Live) -> str:
    """Return what is wrong with a Module's device plugin or DRA driver on a node; "" where nothing is known to be."""
    key = _key_of(node, driver)
    for role, field in ROLES.items():
        if not has(driver.module.spec, field):
            continue
        elsewhere = "the dump has pods of it on other nodes, and none on this one"
        if said := live.plugins.get((*key, role), elsewhere if (*key[1:], role) in live.roles else ""):
            return f"its {PLUGINS[field]} is not running: {said}"
    return ""


def _worker(key: Key, driver: Driver, live: Live) -> str:
    """Return what KMM's pod says, and which pods hold the kernel module where it is unloaded."""
    if (worker := live.workers.get(key)) is None:
        return "no worker pod is in the dump" if live.pods or live.workers else f"why is not known, {_PODS}"
    said = f"the pod {worker.pod} ({worker.action}) {worker.said}"
    holders = sorted(pod for pod, keys in live.pods.get(key[0], ()) if keys & set(driver.set_by_kmm))
    held = f"; {some(holders, len(holders))} may hold the kernel module" if holders else ""
    return f"{said}{held if worker.action == 'Unload' else ''}"


def _steps(key: Key, node: Node, driver: Driver, outcome: Outcome, live: Live | None) -> Iterator[str]:
    yield f"planned by {wording.name(driver)}"
    if mapping := wording.mapping(driver, outcome):
        yield f"mapping {mapping}: {outcome.resolution.image or 'no image'}"
    elif outcome.state == "no mapping":
        yield f"mappings {', '.join(map(wording.condition, driver.module.mappings))}"
    yield f"kernel {node.kernel or 'not known'}; taints {', '.join(map(str, node.taints)) or 'none'}"
    if live is not None:
        yield f"label {driver.ready}: {'there' if driver.ready in node.labels else 'not there'}"
        nothing = _NOTHING if live.configured else "(not known: add `nodemodulesconfigs` to the dump)"
        yield f"KMM schedules {live.wanted.get(key, nothing)}"
        yield f"KMM has loaded {live.loaded.get(key, nothing)}"


def answers(
    node: Node, drivers: Sequence[Driver], outcomes: Sequence[Outcome], live: Live | None, committed: Node | None
) -> Iterator[Answer]:
    """Yield all sentences about a node; `committed` is what the inventory has of a node that is live, if anything."""
    here = [driver for driver in drivers if driver.cluster == node.cluster]
    had = [one for one in here if live and committed and not one.lacking(committed.labels)]
    lost = [one for one in had if one.lacking(node.labels)]
    yield from (Answer(False, _lost(node, driver, live)) for driver in lost)
    troubles = live.troubles.get(node.name, ()) if live else ()
    yield from (Answer(False, f"{node.name}: {trouble}") for trouble in troubles)
    yield from (answer(node, drivers, outcome, live) for outcome in outcomes)
    if not (outcomes or lost):
        yield _unselected(node, here, live, committed)


def _lost(node: Node, driver: Driver, live: Live | None) -> str:
    """Return the sentence about a Module that selects a node by the labels of the inventory, and not by its own."""
    key = _key_of(node, driver)
    missing = driver.lacking(node.labels)
    labels = [f"{name}={value}" for name, value in missing.items()]
    others = [f"{name}={node.labels[name]}" for name in missing if name in node.labels]
    has = f" has, and the live node has {', '.join(others)}" if others else " has and the live node lacks"
    command = shlex.join(["kubectl", "label", "node", node.name, *labels, *(["--overwrite"] if others else [])])
    still = ", and is still loaded" if live and _is_left(node, driver, live) else ""
    asks = f"{wording.name(driver)} asks for {', '.join(labels)}, which the inventory{has}"
    return f"{node.name}: {key[1]}/{key[2]} is not planned any more{still}: {asks}; {command}"


def _unselected(node: Node, here: Sequence[Driver], live: Live | None, committed: Node | None) -> Answer:
    """Return the sentence about a node that nothing selects: the nearest Module, and the labels that it asks for."""
    if not here:
        return Answer(False, f"{node.name}: nothing selects it: there is no Module")
    left = sorted(driver.ready for driver in here if driver.ready in node.labels)
    still = f"; KMM's label {some(left, len(left))} is still there" if left else ""
    inventory = ", and by the inventory nothing did" if committed else ", and the inventory does not have it"
    near = f"the nearest, {wording.nearest(node, here)}"
    return Answer(False, f"{node.name}: nothing selects it{inventory if live else ''}; {near}{still}")
