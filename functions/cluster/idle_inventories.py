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


def check(clusters: Sequence[Cluster]) -> None:
    """Report each file with nodes in a cluster that has no Modules, where another one has some.

    Each root is a cluster of its own there, so that an inventory in a folder of its own counts for nothing else.
    """
    users = [cluster for cluster in clusters if _has_modules(cluster)]
    for cluster in clusters if users else ():
        if cluster in users:
            continue
        nodes = of_kinds(cluster.final.items, NODES)
        for first, *_ in grouped((item.place.path if item.place else "", item) for item in nodes).values():
            message = f"no cluster has this inventory, so its nodes count nowhere; {_remedy(first, users)}"
            cluster.final.report([first.located(warning(message, rule="KRM524"))])


def _has_modules(cluster: Cluster) -> bool:
    """Return whether a cluster has Modules, or what they are made from."""
    kinds = {*OWNERS, *MODULE_KINDS}.union(*(run_of(part).driven for part in (*cluster.lists, *cluster.inputs)))
    return any(of_kinds(part.items, kinds) for part in (cluster.final, *cluster.inputs))


def _remedy(item: Item, users: Sequence[Cluster]) -> str:
    """Return the line to write for an inventory: with the only cluster that has Modules, or the one that has its name.

    Where several may be meant, words stand for the name and the folder.
    """
    file = os.path.realpath(item.place.path) if item.place else ""
    top = root_of(os.path.dirname(file)) or os.getcwd()
    stem = os.path.splitext(os.path.basename(file))[0]
    folders = [root.path for cluster in users for root in cluster.roots if within(root.path, top)]
    alike = [folder for folder in folders if os.path.basename(folder) in (item.name, stem)]
    choice = alike or folders
    path = os.path.relpath(file, top)
    folder = os.path.relpath(choice[0], top) if len(choice) == 1 else "FOLDER"
    name = os.path.basename(choice[0]) if len(choice) == 1 else item.name or stem
    return f"write `clusters: {{{name}: [{folder}, {path}]}}` in {NAME} at the root of the repository"
