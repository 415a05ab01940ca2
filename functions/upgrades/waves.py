"""An ordered upgrade in waves: which nodes get the new version label when. Each step is played before it is printed."""

import re
from collections.abc import Iterator, Mapping, Sequence

from krmfn import KrmfnError, Manifest, ResourceList
from krmfn.ownership import Id
from krmfn.printing import some
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..fleet.cluster import Cluster
from ..fleet.drivers import Driver, Drivers
from ..fleet.moves import NodeId, Side
from ..kmm.module import node_labels, version_ready_label
from ..kmm.names import label_key_errors, label_value_errors, subdomain_errors
from ..kmm.scheduling import Entry, play
from ..kmm.versions import target
from ..plan import Comparison, Rollout
from ..rendering import function_config
from ..run import run_of
from ..sentence import text
from . import doubts, known_nodes, node_effects
from .impact import selector
from .standing import standing

DEFAULT = "10%"
"""The share of the nodes in a wave, unless another is asked for."""
_LIMIT = 1_000_000
"""The most waves times nodes that are played, which takes about a minute."""

_Loaded = dict[tuple[NodeId, Id], tuple[Entry | None, bool]]
"""What each Module has loaded on a node, and whether that is known: if not, None may also be an older version."""


class _Bump(NamedTuple):
    """A Module's step from one version to another, and the clusters before and after it."""

    old: Driver
    new: Driver
    sides: tuple[tuple[Cluster, ResourceList], tuple[Cluster, ResourceList]]

    def side(self, is_new: bool, labels: Mapping[str, str]) -> Side:
        """Return the cluster before or after the change, with other version labels on some nodes."""
        (cluster, resources), key = self.sides[is_new], self.new.version_label
        nodes = [
            node._replace(labels={**node.labels, key: labels[node.name]}) if node.name in labels else node
            for node in cluster.fleet.nodes
        ]
        return node_effects.side(cluster._replace(fleet=cluster.fleet._replace(nodes=nodes)), resources)


