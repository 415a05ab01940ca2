"""Inventories and nodes of the clusters of a repository: each cluster has its own, and no other's."""

from collections import Counter
from collections.abc import Sequence

from krmfn import Field, Place, error, warning
from krmfn.printing import counted, some

from ..fleet.nodes import named
from ..kmm.module import MODULE_KINDS
from ..rendering import function_config, ignoring
from ..run import note, run_of
from ..settings import Intent
from .config import Config
from .deployed import Cluster, Clusters, deployed


def check(laid: Clusters, intent: Intent) -> None:
    """Report an inventory that has the name of another cluster, one that no cluster has, and a cluster without nodes.

    What is said of the nodes of another cluster fails a check; like all about nodes it stops nothing else.
    """
    made, config = (*laid.clusters, *laid.apart), laid.config
    severity = error if intent.judges_whole and not intent.deploys else warning
    for one in made:
        for item in one.final.select("NodeInventory", "krmfn.dev"):
            if (name := item.ref.name) in config.clusters and name != one.name:
                message = (
                    f"the inventory is in the cluster {one.name}, and has the name of another one in "
                    f"{config.name}; give each cluster its own, or make it again with `--name {one.name}`"
                )
                if not one.members:
                    message = f"has the name of a cluster in {config.name}, which does not list it; add this path there"
                finding = severity(message, rule="KRM601", field=Field("metadata.name", name))
                one.final.report([item.located(finding)])
            elif one.is_apart:
                message = (
                    f"no cluster of {config.name} has this inventory, so its nodes count nowhere; add its path there"
                )
                one.final.report([item.located(warning(message, rule="KRM524"))])
    if config.clusters and intent.judges_whole and not (intent.deploys or intent.is_old):
        _check_empty(made, config)
    if config.clusters and intent.judges_nodes:
        _check_known(laid.clusters, config)
        _check_copied(laid.clusters)


def _check_empty(made: Sequence[Cluster], config: Config) -> None:
    """Report a cluster of the configuration file of which nothing would be deployed: `render` refuses that."""
    for one in made:
        members = config.clusters.get(one.name)
        is_read = one.is_whole and not any(member.problem for member in members or ())
        if members and is_read and not one.final.failed and not deployed(one.final):
            message = (
                f"nothing in {one.name} would reach the cluster, which makes Argo CD delete what is there, so "
                "`krmfn render` refuses it; pass --allow-empty there if this is intended"
            )
            one.final.report([warning(message, rule="KRM522", place=members[0].place)])


def _check_known(made: Sequence[Cluster], config: Config) -> None:
    """Report a cluster that has Modules and no nodes, where another one has some: all is said to be well there."""
    known = [one.name for one in made if any(map(one.final.select, ("Node", "NodeInventory")))]
    for one in made if known else ():
        name, modules = one.name, [item for kind in MODULE_KINDS for item in one.final.select(kind[1], kind[0])]
        if name in known or one.final.failed or not modules:
            continue
        members = config.clusters.get(name, ())
        what = f"{name} has" if members else f"{name} is in no cluster of {config.name}, and has"
        where = f"clusters.{name}" if members else "a cluster there, and this path with it"
        message = (
            f"{what} {counted(len(modules), 'Module')} and no nodes, so it is not known which nodes get a driver "
            f"({some(known, len(known))} have theirs); add an inventory (`krmfn inventory`) to {where}"
        )
        place = members[0].place if members else Place(config.name)
        one.final.report([warning(message, rule="KRM605", place=place)])


def _check_copied(made: Sequence[Cluster]) -> None:
    """Report an inventory most of whose nodes, with their kernels, are those of another cluster: it may be a copy."""
    owners: dict[tuple[str, str], str] = {}
    for one in made if len(made) > 1 else ():
        for item in one.final.select("NodeInventory", "krmfn.dev"):
            held = {*named(item)}
            others = Counter(owner for node in held if (owner := owners.setdefault(node, one.name)))
            del others[one.name]
            for other, number in others.most_common(1):
                if number * 2 > len(held):
                    message = (
                        f"{number:,} of its {counted(len(held), 'node')} are also in the cluster {other}, with the "
                        f"same kernels, so it may be a copy of that inventory; make it again at {one.name}: "
                        f"`kubectl get nodes -o json | krmfn inventory --name {one.name}`"
                    )
                    found = [(item.ref, item.located(warning(message, rule="KRM613")))]
                    hidden = Counter[frozenset[ignoring.Hidden]]()
                    kept = ignoring.kept(found, {item.ref: item}, function_config.read(one.final)[0], hidden)
                    one.final.report([finding for _, finding in kept])
                    note(one.final, turned_off=run_of(one.final).turned_off + hidden.total())
