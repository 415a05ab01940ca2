"""How engines deploy the clusters that .krmfn.yaml or --cluster names: that says which one gets a folder, not how."""

from collections.abc import Collection, Iterator

from krmfn import Result, warning

from ..deployments.deployment import Deployment
from ..paths.roots import within
from .deployed import Cluster, Clusters
from .engine_checks import has_ours
from .reached import place_of


def with_deployments(streams: Clusters) -> Clusters:
    """Return the named clusters below whose paths engines deploy something, each with the objects that say so.

    An object that names another one of these clusters is about that one.
    """
    members = [cluster for cluster in streams.clusters if cluster.members]
    names = {cluster.name for cluster in members}
    clusters = [cluster._replace(deployments=(*_deployments_of(cluster, streams, names),)) for cluster in members]
    return streams._replace(clusters=[cluster for cluster in clusters if cluster.deployments])


def _deployments_of(cluster: Cluster, streams: Clusters, names: Collection[str]) -> Iterator[Deployment]:
    others, top = {*names} - {cluster.name}, streams.engines.top
    for deployment in streams.engines.deployments:
        is_below = any(within(deployment.real(top), member.real) for member in cluster.members)
        if is_below and deployment.cluster not in others:
            yield deployment


def report_unlisted(streams: Clusters) -> None:
    """Report each root with something of ours that an engine deploys, and that no cluster of .krmfn.yaml has.

    It is judged apart from the nodes of the cluster that gets it.
    """
    for cluster in streams.clusters if streams.config.clusters else ():
        if not cluster.members and has_ours(cluster):
            cluster.final.report(_unlisted(cluster, streams))


def _unlisted(cluster: Cluster, streams: Clusters) -> Iterator[Result]:
    roots, top = {root.path: root for root in cluster.roots}, streams.engines.top
    for deployment in streams.engines.deployments:
        root, source = roots.get(deployment.real(top)), deployment.declaration.source
        if root and deployment.declaration.engine != "none":
            message = (
                f"deploys {root.name} to {deployment.cluster}, but no cluster of {streams.config.name} has it, "
                "so it is judged apart"
            )
            remedy = f"list {deployment.path} under the cluster there"
            yield warning(message, rule="KRM544", ref=source.ref, place=place_of(deployment, top), remedy=remedy)
