"""An ordered upgrade in waves: which nodes get the new version label when. What is told was played, step by step."""

import re
from collections.abc import Iterator, Mapping, Sequence

from krmfn import KrmfnError, ResourceList
from krmfn.ownership import Id
from krmfn.printing import some
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..fleet.cluster import Cluster
from ..fleet.drivers import Driver
from ..fleet.moves import NodeId, Side
from ..kmm.module import node_labels, version_ready_label
from ..kmm.names import label_key_errors, label_value_errors, subdomain_errors
from ..kmm.scheduling import Entry, play
from ..kmm.versions import target
from ..plan import Comparison, Rollout
from ..rendering import function_config
from . import node_effects
from .impact import selected

DEFAULT = "10%"
"""The share of the nodes in a wave, unless another is asked for."""
_MOST = 1_000_000
"""Waves times nodes that are played, in about a minute."""

_Loaded = Mapping[tuple[NodeId, Id], tuple[Entry | None, bool]]
"""What each Module has loaded on a node, and whether None is nothing; else it may be an older version."""


class _Bump(NamedTuple):
    """A Module's step from one version to another, and the clusters before and after it."""

    old: Driver
    new: Driver
    sides: tuple[tuple[Cluster, ResourceList], tuple[Cluster, ResourceList]]

    def side(self, is_new: bool, labels: Mapping[str, str]) -> Side:
        """Return the cluster before or after the change, with other version labels on some nodes."""
        (whole, resources), key = self.sides[is_new], self.new.version_label
        nodes = [
            node._replace(labels={**node.labels, key: labels[node.name]}) if node.name in labels else node
            for node in whole.fleet.nodes
        ]
        return node_effects.side(whole._replace(fleet=whole.fleet._replace(nodes=nodes)), resources)


