"""What KMM does on each node when one state of a cluster becomes another, played by its coverage before and after.

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
from .drivers import Driver, Drivers

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
    """The view of all nodes for a Module that KMM fails with on one of them: it does nothing in the cluster then."""

    def view(self, node: NodeId, module: Id) -> View:
        """Return how KMM sees a node for a Module; both may be gone."""
        if (group := self.group_of.get(node)) is None:
            return View("gone", reason="gone from the fleet", is_selected=False)
        if view := self.groups[group].get(module):
            return view
        kernel, driver = self.kernels[group], self.drivers.get(module)
        if driver is None:
            return View("remove", kernel, reason="it is deleted", is_selected=False)
        action: Action = "remove" if driver.loads else "ignore"
        view = self.failing.get((module, node[1])) or View(action, reason="no longer selected")
        return view._replace(kernel=kernel, is_selected=False)


class Transition(NamedTuple):
    """What happens with one Module on nodes that are alike."""

    nodes: Sequence[str]
    driver: Driver
    """The one after the change, unless it is deleted."""
    move: Move
    old: View | None
    new: View


def side(groups: Sequence[Group], drivers: Drivers, external: Drivers = ()) -> Side:
    """Return a state of a cluster; `groups` is the coverage by all Modules, `external` those from elsewhere."""
    failing: dict[tuple[Id, Cluster], View] = {}
    for driver, selected in by_driver(groups, drivers):
        for group, outcome in selected:
            if outcome.blocker == group.nodes[0].name:
                cluster = group.nodes[0].cluster
                number = sum(len(other.nodes) for other, _ in selected if other.nodes[0].cluster == cluster)
                nodes = f"any of the {counted(number, 'node')} that it selects"
                reason = f"KMM fails on {outcome.blocker} ({outcome.failure}), and does nothing with the Module on"
                failing[driver.ref.id, cluster] = View("fail", reason=f"{reason} {nodes}", failing=outcome.blocker)
    all_drivers = [*drivers, *external]
    views: list[dict[Id, View]] = []
    for group in groups:
        outcomes = ((all_drivers[outcome.driver].ref.id, outcome) for outcome in group.outcomes)
        views.append({key: _view(all_drivers, outcome, group, failing) for key, outcome in outcomes})
    group_of = {(node.name, node.cluster): number for number, group in enumerate(groups) for node in group.nodes}
    kernels = [group.kernel for group in groups]
    return Side({driver.ref.id: driver for driver in drivers}, views, kernels, group_of, failing)


def _view(drivers: Drivers, outcome: Outcome, group: Group, failing: Mapping[tuple[Id, Cluster], View]) -> View:
    """Return how KMM sees the nodes of a group for a Module that selects them."""
    driver, state = drivers[outcome.driver], outcome.state
    label = group.nodes[0].labels.get(driver.version_label, "")
    version = driver.module.version if driver.version_label else ""
    if outcome.blocker:
        fails = failing[driver.ref.id, group.nodes[0].cluster]
        return fails._replace(kernel=group.kernel, label=label, version=version)
    reason = wording.reason(drivers, outcome)
    if state == "other version":
        reason = f"version {label} stays until the label {driver.version_label} changes"
    action = _ACTIONS.get(state, "remove") if driver.loads else "ignore"
    scheduled = entry(driver.module, group.kernel, outcome.resolution) if action == "load" else None
    is_waiting = state in ("not labelled", "waiting")
    return View(action, group.kernel, scheduled, reason, label, version, is_waiting=is_waiting)


def transitions(before: Side, after: Side) -> Iterator[list[Transition]]:
    """Yield what happens with each Module on nodes that are alike, also where nothing happens.

    The first side says what was loaded before, unless a version label names an older version. Where no node of that
    side has the version label of a Module, an older version may be loaded, too.
    """
    labelled = {key for views in before.groups for key, view in views.items() if view.label}
    nodes = {**after.group_of, **before.group_of}
    members_of = grouped(((before.group_of.get(node), after.group_of.get(node)), node) for node in nodes)
    for (old_group, new_group), members in members_of.items():
        names, results = [name for name, _ in members], list[Transition]()
        old_views = before.groups[old_group] if old_group is not None else {}
        new_views = after.groups[new_group] if new_group is not None else {}
        for key in {**new_views, **old_views}:
            old, new = old_views.get(key), after.view(members[0], key)
            is_new = old_group is None or key not in before.drivers
            is_unlabelled = bool(old and old.version) and new.action == "load" and key not in labelled
            is_older = old.is_older or is_unlabelled if old else is_new and new.action == "leave"
            move = play(old.entry if old else None, old, new, not is_older)
            move = with_doubt(move, old, new) if old and old.action == "fail" and not is_older else move
            results.append(Transition(names, after.drivers.get(key) or before.drivers[key], move, old, new))
        yield results
