"""Flux: which folders its Kustomizations and HelmReleases apply, and to which clusters.

Source: kustomize-controller 1.9, api/v1/kustomization_types.go and docs/spec/v1/kustomizations.md; helm-controller
docs/spec/v2/helmreleases.md. A Kustomization acts on the cluster that its object is in, unless `kubeConfig` names
another one.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Manifest

from ..kmm.lookup import table, text
from . import artifacts, names
from .deployment import Declaration, Declared, EngineObject, How, Problem, Repository, additions_of, normal_path

_TOOLKIT = "toolkit.fluxcd.io"
_SOURCES = f"source.{_TOOLKIT}"
GROUPS = (f"kustomize.{_TOOLKIT}", f"helm.{_TOOLKIT}", _SOURCES, artifacts.GROUP)
_ADDITIONS = (
    *("targetNamespace", "namePrefix", "nameSuffix", "patches", "patchesStrategicMerge", "patchesJson6902"),
    *("images", "components", "postBuild", "commonMetadata", "ignoreMissingComponents"),
)
_RENDERED = "rendered"
"""The branch that gitops/flux/render-branch writes."""
_SUFFIXES = ("-kubeconfig", ".kubeconfig")
"""How the Secrets of clusters end that Cluster API makes."""


def declared(objects: Sequence[EngineObject], repository: Repository) -> Declared:
    """Return what the Kustomizations and HelmReleases among some objects apply of this repository."""
    sources = {
        (item.ref.kind, item.ref.namespace, item.ref.name): item for item in objects if item.ref.group == _SOURCES
    }
    declarations, problems = list[Declaration](), list[Problem]()
    for item in objects:
        if (item.ref.group, item.ref.kind) == (GROUPS[0], "Kustomization"):
            reference, path = _folder(item, objects)
            if path:
                declarations += _kustomization(item, reference, path, sources, repository)
            else:
                name = text(table(item.manifest, "spec", "sourceRef"), "name")
                problems.append(
                    Problem(item.origin, f"which folder it applies of {artifacts.KIND} {name} is not known")
                )
        elif (item.ref.group, item.ref.kind) == (GROUPS[1], "HelmRelease"):
            declarations += _release(item, sources, repository)
    return Declared(tuple(declarations), tuple(problems))


Sources = Mapping[tuple[str, str, str], EngineObject]


def _folder(item: EngineObject, objects: Sequence[EngineObject]) -> tuple[Manifest, str]:
    """Return the reference to the source of a Kustomization, and the folder in it; "" where that is not known."""
    spec = table(item.manifest, "spec")
    reference = table(spec, "sourceRef")
    if text(reference, "kind") == artifacts.KIND:
        return artifacts.source_of(item, text(reference, "name"), text(spec, "path"), objects)
    return reference, normal_path(text(spec, "path"))


def _kustomization(
    item: EngineObject, reference: Manifest, path: str, sources: Sources, repository: Repository
) -> Iterator[Declaration]:
    """Yield the folder of a Kustomization, unless its source is another repository."""
    spec = table(item.manifest, "spec")
    source = _source(item, reference, sources)
    if source is None or not _is_ours(source, repository):
        return
    yield Declaration(
        *(path, "flux", _how(source), item.origin),
        cluster=_cluster(item),
        additions=additions_of(spec, _ADDITIONS),
        is_suspended=spec.get("suspend") is True,
        prunes=spec.get("prune") is True,
        kept_by=_kept_by(spec),
        anew="force: true" if spec.get("force") is True else "",
        ignore="" if isinstance(source, str) else text(table(source.manifest, "spec"), "ignore"),
        revision=_revision(source),
    )


def _kept_by(spec: Manifest) -> str:
    """Return why the resources of a Kustomization stay when it is deleted.

    Source: Flux, kustomize-controller, docs/spec/v1/kustomizations.md, Deletion policy: without one, `prune` decides.
    """
    policy = text(spec, "deletionPolicy")
    if policy == "Orphan":
        return "deletionPolicy is Orphan"
    if spec.get("suspend") is True:
        return "it is suspended"
    return "" if policy in ("Delete", "WaitForTermination") or spec.get("prune") is True else "prune is not true"


def _release(item: EngineObject, sources: Sources, repository: Repository) -> Iterator[Declaration]:
    """Yield the folder of the chart of a HelmRelease that is in this repository."""
    spec = table(item.manifest, "spec")
    chart = table(spec, "chart", "spec")
    reference = table(chart, "sourceRef")
    source = _source(item, reference, sources)
    if text(reference, "kind") == "GitRepository" and source is not None and _is_ours(source, repository):
        is_suspended = spec.get("suspend") is True
        path = normal_path(text(chart, "chart"))
        yield Declaration(path, "flux", "helm", item.origin, _cluster(item), is_suspended=is_suspended)


def _source(item: EngineObject, reference: Mapping[str, object], sources: Sources) -> EngineObject | str | None:
    """Return the GitRepository that a reference names, its name where it is not here; None for another kind."""
    if text(reference, "kind") != "GitRepository":
        return None
    name, namespace = text(reference, "name"), text(reference, "namespace") or item.ref.namespace
    candidates = [
        source
        for (kind, space, source_name), source in sources.items()
        if kind == "GitRepository" and source_name == name and (space == namespace or not space or not namespace)
    ]
    beside = [source for source in candidates if _is_beside(item, source)]
    return next(iter(beside or candidates), name)


def _is_beside(item: EngineObject, other: EngineObject) -> bool:
    """Return True where two objects stand below one folder of a cluster, so that both are in that cluster."""
    first, second = (posixpath.dirname(origin.place.path).split("/") for origin in (item, other))
    number = min(2, len(first), len(second))
    return first[:number] == second[:number]


def _is_ours(source: EngineObject | str, repository: Repository) -> bool:
    """Return True for a GitRepository of this repository; one that is not here may be the one of the bootstrap."""
    return isinstance(source, str) or repository.is_ours(text(table(source.manifest, "spec"), "url"))


def _how(source: EngineObject | str) -> How:
    branch = "" if isinstance(source, str) else text(table(source.manifest, "spec", "ref"), "branch")
    return "render" if branch == _RENDERED else "raw"


def _revision(source: EngineObject | str) -> str:
    """Return the tag, the range of versions or the commit of a GitRepository; "" for a branch.

    Source: Flux, source-controller docs/spec/v1/gitrepositories.md, Reference: each goes before a branch.
    """
    reference = {} if isinstance(source, str) else table(source.manifest, "spec", "ref")
    named = text(reference, "name")
    choices = (text(reference, "commit"), named if named.startswith("refs/tags/") else "", text(reference, "semver"))
    return next(filter(None, (*choices, text(reference, "tag"))), "")


def _cluster(item: EngineObject) -> str:
    """Return the cluster that `kubeConfig` names; "" for the one that holds the object."""
    config = table(item.manifest, "spec", "kubeConfig")
    name = text(table(config, "secretRef"), "name") or text(table(config, "configMapRef"), "name")
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return names.key_of(name) if name else ""