def size(share: str, number: int) -> int:
    """Return how many of some nodes a wave has: `10%` (rounded down) or `5`; at least 1.

    Raises KrmfnError for any other text.
    """
    match = re.fullmatch(r"([1-9][0-9]{0,8})(%?)", share, re.ASCII)
    if not match or (match[2] and int(match[1]) > 100):
        raise KrmfnError(f"--wave {share}: write a number of nodes, such as 5, or a share of them, such as 10%")
    return max(1, number * int(match[1]) // 100) if match[2] else int(match[1])


def rollout(compared: Comparison, share: str = DEFAULT) -> Rollout:
    """Return the waves of the one ordered version bump that a comparison is; `share` as for `size`.

    Every step, and the way back, is played as KMM does it (see `kmm.scheduling`).
    Raises KrmfnError, `no plan: ...`, for any other change, and when a step touches what it should not.
    """
    bump = _bump(compared)
    key, old, new = bump.new.version_label, bump.old.module.version, bump.new.module.version
    label_of = {node.name: node.labels.get(key, "") for node in bump.sides[0][0].fleet.nodes}
    first = bump.side(False, {})
    chosen = sorted(name for (name, _), at in first.group_of.items() if bump.new.ref.id in first.groups[at])
    if not (nodes := [name for name in chosen if label_of[name] == old]):
        raise _none(f"{bump.new.ref} selects no node with the label {key}={old}")
    wrong = [*label_key_errors(key), *label_value_errors(old), *label_value_errors(new)]
    if wrong := wrong + [f"node {name}: {text}" for name in nodes for text in subdomain_errors(name)]:
        raise _none(wrong[0])
    step = size(share, len(nodes))
    waves = tuple(tuple(nodes[at : at + step]) for at in range(0, len(nodes), step))
    if len(waves) * len(label_of) > _MOST:
        raise _none(f"{len(waves):,} waves on {len(label_of):,} nodes are too many to be played; make --wave larger")
    views = ((place, key, view) for place, at in first.group_of.items() for key, view in first.groups[at].items())
    loaded: _Loaded = {(place, key): (view.entry, not view.is_older) for place, key, view in views}
    now = first
    for following, wave, when in _steps(bump, waves):
        loaded = _step(bump, loaded, (now, following), wave, when)
        now = following
    others = tuple(name for name in chosen if label_of[name] != old)
    warnings = tuple(note for note in compared.notes if note.severity == "warning")
    ready, kept = version_ready_label(*bump.new.module.ref[2:]), {*node_labels(*bump.new.module.ref[2:])}
    waiting = ((one, selected(one)) for one in compared.plan.new)
    pods = (one for one, by in waiting if kept & by.keys() and not (one.get("kind") == "DaemonSet" and key in by))
    holders = tuple(str(ref(one)) for one in pods)
    return Rollout(bump.new.ref, key, ready, old, new, waves, others, holders, warnings)


def _none(reason: str) -> KrmfnError:
    return KrmfnError(f"no plan: {reason}")


def _bump(compared: Comparison) -> _Bump:
    """Return the one change of a comparison. Raises KrmfnError when it is another one, or not enough is known."""
    wrong = next((str(note.message) for note in compared.notes if note.severity == "error"), "")
    if wrong or compared.failed or compared.sides is None:
        raise _none(wrong or "it is not known what changes")
    if (known := node_effects.clusters(*compared.sides)) is None:
        raise _none("no node is known; add Node objects or a NodeInventory to OLD and NEW")
    if problem := node_effects.unknown_reason(*known):
        raise _none(problem)
    before, after = known
    if sorted(map(repr, before.fleet.nodes)) != sorted(map(repr, after.fleet.nodes)):
        raise _none("the nodes differ between OLD and NEW; change nodes, or their inventory, by themselves")
    if not target(function_config.read(compared.sides[1])[0].kmm_version).labels_versions:
        raise _none("KMM up to 2.5 has no node label for the version that is loaded, so there is nothing to wait for")
    old, new = ({driver.ref.id: driver for driver in whole.drivers} for whole in known)
    changed = [key for key in {**old, **new} if not _is_same(old.get(key), new.get(key))]
    names = [str((new.get(key) or old[key]).ref) for key in changed]
    if len(names) != 1:
        several = f"{len(names):,} Modules change ({some(names, len(names))}); change one at a time"
        raise _none(several if names else "no Module changes")
    if changed[0] not in old or changed[0] not in new:
        raise _none(f"{names[0]} is {'created' if changed[0] in new else 'deleted'}")
    was, now = old[changed[0]], new[changed[0]]
    if now.cluster is not None:
        raise _none(f"{now.ref} is for other clusters, where the nodes are labelled")
    if not now.module.ref.namespace:
        unknown = "neither its namespace on the cluster nor its version label is known; add it"
        raise _none(f"{now.ref} has no metadata.namespace, so {unknown}")
    if not (was.version_label and now.version_label) or was.module.version == now.module.version:
        stays = "does not go from one version to another (spec.moduleLoader.container.version)"
        raise _none(f"{now.ref} {stays}, so KMM makes the change on all nodes at once")
    return _Bump(was, now, ((before, compared.sides[0]), (after, compared.sides[1])))


def _is_same(old: Driver | None, new: Driver | None) -> bool:
    return bool(old and new and old.module.spec == new.module.spec and old.cluster == new.cluster)


def _steps(bump: _Bump, waves: Sequence[Sequence[str]]) -> Iterator[tuple[Side, Sequence[str], str]]:
    """Yield each state after the first one, the wave that has got new labels, and the words for when that is.

    OLD is applied again before the first wave and after the last one: between them, a node is as in one of the two.
    """
    labels: dict[str, str] = {}
    yield bump.side(True, labels), (), "when NEW is applied"
    yield bump.side(False, labels), (), "when OLD is applied again"
    for is_new, to, when in ((True, bump.new, ""), (False, bump.old, "on the way back, ")):
        yield bump.side(is_new, labels), (), f"{when}when {'NEW' if is_new else 'OLD'} is applied"
        for number, wave in enumerate(waves, 1):
            labels |= dict.fromkeys(wave, to.module.version)
            yield bump.side(is_new, labels), wave, f"{when}in wave {number:,} of {len(waves):,}"


def _step(bump: _Bump, loaded: _Loaded, sides: tuple[Side, Side], wave: Sequence[str], when: str) -> _Loaded:
    """Return what is loaded after a step between two states of the same nodes and Modules.

    Raises KrmfnError when the step does not load the Module on the wave, or does anything else.
    """
    (old, new), inside, after = sides, {*wave}, {}
    for place, at in new.group_of.items():
        before = old.groups[old.group_of[place]]
        for key in {**before, **new.groups[at]}:
            entry, is_known = loaded.get((place, key), (None, True))
            view, name = new.view(place, key), new.drivers[key].ref
            move = play(entry, before.get(key), view, is_known)
            after[place, key] = (move.after, is_known or move.after is not None)
            if place[0] in inside and key == bump.new.ref.id:
                if view.action != "load" or move.after != view.entry:
                    what = f"node {place[0]} does not get version {view.version} of {name}"
                    raise _none(f"{when}, {what}: {move.reason}".removesuffix(": "))
            elif move.events or move.after != entry or move.effect == "lost":
                raise _none(f"{when}, {name} is {move.effect} on node {place[0]}: {move.reason}".removesuffix(": "))
    return after
