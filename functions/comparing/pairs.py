"""Pairs of clusters before and after a change, and the comparison of each pair; also the pairs of two PATHs."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import KrmfnError, Manifest, ResourceList, Result, info, warning
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..adoption import leaving
from ..cluster import cluster_streams, external, hub_modules, live_nodes, telling
from ..cluster.deployed import Cluster, Clusters, deployed_items, judge_final
from ..cluster.survey import places
from ..cluster_dump import is_dumped
from ..command import Context
from ..deployments.deployment import Deployment
from ..final.against import check_external
from ..finding import Locate
from ..paths.failures import Failure, failure_of, log_failures, raise_alike
from ..plan import OF_NODES, UNKNOWN_NODES, Comparison, Opening, not_as_reviewed, plan
from ..rendering.kinds import COUNTING, has_nodes
from ..rendering.undriven import check_adopted, check_vanished
from ..run import note, run_of
from ..upgrades import node_effects
from ..upgrades.doubts import Doubt
from ..upgrades.notes import notes
from . import attention, hidden, leavers
from .handed_over import handed_over
from .held_back import held_back
from .sides import Side, Sides
from .switched import with_switched
from .undetected import undetected


class Pair(NamedTuple):
    """A cluster before and after; None where it does not exist."""

    old: Cluster | None
    new: Cluster | None


Pairs = Sequence[tuple[str, Pair]]
"""Pairs with the names of the clusters."""


def pair_clusters(old: Clusters, old_top: str, new: Clusters, new_top: str) -> list[Pair]:
    """Return the pairs of two sides: in the order of the new side, then those that only the old side has.

    Clusters with a name make a pair by their names, the others by a root at the same path below the tops.
    """
    rest = {id(cluster): cluster for cluster in old.clusters}
    by_name = {cluster.name: cluster for cluster in old.clusters}
    twins: dict[int, Cluster] = {}
    for cluster in new.clusters:
        other = by_name.get(cluster.name)
        if other and cluster.name not in {root.name for root in (*cluster.roots, *other.roots)}:
            twins[id(cluster)] = rest.pop(id(other))
    for cluster in new.clusters:  # after the names: several clusters may have a functionConfig as a root
        paths = dict(places(cluster.roots, new_top)).keys()
        others = [other for other in rest.values() if paths & dict(places(other.roots, old_top)).keys()]
        others.sort(key=lambda other: other.name != cluster.name)  # several clusters may have one root
        if id(cluster) not in twins and others:
            twins[id(cluster)] = rest.pop(id(others[0]))
    pairs = [Pair(twins.get(id(cluster)), cluster) for cluster in new.clusters]
    return pairs + [Pair(cluster, None) for cluster in rest.values()]


def is_idle_aside(pair: Pair, comparison: Comparison) -> bool:
    """Return True where files that are about clusters, and make none, do not change: nobody asks about these."""
    is_aside = all(cluster.is_unassigned for cluster in pair if cluster)
    return is_aside and not (comparison.failed or comparison.notes or comparison.first or comparison.plan.changes)


def join_elsewhere(
    context: Context, pairs: Pairs, known: Mapping[str, Cluster] | None = None, others: Collection[str] = ()
) -> bool:
    """Note in both lists of each pair what its cluster gets from elsewhere, and put live nodes into both.

    Returns False when what clusters get from elsewhere cannot be read; why is logged. `known` is what a command has
    read and reported before, by the clusters' names; `others` are the names of clusters without a pair.
    What is wrong between a cluster and elsewhere is reported for the new side only: the change may correct what is
    wrong with the old one. What either side holds is not from elsewhere for the other one.
    Raises KrmfnError for a cluster that is gone when what it gets from elsewhere has errors.
    """
    failures, quiet = list[Failure](), context
    if known is None:
        roots = (root for _, pair in pairs for cluster in pair if cluster for root in cluster.roots)
        has_stdin = any(root.kind == "stream" for root in roots)
        known = external.read(context, [name for name, _ in pairs], has_stdin, failures)
    else:
        quiet = context._replace(log=context.log._replace(quiet=True))
    for name, (old, new) in pairs:
        other = known.get(name)
        if not other:
            continue
        if new and new.is_whole:
            external.join(quiet, new, other, old.lists if old else ())
        elif not new and (message := external.unknown(other)):
            raise KrmfnError(message)
        if old and old.is_whole:
            rest = hub_modules.others(run_of(new.final).external) if new else None
            rest, _ = check_external(old.lists, other.final if rest is None else rest)
            note(old.final, external=hub_modules.joined(rest, run_of(old.final).external))
    log_failures(context.log, failures)
    lists = {name: [cluster.final for cluster in pair if cluster] for name, pair in pairs}
    if not failures:
        live_nodes.join(context, lists, [*lists, *sorted(others)])
    return not failures


def compare(
    pair: Pair, name: str, everywhere: Sequence[Deployment] = (), located: Locate = lambda result: result
) -> Comparison:
    """Return the comparison of one cluster before and after.

    `everywhere`: all that is deployed after the change; `located` gives a finding about the old side its place.
    """
    old, new = (cluster.final if cluster else ResourceList() for cluster in pair)
    before, after = deployed_manifests(old), deployed_manifests(new)
    reviewed = plan(before, after)
    note(new, renewed=attention.renewed(after, old, new))
    sides = Sides(Side.of(pair.old), Side.of(pair.new), everywhere)
    held = held_back(reviewed, pair.old, pair.new, sides)
    effects, doubt = node_effects.effects(old, new, held.unpruned)
    gone = leaving.leaving(deployed_items(old), deployed_items(new), run_of(new).live)
    effects += leavers.lost(gone, new)
    changes = held.marked(reviewed, effects)
    pruned = [manifest for manifest in before if ref(manifest).id not in held.unpruned]
    applied = (plan(pruned, after) if held.unpruned else reviewed)._replace(effects=changes.effects)
    knows_nodes = any(map(has_nodes, (old, new))) and not doubt
    spared = node_effects.excluded_harms(old, new) if doubt else frozenset[str]()
    sources = run_of(new if pair.new else old).sources
    doubt = doubt and doubt.located(lambda finding: located(sources.located(finding)))
    unknown = _of_unknown_nodes(doubt, spared)
    results = [*notes(applied, new, knows_nodes, old), *check_vanished(new, run_of(old).driven), *unknown]
    results = [*sources.placed(results), *map(located, sources.placed(check_adopted(old, new)))]
    results += leavers.findings(gone, new, sources, located)
    by_labels = node_effects.harms_by_former_labels(old, new, effects)
    unapplied = (*attention.unapplied(changes, old, new), *held.findings)
    unapplied += (*handed_over(sides), *undetected(changes, sides.new))
    first = (
        *map(not_as_reviewed, unapplied),
        *map(Opening, attention.sentences(changes, old, new)),
        *(Opening(f"as long as nodes have their former labels: {harm.ref}: {harm.message}") for harm in by_labels),
    )
    comparison = Comparison(name, changes, results, sides=(old, new), first=first, unapplied=unapplied)
    reason = doubt.reason if doubt else ()
    return comparison._replace(knows_nodes=knows_nodes, doubt=reason, spared=spared, by_former_labels=by_labels)


def _of_unknown_nodes(doubt: Doubt | None, spared: frozenset[str]) -> Iterator[Result]:
    """Yield the finding that what happens on the nodes is not known; it is advice where no harm can be among it."""
    if doubt:
        severity = info if spared == node_effects.HARMS else warning
        yield severity((OF_NODES, UNKNOWN_NODES, ": ", *doubt.reason), place=doubt.place)


def deployed_manifests(resources: ResourceList) -> list[Manifest]:
    """Return the manifests of a list that would reach the cluster."""
    return [item.manifest for item in deployed_items(resources)]


def compare_paths(context: Context, old: str, new: str) -> list[Comparison]:
    """Return the comparison of each cluster of two PATHs; [] when one cannot be rendered; why is logged.

    Raises KrmfnError for --cluster, for stdin twice, when neither side can be rendered for one reason, and for a dump.
    """
    if old == new == "-":
        raise KrmfnError("OLD and NEW are both stdin; pass a file or directory for one of them")
    if context.options.cluster:
        raise KrmfnError("--cluster cannot be used with OLD and NEW; use it with --base")
    sides = _render_sides(context, old, new)
    if not sides:
        return []
    before, after = (streams.with_asides() for streams in sides)
    _refuse_dumps((("OLD", old, before), ("NEW", new, after)))
    if len(before.clusters) == len(after.clusters) == 1:
        pairs = [Pair(before.clusters[0], after.clusters[0])]
    else:
        pairs = pair_clusters(before, os.path.realpath(old), after, os.path.realpath(new))
    named = [(next(cluster.name for cluster in (pair.new, pair.old) if cluster), pair) for pair in pairs]
    if not join_elsewhere(context, named):
        return []
    for cluster in after.clusters:
        judge_final(cluster.final)
    telling.log(context, after)
    if any(cluster.final.failed for cluster in after.clusters):
        return []
    names = hidden.hidden_files(before, after)
    deployed = after.engines.deployments
    compared = [(pair, compare(pair, name if len(named) > 1 else "", deployed)) for name, pair in named]
    roots = [root for cluster in after.clusters for root in cluster.roots]
    engines = (before.engines, after.engines)
    comparisons = [
        (pair, with_switched(hidden.with_hidden_files(names, comparison), pair.new, engines, roots))
        for pair, comparison in compared
    ]
    return [comparison for pair, comparison in comparisons if not is_idle_aside(pair, comparison)]


def _render_sides(context: Context, old: str, new: str) -> tuple[Clusters, Clusters] | None:
    """Return the clusters of two PATHs; None when one cannot be rendered; why is logged.

    Raises KrmfnError when neither can be rendered, for one reason.
    """
    options = context.options.without_live()._replace(against=())
    sides, failures = list[Clusters](), list[Failure]()
    for path, is_old in ((old, True), (new, False)):
        intent = context.intent._replace(is_root_only=True, is_old=is_old)
        try:
            sides.append(_render_side(context._replace(options=options, intent=intent), path))
        except KrmfnError as failure:
            failures.append(failure_of(path, failure))
    if not failures:
        return sides[0], sides[1]
    if not sides:
        raise_alike(failures)
    for streams in sides:
        telling.log(context, streams)
    log_failures(context.log, failures)
    return None


def _render_side(context: Context, path: str) -> Clusters:
    """Return the clusters of a PATH. Raises KrmfnError when one of them cannot be rendered; why is logged."""
    streams = cluster_streams.render(context, [path], _is_dump)
    if streams.is_whole and not any(cluster.final.failed for cluster in streams.clusters):
        return streams
    telling.log(context, streams)
    raise KrmfnError("cannot be rendered, so there is nothing to compare", file=path)


def _refuse_dumps(sides: Sequence[tuple[str, str, Clusters]]) -> None:
    """Raise KrmfnError when a side is a dump: the values that the API server fills in or rewrites would be changes."""
    pairs = [(side, path) for side, path, streams in sides if any(map(_is_dump, streams.lists.values()))]
    dumps = [f"{side} ({'stdin' if path == '-' else path})" for side, path in pairs]
    if dumps:
        raise KrmfnError(
            f"{' and '.join(dumps)} {'is a dump' if len(dumps) == 1 else 'are dumps'} of a cluster, but diff "
            "compares files; to compare with a cluster, use `krmfn render PATH | kubectl diff --server-side -f -`"
        )


def _is_dump(resources: ResourceList) -> bool:
    """Return True when all items of a list are from a dump of a cluster, and not only nodes or functionConfigs."""
    has_others = any((item.group, item.kind) not in COUNTING for item in resources.items)
    return has_others and all(is_dumped(item.manifest) for item in resources.items)
