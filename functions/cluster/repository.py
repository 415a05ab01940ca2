"""What is wrong between the clusters of a repository: inventories and nodes. Each node is in one cluster."""

import os
from collections import Counter
from collections.abc import Sequence

from krmfn import Field, Item, Place, error, warning
from krmfn.printing import counted, some

from ..fleet.nodes import names_and_kernels
from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND
from ..rendering import function_config, ignoring
from ..run import note, run_of
from ..settings import Intent
from . import applications, idle_inventories, spokes
from .config import Config
from .deployed import Cluster, Clusters, deployed_items


def check(streams: Clusters, intent: Intent) -> None:
    """Report what is wrong between the clusters of a configuration file, its inventories and its Applications.

    An inventory with the name of another cluster is an error where this is a check: its findings would be about nodes
    of that cluster. Like all findings about nodes it stops nothing else.
    """
    clusters, config = (*streams.clusters, *streams.unassigned), streams.config
    if not config.clusters:
        idle_inventories.check([] if intent.is_old else clusters)
        if intent.judges_nodes and intent.judges_whole:
            applications.check(streams)
        return
    severity = error if intent.judges_whole and not intent.deploys else warning
    file = config.name
    for cluster in clusters:
        for item in cluster.final.where(kind="NodeInventory", group="krmfn.dev"):
            if (name := item.ref.name) in config.clusters and name != cluster.name:
                message = f"the inventory is in the cluster {cluster.name}, and has the name of another one in {file}"
                remedy = f"give each cluster its own, or make it again with `--name {cluster.name}`"
                if not cluster.members:
                    message = f"has the name of a cluster in {file}, which does not list it"
                    path = _listed_as(item, file)
                    remedy = f"write `- {path}` below `{name}:` there" if path else "list its file there"
                finding = severity(message, rule="KRM601", field=Field("metadata.name", name), remedy=remedy)
                cluster.final.report([item.located(finding)])
            elif cluster.is_unassigned:
                message = f"no cluster of {file} has this inventory, so its nodes count nowhere"
                finding = warning(message, rule="KRM524", remedy=f"list {_listed_as(item, file) or 'its file'} there")
                cluster.final.report([item.located(finding)])
    if intent.is_check:
        _check_empty(clusters, config)
    if intent.judges_nodes:
        _check_nodes(streams.clusters, config)
        _check_copies(streams.clusters)
    if intent.judges_nodes and intent.judges_whole:
        applications.check(streams)


def _listed_as(item: Item, configuration: str) -> str:
    """Return the path of an item's file as the configuration file would list it: from its own folder.

    It is "" where no file is known: of stdin, and of what kustomize has built.
    """
    path = item.place.path if item.place else ""
    return os.path.relpath(path, os.path.dirname(configuration) or os.curdir) if os.path.isfile(path) else ""


def _check_empty(clusters: Sequence[Cluster], config: Config) -> None:
    """Report each cluster of the configuration file of which nothing would be deployed: `render` refuses that.

    A spoke may hold its nodes alone: it has its Modules from a hub.
    """
    for cluster in (cluster for cluster in clusters if not spokes.has_nodes_alone(cluster, clusters, config)):
        members, final = config.clusters.get(cluster.name, ()), cluster.final
        is_read = cluster.is_whole and not any(member.problem for member in members)
        if members and is_read and not final.failed and not deployed_items(final):
            message = (
                f"nothing in {cluster.name} would reach the cluster, which makes Argo CD delete what is there, so "
                "`krmfn render` refuses it"
            )
            facts = (("cluster", cluster.name),)
            final.report(
                [
                    warning(
                        message,
                        rule="KRM522",
                        place=members[0].place,
                        facts=facts,
                        remedy="pass --allow-empty there if this is intended",
                    )
                ]
            )


def _check_nodes(clusters: Sequence[Cluster], config: Config) -> None:
    """Report each cluster that has Modules and no nodes, if another one has nodes: its nodes cannot be checked."""
    known = [cluster.name for cluster in clusters if cluster.final.where(kind=("Node", "NodeInventory"))]
    for cluster in clusters if known else ():
        name, final = cluster.name, cluster.final
        modules = final.where(kind=MODULE_KIND, group=MODULE_GROUP)
        if not run_of(final).spokes:  # for the nodes of spokes
            modules += final.where(kind=HUB_KIND, group=HUB_GROUP)
        if name in known or final.failed or not modules:
            continue
        members = config.clusters.get(name, ())
        subject = f"{name} has" if members else f"{name} is in no cluster of {config.name}, and has"
        target = f"clusters.{name}" if members else "a cluster there, and this path with it"
        message = (
            f"{subject} {counted(len(modules), 'Module')} and no nodes, so it is not known which nodes get a driver "
            f"({some(known, len(known))} have theirs)"
        )
        final.report(
            [
                warning(
                    message,
                    rule="KRM605",
                    place=members[0].place if members else Place(config.name),
                    remedy=f"add an inventory (`krmfn inventory`) to {target}",
                )
            ]
        )


def _check_copies(clusters: Sequence[Cluster]) -> None:
    """Report each inventory that has most of its nodes, with their kernels, in common with another cluster."""
    owners: dict[tuple[str, str], str] = {}
    for cluster in clusters if len(clusters) > 1 else ():
        name, final = cluster.name, cluster.final
        for item in final.where(kind="NodeInventory", group="krmfn.dev"):
            nodes = {*names_and_kernels(item)}
            others = Counter(owners.setdefault(node, name) for node in nodes)
            del others[name]
            for other, number in others.most_common(1):
                if number * 2 > len(nodes):
                    message = (
                        f"{number:,} of its {counted(len(nodes), 'node')} are also in the cluster {other}, with the "
                        "same kernels, so it may be a copy of that inventory"
                    )
                    pairs = [
                        (
                            item.ref,
                            item.located(
                                warning(
                                    message,
                                    rule="KRM613",
                                    remedy=f"make it again at {name}: "
                                    f"`kubectl get nodes -o json | krmfn inventory --name {name}`",
                                )
                            ),
                        )
                    ]
                    hidden = Counter[frozenset[ignoring.Entry]]()
                    kept = ignoring.not_ignored(pairs, {item.ref: item}, function_config.read(final)[0], hidden)
                    final.report([finding for _, finding in kept])
                    note(final, turned_off=run_of(final).turned_off + hidden.total())
