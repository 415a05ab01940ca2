"""Pairs of clusters: what each was and shall be, and what leads from one to the other; those of two PATHs."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence

from krmfn import KrmfnError, Manifest, ResourceList, Result, info, warning
from krmfn.results import placed
from krmfn.typed import NamedTuple

from ..cluster import cluster_streams, external, live_nodes
from ..cluster import deployed as finals
from ..cluster.deployed import Cluster, Clusters
from ..cluster.survey import places
from ..cluster_dump import is_dumped
from ..command import Context
from ..paths.failures import Failure, failure_of, log_failures, raise_alike
from ..plan import Comparison, plan
from ..rendering.kinds import COUNTING
from ..rendering.undriven import adopted, vanished
from ..run import run_of
from ..upgrades import node_effects
from ..upgrades.notes import notes
from . import attention


class Pair(NamedTuple):
    """A cluster before and after; None where it is not."""

    old: Cluster | None
    new: Cluster | None


Pairs = Sequence[tuple[str, Pair]]
"""Pairs with the names of the clusters."""


def paired(old: Clusters, old_top: str, new: Clusters, new_top: str) -> list[Pair]:
    """Return the clusters of both sides: named ones by their names, others by a root that both have; gone ones last."""
    left = {id(one): one for one in old.clusters}
    by_name = {one.name: one for one in old.clusters}
    found: dict[int, Cluster] = {}
    for one in new.clusters:
        other = by_name.get(one.name)
        if other and one.name not in {root.name for root in (*one.roots, *other.roots)}:
            found[id(one)] = left.pop(id(other))
    for one in new.clusters:  # after those of one name: a functionConfig that clusters share is a root of each
        paths = dict(places(one.roots, new_top)).keys()
        twins = (other for other in left.values() if paths & dict(places(other.roots, old_top)).keys())
        if id(one) not in found and (twin := next(twins, None)):
            found[id(one)] = left.pop(id(twin))
    return [*(Pair(found.get(id(one)), one) for one in new.clusters), *(Pair(one, None) for one in left.values())]


def joined(
    context: Context, pairs: Pairs, known: Mapping[str, Cluster] | None = None, others: Collection[str] = ()
) -> bool:
    """Note in both lists of each pair what its cluster gets from elsewhere, and put live nodes into both.

    Returns False when what clusters get from elsewhere cannot be read, which is logged. `others` are clusters that have
    no pair. Each pair is given with the cluster's name; `known` is what a command has read, and reported, before.
    What is wrong between here and there is reported of the new side, as `check` does: what is wrong of the old one may
    be what the change corrects. What one side holds is nobody else's on the other.
    Raises KrmfnError for a cluster that is gone when what it gets from elsewhere has errors.
    """
    failures, joining = list[Failure](), context
    if known is None:
        roots = [root for _, pair in pairs for one in pair if one for root in one.roots]
        known = external.read(context, [name for name, _ in pairs], roots, failures)
    else:
        joining = context._replace(log=context.log._replace(quiet=True))
    for name, (old, new) in pairs:
        other = known.get(name)
        if not other:
            continue
        if new and new.is_whole:
            external.join(joining, new, other, old.lists if old else ())
        elif not new and (message := external.unknown(other)):
            raise KrmfnError(message)
        if old and old.is_whole:
            left = run_of(new.final).external if new else None
            external.note(old, other.final if left is None else left)
    log_failures(context.log, failures)
    lists = {name: [one.final for one in pair if one] for name, pair in pairs}
    if not failures:
        live_nodes.join(context, lists, [*lists, *sorted(others)])
    return not failures


def compared(pair: Pair, name: str, located: Callable[[Result], Result] = lambda result: result) -> Comparison:
    """Return the comparison of one cluster before and after; `located` gives findings of what was their places."""
    old, new = (one.final if one else ResourceList() for one in pair)
    planned = plan(deployed(old), deployed(new))
    effects, doubt = node_effects.effects(old, new)
    planned = planned._replace(effects=tuple(effects))
    has_nodes = any(one.select("Node", "") or one.select("NodeInventory", "krmfn.dev") for one in (old, new))
    knows_nodes = has_nodes and not doubt
    spared = node_effects.excluded_harms(old, new) if doubt else frozenset[str]()
    severity = info if spared == node_effects.HARMS else warning
    unknown = [severity(f"what happens on the nodes is not known: {doubt}")] if doubt else []
    said = placed([*notes(planned, new, knows_nodes, old), *vanished(new, run_of(old).driven), *unknown])
    said += map(located, placed(adopted(old, new)))
    told = tuple(attention.first(planned, old, new))
    sides = (old, new)
    return Comparison(name, planned, said, sides=sides, knows_nodes=knows_nodes, doubt=doubt, spared=spared, first=told)


def deployed(resources: ResourceList) -> list[Manifest]:
    """Return the manifests of a list that would reach the cluster."""
    return [item.manifest for item in finals.deployed_items(resources)]


def of_two(context: Context, old: str, new: str) -> list[Comparison]:
    """Return the comparison of each cluster of two PATHs; [] when one cannot be rendered, which is logged."""
    if old == new == "-":
        raise KrmfnError("OLD and NEW are both stdin; pass a file or directory for one of them")
    if context.options.cluster:
        raise KrmfnError("--cluster cannot be used with OLD and NEW; use it with --base")
    alone = context._replace(
        options=context.options._replace(against=(), live=()), intent=context.intent._replace(is_root_only=True)
    )
    former = alone._replace(intent=alone.intent._replace(is_old=True))
    sides, failures = list[Clusters](), list[Failure]()
    for path, side in ((old, former), (new, alone)):
        try:
            sides.append(_whole(side, path))
        except KrmfnError as failure:
            failures.append(failure_of(path, failure))
    if failures:
        if not sides:
            raise_alike(failures)
        for streams in sides:
            cluster_streams.log(context, streams)
        log_failures(context.log, failures)
        return []
    before, after = sides
    _refuse_dumps((("OLD", old, before), ("NEW", new, after)))
    if len(before.clusters) == len(after.clusters) == 1:
        pairs = [Pair(before.clusters[0], after.clusters[0])]
    else:
        pairs = paired(before, os.path.realpath(old), after, os.path.realpath(new))
    named = [(next(one.name for one in (pair.new, pair.old) if one), pair) for pair in pairs]
    if not joined(context, named):
        return []
    for one in after.clusters:
        finals.judge_final(one.final)
    cluster_streams.log(context, after)
    if any(one.final.failed for one in after.clusters):
        return []
    return [compared(pair, name if len(named) > 1 else "") for name, pair in named]


def _whole(context: Context, path: str) -> Clusters:
    """Return the clusters of a PATH. Raises KrmfnError when one of them cannot be rendered; why is logged."""
    streams = cluster_streams.render(context, [path], _is_dump)
    if streams.is_whole and not any(one.final.failed for one in streams.clusters):
        return streams
    cluster_streams.log(context, streams)
    raise KrmfnError(f"{path} cannot be rendered, so there is nothing to compare")


def _refuse_dumps(sides: Sequence[tuple[str, str, Clusters]]) -> None:
    """Raise KrmfnError when a side is a dump: what servers fill in or write another way would be changes."""
    given = [(side, path) for side, path, streams in sides if any(_is_dump(one.final) for one in streams.clusters)]
    if dumps := [f"{side} ({'stdin' if path == '-' else path})" for side, path in given]:
        raise KrmfnError(
            f"{' and '.join(dumps)} {'is a dump' if len(dumps) == 1 else 'are dumps'} of a cluster, but diff "
            "compares files; to compare with a cluster, use `krmfn render PATH | kubectl diff --server-side -f -`"
        )


def _is_dump(resources: ResourceList) -> bool:
    """Return True when a cluster has given back all of a list, and that is more than its nodes."""
    is_more = any((item.group, item.kind) not in COUNTING for item in resources.items)
    return is_more and all(is_dumped(item.manifest) for item in resources.items)
