"""The clusters of two PATHs, OLD and NEW, compared."""

from __future__ import annotations

import os

from ..errors import KrmfnError
from ..plan import Comparison
from . import cluster_streams, inputs, paths
from .cluster_streams import Streams
from .pairs import Pair, compared, is_dump, join_theirs, paired
from .subcommand import Context


def of_two(context: Context, old: str, new: str) -> list[Comparison]:
    """Return the comparison of each cluster of two PATHs; [] when one cannot be rendered, which is logged."""
    if old == new == "-":
        raise KrmfnError("OLD and NEW are both stdin; give one of them as a file or directory")
    if context.options.cluster:
        raise KrmfnError("--cluster joins PATHs of one side, and there are two; say it with --base")
    alone = context._replace(options=context.options._replace(against=()))
    sides, failures = paths.each((old, new), lambda path: _whole(alone, path))
    if failures:
        for streams in sides:
            cluster_streams.log(context, streams)
        paths.log_failures(context.log, failures)
        return []
    before, after = sides
    if len(before.clusters) == len(after.clusters) == 1:
        pairs = [Pair(before.clusters[0], after.clusters[0])]
    else:
        pairs = paired(before, os.path.realpath(old), after, os.path.realpath(new))
    named = [(next(one.cluster.name for one in (pair.new, pair.old) if one), pair) for pair in pairs]
    if failures := join_theirs(context, named):
        paths.log_failures(context.log, failures)
        return []
    for one in after.clusters:
        if not is_dump(one.final):  # of what is there already there is nothing to judge
            inputs.judge_final(context.program, one.final)
    cluster_streams.log(context, after)
    if any(one.final.failed for one in after.clusters):
        return []
    return [compared(context, pair, name if len(named) > 1 else "") for name, pair in named]


def _whole(context: Context, path: str) -> Streams:
    """Return the clusters of a PATH. Raises KrmfnError when one of them cannot be rendered; why is logged."""
    streams = cluster_streams.rendered(context, [path], itself=True, stays=is_dump)
    if streams.is_whole and not any(one.final.failed for one in streams.clusters):
        return streams
    cluster_streams.log(context, streams)
    raise KrmfnError(f"{path} cannot be rendered, so there is nothing to compare")
