"""What a change does on the nodes of a fleet, Module by Module: the join of `fleet.coverage` before and after.

When KMM unloads and loads: shared with `impact.reloads`, here node by node, with the mapping that the node's kernel
takes. Cost: one coverage per side, then near-linear in the nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from krmfn import KrmfnError, ResourceList, Result, warning
from krmfn.ownership import Id

from ..deviceconfig.reading import domain_of
from ..fleet import cluster, rules, wording
from ..fleet.cluster import Cluster
from ..fleet.coverage import Group, Outcome, coverage
from ..fleet.drivers import Driver
from ..kmm.lookup import text
from ..plan import Effect
from ..rendering import function_config

_RUNNING = ("runs", "other version")
_ORDER = ("without", "lost", "moved", "image", "reload", "kernel", "keeps", "gained")

_NodeId = tuple[str, tuple[tuple[str, str], ...] | None]
"""A node's name, and the labels of its cluster when a hub manages it."""


class _What(NamedTuple):
    """A kind of effect: its word, and a sentence around the nodes."""

    what: str
    head: str
    tail: str = ""


_LOST = _What("lost", "lost by")


class _Got(NamedTuple):
    """What one Module does on a group of nodes."""

    drivers: Sequence[Driver]
    outcome: Outcome

    @property
    def driver(self) -> Driver:
        return self.drivers[self.outcome.driver]

    @property
    def is_running(self) -> bool:
        return self.outcome.state in _RUNNING

    @property
    def config(self) -> dict[str, Any]:
        """What KMM compares between a node and the Module; a difference is an unload and a load."""
        module, index = self.driver.module, self.outcome.resolution.mapping
        entry = module.mappings[index] if index is not None else {}
        return {
            "containerImage": self.outcome.resolution.image,
            "inTreeModulesToRemove": self.outcome.resolution.in_tree,
            "imagePullPolicy": text(module.container, "imagePullPolicy"),
            "registryTLS": entry.get("registryTLS") or module.container.get("registryTLS") or {},
            "modprobe": {**module.modprobe, "dirName": module.directory},
        }


class _Side(NamedTuple):
    """One side of a change: its nodes in groups for which the same happens."""

    groups: list[dict[Id, _Got]]
    kernels: list[str]
    group_of: dict[_NodeId, int]
    modules: frozenset[Id]


def effects(old: ResourceList, new: ResourceList) -> tuple[list[Effect], list[Result]]:
    """Return what becomes of the nodes that either list knows, and why that cannot be told.

    A list without nodes is taken to be about those of the other one; without any there is nothing to tell.
    """
    before, after = (cluster.of_list(one, domain_of) for one in (old, new))
    sides = [one for one in (before, after) if one.fleet.nodes or one.fleet.inventories]
    if not sides:
        return [], []
    before, after = (one if one in sides else one._replace(fleet=sides[0].fleet) for one in (before, after))
    if problem := _unknown(before) or _unknown(after) or _expired(after):
        return [], [warning(f"what happens on the nodes is not known: {problem}")]
    try:
        one, other = _side(before, old), _side(after, new)
    except KrmfnError as failure:
        return [], [warning(f"what happens on the nodes is not known: {failure}")]
    return list(_joined(one, other)), []


def _unknown(whole: Cluster) -> str:
    """Return why the nodes of a side say too little; "" when they say enough."""
    wrong = next((one for one in whole.fleet.findings if one.severity == "error"), None)
    missing = whole.fleet.unknown(key for driver in whole.every for key in driver.keys)
    return wrong.message if wrong else missing


def _expired(whole: Cluster) -> str:
    """Return why the nodes of the new side may be others by now; "" when they may not. The old side may be as old."""
    found = next(rules.about_input(whole.fleet._replace(findings=()), (), (), rules.today()), None)
    return f"{found.ref} {found.message}" if found else ""


