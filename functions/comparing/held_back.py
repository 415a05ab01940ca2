"""Changes of Modules that do not reach a cluster: what deploys them is suspended, or prunes nothing."""

import os
from collections.abc import Iterator, Sequence

from krmfn import Item, Result, error
from krmfn.ownership import Id

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
    new_items, old_items = _items(new), _items(old)
    for change in changes:
        held, former = new_items.get(change.ref.id, ()), old_items.get(change.ref.id, ())
        deployments = _deploying(new, held) or _deploying(old, former) or _all(new) or _all(old)
        declarations = [deployment.declaration for deployment in deployments]
        if message := _message(change, declarations or _beside(new) or _beside(old)):
            yield error(message, ref=change.ref)
            yield from () if change.new else _twins(change, new)


def _twins(kept: Change, new: Cluster | None) -> Iterator[Result]:
    """Yield an error per Module of the new state that loads a kernel module of one that stays on the cluster."""
    old = module_of(kept.old or {})
    for item in of_kinds(new.final.items, MODULE_KINDS) if new and old else ():
        module = module_of(item.manifest)
        names = sorted(old.loads & module.loads) if old and module else []
        if names:
            message = (
                f"loads {names[0]}, as {kept.ref} does, which stays on the cluster; delete that one by hand when this "
                "is merged, or let its engine prune"
            )
            yield error(message, ref=item.ref)


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


def _items(cluster: Cluster | None) -> dict[Id, list[tuple[str, Item]]]:
    """Return the items of a cluster by their ids, each with the folder of its root; "" for loose files."""
    pairs = with_folders(cluster) if cluster else ()
    return grouped((item.ref.id, (folder, item)) for folder, part in pairs for item in part.items)


def _deploying(cluster: Cluster | None, held: Sequence[tuple[str, Item]]) -> list[Deployment]:
    """Return what deploys the roots that hold an object; `held` are its items with the folders of their roots."""
    if not cluster:
        return []
    loose = [root.path for root in cluster.roots if root.kind == "files"]
    paths = list[str]()
    for folder, item in held:
        file = file_of(item)
        inner = [path for path in loose if within(file, path)]
        paths += [folder] if folder else inner or loose
    return [deployment for deployment in _all(cluster) if any(_is_at(deployment, path) for path in paths)]


def _all(cluster: Cluster | None) -> list[Deployment]:
    return [reached for reached in cluster.deployments if reached.declaration.engine != "none"] if cluster else []


def _is_at(deployment: Deployment, path: str) -> bool:
    return deployment.path == "." or f"{path}{os.sep}".endswith(f"{os.sep}{deployment.path}{os.sep}")


def _beside(cluster: Cluster | None) -> list[Declaration]:
    """Return what the objects of engines declare that stand in one file with the rest of a cluster."""
    if not cluster or any(os.path.isdir(root.path) for root in cluster.roots):
        return []
    items = [item for item in cluster.final.items if item.group in (*flux.GROUPS, fleet.GROUP)]
    objects = [EngineObject(item.ref, item.manifest, item.place) for item in items if item.place]
    declared = (flux.declared(objects, Repository()), fleet.declared(objects, Repository()))
    return [declaration for engine in declared for declaration in engine.declarations]
