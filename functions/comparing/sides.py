"""The clusters of two PATHs, OLD and NEW, compared."""

from __future__ import annotations

import os
from collections.abc import Sequence

from krmfn.errors import KrmfnError
from krmfn.resourcelist import ResourceList

from ..cluster import cluster_streams, live_nodes
from ..cluster.cluster_streams import Streams
from ..cluster.deployed import judge_final
from ..cluster_dump import is_dumped
from ..command import Context
from ..paths.failures import each, log_failures
from ..plan import Comparison
from ..rendering.kinds import COUNTING
from .pairs import Pair, compared, join_theirs, paired


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
    sides, failures = each((old, new), lambda path: _whole(former if path == old else alone, path))
    if failures:
        for streams in sides:
            cluster_streams.log(context, streams)
        log_failures(context.log, failures)
        return []
    _refuse_dumps((("OLD", old), ("NEW", new)), sides)
    before, after = sides
    if len(before.clusters) == len(after.clusters) == 1:
        pairs = [Pair(before.clusters[0], after.clusters[0])]
    else:
        pairs = paired(before, os.path.realpath(old), after, os.path.realpath(new))
    named = [(next(one.cluster.name for one in (pair.new, pair.old) if one), pair) for pair in pairs]
    if failures := join_theirs(context, named):
        log_failures(context.log, failures)
        return []
    lists = {name: [one.final for one in pair if one] for name, pair in named}
    live_nodes.join(context, lists, list(lists))
    for one in after.clusters:
        judge_final(one.final)
    cluster_streams.log(context, after)
    if any(one.final.failed for one in after.clusters):
        return []
    return [compared(pair, name if len(named) > 1 else "") for name, pair in named]


def _whole(context: Context, path: str) -> Streams:
    """Return the clusters of a PATH. Raises KrmfnError when one of them cannot be rendered; why is logged."""
    streams = cluster_streams.rendered(context, [path], _is_dump)
    if streams.is_whole and not any(one.final.failed for one in streams.clusters):
        return streams
    cluster_streams.log(context, streams)
    raise KrmfnError(f"{path} cannot be rendered, so there is nothing to compare")


def _refuse_dumps(named: Sequence[tuple[str, str]], sides: Sequence[Streams]) -> None:
    """Raise KrmfnError when a side is a dump: what servers fill in or write another way would be changes."""
    dumps = [
        f"{side} ({'stdin' if path == '-' else path})"
        for (side, path), streams in zip(named, sides, strict=True)
        if any(_is_dump(one.final) for one in streams.clusters)
    ]
    if dumps:
        raise KrmfnError(
            f"{' and '.join(dumps)} {'is a dump' if len(dumps) == 1 else 'are dumps'} of a cluster, but diff "
            "compares files; to compare with a cluster, use `krmfn render PATH | kubectl diff --server-side -f -`"
        )


def _is_dump(resources: ResourceList) -> bool:
    """Return True when a cluster has given back all of a list, and that is more than its nodes."""
    is_more = any((item.group, item.kind) not in COUNTING for item in resources.items)
    return is_more and all(is_dumped(item.manifest) for item in resources.items)
