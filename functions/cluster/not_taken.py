"""Files that engines do not take of the folders that they deploy: each kind has its own finding."""

from collections.abc import Sequence

from krmfn import Result

from . import fleet_ignores, fleet_overlays, flux_ignores, left_out
from .deployed import Cluster
from .engines import Engines
from .survey import Root


def settled(
    objects: Engines, clusters: Sequence[Cluster], rest: Sequence[Root], tops: Sequence[str]
) -> tuple[list[Cluster], list[Result]]:
    """Return clusters without the loose files that Flux leaves out, and the findings about all files left out.

    `rest` are the roots that nothing deploys; `tops` are the real PATHs.
    """
    deployed = [root for cluster in clusters for root in cluster.roots]
    findings = [
        *left_out.findings(objects, [*deployed, *rest], tops),
        *flux_ignores.findings(objects, deployed, tops),
        *fleet_ignores.findings(objects, [*deployed, *rest], tops),
        *fleet_overlays.findings(objects, [*deployed, *rest], tops),
    ]
    return flux_ignores.without(clusters, objects.top, findings), findings
