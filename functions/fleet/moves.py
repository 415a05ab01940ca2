"""What KMM does on every node of a fleet when one state of a cluster becomes another: coverage, played.

Cost: near-linear in the nodes; those that are alike on both sides are played once.
"""

from collections.abc import Iterator, Mapping, Sequence

from krmfn.ownership import Id
from krmfn.printing import counted
from krmfn.typed import NamedTuple

from ..grouping import grouped
from ..kmm.scheduling import Action, Move, View, entry, play, with_doubt
from . import wording
from .coverage import Cluster, Group, Outcome, State, by_driver
from .drivers import Driver

NodeId = tuple[str, Cluster]
"""A node's name, and the labels of its cluster when a hub manages it."""
_ACTIONS: Mapping[State, Action] = {"planned": "load", "other version": "leave"}


class Side(NamedTuple):
    """A state of a cluster: its nodes in groups for which the same happens."""

    drivers: Mapping[Id, Driver]
    groups: Sequence[Mapping[Id, View]]
    kernels: Sequence[str]
    group_of: Mapping[NodeId, int]
    failing: Mapping[tuple[Id, Cluster], View]
    """Modules with which KMM fails on some node, and so does nothing on any of its cluster: the view of all nodes."""

    def view(self, node: NodeId, module: Id) -> View:
        """Return how KMM sees a node for a Module; both may be gone."""
        if (group := self.group_of.get(node)) is None:
            return View("gone", reason="gone from the fleet", is_selected=False)
        if found := self.groups[group].get(module):
            return found
        kernel, driver = self.kernels[group], self.drivers.get(module)
        if driver is None:
            return View("remove", kernel, reason="it is deleted", is_selected=False)
        action: Action = "remove" if driver.loads else "ignore"
        seen = self.failing.get((module, node[1])) or View(action, reason="no longer selected")
        return seen._replace(kernel=kernel, is_selected=False)


class Transition(NamedTuple):
    """What happens with one Module on nodes that are alike."""

    nodes: Sequence[str]
    driver: Driver
    """The one after the change, unless it is deleted."""
    move: Move
    old: View | None
    new: View


def side(groups: Sequence[Group], drivers: Sequence[Driver], external: Sequence[Driver] = ()) -> Side:
    """Return a state of a cluster; `groups` is the coverage by these Modules, of which `external` stand elsewhere."""
    failing: dict[tuple[Id, Cluster], View] = {}
    for driver, selected in by_driver(groups, drivers):
        for group, one in selected:
            if one.blocker == group.nodes[0].name:
                cluster = group.nodes[0].cluster
                number = sum(len(other.nodes) for other, _ in selected if other.nodes[0].cluster == cluster)
                none = f"any of the {counted(number, 'node')} that it selects"
                reason = f"KMM fails on {one.blocker} ({one.failure}), and does nothing with the Module on {none}"
                failing[driver.ref.id, cluster] = View("fail", reason=reason, failing=one.blocker)
    every = [*drivers, *external]
    views = [
        {every[one.driver].ref.id: _view(every, one, group, failing) for one in group.outcomes} for group in groups
    ]
    places = {(node.name, node.cluster): at for at, group in enumerate(groups) for node in group.nodes}
    return Side({one.ref.id: one for one in drivers}, views, [group.kernel for group in groups], places, failing)


def _view(
    drivers: Sequence[Driver], outcome: Outcome, group: Group, failing: Mapping[tuple[Id, Cluster], View]
) -> View:
    """Return how KMM sees the nodes of a group for a Module that selects them."""
    driver, state = drivers[outcome.driver], outcome.state
    label = group.nodes[0].labels.get(driver.version_label, "")
    version = driver.module.version if driver.version_label else ""
    if outcome.blocker:
        fails = failing[driver.ref.id, group.nodes[0].cluster]
        return fails._replace(kernel=group.kernel, label=label, version=version)
    stays = f"version {label} stays until the label {driver.version_label} changes"
    reason = stays if state == "other version" else wording.reason(drivers, outcome)
    action = _ACTIONS.get(state, "remove") if driver.loads else "ignore"
    wanted = entry(driver.module, group.kernel, outcome.resolution) if action == "load" else None
    return View(action, group.kernel, wanted, reason, label, version, is_waiting=state in ("not labelled", "waiting"))


def transitions(before: Side, after: Side) -> Iterator[list[Transition]]:
    """Yield what happens with each Module on nodes that are alike; with effect `none`, too.

    What is loaded before is what the first side comes to, unless a version label tells of an older one, or may have
    told of one: a side on which no node has a Module's version label says nothing about what was loaded.
    """
    told = {key for views in before.groups for key, view in views.items() if view.label}
    every = {**after.group_of, **before.group_of}
    alike = grouped(((before.group_of.get(place), after.group_of.get(place)), place) for place in every)
    for (one, other), places in alike.items():
        names, found = [name for name, _ in places], []
        old = before.groups[one] if one is not None else {}
        new = after.groups[other] if other is not None else {}
        for key in {**new, **old}:
            was, now = old.get(key), after.view(places[0], key)
            is_new = one is None or key not in before.drivers
            untold = was is not None and bool(was.version) and now.action == "load" and key not in told
            older = was.is_older or untold if was else is_new and now.action == "leave"
            move = play(was.entry if was else None, was, now, not older)
            move = with_doubt(move, was, now) if was and was.action == "fail" and not older else move
            found.append(Transition(names, after.drivers.get(key) or before.drivers[key], move, was, now))
        yield found
