"""Spokes: the clusters that a hub may manage are those whose labels are known; what they get is judged with the hub.

Labels are those of a ManagedCluster of the cluster's name, and those in the configuration file, which go before them.
"""

from collections.abc import Iterable, Mapping, Sequence

from krmfn import itemtext

from ..kmm.module import HUB_KIND
from ..rendering.kinds import NODES, of_kinds
from ..run import Spoke, note, run_of
from .config import Config
from .deployed import Cluster, deployed_items

MANAGED = ("ManagedCluster", "cluster.open-cluster-management.io")
OF_HUBS = (HUB_KIND, "clusterSelector")
"""Words that only the inputs of a hub have: its kind, and the field of a config."""


def note_each(clusters: Sequence[Cluster], named: Mapping[str, Mapping[str, str]]) -> None:
    """Note the spokes for the lists of each hub; `named` are the labels in the configuration file, by cluster.

    A hub is no spoke of its own.
    """
    labels = _labels(clusters, named)
    spokes = [_spoke(cluster, labels[cluster.name]) for cluster in clusters if cluster.name in labels]
    for cluster in filter(is_hub, clusters) if spokes else ():
        others = tuple(spoke for spoke in spokes if spoke.name != cluster.name)
        for resources in cluster.inputs:
            note(resources, spokes=others)


def has_nodes_alone(cluster: Cluster, clusters: Sequence[Cluster], config: Config) -> bool:
    """Return True for a spoke that holds its nodes, and nothing that is deployed: it has its Modules from a hub."""
    names = {spoke.name for other in clusters for spoke in run_of(other.final).spokes} | {*config.labels}
    items = cluster.final.items
    return cluster.name in names and bool(of_kinds(items, NODES)) and not deployed_items(cluster.final)


def _labels(clusters: Iterable[Cluster], named: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    labels: dict[str, dict[str, str]] = {}
    for resources in (part for cluster in clusters for part in cluster.inputs):
        for item in resources.select(*MANAGED):
            labels.setdefault(item.name, {}).update(itemtext.strings(item, "metadata", "labels"))
    for name, fields in named.items():
        labels.setdefault(name, {}).update(fields)
    return labels


def _spoke(cluster: Cluster, labels: Mapping[str, str]) -> Spoke:
    items = {id(item): item for resources in cluster.inputs for item in of_kinds(resources.items, NODES)}
    return Spoke(cluster.name, tuple(sorted(labels.items())), tuple(items.values()))


def is_hub(cluster: Cluster) -> bool:
    """Return whether something that only hubs have is in a cluster."""
    return any(item.mentions(word) for part in cluster.inputs for item in part.items for word in OF_HUBS)
