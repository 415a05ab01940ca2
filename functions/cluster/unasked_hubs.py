"""Hubs among the clusters that nobody asks for (see `asked`): what they bring to the others counts all the same."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError
from krmfn.typed import NamedTuple

from ..command import Context
from ..paths import files, templates
from ..paths.failures import Failure
from ..rendering.kinds import driven_kinds
from ..run import note
from . import cluster_inputs, cluster_lists, function_runs, spokes
from .deployed import Cluster, Clusters
from .root_files import files_of_cluster


class Hubs(NamedTuple):
    """What is known of such hubs."""

    clusters: Sequence[Cluster] = ()
    doubts: Sequence[str] = ()
    """Why others are not known."""
    profiles: Sequence[Item] = ()
    """The Profiles of the configuration file that make a config a hub's."""


def read(context: Context, streams: Clusters) -> Hubs:
    """Return the hubs with what they hold.

    Only clusters whose files mention what a hub has are read. What is wrong with their files is nobody's question.
    """
    hubs, doubts, profiles = list[Cluster](), list[str](), list[Item]()
    with suppress(KrmfnError):  # each root that needs them reports it
        profiles = spokes.of_hubs(
            [*function_runs.profiles_of(context.options, context.profiles), *function_runs.configs_of(context.options)]
        )
    words = {*spokes.OF_HUBS, *(item.name for item in profiles), *(kind for _, kind in driven_kinds(profiles))}
    for cluster in streams.unasked:
        if any(_mentions(path, words) for path in files_of_cluster(cluster)):
            beside = cluster_inputs.read_clusters(_quiet(context), streams._replace(clusters=[cluster], failures=()))
            hub = beside.clusters[0]
            hubs += [hub] if hub.is_whole and spokes.is_hub(hub, profiles) else []
            doubts += [] if hub.is_whole else [f"the hub {hub.name} cannot be read (krmfn check)"]
    return Hubs(hubs, doubts, profiles)


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
    has_hub = bool(doubts) or any(spokes.is_hub(hub, hubs.profiles) for hub in (*streams.clusters, *results))
    for cluster in clusters:
        note(cluster.final, hub_doubts=tuple(doubts), lacks_hub=not has_hub and cluster.name in streams.config.labels)
    return results


def _quiet(context: Context) -> Context:
    return context._replace(log=context.log._replace(quiet=True))


def _mentions(path: str, words: Collection[str]) -> bool:
    """Return whether a file that can be read mentions one of some words."""
    try:
        return templates.mentions(files.read_regular(path, path), words)
    except KrmfnError:
        return False
