"""The effects of a change on the nodes of a fleet, Module by Module: what KMM does next, in words."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import KrmfnError, Ref, ResourceList
from krmfn.ownership import Id

from ..exclusivity.node import Node
from ..fleet import moves
from ..fleet.cluster import Cluster
from ..fleet.coverage import coverage
from ..fleet.drivers import Driver
from ..fleet.transitions import Transition
from ..kmm.scheduling import Move
from ..kmm.webhook.admission import UPDATE_RULES
from ..plan import Effect, OnNodes
from ..rendering import function_config
from ..rule import apply
from ..run import run_of
from ..sentence import named
from . import doubts, known_nodes
from .doubts import Doubt

_WORDS = ("lost", "blocked", "waiting", "unknown", "reloaded", "kept", "gained")
"""The effects in the order in which they are reported."""
HARMS = frozenset({"lost", "reloaded", "blocked"})
"""The effects that a change can be refused for."""


def effects(old: ResourceList, new: ResourceList, kept: Collection[Id] = ()) -> tuple[list[Effect], Doubt | None]:
    """Return the effects on the nodes in both lists, and why they are not known; None when they are.

    A list without nodes is taken to be about those of the other one; without any node there is no effect. `kept` are
    the Modules of the old list that stay on the cluster, though the new one has them no more.
    """
    if (sides := _sides(old, new, kept)) is None:
        return [], None
    if doubt := doubts.doubt(*sides):
        return [], doubt
    try:
        return list(of_sides(side(sides[0], old), side(sides[1], new))), None
    except KrmfnError as failure:
        return [], Doubt((str(failure),))


def harms_by_former_labels(old: ResourceList, new: ResourceList, effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Return the harms that the new objects do on nodes that still have the labels of the old side, beside `effects`.

    Labels that are committed do not change a node. Where a selector and the labels of nodes change together, the new
    side by itself says that nothing happens. Labels that inventories of the old side do not hold are those of the new.
    """
    sides = _sides(old, new)
    if sides is None or doubts.doubt(*sides):
        return ()
    before, after = sides
    former = {(node.name, node.cluster): node.labels for node in before.fleet.nodes}
    nodes = [_relabelled(node, former.get((node.name, node.cluster)), before) for node in after.fleet.nodes]
    if nodes == after.fleet.nodes:
        return ()
    try:
        relabelled = after._replace(fleet=after.fleet._replace(nodes=nodes))
        harms = [effect for effect in of_sides(side(before, old), side(relabelled, new)) if effect.word in HARMS]
    except KrmfnError:
        return ()
    known = {(effect.ref.id, effect.word, name) for effect in effects for name in effect.nodes}
    return tuple(harm for harm in harms if {(harm.ref.id, harm.word, name) for name in harm.nodes} - known)


def _sides(old: ResourceList, new: ResourceList, kept: Collection[Id] = ()) -> tuple[Cluster, Cluster] | None:
    """Return the cluster of each list, as `known_nodes.clusters` does, the new one as the cluster lets it become.

    KMM's webhook refuses to add a version to a Module or to take it away: what is there stays, and counts for the nodes
    as they are then. Source: KMM v2.4.0 to main (de3f8c9), internal/webhook/module.go (KMM002); hub Modules go the same
    way.
    """
    if (sides := known_nodes.clusters(old, new)) is None:
        return None
    before, after = sides
    former = {driver.ref.id: driver for driver in before.drivers}
    updated = {key: driver for key, driver in former.items() if key not in run_of(new).renewed}
    drivers = [_admitted(updated.get(driver.ref.id), driver) for driver in after.drivers]
    drivers += [driver for module, driver in former.items() if module in kept]
    return before, after._replace(drivers=drivers)


