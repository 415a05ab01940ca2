"""Hubs among the clusters that nobody asks for (see `asked`): what they bring to the others counts all the same."""

from collections.abc import Sequence

from krmfn import KrmfnError
from krmfn.typed import NamedTuple

from ..command import Context
from ..paths import files, templates
from ..paths.failures import Failure
from ..run import note
from . import cluster_inputs, cluster_lists, foreign, spokes
from .deployed import Cluster, Clusters


class Hubs(NamedTuple):
    """What is known of such hubs."""

    clusters: Sequence[Cluster] = ()
    doubts: Sequence[str] = ()
    """Why others are not known."""


def read(context: Context, streams: Clusters) -> Hubs:
    """Return the hubs with what they hold.

    Only clusters whose files mention what a hub has are read. What is wrong with their files is nobody's question.
    """
    hubs, doubts = list[Cluster](), list[str]()
    for cluster in streams.unasked:
        if any(_mentions_hub(path) for path in foreign.files_of(cluster)):
            beside = cluster_inputs.read_clusters(_quiet(context), streams._replace(clusters=[cluster], failures=()))
            hub = beside.clusters[0]
            hubs += [hub] if hub.is_whole else []
            doubts += [] if hub.is_whole else [f"the hub {hub.name} cannot be read (krmfn check)"]
    return Hubs(hubs, doubts)


def rendered(context: Context, hubs: Hubs, clusters: Sequence[Cluster], streams: Clusters) -> list[Cluster]:
    """Return the hubs after the function has run on them; note for `clusters` why it is not known what hubs bring.

    Also note for each with labels in the configuration file where no hub is among all that is read.
    """
    results, doubts = list[Cluster](), [*hubs.doubts]
    for hub in hubs.clusters:
        failures = list[Failure]()
        result = cluster_lists.render_cluster(_quiet(context), failures, None, hub)
        is_known = result.is_whole and not failures
        results += [result] if is_known else []
        doubts += [] if is_known else [f"the hub {hub.name} cannot be rendered (krmfn check)"]
    has_hub = bool(doubts) or any(map(spokes.is_hub, (*streams.clusters, *results)))
    for cluster in clusters:
        note(cluster.final, hub_doubts=tuple(doubts), lacks_hub=not has_hub and cluster.name in streams.config.labels)
    return results


def _quiet(context: Context) -> Context:
    return context._replace(log=context.log._replace(quiet=True))


def _mentions_hub(path: str) -> bool:
    """Return whether a file may be a hub's; one that cannot be read may be anything's."""
    try:
        return templates.mentions(files.read_regular(path, path), spokes.OF_HUBS)
    except KrmfnError:
        return False
