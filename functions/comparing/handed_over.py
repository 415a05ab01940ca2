"""Modules that one engine's object hands over to another: whoever comes first decides whether they are deleted.

Argo CD and Flux write into each object who applies it, and prune only what is still theirs. Source: Argo CD 3.2.1,
docs/user-guide/resource_tracking.md; Flux, kustomize-controller, docs/spec/v1/kustomizations.md, Garbage collection.
"""

from collections.abc import Iterator, Sequence

from krmfn import Item, Result, error

from ..deployments.deployment import Declaration, Deployment
from ..final.engines import is_unpruned
from ..kmm.module import MODULE_KINDS
from ..sentence import Topic
from .sides import Sides, engine_of, is_same

_HANDED = Topic("handed over")

_ON_LEAVING = {
    "argocd": "remove the finalizer of the former",
    "flux": "write `deletionPolicy: Orphan` into the former",
    "fleet": "write `keepResources: true` into the former",
}
"""What lets an engine's object leave without what it applied."""
_ON_STAYING = {
    "argocd": "annotate it with `argocd.argoproj.io/sync-options: Prune=false`",
    "flux": "annotate it with `kustomize.toolkit.fluxcd.io/prune: disabled`",
}
"""What lets an object leave the folder of an engine's object that goes on."""


def handed_over(sides: Sides) -> Iterator[Result]:
    """Yield an error per Module that stays in a cluster while what applies it changes, and may delete it in between."""
    for key, pairs in sides.new.items.items():
        item = pairs[0][1]
        if (item.group, item.ref.kind) not in MODULE_KINDS or key not in sides.old.items:
            continue
        former, latter = sides.old.deploying(key), sides.new.deploying(key)
        if former and latter and not any(is_same(holder, taker) for holder in former for taker in latter):
            yield from _risk(item, former, latter[0].declaration, sides)


def _risk(item: Item, former: Sequence[Deployment], taker: Declaration, sides: Sides) -> Iterator[Result]:
    """Yield an error if one of the former may delete a Module; `taker` is who applies it after the change."""
    for holder in former:
        declaration = holder.declaration
        remains = sides.goes_on(holder)
        deletes = _prunes(declaration) if remains else not sides.kept_by(holder)
        if deletes and not is_unpruned(item.manifest, {engine_of(declaration)}):
            names = f"{_name(declaration)} hands it to {_name(taker)}"
            message = f"{names}: if the former prunes it first, its drivers unload everywhere, and load again"
            remedies = _ON_STAYING if remains else _ON_LEAVING
            remedy = f"{remedies.get(declaration.engine, 'let the former keep it')} in a commit before this one"
            yield error((_HANDED, message), ref=item.ref, remedy=remedy)
            return


def _prunes(declaration: Declaration) -> bool:
    """Return whether an engine's object that goes on deletes what leaves its folder."""
    return declaration.prunes and not declaration.is_suspended


def _name(declaration: Declaration) -> str:
    source = declaration.source.ref
    return f"Application {declaration.application}" if declaration.application else str(source)
