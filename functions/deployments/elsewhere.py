"""Which objects of engines deploy something that is not in this repository: another one, a chart, an image."""

from collections.abc import Sequence

from krmfn import Manifest
from krmfn.typed import NamedTuple

from ..kmm.lookup import table, text
from . import argocd, fleet, forks
from .deployment import Declared, EngineObject, Origin, Repository

_DEPLOYING = {
    (argocd.GROUP, "Application"),
    (argocd.GROUP, "ApplicationSet"),
    ("kustomize.toolkit.fluxcd.io", "Kustomization"),
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
    (fleet.GROUP, "GitRepo"),
    (fleet.GROUP, "HelmOp"),
}


class Elsewhere(NamedTuple):
    """An object of an engine that deploys something from elsewhere."""

    source: Origin
    content: str = ""
    """What it deploys, as far as the object says it: a URL, a chart, or another object that has one."""


def sources(objects: Sequence[EngineObject], declared: Sequence[Declared], repository: Repository) -> list[Elsewhere]:
    """Return the objects that deploy something from elsewhere, each once; a patch of one deploys nothing."""
    known = {declaration.source for engine in declared for declaration in engine.declarations}
    deploying = [item for item in objects if (item.ref.group, item.ref.kind) in _DEPLOYING]
    others = [item for item in deploying if _is_elsewhere(item, repository, item.origin in known)]
    found_once = dict.fromkeys(Elsewhere(item.origin, _content(item, repository)) for item in others)
    return [source for source in found_once if source.content]


def _content(item: EngineObject, repository: Repository) -> str:
    """Return what an object deploys that is not here: the first URL of another repository, else what it refers to."""
    spec = table(item.manifest, "spec")
    if item.ref.group == argocd.GROUP:
        charts = (f"chart {chart} of {text(s, 'repoURL')}" for s in _sources(item) if (chart := text(s, "chart")))
        others = (text(s, "repoURL") for s in _sources(item) if not repository.is_ours(text(s, "repoURL")))
        return next(charts, "") or next(others, "")
    urls = (url for url in forks.urls(spec) if not repository.is_ours(url))
    chart = text(table(spec, "chart", "spec"), "chart") or text(table(spec, "helm"), "chart")
    reference = table(spec, "sourceRef") or table(spec, "chartRef")
    named = [text(reference, "kind"), text(reference, "name")]
    return next(urls, "") or (f"chart {chart}" if chart else " ".join(filter(None, named)))


def _is_elsewhere(item: EngineObject, repository: Repository, is_known: bool) -> bool:
    """Return whether an object deploys something from elsewhere; `is_known`: it deploys something from here.

    One of this repository may deploy nothing; an Application may have sources here and elsewhere.
    """
    if item.ref.group == argocd.GROUP:
        urls = [(text(source, "repoURL"), text(source, "chart")) for source in _sources(item)]
        return any(chart or (url and not repository.is_ours(url)) for url, chart in urls)
    is_git_repo = (item.ref.group, item.ref.kind) == (fleet.GROUP, "GitRepo")
    return not is_known and not (is_git_repo and repository.is_ours(text(table(item.manifest, "spec"), "repo")))


def _sources(item: EngineObject) -> list[Manifest]:
    """Return the sources of an Application, or of the template of an ApplicationSet."""
    spec = table(item.manifest, "spec")
    spec = table(spec, "template", "spec") if item.ref.kind == "ApplicationSet" else spec
    return [*filter(None, argocd.sources_of(spec))]