def _admitted(old: Driver | None, new: Driver) -> Driver:
    """Return the Module that is on the cluster after a change: the old one where the update is refused."""
    if old is None or not any(apply(UPDATE_RULES, old.module, new.module)):
        return new
    verb = "is new" if new.module.version else "is gone"
    return old._replace(refused=f"its version {verb}, which KMM's webhook refuses, so what is there stays")


def _relabelled(node: Node, labels: Mapping[str, str] | None, before: Cluster) -> Node:
    """Return a node with the labels that it had on the old side, as far as they are known there."""
    if labels is None:
        return node
    known = before.fleet.label_keys
    kept = {} if known is None else {key: value for key, value in node.labels.items() if key not in known}
    former = {key: value for key, value in labels.items() if known is None or key in known}
    return node if former | kept == node.labels else node._replace(labels=former | kept)


def excluded_harms(old: ResourceList, new: ResourceList) -> frozenset[str]:
    """Return the harms that a change surely does not do, though a selector of its old side uses an unknown label.

    As far as is known, a Module whose labels the inventories did not hold selected no node: it must gain some now, else
    it may be lost. Nothing is sure where the old side's inventory is wrong, or the nodes of the new side are not known.
    """
    sides = _sides(old, new)
    if sides is None or doubts.doubt(sides[1], sides[1]):
        return frozenset()
    before, after = sides
    if any(finding.severity == "error" for finding in before.fleet.findings):
        return frozenset()
    unjudged = {driver.ref.id for driver in before.all_drivers if before.fleet.missing_labels(driver.keys)}
    drivers = [driver for driver in before.drivers if driver.ref.id not in unjudged]
    external = [driver for driver in before.external if driver.ref.id not in unjudged]
    try:
        known_effects = [*of_sides(side(Cluster(before.fleet, drivers, (), external), old), side(after, new))]
    except KrmfnError:
        return frozenset()
    words = {effect.word for effect in known_effects}
    is_gained = unjudged <= {effect.ref.id for effect in known_effects if effect.word == "gained"}
    return HARMS - words if is_gained and "unknown" not in words else frozenset()


def side(cluster: Cluster, resources: ResourceList) -> moves.Side:
    """Return how KMM sees a cluster whose functionConfig is in a list.

    Raises KrmfnError as `coverage` does, and where a regexp that is not judged decides about a node.
    """
    config, _ = function_config.read(resources)
    groups = coverage(cluster.fleet.nodes, cluster.drivers, config.exclusivity != "off", cluster.external)
    for outcome in (outcome for group in groups for outcome in group.outcomes if outcome.state == "not judged"):
        raise KrmfnError(f"{cluster.all_drivers[outcome.driver].ref}: {outcome.failure}")
    return moves.side(groups, cluster.drivers, cluster.external)


def of_sides(before: moves.Side, after: moves.Side) -> Iterator[Effect]:
    """Yield the effects, one for each Module and reason."""
    parts_of: dict[tuple[Id, int, str, str, bool], dict[OnNodes, list[str]]] = {}
    refs, rivals, causes = dict[Id, Ref](), dict[tuple[Id, str], Ref](), dict[tuple[Id, str], tuple[str, bool]]()
    for group in moves.transitions(before, after):
        for transition, move in _final_moves(group):
            if not _is_reported(transition, move):
                continue
            ref, new = transition.driver.ref, transition.new
            refs[ref.id] = ref
            is_short = move.effect in ("lost", "blocked", "waiting") or (move.effect == "unknown" and not move.after)
            if transition.rival:  # KRM414 has those of which both run at once
                is_short, rivals[ref.id, move.reason] = not transition.move.events, transition.rival.ref
            failing = new.failing if move.effect == "blocked" else ""
            key = (ref.id, _WORDS.index(move.effect), move.reason, failing, is_short and new.is_selected)
            old_image, new_image = (entry["containerImage"] if entry else None for entry in (move.before, move.after))
            causes[ref.id, move.reason] = new.label if move.effect == "kept" else "", move.is_deselected
            part = OnNodes((), tuple(map(str, move.events)), old_image, new_image, move.is_known)
            parts_of.setdefault(key, {}).setdefault(part, []).extend(transition.nodes)
    for (module, index, reason, failing, is_short), names_of in sorted(parts_of.items(), key=lambda item: item[0]):
        nodes = sorted(name for names in names_of.values() for name in names)
        parts = tuple(part._replace(nodes=tuple(sorted(names))) for part, names in names_of.items())
        word, preposition = _WORDS[index], "by" if _WORDS[index] in ("lost", "gained") else "on"
        predicate = f"{word} by node {failing} on" if failing else f"{word} {preposition}"
        sentence = (f"{predicate} ", named(nodes), f": {reason}" if reason else "")
        about = (reason, parts, is_short, rivals.get((module, reason)), *causes[module, reason])
        yield Effect(refs[module], word, tuple(nodes), sentence, *about)