def _side(whole: Cluster, resources: ResourceList) -> _Side:
    config, _ = function_config.read(resources)
    every = whole.every
    groups: list[Group] = coverage(whole.fleet.nodes, whole.drivers, config.exclusivity != "off", whole.theirs)
    got = [{every[one.driver].ref.id: _Got(every, one) for one in group.outcomes} for group in groups]
    places = {(node.name, node.cluster): number for number, group in enumerate(groups) for node in group.nodes}
    modules = frozenset(driver.ref.id for driver in whole.drivers)
    return _Side(got, [group.kernel for group in groups], places, modules)


def _joined(before: _Side, after: _Side) -> Iterator[Effect]:
    """Yield the effects: nodes that are alike on both sides are judged once."""
    alike: dict[tuple[int | None, int | None], list[str]] = {}
    for place in [*after.group_of, *(place for place in before.group_of if place not in after.group_of)]:
        alike.setdefault((before.group_of.get(place), after.group_of.get(place)), []).append(place[0])
    nodes: dict[tuple[Id, _What], list[str]] = {}
    refs = {}
    for (one, other), names in alike.items():
        old = before.groups[one] if one is not None else {}
        new = after.groups[other] if other is not None else {}
        kernels = (before.kernels[one] if one is not None else "", after.kernels[other] if other is not None else "")
        for key in [*new, *(key for key in old if key not in new)]:
            refs[key] = (new.get(key) or old[key]).driver.ref
            kind = _effect(old.get(key), new.get(key), new, kernels)
            if kind == _LOST:
                kind = kind._replace(tail=_loss(other is None, key in after.modules))
            if kind:
                nodes.setdefault((key, kind), []).extend(names)
    for (key, kind), names in sorted(nodes.items(), key=lambda one: (one[0][0], _ORDER.index(one[0][1].what))):
        names.sort()
        yield Effect(refs[key], kind.what, tuple(names), f"{kind.head} {wording.nodes_named(names)}{kind.tail}")


def _effect(old: _Got | None, new: _Got | None, others: dict[Id, _Got], kernels: tuple[str, str]) -> _What | None:
    """Return what changes for a Module on some nodes; None for nothing."""
    ran, runs = bool(old and old.is_running), bool(new and new.is_running)
    if old and new and ran and runs:
        return _other_config(old, new, kernels)
    if new and runs:
        image = new.outcome.resolution.image
        return _What("gained", "gained by", f": {image}" if image else "")
    if old and ran:
        loads = old.driver.module.loads
        heirs = [one.driver for one in others.values() if one.is_running and one.driver.module.loads & loads]
        if heirs:
            return _What("moved", f"replaced by {heirs[0].ref} on")
        if new is None:
            return _LOST
    if new and (ran or old is None):
        return _What("without", "does not run on", f": {wording.reason(new.drivers, new.outcome)}")
    return None


def _loss(is_gone: bool, is_there: bool) -> str:
    """Return why nodes lose a Module: they are gone, or the Module is, or it selects them no more."""
    if is_gone:
        return ", gone from the fleet"
    return ": no longer selected" if is_there else ": it is deleted"


def _other_config(old: _Got, new: _Got, kernels: tuple[str, str]) -> _What | None:
    """Return what changes for a Module that runs before and after."""
    if not (old.driver.loads and new.driver.loads):
        return None
    if new.outcome.state == "other version":
        if old.outcome == new.outcome._replace(driver=old.outcome.driver):
            return None
        return _What("keeps", "kept as it is on", f": {wording.reason(new.drivers, new.outcome)}")
    image = new.outcome.resolution.image
    if old.outcome.state == "other version":
        version = new.driver.module.version
        return _What("image", "unloaded and loaded again on", f": version {version} in place of {old.outcome.failure}")
    if kernels[0] != kernels[1]:
        return _What("kernel", "loaded for another kernel on", f": {kernels[1]}, {image}")
    before, after = old.config, new.config
    changed = [key for key, value in after.items() if value != before[key]]
    if "containerImage" in changed:
        was = old.outcome.resolution.image
        return _What("image", "unloaded and loaded again on", f": {image} in place of {was}")
    return _What("reload", "unloaded and loaded again on", f": another {', '.join(changed)}") if changed else None
