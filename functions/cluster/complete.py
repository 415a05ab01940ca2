"""The clusters that are there as a whole, each judged with what hubs and --against bring to it."""

from collections.abc import Sequence

from krmfn.typed import TYPE_CHECKING

from ..command import Context
from ..run import note
from .deployed import Cluster, Clusters, judge_final

if TYPE_CHECKING:
    from .unasked_hubs import Hubs


def judge(context: Context, streams: Clusters, hubs: "Hubs | None") -> None:
    """Judge each cluster that is there as a whole, with what hubs and --against bring; several clusters have `hubs`."""
    everything = (*streams.clusters, *streams.unassigned)
    has_flux = streams.has_flux or (hubs is not None and context.intent.judges_whole and _has_flux(everything))
    complete = [cluster for cluster in streams.clusters if cluster.is_whole]  # parts would seem to be missing
    if streams.external or hubs is not None:
        from . import external, unasked_hubs

        others = [] if hubs is None else unasked_hubs.rendered(context, hubs, complete, streams)
        external.join_each(context, [*complete, *others], streams.external)
    for cluster in complete if context.intent.judges_whole else ():
        note(cluster.final, has_flux=has_flux, is_repository=streams.is_repository)
        judge_final(cluster.final)


def _has_flux(clusters: Sequence[Cluster]) -> bool:
    """Return whether something of Flux is in one of the clusters: its objects seldom stand beside what it applies."""
    from ..final import tools  # here: it is loaded for what is judged as a whole

    return any(tools.has_flux(part.items) for cluster in clusters for part in cluster.inputs)
