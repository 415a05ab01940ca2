"""How engines deploy the clusters that .krmfn.yaml or --cluster names: that says which one gets a folder, not how."""

from collections.abc import Iterator, Sequence

from krmfn import Result, warning

from ..deployments.deployment import Deployment
from ..grouping import grouped
from ..paths.roots import parents
from .deployed import Clusters
from .engine_checks import has_ours
from .reached import place_of
from .survey import Root


def with_deployments(streams: Clusters) -> Clusters:
    """Return the named clusters below whose paths engines deploy something, each with the objects that say so.

    Where several of them have a folder, an object that names one of these is about that one.
    """
    members = [cluster for cluster in streams.clusters if cluster.members]
    by_path = grouped((member.real, cluster.name) for cluster in members for member in cluster.members)
    by_name: dict[str, list[Deployment]] = {cluster.name: [] for cluster in members}
    for deployment in streams.engines.deployments:
        paths = parents(deployment.real(streams.engines.top))
        names = dict.fromkeys(name for path in paths for name in by_path.get(path, ()))
        for name in [deployment.cluster] if deployment.cluster in names else names:
            by_name[name].append(deployment)
    clusters = [cluster._replace(deployments=(*by_name[cluster.name],)) for cluster in members]
    return streams._replace(clusters=[cluster for cluster in clusters if cluster.deployments])


def report_unlisted(streams: Clusters) -> None:
    """Report each root with something of ours that an engine deploys, and that no cluster of .krmfn.yaml has.

    It is judged apart from the nodes of the cluster that gets it.
    """
    if not streams.config.clusters:
        return
    top, deployments = streams.engines.top, streams.engines.deployments
    by_path = grouped((holder.real(top), holder) for holder in deployments if holder.declaration.engine != "none")
    for cluster in streams.clusters:
        if not cluster.members and has_ours(cluster):
            for root in cluster.roots:
                cluster.final.report(_unlisted(root, by_path.get(root.path, ()), streams))


def _unlisted(root: Root, deployments: Sequence[Deployment], streams: Clusters) -> Iterator[Result]:
    for deployment in deployments:
        message = (
            f"deploys {root.name} to {deployment.cluster}, but no cluster of {streams.config.name} has it, so it is "
            "judged apart"
        )
        about, remedy = deployment.declaration.source.ref, f"list {deployment.path} under a cluster there"
        place = place_of(deployment, streams.engines.top)
        yield warning(message, rule="KRM544", ref=about, place=place, remedy=remedy)
