"""What a change does on the nodes of a fleet, Module by Module: what KMM does next, in words."""

from collections.abc import Iterator, Sequence

from krmfn import KrmfnError, ResourceList
from krmfn.ownership import Id

from ..deviceconfig.reading import domain_of
from ..fleet import cluster, moves, rules, wording
from ..fleet.coverage import coverage
from ..kmm.scheduling import Move
from ..plan import Effect, OnNodes
from ..rendering import function_config

_WORDS = ("lost", "blocked", "waiting", "unknown", "reloaded", "kept", "gained")
"""The effects in the order in which they are told."""
HARMS = frozenset({"lost", "reloaded", "blocked"})
"""The effects that a change can be refused for."""


def effects(old: ResourceList, new: ResourceList) -> tuple[list[Effect], str]:
    """Return what becomes of the nodes that either list knows, and why that cannot be told; "" when it can.

    A list without nodes is taken to be about those of the other one; without any there is nothing to tell.
    """
    if (known := clusters(old, new)) is None:
        return [], ""
    if problem := unknown_reason(*known):
        return [], problem
    try:
        return list(_joined(side(known[0], old), side(known[1], new))), ""
    except KrmfnError as failure:
        return [], str(failure)


def excluded_harms(old: ResourceList, new: ResourceList) -> frozenset[str]:
    """Return the effects that a change surely has not, though a selector of its old side asks for an unknown label.

    A Module whose labels the inventories do not hold selected no node as far as anybody knows: it has to select some
    from now on, else it may be lost. Nothing is sure where the old side's inventory is wrong, or the new side says too
    little.
    """
    known = clusters(old, new)
    if known is None or unknown_reason(known[1], known[1]):
        return frozenset()
    before, after = known
    if any(finding.severity == "error" for finding in before.fleet.findings):
        return frozenset()
    mended = {one.ref.id for one in before.all_drivers if before.fleet.missing_labels(one.keys)}
    drivers, theirs = (
        [one for one in every if one.ref.id not in mended] for every in (before.drivers, before.external)
    )
    try:
        found = [*_joined(side(cluster.Cluster(before.fleet, drivers, (), theirs), old), side(after, new))]
    except KrmfnError:
        return frozenset()
    is_mended = mended <= {effect.ref.id for effect in found if effect.word == "gained"}
    has = {effect.word for effect in found}
    return HARMS - has if is_mended and "unknown" not in has else frozenset()


def clusters(old: ResourceList, new: ResourceList) -> tuple[cluster.Cluster, cluster.Cluster] | None:
    """Return the cluster of each list, with the other's nodes where it has none; None when neither knows a node.

    A list has nodes, too, when each of them is wrong: it is not about those of the other one.
    """
    before, after = (cluster.of_list(resources, domain_of) for resources in (old, new))
    known = [any((fleet.nodes, fleet.inventories, fleet.findings)) for fleet in (before.fleet, after.fleet)]
    if not any(known):
        return None
    if not known[0]:
        return before._replace(fleet=after.fleet), after
    return before, after if known[1] else after._replace(fleet=before.fleet)


def unknown_reason(before: cluster.Cluster, after: cluster.Cluster) -> str:
    """Return why what happens on the nodes cannot be told; "" when it can."""
    # the nodes of the new side may be others by now; the old side may be as old
    expired = next(rules.about_input(cluster.Cluster(after.fleet._replace(findings=())), rules.today()), None)
    of_old = _unknown(before)
    of_old = of_old and f"before this change {of_old}"
    return _unknown(after) or of_old or (f"{expired.ref} {expired.message}" if expired else "")


def side(whole: cluster.Cluster, resources: ResourceList) -> moves.Side:
    """Return how KMM sees a cluster whose functionConfig is in a list. Raises KrmfnError as `coverage` does."""
    config, _ = function_config.read(resources)
    groups = coverage(whole.fleet.nodes, whole.drivers, config.exclusivity != "off", whole.external)
    return moves.side(groups, whole.drivers, whole.external)


def _unknown(whole: cluster.Cluster) -> str:
    """Return why the nodes of a side say too little; "" when they say enough."""
    wrong = next((finding for finding in whole.fleet.findings if finding.severity == "error"), None)
    missing = whole.fleet.missing_labels_problem(key for driver in whole.all_drivers for key in driver.keys)
    return f"{wrong.ref}: {wrong.message}" if wrong and wrong.ref else wrong.message if wrong else missing


def _joined(before: moves.Side, after: moves.Side) -> Iterator[Effect]:
    """Yield the effects: of each Module what has one reason together."""
    parts_by_reason: dict[tuple[Id, int, str, str, bool], dict[OnNodes, list[str]]] = {}
    refs = {}
    for alike in moves.transitions(before, after):
        for moved in alike:
            move = _of_plugin(moved) or _taken_over(moved, alike) or moved.move
            if not _is_told(moved, move):
                continue
            own = moved.driver.ref
            refs[own.id] = own
            is_left = move.effect in ("lost", "blocked", "waiting") or (move.effect == "unknown" and not move.after)
            failing = moved.new.failing if move.effect == "blocked" else ""
            key = (own.id, _WORDS.index(move.effect), move.reason, failing, is_left and moved.new.is_selected)
            was, now = (loaded["containerImage"] if loaded else None for loaded in (move.before, move.after))
            part = OnNodes((), move.events, was, now, move.is_known)
            parts_by_reason.setdefault(key, {}).setdefault(part, []).extend(moved.nodes)
    for (module, at, reason, failing, is_short), parts in sorted(parts_by_reason.items(), key=lambda group: group[0]):
        nodes = sorted(name for names in parts.values() for name in names)
        told = tuple(part._replace(nodes=tuple(sorted(names))) for part, names in parts.items())
        word, preposition = _WORDS[at], "by" if _WORDS[at] in ("lost", "gained") else "on"
        head = f"{word} by node {failing} on" if failing else f"{word} {preposition}"
        message = f"{head} {wording.nodes_named(nodes)}: {reason}".removesuffix(": ")
        yield Effect(refs[module], word, tuple(nodes), message, reason, told, is_short)


def _is_told(moved: moves.Transition, move: Move) -> bool:
    """Return True for what is news: something moves, or would if nothing kept it from that."""
    if move.effect == "kept":
        return moved.new.action == "leave"
    if move.effect == "unknown" and moved.old and not move.after:
        return moved.old.action != moved.new.action
    if move.effect == "blocked" and moved.old:
        return moved.new.action == "fail" and moved.old.action != "fail"
    return move.effect != "none" and (move.effect != "waiting" or moved.old is None)


def _of_plugin(moved: moves.Transition) -> Move | None:
    """Return what becomes of a Module without a loader: its plugin runs where nothing keeps it away."""
    if moved.new.action not in ("ignore", "remove", "gone") or moved.move.before:
        return None
    ran = bool(moved.old and moved.old.action == "ignore" and not moved.old.reason)
    runs = moved.new.action == "ignore" and moved.new.is_selected and not moved.new.reason
    return None if ran == runs else moved.move._replace(effect="gained" if runs else "lost")


def _taken_over(moved: moves.Transition, alike: Sequence[moves.Transition]) -> Move | None:
    """Return the move of a Module whose kernel module another one loads from now on."""
    if moved.move.effect != "lost" or moved.move.after:
        return None
    for heir in alike:
        after = heir.move.after
        if after and heir is not moved and heir.driver.module.loads & moved.driver.module.loads:
            events = (*moved.move.events, *heir.move.events)
            reason = f"{heir.driver.ref} takes its place"
            return moved.move._replace(effect="reloaded", events=events, reason=reason, after=after)
    return None
