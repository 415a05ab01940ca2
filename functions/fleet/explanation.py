"""Why a node has a Module, or has it not: one sentence, from the plan to what is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from krmfn.counts import some
from krmfn.typed import NamedTuple

from ..exclusivity.node import Node
from . import wording
from .coverage import Outcome
from .drivers import Driver
from .live import Held, Live


class Told(NamedTuple):
    """A sentence about a node and a Module, and the steps to it."""

    holds: bool
    """The node has what is planned; without a dump: something is planned that KMM will load."""
    sentence: str
    steps: tuple[str, ...] = ()


def told(node: Node, drivers: Sequence[Driver], outcome: Outcome, live: Live | None) -> Told:
    """Return what is known of a Module on a node that it selects; `live` is None where there is no dump."""
    driver = drivers[outcome.driver]
    name = f"{driver.module.ref.namespace}/{driver.module.ref.name}"
    steps = tuple(_steps(node, driver, outcome, live))
    is_planned = outcome.state == "planned"
    if live is None:
        why = "is planned" if is_planned else f"is not planned to run: {wording.reason(drivers, outcome)}"
        return Told(is_planned, f"{node.name}: {name} {why}", steps)
    reason = "" if is_planned else wording.reason(drivers, outcome)
    holds, said = _planned(node, driver, outcome, live) if is_planned else (False, _unplanned(node, driver, live))
    return Told(holds, f"{node.name}: {name} {'; '.join(filter(None, (reason, said)))}", steps)


def _planned(node: Node, driver: Driver, outcome: Outcome, live: Live) -> tuple[bool, str]:
    """Return whether the node has a Module that it shall have, and the end of the sentence; the first reason counts."""
    key = (node.name, driver.module.ref.namespace, driver.module.ref.name)
    if live.modules and key[1:] not in live.modules:
        return False, "is planned, but the Module is not on the cluster: has it been synced?"
    if live.modules.get(key[1:]):
        return False, "is being deleted on the cluster, so KMM unloads it"
    if not driver.loads:
        return False, "has a plugin only, and what a dump says of plugins is not read"
    if not live.configured:
        there = "has its ready label" if driver.ready in node.labels else "lacks its ready label"
        return False, f"{there}; of which image is not known: add `nodemodulesconfigs` to the dump"
    wanted, loaded, image = live.wanted.get(key), live.loaded.get(key), outcome.resolution.image or ""
    if wanted is None:
        return False, f"is not scheduled by KMM: it has not found the image {image}, or has not come to it"
    if (wanted.image, wanted.kernel) != (image, node.kernel):
        return False, f"shall get {image} for {node.kernel}, but KMM schedules {_held(wanted)}"
    if loaded is None or (loaded.image, loaded.kernel) != (wanted.image, wanted.kernel):
        before = f"{_held(loaded)} is loaded, not {image}" if loaded else "is not loaded"
        return False, f"{before}: {_worker(node, driver, live)}"
    if not loaded.boot or not live.boots[node.name]:
        return (
            False,
            f"was loaded as {image}, but whether since the node's last boot is not known: the dump has no boot",
        )
    if loaded.boot != live.boots[node.name]:
        return False, f"was loaded before the node's last boot, and not since: {_worker(node, driver, live)}"
    if driver.ready not in node.labels:
        return False, f"is loaded, but the node lacks the label {driver.ready}"
    if (worker := live.workers.get(key)) and worker.action != "Load":  # an uncordon does not cancel it
        return False, f"is loaded, and about to be unloaded: {_worker(node, driver, live)}"
    return True, f"is loaded: {image}"


def _unplanned(node: Node, driver: Driver, live: Live) -> str:
    """Return what is still there of a Module that the node shall not have; "" when nothing is."""
    key = (node.name, driver.module.ref.namespace, driver.module.ref.name)
    if key not in live.loaded and driver.ready not in node.labels:
        return ""
    return f"it is still loaded: {_worker(node, driver, live)}"


def _held(held: Held) -> str:
    return f"{held.image} for {held.kernel}"


def _worker(node: Node, driver: Driver, live: Live) -> str:
    """Return what KMM's pod says, and which pods hold the kernel module where it is unloaded."""
    key = (node.name, driver.module.ref.namespace, driver.module.ref.name)
    worker = live.workers.get(key)
    if worker is None:
        return "no worker pod is in the dump"
    said = f"the pod {worker.pod} ({worker.action}) {f'says {worker.reason}' if worker.reason else 'is at work'}"
    holders = sorted(pod for pod, keys in live.pods.get(node.name, ()) if keys & set(driver.set_by_kmm))
    held = f"; {some(holders, len(holders))} may hold the kernel module" if holders else ""
    return f"{said}{held if worker.action == 'Unload' else ''}"


def _steps(node: Node, driver: Driver, outcome: Outcome, live: Live | None) -> Iterator[str]:
    yield f"planned by {wording.name(driver)}"
    if mapping := wording.mapping(driver, outcome):
        yield f"mapping {mapping}: {outcome.resolution.image or 'no image'}"
    yield f"kernel {node.kernel or 'not known'}; taints {', '.join(map(str, node.taints)) or 'none'}"
    if live is None:
        return
    yield f"label {driver.ready}: {'there' if driver.ready in node.labels else 'not there'}"
    key = (node.name, driver.module.ref.namespace, driver.module.ref.name)
    for what, held in (("KMM schedules", live.wanted.get(key)), ("KMM has loaded", live.loaded.get(key))):
        yield f"{what} {_held(held) if held else 'nothing, as far as the dump says'}"


def unselected(node: Node, drivers: Sequence[Driver]) -> Told:
    """Return the sentence about a node that nothing selects: the nearest Module, and the labels that it asks for."""
    here = [driver for driver in drivers if driver.cluster == node.cluster]
    if not here:
        return Told(False, f"{node.name}: nothing selects it: there is no Module")
    left = sorted(driver.ready for driver in here if driver.ready in node.labels)
    still = f"; KMM's label {some(left, len(left))} is still there" if left else ""
    return Told(False, f"{node.name}: nothing selects it; the nearest, {wording.nearest(node, here)}{still}")
