"""Changes of Modules that do not reach a cluster: what deploys them is suspended, prunes nothing, or leaves."""

import os
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Ref, Result, error
from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..cluster.deployed import Cluster
from ..deployments import fleet, flux
from ..deployments.deployment import Declaration, Deployment, EngineObject, Repository
from ..final.engines import is_unpruned
from ..grouping import grouped
from ..kmm.module import MODULE_KINDS, module_of
from ..plan import Change, Effect, Plan
from ..rendering.kinds import of_kinds
from ..sentence import Topic
from .sides import Sides, engine_of

_HELD = Topic("held back")


class HeldBack(NamedTuple):
    """What does not reach a cluster of a change."""

    findings: Sequence[Result] = ()
    """An error per Module that is not applied, or that stays, and per Module that loads the same as one that stays."""
    staying: frozenset[Id] = frozenset()
    """The objects that leave Git and stay on the cluster."""
    unpruned: frozenset[Id] = frozenset()
    """Those of them that stay also when what deploys them goes on: nothing is pruned there."""
    waiting: Mapping[Id, str] = {}  # read only
    """The objects whose change waits until an engine is resumed, with the engine's name."""

    def marked(self, plan: Plan, effects: Sequence[Effect]) -> Plan:
        """Return a plan in which what stays is not deleted, with the effects, each with what it waits for."""
        changes = [self._marked(change) for change in plan.changes]
        return plan._replace(changes=tuple(changes), effects=tuple(map(self._delayed, effects)))

    def _marked(self, change: Change) -> Change:
        return change._replace(what="stays") if change.what == "deleted" and change.ref.id in self.staying else change

    def _delayed(self, effect: Effect) -> Effect:
        engine = self.waiting.get(effect.ref.id)
        return effect._replace(sentence=(*effect.sentence, f", once {engine} is resumed")) if engine else effect


def held_back(plan: Plan, old: Cluster | None, new: Cluster | None, sides: Sides) -> HeldBack:
    """Return what a suspended deployment does not apply, and what stays since nothing is pruned.

    An engine's object that deploys nothing any more is deleted, and may leave its resources where they are. What Argo
    CD does not prune by itself is left out: a person may sync it. Of a file whose folder nothing deploys, the objects
    of engines in it count. Source: Flux, Kustomization v1, spec.suspend and spec.prune; Fleet, GitRepo, spec.paused.
    """
    if not plan.changes:
        return HeldBack()
    beside = _beside(new) or _beside(old)
    loading = _loading(new)
    findings, staying, unpruned, waiting = list[Result](), set[Id](), set[Id](), dict[Id, str]()
    for change in plan.changes:
        key, is_module = change.ref.id, (change.ref.group, change.ref.kind) in MODULE_KINDS
        holders = sides.new.deploying(key) or sides.old.deploying(key)
        deployments = holders or sides.new.deployments or sides.old.deployments
        declarations = [deployment.declaration for deployment in deployments] or beside
        leaves = not change.new and bool(holders) and not any(map(sides.goes_on, holders))
        message = _after_leaving(holders, sides) if leaves else _message(change, declarations)
        if message and is_module:
            findings.append(error((_HELD, message), ref=change.ref))
        if message and not leaves and _is_suspended(declarations):
            waiting[key] = engine_of(declarations[0])
        if message and not change.new:
            staying.add(key)
        if not change.new and (message if leaves else _never_goes(change, declarations)):
            staying.add(key)
            unpruned.add(key)
            findings += _twins(change, loading) if is_module else ()
    return HeldBack(findings, frozenset(staying), frozenset(unpruned), waiting)


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
        message = (Topic(kept.ref.id), f"loads {name}, as {kept.ref} does, which stays on the cluster")
        yield error(message, ref=source, remedy="delete that one by hand when this is merged, or let its engine prune")


def _after_leaving(holders: Sequence[Deployment], sides: Sides) -> str:
    """Return why the objects of deployments that leave a cluster stay there; "" where they are deleted.

    Source: what deletes an engine's object (see `kept_by`); Argo CD and Flux delete nothing in a cluster that their
    object no longer names (argoproj/argo-cd, controller/state.go: live objects are those of the destination). Only an
    object that keeps its file is surely the same one: each cluster may have its own of that name.
    """
    reasons = list[str]()
    for holder in holders:
        declaration = holder.declaration
        source = f"{declaration.source.ref} ({declaration.file})"
        if any(other.declaration.file == declaration.file for other in sides.rest_of(holder)):
            reasons.append(f"{source} goes to another cluster, and {engine_of(declaration)} deletes nothing here")
        elif reason := sides.kept_by(holder):
            reasons.append(f"{source} {reason}")
        else:
            return ""
    return f"stays, with its driver: {reasons[0]}"


def _message(change: Change, declarations: Sequence[Declaration]) -> str:
    """Return what becomes of a change; "" where it is made."""
    if not declarations:
        return ""
    first = declarations[0]
    engine, source = engine_of(first), f"{first.source.ref}, {first.file}"
    if _is_suspended(declarations):
        outcome = "it is not applied" if change.new else "it stays on the cluster, and its driver in use"
        return f"{engine} is suspended there ({source}), so {outcome}"
    if not change.new and _prunes_nothing(declarations):
        return f"{engine} prunes nothing there ({source}), so it stays on the cluster, and its driver in use"
    return ""


def _is_suspended(declarations: Sequence[Declaration]) -> bool:
    return all(declaration.is_suspended for declaration in declarations)


def _never_goes(change: Change, declarations: Sequence[Declaration]) -> bool:
    """Return True for an object that leaves Git and that no engine deletes then, suspended or not."""
    engines = {engine_of(declaration) for declaration in declarations}
    return bool(declarations) and (_prunes_nothing(declarations) or is_unpruned(change.old or {}, engines))


def _prunes_nothing(declarations: Sequence[Declaration]) -> bool:
    return all(declaration.engine == "flux" and not declaration.prunes for declaration in declarations)


def _beside(cluster: Cluster | None) -> list[Declaration]:
    """Return what the objects of engines declare that stand in one file with the rest of a cluster."""
    if not cluster or any(os.path.isdir(root.path) for root in cluster.roots):
        return []
    items = [item for item in cluster.final.items if item.group in (*flux.GROUPS, fleet.GROUP)]
    objects = [EngineObject(item.ref, item.manifest, item.place) for item in items if item.place]
    declared = (flux.declared(objects, Repository()), fleet.declared(objects, Repository()))
    return [declaration for engine in declared for declaration in engine.declarations]
