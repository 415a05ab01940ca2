"""The clusters of a side of a comparison, as they are rendered; what a check left out of them is compared, too."""

import os
from collections.abc import Collection, Sequence

from krmfn import KrmfnError

from ..cluster import cluster_streams, config, foreign
from ..cluster.deployed import Cluster, Clusters
from ..command import Context
from ..finding import without_copies
from ..paths.failures import failure_of

_Contents = tuple[str, tuple[tuple[str, str, tuple[str, ...]], ...]]


def all_clusters(context: Context, paths: Sequence[str], current: Clusters, layout: Clusters | None) -> Clusters:
    """Return the clusters that a check has rendered, and those that it did not read or of which it reads a part.

    A check of a whole repository leaves out what does not concern krmfn; a comparison shows what changes there.
    `layout` has all clusters of the PATHs that are compared; None where nobody has looked yet.
    """
    if not current.is_repository:
        return current
    layout = layout or cluster_streams.layout_of(context, paths)
    present = (*current.clusters, *current.unassigned)
    known = {_contents(cluster): cluster for cluster in present if not cluster.beside}
    twins = [known.get(_contents(cluster)) for cluster in layout.clusters]
    rest = [cluster for cluster, twin in zip(layout.clusters, twins, strict=True) if not twin]
    others = _rendered(context, paths, layout._replace(clusters=rest, unassigned=()))
    rendered = {cluster.name: cluster for cluster in (*others.clusters, *others.unassigned)}
    sides = [twin or rendered.get(cluster.name) for twin, cluster in zip(twins, layout.clusters, strict=True)]
    names = {cluster.name for cluster in twins if cluster}
    failures = [failure for failure in current.failures if failure.cluster in names]
    return current._replace(
        clusters=[cluster for cluster in sides if cluster and not cluster.is_unassigned],
        unassigned=[cluster for cluster in sides if cluster and cluster.is_unassigned],
        failures=[*others.failures, *failures],
        findings=[*others.findings, *without_copies(current.findings, others.findings)],
    )


def existing(context: Context, paths: Sequence[str], streams: Clusters | None = None) -> Clusters:
    """Return the clusters of the PATHs that exist; without one there are none, also when no PATH is given."""
    options, paths = context.options, [*filter(os.path.lexists, paths)]
    pairs = [(name, [*filter(os.path.lexists, texts)]) for name, texts in map(config.parse, options.cluster)]
    clusters = tuple(f"{name}={','.join(members)}" for name, members in pairs if members)
    if not paths and not clusters:
        return Clusters()
    context = context._replace(options=options._replace(cluster=clusters))
    return cluster_streams.render(context, paths, streams=streams)


def changed_clusters(context: Context, paths: Sequence[str], streams: Clusters | None) -> Clusters:
    """Return the same of the new side. Raises KrmfnError where none can be rendered, and one of them is ours.

    `streams` has those in which something changes; None for all.
    """
    try:
        return existing(context, paths, streams)
    except KrmfnError as failure:
        if streams is None or not foreign.repositories(streams):
            raise
        concerns_nobody = foreign.concerns_nobody(context, [streams])
        if not all(concerns_nobody(root) for cluster in streams.clusters for root in cluster.all_roots):
            raise
        return _unread(streams, failure)


def without(streams: Clusters, names: Collection[str]) -> Clusters:
    """Return clusters without those with some names, and without their failures."""
    failures = [failure for failure in streams.failures if failure.cluster not in names]
    clusters = [cluster for cluster in streams.clusters if cluster.name not in names]
    return streams._replace(clusters=clusters, failures=failures)


def _contents(cluster: Cluster) -> _Contents:
    """Return what a cluster is: its name, and its roots with their files."""
    roots = ((root.kind, root.path, tuple(file.real for file in root.files)) for root in cluster.all_roots)
    return cluster.name, tuple(roots)


def _rendered(context: Context, paths: Sequence[str], streams: Clusters) -> Clusters:
    """Return some clusters as they are rendered; where none can be, they say why."""
    if not streams.clusters:
        return streams
    try:
        return cluster_streams.render(context, paths, streams=streams)
    except KrmfnError as failure:
        return _unread(streams, failure)


def _unread(streams: Clusters, failure: KrmfnError) -> Clusters:
    """Return clusters of which none can be rendered, with the reason."""
    failures = [failure_of(cluster.name, failure)._replace(cluster=cluster.name) for cluster in streams.clusters]
    clusters = [cluster._replace(is_whole=False) for cluster in streams.clusters]
    return streams._replace(clusters=clusters, failures=[*streams.failures, *failures])
