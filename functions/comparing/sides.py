"""What deploys each object, before a change and after it."""

import os
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Item
from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..cluster.deployed import Cluster
from ..cluster.reached import NAMES, file_of, with_folders
from ..deployments.deployment import Declaration, Deployment
from ..grouping import grouped
from ..paths.roots import within


class Side(NamedTuple):
    """One side of a change, with what is looked up for each Module."""

    items: Mapping[Id, Sequence[tuple[str, Item]]] = {}  # read only
    """Those of the cluster by their ids, each with the folder of its root; "" for loose files."""
    loose: Sequence[str] = ()
    """The paths of the roots of loose files."""
    deployments: Sequence[Deployment] = ()
    """What deploys the cluster."""
    by_path: Mapping[str, Sequence[int]] = {}  # read only
    """The positions of the deployments of each path, as the deployments write it."""

    @classmethod
    def of(cls, cluster: Cluster | None) -> "Side":
        """Return the side of a cluster; one without anything for none, and where no object of an engine deploys it."""
        if not cluster:
            return cls()
        deployments = [reached for reached in cluster.deployments if reached.declaration.engine != "none"]
        if not deployments:
            return cls()
        pairs = ((folder, item) for folder, part in with_folders(cluster) for item in part.items)
        items = grouped((item.ref.id, (folder, item)) for folder, item in pairs)
        by_path = grouped((deployment.path, at) for at, deployment in enumerate(deployments))
        loose = [root.path for root in cluster.roots if root.kind == "files"]
        return cls(items, loose, deployments, by_path)

    def deploying(self, module: Id) -> list[Deployment]:
        """Return what deploys the roots that hold a Module."""
        paths = dict[str, None]()
        for folder, item in self.items.get(module, ()):
            file = file_of(item)
            inner = [path for path in self.loose if not folder and within(file, path)]
            paths |= dict.fromkeys([folder] if folder else inner or self.loose)
        positions = {at for path in paths for end in _ends(path) for at in self.by_path.get(end, ())}
        return [self.deployments[at] for at in sorted(positions)]


class Sides(NamedTuple):
    """What deploys the objects of a cluster before a change and after it."""

    old: Side
    new: Side
    everywhere: Sequence[Deployment] = ()
    """All that is deployed after the change, also to other clusters."""

    def goes_on(self, holder: Deployment) -> bool:
        """Return whether what made a deployment deploys anything to this cluster after the change."""
        return any(other.cluster == holder.cluster for other in self.rest_of(holder))

    def kept_by(self, holder: Deployment) -> str:
        """Return why what a deployment applied stays when it goes on nowhere; "" where it is deleted."""
        declaration = holder.declaration
        has_set = any(other.declaration.source.ref == declaration.source.ref for other in self.everywhere)
        if has_set and declaration.set_keeps:
            return f"no longer makes its Application, but {declaration.set_keeps}"
        return f"is deleted, but {declaration.kept_by}" if declaration.kept_by else ""

    def rest_of(self, holder: Deployment) -> list[Deployment]:
        """Return what the same Application, Kustomization or GitRepo deploys after the change, to whatever cluster."""
        return [other for other in self.everywhere if is_same(holder, other)]


def is_same(holder: Deployment, other: Deployment) -> bool:
    """Return whether one Application, Kustomization or GitRepo makes both deployments."""
    former, latter = holder.declaration, other.declaration
    return former.source.ref == latter.source.ref and former.application == latter.application


def _ends(path: str) -> Iterator[str]:
    """Yield the paths that a folder may be written as: from each of the folders above it, and `.`."""
    yield "."
    parts = path.strip(os.sep).split(os.sep)
    yield from (os.sep.join(parts[at:]) for at in range(len(parts)))


def engine_of(declaration: Declaration) -> str:
    """Return the name of the engine whose object declares something."""
    return NAMES.get(declaration.engine, declaration.engine)
