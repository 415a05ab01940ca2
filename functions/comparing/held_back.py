"""Changes of Modules that do not reach a cluster: what deploys them is suspended, or prunes nothing."""

import os
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Item, Ref, Result, error
from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..cluster.deployed import Cluster
from ..cluster.reached import file_of, with_folders
from ..deployments import fleet, flux
from ..deployments.deployment import Declaration, Deployment, EngineObject, Repository
from ..grouping import grouped
from ..kmm.module import MODULE_KINDS, module_of
from ..paths.roots import within
from ..plan import Change, Plan
from ..rendering.kinds import of_kinds

_NAMES = {"flux": "Flux", "fleet": "Fleet", "argocd": "Argo CD"}


def held_back(plan: Plan, old: Cluster | None, new: Cluster | None) -> Iterator[Result]:
    """Yield an error per Module that a suspended deployment does not apply, or that stays since nothing is pruned.

    What Argo CD does not prune by itself is left out: a person may sync it. Of a file whose folder nothing deploys, the
    objects of engines in it count. Source: Flux, Kustomization v1, spec.suspend and spec.prune; Fleet, GitRepo,
    spec.paused.
    """
    changes = [change for change in plan.changes if (change.ref.group, change.ref.kind) in MODULE_KINDS]
    if not changes:
        return
    new_side, old_side = _Side.of(new), _Side.of(old)
    beside = _beside(new) or _beside(old)
    loading = _loading(new)
    for change in changes:
        holders = new_side.deploying(change.ref.id) or old_side.deploying(change.ref.id)
        deployments = holders or new_side.deployments or old_side.deployments
        declarations = [deployment.declaration for deployment in deployments]
        if message := _message(change, declarations or beside):
            yield error(message, ref=change.ref)
            yield from () if change.new else _twins(change, loading)


def _loading(cluster: Cluster | None) -> dict[str, list[Ref]]:
    """Return the Modules of a cluster by the kernel modules that they load."""
    items = of_kinds(cluster.final.items, MODULE_KINDS) if cluster else []
    modules = ((item.ref, module_of(item.manifest)) for item in items)
    return grouped((name, source) for source, module in modules if module for name in sorted(module.loads))


def _twins(kept: Change, loading: Mapping[str, Sequence[Ref]]) -> Iterator[Result]:
    """Yield an error per Module of the new state that loads a kernel module of one that stays on the cluster."""
    old = module_of(kept.old or {})
    twins = dict[Ref, str]()
    for name in sorted(old.loads) if old else ():
        for source in loading.get(name, ()):
            twins.setdefault(source, name)
    for source, name in twins.items():
        message = f"loads {name}, as {kept.ref} does, which stays on the cluster"
        yield error(message, ref=source, remedy="delete that one by hand when this is merged, or let its engine prune")


def _message(change: Change, declarations: Sequence[Declaration]) -> str:
    """Return what becomes of a change; "" where it is made."""
    if not declarations:
        return ""
    first = declarations[0]
    engine, source = _NAMES.get(first.engine, first.engine), f"{first.source.ref}, {first.file}"
    if all(declaration.is_suspended for declaration in declarations):
        outcome = "it is not applied" if change.new else "it stays on the cluster, and its driver in use"
        return f"{engine} is suspended there ({source}), so {outcome}"
    is_kept = all(declaration.engine == "flux" and not declaration.prunes for declaration in declarations)
    if not change.new and is_kept:
        return f"{engine} prunes nothing there ({source}), so it stays on the cluster, and its driver in use"
    return ""


class _Side(NamedTuple):
    """One side of a change, with what is looked up for each changed Module."""

    items: Mapping[Id, Sequence[tuple[str, Item]]] = {}  # read only
    """Those of the cluster by their ids, each with the folder of its root; "" for loose files."""
    loose: Sequence[str] = ()
    """The paths of the roots of loose files."""
    deployments: Sequence[Deployment] = ()
    """What deploys the cluster."""
    by_path: Mapping[str, Sequence[int]] = {}  # read only
    """The positions of the deployments of each path, as the deployments write it."""

    @classmethod
    def of(cls, cluster: Cluster | None) -> "_Side":
        """Return the side of a cluster; one without anything for none."""
        if not cluster:
            return cls()
        pairs = ((folder, item) for folder, part in with_folders(cluster) for item in part.items)
        items = grouped((item.ref.id, (folder, item)) for folder, item in pairs)
        deployments = [reached for reached in cluster.deployments if reached.declaration.engine != "none"]
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


def _ends(path: str) -> Iterator[str]:
    """Yield the paths that a folder may be written as: from each of the folders above it, and `.`."""
    yield "."
    parts = path.strip(os.sep).split(os.sep)
    yield from (os.sep.join(parts[at:]) for at in range(len(parts)))


def _beside(cluster: Cluster | None) -> list[Declaration]:
    """Return what the objects of engines declare that stand in one file with the rest of a cluster."""
    if not cluster or any(os.path.isdir(root.path) for root in cluster.roots):
        return []
    items = [item for item in cluster.final.items if item.group in (*flux.GROUPS, fleet.GROUP)]
    objects = [EngineObject(item.ref, item.manifest, item.place) for item in items if item.place]
    declared = (flux.declared(objects, Repository()), fleet.declared(objects, Repository()))
    return [declaration for engine in declared for declaration in engine.declarations]