def _final_moves(group: Sequence[Transition]) -> Iterator[tuple[Transition, Move]]:
    """Yield the transitions of nodes that are alike, each with its move in the light of the others."""
    for transition in group:
        move = _race(transition, group) or _plugin_move(transition) or _takeover(transition, group)
        yield transition, move or transition.move


def _race(transition: Transition, group: Sequence[Transition]) -> Move | None:
    """Return the move of a Module where KMM loads and unloads one kernel module at the same time.

    Its events are in the order that loses the driver.
    """
    rival, move = transition.rival, transition.move
    if not rival:
        return None
    other = next(other for other in group if other.driver.ref == rival.ref)
    events = sorted((*move.events, *other.move.events), key=lambda event: event.action == "Unload")
    verb = "loads" if other.move.after else "unloads"
    if not move.events:
        reason = f"{rival.ref} unloads the same kernel module, so the driver is gone while the node looks ready"
    else:
        reason = f"{rival.ref} {verb} the same kernel module at once; the driver may be gone while the node looks ready"
    return move._replace(effect="unknown", events=tuple(events), reason=reason, after=None, is_known=False)


def _is_reported(transition: Transition, move: Move) -> bool:
    """Return True where something moves, or something new keeps it from moving."""
    old, new = transition.old, transition.new
    if transition.rival:
        return True
    if move.effect == "kept":
        return new.action == "leave"
    if move.effect == "unknown" and old and not move.after:
        return old.is_unknown or new.is_unknown or old.action != new.action
    if move.effect == "blocked" and old:
        return new.action == "fail" and old.action != "fail"
    return move.effect != "none" and (move.effect != "waiting" or old is None)


def _plugin_move(transition: Transition) -> Move | None:
    """Return the move of a Module without a loader whose plugin starts or ends: it runs where nothing prevents it."""
    old, new = transition.old, transition.new
    if new.action not in ("ignore", "remove", "gone") or transition.move.before:
        return None
    ran = bool(old and old.action == "ignore" and not old.reason)
    runs = new.action == "ignore" and new.is_selected and not new.reason
    return None if ran == runs else transition.move._replace(effect="gained" if runs else "lost")


def _takeover(transition: Transition, group: Sequence[Transition]) -> Move | None:
    """Return the move of a Module whose kernel modules, those before the change, another one loads from now on."""
    move = transition.move
    if move.effect != "lost" or move.after:
        return None
    removed = (transition.old_driver or transition.driver).module.loads
    for heir in group:
        after = heir.move.after if heir.move.events else None
        if after and heir is not transition and removed and removed <= heir.driver.module.loads:
            if heir.rival:
                reason = f"{heir.driver.ref} loads the same kernel module while {heir.rival.ref} unloads it"
                return move._replace(effect="unknown", reason=f"{reason}; the driver may be gone", is_known=False)
            reason = f"{heir.driver.ref} takes its place"
            return move._replace(effect="reloaded", events=move.events + heir.move.events, reason=reason, after=after)
    return None
