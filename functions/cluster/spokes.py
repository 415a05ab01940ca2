"""Spokes: the clusters that a hub may manage are those whose labels are known; what they get is judged with the hub.

Labels are those of a ManagedCluster of the cluster's name, and those in the configuration file, which go before them.
"""

from collections.abc import Iterable, Mapping, Sequence

from krmfn import itemtext

from ..kmm.module import HUB_KIND
from ..rendering.kinds import NODES, of_kinds
from ..run import Spoke, note
from .deployed import Cluster

MANAGED = ("ManagedCluster", "cluster.open-cluster-management.io")
OF_HUBS = (HUB_KIND, "clusterSelector")
"""Words that only the inputs of a hub have: its kind, and the field of a config."""


def note_each(clusters: Sequence[Cluster], named: Mapping[str, Mapping[str, str]]) -> None:
    """Note the spokes for the lists of each hub; `named` are the labels in the configuration file, by cluster.

    A hub is no spoke of its own.
    """
    labels = _labels(clusters, named)
    spokes = [_spoke(cluster, labels[cluster.name]) for cluster in clusters if cluster.name in labels]
    for cluster in filter(_is_hub, clusters) if spokes else ():
        others = tuple(spoke for spoke in spokes if spoke.name != cluster.name)
        for resources in cluster.inputs:
            note(resources, spokes=others)


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


def _is_hub(cluster: Cluster) -> bool:
    return any(item.mentions(word) for part in cluster.inputs for item in part.items for word in OF_HUBS)
