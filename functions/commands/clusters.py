"""What commands have in common that print something about the clusters of their PATHs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from krmfn import Result
from krmfn.results import placed

from ..cluster import cluster_streams
from ..cluster.cluster_streams import Streams
from ..command import Context
from ..formats.checked import names_of
from ..paths import output


def read(context: Context, paths: Sequence[str], is_needed: bool = True, goes_on: bool = False) -> Streams | None:
    """Return the clusters of some PATHs; None, with all findings logged, when something of them cannot be read.

    Without any PATH it is the working folder where one `is_needed`, else there are no clusters. What is found in a
    cluster is logged, and what stands in the files can still be looked at. With `goes_on` a cluster that cannot be read
    is left out beside others that can.
    """
    if paths or context.options.cluster or is_needed:
        streams = cluster_streams.rendered(context, paths)
    else:
        streams = cluster_streams.nothing(context)
    if not streams.is_whole:
        cluster_streams.log(context, streams)
        errors = [one for one in streams.findings if one.severity == "error"]
        lost = {one.cluster.name for one in streams.clusters if not one.is_whole}.union(*map(names_of, errors))
        whole = [one for one in streams.clusters if one.cluster.name not in lost]
        if not goes_on or not whole or not all(map(names_of, errors)):
            return None
        names = sorted(lost)
        context.log.say(f"left out, since not all of it can be read: {', '.join(names)}", "error")
        return streams._replace(clusters=whole, left_out=tuple(names))
    cluster_streams.log_left_out(context, streams)
    shown = {name: one for name, one in streams.lists.items() if one.failed or context.intent.logs_advice}
    context.log.findings([*streams.findings, *cluster_streams.told(context, streams, shown)])
    return streams


def printed(context: Context, streams: Streams, text: str, results: Iterable[Result]) -> int:
    """Print a text about some clusters, log the findings about them, and return the exit code."""
    results = placed(results)
    if len(streams.clusters) > 1:
        from ..formats import grouped  # late: of one cluster nothing is told for several

        results = grouped.lines(results, len(streams.clusters))
    context.log.findings(results)
    output.write_stdout(text)
    if not streams.is_whole:
        return 2
    failed = any(resources.failed for resources in streams.lists.values())
    return int(failed or any(result.severity == "error" for result in results))
