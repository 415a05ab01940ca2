"""Spokes: the clusters that a hub may manage are those whose labels are known; what they get is judged with the hub.

Labels are those of a ManagedCluster of the cluster's name, and those in the configuration file, which go before them.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError, itemtext

from ..deviceconfig.reading import profile_of
from ..kmm.module import HUB_KIND
from ..paths import files, templates
from ..rendering.kinds import CONFIG, DEVICECONFIG, NODES, driven_kinds, of_kinds
from ..run import Spoke, note, run_of
from .config import Config
from .deployed import Cluster, deployed_items

MANAGED = ("ManagedCluster", "cluster.open-cluster-management.io")
OF_HUBS = (HUB_KIND, "clusterSelector")
"""Words that only the inputs of a hub have: its kind, and the field of a config."""


def note_each(
    clusters: Sequence[Cluster], named: Mapping[str, Mapping[str, str]], profiles: Sequence[Item] = ()
) -> None:
    """Note the spokes for the lists of each hub; `named` are the labels in the configuration file, by cluster.

    A hub is no spoke of its own. `profiles` as for `is_hub`.
    """
    labels = _labels(clusters, named)
    spokes = [_spoke(cluster, labels[cluster.name]) for cluster in clusters if cluster.name in labels]
    for cluster in clusters if spokes else ():
        if not is_hub(cluster, profiles):
            continue
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
        for item in resources.where(kind=MANAGED[0], group=MANAGED[1]):
            labels.setdefault(item.name, {}).update(itemtext.strings(item, "metadata", "labels"))
    for name, fields in named.items():
        labels.setdefault(name, {}).update(fields)
    return labels


def _spoke(cluster: Cluster, labels: Mapping[str, str]) -> Spoke:
    items = {id(item): item for resources in cluster.inputs for item in of_kinds(resources.items, NODES)}
    return Spoke(cluster.name, tuple(sorted(labels.items())), tuple(items.values()))


def is_hub(cluster: Cluster, profiles: Sequence[Item] = ()) -> bool:
    """Return whether something that only hubs have is in a cluster, or a config with one of these Profiles.

    `profiles` are the Profiles and functionConfigs outside of all clusters that bring what they make to spokes (see
    `of_hubs`).
    """
    items = [item for part in cluster.inputs for item in part.items]
    if any(map(_mentions_hub, items)):
        return True
    names, kinds = {profile.name for profile in profiles}, driven_kinds(profiles)
    configs = of_kinds(items, DEVICECONFIG.owners) if profiles else []
    if configs and of_kinds(profiles, {CONFIG}):  # its defaults may be any config's
        return True
    return any(profile_of(config) in names for config in configs) or bool(of_kinds(items, kinds))


def of_hubs(profiles: Iterable[Item]) -> list[Item]:
    """Return the Profiles, or functionConfigs, that bring what they make to spokes."""
    return [profile for profile in profiles if _mentions_hub(profile)]


def are_of_hubs(paths: Iterable[str]) -> bool:
    """Return True where one of some files, of Profiles or functionConfigs, makes hubs of what it counts for."""
    for path in paths:
        with suppress(KrmfnError):  # each root that needs it reports it
            if templates.mentions(files.read_regular(path, path), OF_HUBS):
                return True
    return False


def _mentions_hub(item: Item) -> bool:
    return any(map(item.mentions, OF_HUBS))
