"""Which resources of a cluster an object of an engine deploys, and where that object stands."""

import os
from collections.abc import Callable, Iterator, Sequence

from krmfn import Item, Place, ResourceList
from krmfn.ownership import Id

from ..deployments.deployment import Deployment
from ..grouping import grouped
from ..paths.roots import parents, within
from ..rendering.kinds import OWNERS, driven_kinds, of_kinds
from ..run import run_of
from .deployed import Cluster, is_local

NAMES = {"argocd": "Argo CD", "flux": "Flux", "fleet": "Fleet"}
"""The names of engines."""


def configs_in(part: ResourceList) -> list[Item]:
    """Return the configs in a list that krmfn renders; where its kustomization calls krmfn, this is done there."""
    return [item for item in _configs(part) if not is_local(item)]


def marked_configs_in(part: ResourceList) -> list[Item]:
    """Return those that are marked as local-config, which kustomize alone leaves out."""
    return [item for item in _configs(part) if is_local(item)]


def _configs(part: ResourceList) -> list[Item]:
    kinds = OWNERS | driven_kinds(part.items)
    return [] if run_of(part).is_settled else of_kinds(part.items, kinds)


def reached_by_each(
    cluster: Cluster, top: str, choose: Callable[[ResourceList], Sequence[Item]]
) -> Iterator[tuple[Deployment, Sequence[Item]]]:
    """Yield each deployment with the chosen items of a cluster that come from its root, or from files in it.

    `top` is the root of the repository. The items are passed over once for all deployments: a thousand Applications may
    share a cluster with a thousand files.
    """
    reals = [deployment.real(top) for deployment in cluster.deployments]
    items: dict[str, list[Item]] = {real: [] for real in reals}
    built = {root.path for root in cluster.roots if root.kind == "kustomization"}
    for folder, part in with_folders(cluster):
        for item in choose(part):
            for above in parents(folder or file_of(item)):
                if folder and above != folder and above in built:
                    break  # a kustomization above it has what it lists, and that is a part of its own
                if above in items:
                    items[above].append(item)
    yield from ((deployment, items[real]) for deployment, real in zip(cluster.deployments, reals, strict=True))


def replaced(cluster: Cluster, top: str) -> frozenset[Id]:
    """Return the ids of what an Application with `Replace=true` deploys: Argo CD applies nothing of it.

    What was generated has no file; of loose files it counts where all of them are the Application's.
    """
    ids: set[Id] = set()
    loose = [part for folder, part in with_folders(cluster) if not folder]
    for deployment, items in reached_by_each(cluster, top, lambda part: part.items):
        if deployment.declaration.engine == "argocd" and deployment.declaration.anew:
            real = deployment.real(top)
            ids |= {item.ref.id for item in items}
            if all(within(root.path, real) for root in cluster.roots if root.kind == "files"):
                ids |= {item.ref.id for part in loose for item in part.items if not item.place}
    return frozenset(ids)


def with_folders(cluster: Cluster) -> Iterator[tuple[str, ResourceList]]:
    """Yield each part of a cluster with the path of its root, "" for the loose files of all roots.

    These are the last part, which may have the name of any root. Roots of others have nothing to choose.
    """
    roots = [root for root in cluster.roots if root.kind != "files" and root.path not in cluster.beside]
    paths = grouped((root.name, root.path) for root in roots)
    for name, part in cluster.parts:
        if not run_of(part).is_beside:
            rest = paths.get(name)
            yield rest.pop() if rest else "", part


def file_of(item: Item) -> str:
    """Return the path of an item's file, "" for none, in a folder without links; a link counts where it stands."""
    if not item.place or not item.place.path:
        return ""
    folder, name = os.path.split(item.place.path)
    return os.path.join(os.path.realpath(folder), name)


def place_of(deployment: Deployment, top: str) -> Place:
    """Return the place of the engine's object, with its file as seen from the working folder."""
    place = deployment.declaration.source.place
    return place._replace(path=os.path.relpath(os.path.join(top, place.path)))
