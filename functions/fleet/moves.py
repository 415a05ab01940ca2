"""What KMM does on each node when one state of a cluster becomes another, played by its coverage before and after.

Cost: near-linear in the nodes; those that are alike on both sides are played once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from krmfn import KrmfnError
from krmfn.ownership import Id
from krmfn.printing import counted
from krmfn.resource import same
from krmfn.typed import NamedTuple

from ..grouping import grouped
from ..kmm.resolution import resolver
from ..kmm.scheduling import Action, View, entry, play, play_unknown, with_doubt
from . import wording
from .coverage import Cluster, Group, Outcome, State, by_driver
from .drivers import Driver, Drivers
from .transitions import Transition, with_rivals

NodeId = tuple[str, Cluster]
"""A node's name, and the labels of its cluster when a hub manages it."""
NOT_SELECTED = "no longer selected"
"""Why a Module that did select a node does nothing there: its selector, or a label of the node, has changed."""
_ACTIONS: Mapping[State, Action] = {"planned": "load", "other version": "leave"}


class Side(NamedTuple):
    """A state of a cluster: its nodes in groups for which the same happens."""

    drivers: Mapping[Id, Driver]
    groups: Sequence[Mapping[Id, View]]
    kernels: Sequence[str]
    group_of: Mapping[NodeId, int]
    failing: Mapping[tuple[Id, Cluster], View]
    """The view of all nodes for a Module that KMM fails with on one of them: it does nothing in the cluster then."""
    images: Mapping[Id, frozenset[str]] = {}  # read only
    """The images that KMM has looked for, by Module: it does so for all nodes that the Module selects and tolerates."""

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
        view = self.failing.get((module, node[1])) or View(action, reason=NOT_SELECTED, is_deselected=True)
        return view._replace(kernel=kernel, is_selected=False)


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
    failing |= _refused(groups, drivers)
    all_drivers = [*drivers, *external]
    views: list[dict[Id, View]] = []
    for group in groups:
        outcomes = ((all_drivers[outcome.driver].ref.id, outcome) for outcome in group.outcomes)
        views.append({key: _view(all_drivers, outcome, group, failing) for key, outcome in outcomes})
    group_of = {(node.name, node.cluster): number for number, group in enumerate(groups) for node in group.nodes}
    kernels = [group.kernel for group in groups]
    images = _images(groups, all_drivers)
    return Side({driver.ref.id: driver for driver in drivers}, views, kernels, group_of, failing, images)


def _refused(groups: Sequence[Group], drivers: Drivers) -> dict[tuple[Id, Cluster], View]:
    """Return the view of all nodes of a spoke for a Module that a hub brings there without a kernel mapping.

    The hub writes a mapping for each kernel of the spoke that has one, and the spoke's API server refuses an empty
    list. Source: KMM main (de3f8c9), internal/manifestwork/manifestwork.go; the CRD, kernelMappings: minItems 1.
    """
    of_hub = [driver for driver in drivers if driver.cluster is not None and driver.loads]
    kernels = grouped((group.nodes[0].cluster, group.kernel) for group in groups) if of_hub else {}
    reason = "the spoke refuses a Module without a mapping for any of its kernels, and what it has of it stays"
    return {
        (driver.ref.id, cluster): View("fail", reason=reason)
        for driver in of_hub
        for cluster, versions in kernels.items()
        if driver.reaches(cluster) and all(versions) and not _has_mapping(driver, versions)
    }


def _has_mapping(driver: Driver, kernels: Iterable[str]) -> bool:
    """Return True where one of the kernels may take a mapping."""
    resolve = resolver(driver.module, through_hub=True)
    try:
        return any(resolve(kernel).mapping is not None for kernel in dict.fromkeys(kernels))
    except KrmfnError:  # the spoke gets the mapping, and fails on it
        return True


def _images(groups: Sequence[Group], drivers: Drivers) -> dict[Id, frozenset[str]]:
    """Return the images that KMM looks for, by Module: those of the nodes that a Module selects and tolerates.

    Source: KMM main (de3f8c9), internal/controllers/module_reconciler.go, handleMIC.
    """
    images: dict[Id, set[str]] = {}
    for group in groups:
        for outcome in group.outcomes:
            driver, image = drivers[outcome.driver], outcome.resolution.image
            if outcome.state == "conflict" and driver.loads and group.kernel:  # KMM does not know of conflicts
                with suppress(KrmfnError):
                    image = resolver(driver.module)(group.kernel).image
            if image and not outcome.taints:
                images.setdefault(driver.ref.id, set()).add(image)
    return {module: frozenset(names) for module, names in images.items()}


def _view(drivers: Drivers, outcome: Outcome, group: Group, failing: Mapping[tuple[Id, Cluster], View]) -> View:
    """Return how KMM sees the nodes of a group for a Module that selects them."""
    driver, state = drivers[outcome.driver], outcome.state
    label = group.nodes[0].labels.get(driver.version_label, "")
    version = driver.module.version if driver.version_label else ""
    if fails := failing.get((driver.ref.id, group.nodes[0].cluster)):
        return fails._replace(kernel=group.kernel, label=label, version=version)
    reason = wording.reason(drivers, outcome)
    if state == "other version":
        reason = f"version {label} stays until the label {driver.version_label} changes"
    action = _ACTIONS.get(state, "remove") if driver.loads else "ignore"
    scheduled = entry(driver.module, group.kernel, outcome.resolution) if action == "load" else None
    is_waiting = state in ("not labelled", "waiting")
    is_unknown = state == "kernel unknown"
    return View(action, group.kernel, scheduled, reason, label, version, is_waiting=is_waiting, is_unknown=is_unknown)


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
            old = old_views.get(key)
            new = _with_refusal(after.view(members[0], key), old, after.drivers.get(key))
            is_new_node = old_group is None and key in before.drivers  # of a new Module nothing is there yet
            is_unlabelled = bool(old and old.version) and new.action == "load" and key not in labelled
            is_older = old.is_older or is_unlabelled if old else is_new_node and new.action == "leave"
            former, driver = before.drivers.get(key), after.drivers.get(key)
            if _is_doubtful(old, new, former, driver):
                move = play_unknown(old, new)
            else:
                move = play(old.entry if old else None, old, new, not is_older)
                move = with_doubt(move, old, new) if old and old.action == "fail" and not is_older else move
            results.append(Transition(names, driver or before.drivers[key], move, old, new, former))
        yield with_rivals(results, before.images)


def _is_doubtful(old: View | None, new: View, former: Driver | None, driver: Driver | None) -> bool:
    """Return True where something changes for a Module on nodes whose kernel is not known on one of the sides."""
    if not (new.is_unknown or (old and old.is_unknown)):
        return False
    is_same_module = former and driver and same(former.module.spec, driver.module.spec)
    return not is_same_module or old != new


def _with_refusal(view: View, old: View | None, driver: Driver | None) -> View:
    """Return how KMM sees nodes for a Module: it fails where an update is refused and nothing else changes there."""
    if driver is None or not driver.refused or view != old or view.action != "load":
        return view
    return view._replace(action="fail", entry=None, reason=driver.refused)
