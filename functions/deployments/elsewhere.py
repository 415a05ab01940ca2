"""Which objects of engines deploy something that is not in this repository: another one, a chart, an image."""

from collections.abc import Sequence

from ..kmm.lookup import table, text
from . import argocd, fleet
from .deployment import Declared, EngineObject, Repository

_DEPLOYING = {
    (argocd.GROUP, "Application"),
    (argocd.GROUP, "ApplicationSet"),
    ("kustomize.toolkit.fluxcd.io", "Kustomization"),
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
    (fleet.GROUP, "GitRepo"),
    (fleet.GROUP, "HelmOp"),
}


def names(objects: Sequence[EngineObject], declared: Sequence[Declared], repository: Repository) -> tuple[str, ...]:
    """Return the names of the objects that deploy something from elsewhere, each once, as messages have them."""
    known = {declaration.source for engine in declared for declaration in engine.declarations}
    deploying = [item for item in objects if (item.ref.group, item.ref.kind) in _DEPLOYING]
    others = [item for item in deploying if item.origin not in known or _has_more(item, repository)]
    return tuple(dict.fromkeys(str(item.ref) for item in others))


def _has_more(item: EngineObject, repository: Repository) -> bool:
    """Return whether an Application that deploys a folder of this repository has a source elsewhere, too."""
    if item.ref.group != argocd.GROUP:
        return False
    spec = table(item.manifest, "spec")
    spec = table(spec, "template", "spec") if item.ref.kind == "ApplicationSet" else spec
    sources = filter(None, argocd.sources_of(spec))
    return any(text(source, "chart") or not repository.is_ours(text(source, "repoURL")) for source in sources)
