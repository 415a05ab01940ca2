"""What is said of clusters by a command that prints something else: their findings, and what is left out."""

from collections.abc import Collection, Sequence

from krmfn import Result
from krmfn.printing import printable

from ..command import Context
from ..finding import without_copies
from ..paths.failures import log_failures
from ..run import placed
from . import cluster_inputs
from .deployed import Clusters, Lists


def log(context: Context, streams: Clusters, notes: Collection[Result] = ()) -> None:
    """Log all findings and failures, and what is excluded, for a command that prints something else.

    `notes` are errors, failures among them, that the command prints itself: they are not logged.
    """
    log_excluded(context, streams)
    findings = streams.sources.placed([*streams.findings, *streams.unassigned_findings()])
    context.log.findings(_without(findings, notes))
    context.log.findings(findings_of(context, streams, streams.lists, notes))
    log_failures(context.log, () if notes else streams.failures)


def findings_of(context: Context, streams: Clusters, lists: Lists, notes: Collection[Result] = ()) -> list[Result]:
    """Return the findings of some clusters but for `notes`; of several clusters each once, with those that have it."""
    look_up_places(context, streams)
    by_name = {name: _without(placed(resources), notes) for name, resources in lists.items()}
    if len(streams.clusters) < 2:
        return [finding for results in by_name.values() for finding in results]
    from ..formats import checked, grouped  # imported here: findings of one cluster are not grouped

    findings = (finding for name, results in by_name.items() for finding in checked.tag_cluster(name, results))
    return grouped.lines(findings, streams.lists)


def _without(results: Sequence[Result], notes: Collection[Result]) -> Sequence[Result]:
    """Return the findings, in their places, that are none of the notes."""
    return without_copies(results, notes) if notes else results


def look_up_places(context: Context, streams: Clusters) -> None:
    """Have kustomize find the places of the findings of all clusters, with as many builds at a time as --jobs says.

    The places of some builds are only known after a second run (see `builds`), whose result is kept.
    """
    finals = [cluster.final for cluster in streams.clusters]
    lists = [final for final in finals if any(result.place and result.place.built for result in final.results)]
    if len(lists) > 1:  # a single one looks them up when its findings are read
        cluster_inputs.work_through(context, placed, lists, "builds looked up", len(lists))


def log_excluded(context: Context, streams: Clusters) -> None:
    """Log the patterns of `exclude` in the configuration file: whoever reads the output may not have written them."""
    if streams.excluded and streams.config.exclude:
        patterns = ", ".join(printable(pattern.text) for pattern in streams.config.exclude)
        context.log.say(f"{streams.config.name} excludes {patterns}")