def size(share: str, number: int) -> int:
    """Return how many of some nodes a wave has: `10%` (rounded down) or `5`; at least 1.

    Raises KrmfnError for any other text.
    """
    match = re.fullmatch(r"([1-9][0-9]{0,8})(%?)", share, re.ASCII)
    if not match or (match[2] and int(match[1]) > 100):
        raise KrmfnError(f"--wave {share}: write a number of nodes, such as 5, or a share of them, such as 10%")
    return max(1, number * int(match[1]) // 100) if match[2] else int(match[1])


def rollout(compared: Comparison, share: str = DEFAULT) -> Rollout:
    """Return the waves of a comparison that is one ordered version bump; `share` as for `size`.

    Each step, and the way back, is played as KMM does it (see `kmm.scheduling`).
    Raises KrmfnError, `no plan: ...`, for any other change, and when a step has any other effect than it should.
    """
    bump, live = _bump(compared), run_of(compared.sides[1]).live if compared.sides else None
    key, old, new = bump.new.version_label, bump.old.module.version, bump.new.module.version
    fleet = bump.sides[0][0].fleet.nodes
    stand = standing(live, bump.old, bump.new, fleet, bump.side(True, {}))
    begun = (*stand.done, *stand.moved)
    # played from before the upgrade: the nodes that have gone over are its first wave
    label_of = {node.name: node.labels.get(key, "") for node in fleet} | dict.fromkeys(begun, old)
    first = bump.side(False, dict.fromkeys(begun, old))
    selected = sorted(name for (name, _), group in first.group_of.items() if bump.new.ref.id in first.groups[group])
    nodes = [name for name in selected if label_of[name] == old]
    if not nodes:
        raise _no_plan(f"{bump.new.ref} selects no node with the label {key}={old}")
    gone = frozenset(begun)
    if not (rest := [name for name in nodes if name not in gone]) and not stand.moved:
        raise _no_plan(f"all {len(stand.done):,} nodes run version {new} of {bump.new.ref} already")
    _check_words(bump, nodes)
    step = size(share, len(selected if stand.is_begun else nodes))
    waves = tuple(tuple(rest[start : start + step]) for start in range(0, len(rest), step))
    if len(waves) * len(label_of) > _LIMIT:
        raise _no_plan(f"{len(waves):,} waves on {len(label_of):,} nodes are too many to simulate; make --wave larger")
    loaded: _Loaded = {}
    for node, group in first.group_of.items():
        loaded |= {(node, module): (view.entry, not view.is_older) for module, view in first.groups[group].items()}
    current = first
    for following, wave, time in _steps(bump, waves, begun):
        loaded = _step(bump, loaded, (current, following), wave, time)
        current = following
    others = tuple(name for name in selected if label_of[name] != old)
    warnings = tuple(note for note in compared.notes if note.severity == "warning")
    ready = version_ready_label(*bump.new.module.ref[2:])
    holders = tuple(str(ref(manifest)) for manifest in compared.plan.new if _is_holder(manifest, bump.new))
    return Rollout(bump.new.ref, key, ready, old, new, waves, others, holders, warnings, *stand)


def _check_words(bump: _Bump, nodes: Sequence[str]) -> None:
    """Raise KrmfnError for a label or a node that no command could name."""
    problems = [*label_key_errors(bump.new.version_label)]
    problems += [error for side in (bump.old, bump.new) for error in label_value_errors(side.module.version)]
    problems += [f"node {name}: {text}" for name in nodes for text in subdomain_errors(name)]
    if problems:
        raise _no_plan(problems[0])


def _is_holder(manifest: Manifest, driver: Driver) -> bool:
    """Return True for a workload that waits for a Module and does not leave a node when its version label changes."""
    keys = selector(manifest).keys()
    leaves = manifest.get("kind") == "DaemonSet" and driver.version_label in keys
    return not (leaves or keys.isdisjoint(node_labels(*driver.module.ref[2:])))


def _no_plan(reason: str) -> KrmfnError:
    return KrmfnError(f"no plan: {reason}")


def _bump(compared: Comparison) -> _Bump:
    """Return the one version bump of a comparison. Raises KrmfnError for any other change, and for unknown nodes."""
    problem = next((str(note.text) for note in compared.notes if note.severity == "error"), "")
    if problem or compared.failed or compared.sides is None:
        raise _no_plan(problem or "it is not known what changes")
    if (clusters := known_nodes.clusters(*compared.sides)) is None:
        raise _no_plan("no node is known; add Node objects or a NodeInventory to OLD and NEW")
    if doubt := doubts.doubt(*clusters):
        raise _no_plan(text(doubt.reason))
    before, after = clusters
    if sorted(map(repr, before.fleet.nodes)) != sorted(map(repr, after.fleet.nodes)):
        raise _no_plan("the nodes differ between OLD and NEW; change nodes, or their inventory, by themselves")
    if not target(function_config.read(compared.sides[1])[0].kmm_version).labels_versions:
        raise _no_plan(
            "KMM up to 2.4 has no node label for the version that is loaded, so there is nothing to wait for"
        )
    old, new = _changed_driver(before.drivers, after.drivers)
    if new.cluster is not None:
        raise _no_plan(f"{new.ref} is for other clusters, where the nodes are labelled")
    if not new.module.ref.namespace:
        unknown = "neither its namespace on the cluster nor its version label is known; add it"
        raise _no_plan(f"{new.ref} has no metadata.namespace, so {unknown}")
    if not (old.version_label and new.version_label) or old.module.version == new.module.version:
        version = "does not go from one version to another (spec.moduleLoader.container.version)"
        raise _no_plan(f"{new.ref} {version}, so KMM makes the change on all nodes at once")
    return _Bump(old, new, ((before, compared.sides[0]), (after, compared.sides[1])))


def _changed_driver(before: Drivers, after: Drivers) -> tuple[Driver, Driver]:
    """Return the old and the new state of the one driver that changes. Raises KrmfnError for any other change."""
    old, new = ({driver.ref.id: driver for driver in drivers} for drivers in (before, after))
    states = [{key: (driver.module.spec, driver.cluster) for key, driver in side.items()} for side in (old, new)]
    changed = [key for key in {**old, **new} if states[0].get(key) != states[1].get(key)]
    names = [str((new.get(key) or old[key]).ref) for key in changed]
    if len(names) != 1:
        several = f"{len(names):,} Modules change ({some(names, len(names))}); change one at a time"
        raise _no_plan(several if names else "no Module changes")
    if changed[0] not in old or changed[0] not in new:
        raise _no_plan(f"{names[0]} is {'created' if changed[0] in new else 'deleted'}")
    return old[changed[0]], new[changed[0]]


def _steps(
    bump: _Bump, waves: Sequence[Sequence[str]], begun: Sequence[str]
) -> Iterator[tuple[Side, Sequence[str], str]]:
    """Yield each state after the first one, the wave that has new labels since the last one, and the time in words.

    OLD is applied again before the first wave and after the last one: in between, each node is as in OLD or in NEW. The
    nodes of `begun` have gone over before the first wave.
    """
    labels = dict.fromkeys(begun, bump.old.module.version)
    yield bump.side(True, labels), (), "when NEW is applied"
    yield bump.side(False, labels), (), "when OLD is applied again"
    for is_new, driver, direction in ((True, bump.new, ""), (False, bump.old, "on the way back, ")):
        yield bump.side(is_new, labels), (), f"{direction}when {'NEW' if is_new else 'OLD'} is applied"
        if begun:
            labels |= dict.fromkeys(begun, driver.module.version)
            yield bump.side(is_new, labels), begun, f"{direction}on the nodes that have gone over"
        for number, wave in enumerate(waves, 1):
            labels |= dict.fromkeys(wave, driver.module.version)
            yield bump.side(is_new, labels), wave, f"{direction}in wave {number:,} of {len(waves):,}"


def _step(bump: _Bump, loaded: _Loaded, sides: tuple[Side, Side], wave: Sequence[str], time: str) -> _Loaded:
    """Return what is loaded after a step between two states of the same nodes and Modules.

    Raises KrmfnError when the step does not load the Module on the wave, or does anything else.
    """
    (old, new), members, after = sides, {*wave}, {}
    for node, group in new.group_of.items():
        before = old.groups[old.group_of[node]]
        for module in {**before, **new.groups[group]}:
            entry, is_known = loaded.get((node, module), (None, True))
            view, name = new.view(node, module), new.drivers[module].ref
            move = play(entry, before.get(module), view, is_known)
            after[node, module] = (move.after, is_known or move.after is not None)
            if node[0] in members and module == bump.new.ref.id:
                if view.action != "load" or move.after != view.entry:
                    problem = f"node {node[0]} does not get version {view.version} of {name}"
                    raise _no_plan(": ".join(filter(None, (f"{time}, {problem}", move.reason))))
            elif move.events or move.after != entry or move.effect == "lost":
                problem = f"{name} is {move.effect} on node {node[0]}"
                raise _no_plan(": ".join(filter(None, (f"{time}, {problem}", move.reason))))
    return after
