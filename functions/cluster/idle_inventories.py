"""Which inventories count for no cluster, where no configuration file says to which they belong."""

import os
from collections.abc import Sequence

from krmfn import Item, warning

from ..grouping import grouped
from ..kmm.module import MODULE_KINDS
from ..paths.roots import root_of, within
from ..rendering.kinds import NODES, OWNERS, of_kinds
from ..run import run_of
from .config import NAME
from .deployed import Cluster
from .spokes import is_hub

MESSAGE = "no cluster has this inventory, so its nodes count nowhere"


def check(clusters: Sequence[Cluster]) -> None:
    """Report each file with nodes in a cluster that has no Modules, where another one has some.

    Each root is a cluster of its own there, so that an inventory in a folder of its own counts for nothing else. A
    hub's spoke has no Modules in Git, and its nodes count for what the hub brings there.
    """
    users = [cluster for cluster in clusters if _has_modules(cluster)]
    spokes = {spoke.name for cluster in users for part in cluster.inputs for spoke in run_of(part).spokes}
    for cluster in clusters if users else ():
        if cluster in users or cluster.name in spokes:
            continue
        nodes = of_kinds(cluster.final.items, NODES)
        for first, *_ in grouped((item.place.path if item.place else "", item) for item in nodes).values():
            finding = warning(MESSAGE, rule="KRM524", remedy=_remedy(first, cluster, users))
            cluster.final.report([first.located(finding)])


def _has_modules(cluster: Cluster) -> bool:
    """Return whether a cluster has Modules, or what they are made from."""
    kinds = {*OWNERS, *MODULE_KINDS}.union(*(run_of(part).driven for part in (*cluster.lists, *cluster.inputs)))
    return any(of_kinds(part.items, kinds) for part in (cluster.final, *cluster.inputs))


def _remedy(item: Item, cluster: Cluster, users: Sequence[Cluster]) -> str:
    """Return the line to write for an inventory: with the only cluster that has Modules, or the one that has its name.

    Where several may be meant, words stand for the name and the folder. Nodes are never a hub's own where only hubs
    have Modules: they are those of a spoke, whose labels nobody has said. What kustomize built has no file: its folder
    stands for it.
    """
    written = item.place.path if item.place else ""
    file = os.path.realpath(written or cluster.roots[0].path)
    top = root_of(os.path.dirname(file)) or os.getcwd()
    stem = os.path.splitext(os.path.basename(file))[0]
    folders = [root.path for user in users for root in user.roots if within(root.path, top)]
    alike = [folder for folder in folders if os.path.basename(folder) in (item.name, stem)]
    choice = alike or folders
    path = os.path.relpath(file, top)
    folder = os.path.relpath(choice[0], top) if len(choice) == 1 else "FOLDER"
    name = os.path.basename(choice[0]) if len(choice) == 1 else item.name or stem
    if not all(is_hub(user) for user in users):
        return f"write `clusters: {{{name}: [{folder}, {path}]}}` in {NAME} at the root of the repository"
    spoke = os.path.basename(os.path.dirname(file)) if written else stem
    members = f"{name}: [{folder}], {spoke}: {{paths: [{path}], labels: {{KEY: VALUE}}}}"
    return f"write `clusters: {{{members}}}` with the spoke's labels in {NAME}"
