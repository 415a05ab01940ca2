"""From where engines deploy after a change: another repository, branch or chart may bring anything, and is not here."""

from collections.abc import Iterable, Iterator

from krmfn import Manifest
from krmfn.resource import ref

from ..deployments import argocd, fleet
from ..kmm.lookup import table, tables, text
from ..plan import Change, Plan

_FLUX = "source.toolkit.fluxcd.io"


def new_origins(plan: Plan) -> Iterator[str]:
    """Yield a sentence per changed object that deploys from where nothing of its cluster came before."""
    changes = [change for change in plan.changes if change.new and _is_of_engine(change)]
    known = set(_origins(plan.old)) if changes else set[str]()
    for change in changes if plan.old else ():  # of a new cluster everything is new
        for origin in dict.fromkeys(_origins([change.new or {}])):
            if origin not in known:
                yield f"new source: {change.ref} deploys {origin}"


def _is_of_engine(change: Change) -> bool:
    return change.ref.group in (argocd.GROUP, fleet.GROUP, _FLUX)


def _origins(manifests: Iterable[Manifest]) -> Iterator[str]:
    """Yield the repositories, with branch, tag or commit, and the charts, whatever their version, of some objects."""
    for manifest in manifests:
        group, spec = ref(manifest).group, table(manifest, "spec")
        if group == argocd.GROUP:
            spec = table(spec, "template", "spec") if manifest.get("kind") == "ApplicationSet" else spec
            dry = table(spec, "sourceHydrator", "drySource")
            for source in (*(source for _, source in tables(spec, "sources")), table(spec, "source"), dry):
                chart = text(source, "chart")
                yield from _origin(text(source, "repoURL"), chart or text(source, "targetRevision"))
        elif group == fleet.GROUP:
            yield from _origin(text(spec, "repo"), text(spec, "revision") or text(spec, "branch"))
        elif group == _FLUX:
            reference = table(spec, "ref") if manifest.get("kind") == "GitRepository" else {}
            yield from _origin(text(spec, "url"), " ".join(map(str, reference.values())))


def _origin(url: str, part: str) -> Iterator[str]:
    if url:
        yield f"{url} {part}" if part and part != "HEAD" else url
