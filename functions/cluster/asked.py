"""The clusters that are asked for: where --live or --context names some, the others are not read and not judged."""

from contextlib import suppress

from krmfn import KrmfnError, ResourceList
from krmfn.printing import some

from ..command import Context
from ..formats.checked import names_of
from ..options import RunOptions
from . import cluster_inputs
from .deployed import Clusters


def only(options: RunOptions, streams: Clusters) -> Clusters:
    """Return the clusters that --live CLUSTER=DUMP or --context CLUSTER=NAME name, if one of them does; else all.

    A cluster is also asked for where a PATH is one of its roots. What is wrong with the others is nobody's question.
    """
    texts = {word.partition("=")[0] for word in (*options.live, *options.contexts) if "=" in word}
    if not any(cluster.name in texts for cluster in streams.clusters):
        return streams
    reals = {*streams.paths.values()}
    clusters = [c for c in streams.clusters if c.name in texts or reals & {root.path for root in c.roots if root.path}]
    names = {cluster.name for cluster in clusters}
    unasked = [cluster for cluster in streams.clusters if cluster.name not in names]
    findings = [finding for finding in streams.findings if not names_of(finding) or names & {*names_of(finding)}]
    failures = [failure for failure in streams.failures if not failure.cluster or failure.cluster in names]
    return streams._replace(clusters=clusters, findings=findings, failures=failures, unasked=unasked)


def say_others(context: Context, streams: Clusters) -> None:
    """Log which clusters are not read, and so not judged, since --live or --context names others."""
    if streams.unasked:
        names = some((cluster.name for cluster in streams.clusters), len(streams.clusters))
        others = some((cluster.name for cluster in streams.unasked), len(streams.unasked))
        option = "--context" if context.options.contexts else "--live"
        context.log.say(f"only {names} is read, which {option} names; not judged: {others}")


def inputs_of_others(context: Context, streams: Clusters) -> dict[str, list[ResourceList]]:
    """Return what the clusters hold that are not asked for, as far as it can be read: a dump may be of one of them."""
    quiet = context._replace(log=context.log._replace(quiet=True))
    inputs: dict[str, list[ResourceList]] = {}
    for cluster in streams.unasked:
        with suppress(KrmfnError):
            read = cluster_inputs.read_clusters(quiet, streams._replace(clusters=[cluster], failures=()))
            inputs |= {other.name: other.inputs for other in read.clusters}
    return inputs
