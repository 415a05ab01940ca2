"""Pairs of clusters: what each was and shall be, and what leads from one to the other."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from krmfn.errors import KrmfnError
from krmfn.resource import Manifest
from krmfn.resourcelist import ResourceList
from krmfn.results import placed
from krmfn.typed import NamedTuple

from ..cluster import deployed as finals
from ..cluster import external
from ..cluster.cluster_lists import Rendered
from ..cluster.cluster_streams import Streams
from ..cluster.layout import Cluster
from ..command import Context
from ..paths.failures import Failure
from ..plan import Comparison, plan
from ..rendering.undriven import vanished
from ..run import run_of
from ..upgrades import node_effects
from ..upgrades.notes import notes
from . import attention


class Pair(NamedTuple):
    """A cluster before and after; None where it is not."""

    old: Rendered | None
    new: Rendered | None


def paired(old: Streams, old_top: str, new: Streams, new_top: str) -> list[Pair]:
    """Return the clusters of both sides: named ones by their names, others by a root that both have; gone ones last."""
    left = {id(one): one for one in old.clusters}
    by_name = {one.cluster.name: one for one in old.clusters}
    found: dict[int, Rendered] = {}
    for one in new.clusters:
        other = by_name.get(one.cluster.name)
        if other and one.cluster.name not in {root.name for root in (*one.cluster.roots, *other.cluster.roots)}:
            found[id(one)] = left.pop(id(other))
    for one in new.clusters:  # after those of one name: a functionConfig that clusters share is a root of each
        roots = _roots(one.cluster, new_top)
        twins = (other for other in left.values() if not roots.isdisjoint(_roots(other.cluster, old_top)))
        if id(one) not in found and (twin := next(twins, None)):
            found[id(one)] = left.pop(id(twin))
    return [*(Pair(found.get(id(one)), one) for one in new.clusters), *(Pair(one, None) for one in left.values())]


def join_theirs(
    context: Context, pairs: Sequence[tuple[str, Pair]], known: Mapping[str, Rendered] | None = None
) -> list[Failure]:
    """Note in both lists of each pair what its cluster gets from elsewhere, and return what of that cannot be read.

    Each pair is given with the cluster's name; `known` is what a command has read, and reported, before.
    What is wrong between here and there is reported of the new side, as `check` does: what is wrong of the old one may
    be what the change corrects. What one side holds is nobody else's on the other.
    Raises KrmfnError for a cluster that is gone when what it gets from elsewhere has errors.
    """
    failures: list[Failure] = []
    if known is None:
        roots = [root for _, pair in pairs for one in pair if one for root in one.cluster.roots]
        known = external.read(context, [name for name, _ in pairs], roots, failures)
    else:
        context = context._replace(log=context.log._replace(quiet=True))
    for name, (old, new) in pairs:
        other = known.get(name)
        if not other:
            continue
        if new and new.is_whole:
            external.join(context, new, other, old.lists if old else ())
        elif not new and (message := external.unknown(other)):
            raise KrmfnError(message)
        if old and old.is_whole:
            left = run_of(new.final).external if new else None
            external.note(old, other.final if left is None else left)
    return failures


def _roots(cluster: Cluster, top: str) -> frozenset[str]:
    return frozenset(os.path.relpath(root.path, top) for root in cluster.roots if root.path)


def compared(pair: Pair, name: str) -> Comparison:
    """Return the comparison of one cluster before and after."""
    old, new = (one.final if one else ResourceList() for one in pair)
    planned = plan(deployed(old), deployed(new))
    effects, unknown = node_effects.effects(old, new)
    planned = planned._replace(effects=tuple(effects))
    has_nodes = any(one.select("Node", "") or one.select("NodeInventory", "krmfn.dev") for one in (old, new))
    knows_nodes = has_nodes and not unknown
    said = placed([*notes(planned, new, knows_nodes), *vanished(new, run_of(old).driven), *unknown])
    told = tuple(attention.first(planned, old, new))
    return Comparison(name, planned, said, sides=(old, new), knows_nodes=knows_nodes, first=told)


def deployed(resources: ResourceList) -> list[Manifest]:
    """Return the manifests of a list that would reach the cluster."""
    return [item.manifest for item in finals.deployed(resources)]
