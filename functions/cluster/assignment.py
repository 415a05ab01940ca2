"""Which roots make a cluster by the engines' objects, where neither .krmfn.yaml nor --cluster says it."""

import os
from collections.abc import Collection, Iterator, Sequence

from krmfn import KrmfnError, ResourceList

from ..deployments.deployment import Addition, Deployment
from ..deployments.holders import applies
from ..deployments.substitution import Finish
from ..kustomization.graph import NO_GRAPH
from ..paths import files
from ..paths.disk import File, relative
from ..paths.manifests import KUSTOMIZATIONS, SUFFIXES
from ..paths.roots import within
from . import fleet_bundle_files, fleet_overlays
from .deployed import Cluster
from .engines import Engines
from .finishing import finish_of
from .generated_roots import Generator
from .survey import Root

_NO_MANIFESTS = {*KUSTOMIZATIONS, "Chart.yaml", ".krmfn.yaml"}
"""Files without kind, which Argo CD passes over."""
_SKIPPED = b"+argocd:skip-file-rendering"
"""Text in a file that Argo CD passes over."""


def assign(
    engines: Engines, roots: Sequence[Root], tops: Collection[str], is_absolute: bool, generator: Generator | None
) -> tuple[list[Cluster], list[Root]]:
    """Return the clusters that the engines' objects make of some roots, and the roots that nothing deploys.

    A root may be in several clusters. Where Argo CD applies a folder as a directory, its files are those that Argo CD
    reads; what stands below it is no root of its own then. `tops` are the real PATHs; `is_absolute` says how files are
    named. With a `generator` roots are as their engines build them: two deployments of a folder may give two roots.
    """
    by_path = {root.path: root for root in roots}
    clusters: dict[str, dict[tuple[str, str, tuple[Addition, ...], Finish], Root]] = {}
    parts: dict[str, list[Deployment]] = {}
    used, covered = set[str](), set[str]()
    exact = {deployment.real(engines.top) for deployment in engines.deployments}
    for deployment in fleet_bundle_files.as_applied(engines.deployments, engines.top):
        real = deployment.real(engines.top)
        root = _file_by_file(deployment, engines.top, by_path, is_absolute) if _is_among(real, roots, tops) else None
        if root:
            held = [root] if root.files or real in by_path else []
            covered |= {path for path in by_path if path != real and _is_read(deployment, real, path)} - exact
        else:
            held = [root for root in roots if _holds(deployment, real, root, by_path, exact)]
            held = [root for root in (fleet_overlays.without(root, deployment, engines.top) for root in held) if root]
        used |= {root.path for root in held}
        held = [*generator.as_built(held, deployment, engines.top, tops)] if generator else held
        if held:
            namespace = deployment.declaration.namespace if deployment.declaration.how == "raw" else ""
            group = clusters.setdefault(deployment.cluster, {})
            for root in (_as_deployed(root, deployment, engines, generator) for root in held):
                key = (root.kind, root.path, root.additions, root.finish)
                group.setdefault(key, root._replace(namespace=namespace))
            parts.setdefault(deployment.cluster, []).append(deployment)
    rest = [root for root in roots if root.path not in used | covered]
    named = ((name, tuple(group.values()), tuple(parts[name])) for name, group in clusters.items())
    return [Cluster(name, group, ResourceList(), deployments=declared) for name, group, declared in named], rest


def _as_deployed(root: Root, deployment: Deployment, engines: Engines, generator: Generator | None) -> Root:
    """Return a root as a deployment has it."""
    if not generator:
        return root
    edited = generator.editor.edited(root, deployment, engines.top)
    finish, additions = finish_of(deployment, engines)
    return edited._replace(additions=(*edited.additions, *additions), finish=finish)


def _file_by_file(deployment: Deployment, top: str, by_path: dict[str, Root], is_absolute: bool) -> Root | None:
    """Return the folder of a deployment as a root of files where its engine applies these one by one; None elsewhere.

    `by_path` has the roots that were found; `top` is the root of the repository.
    """
    real = deployment.real(top)
    root_there = by_path.get(real)
    if is_directory(deployment, bool(root_there and root_there.kind == "kustomization")):
        return _directory(deployment, top, is_absolute)
    if fleet_bundle_files.are_applied(deployment, real, [*by_path.values()]):
        return fleet_overlays.without(fleet_bundle_files.root(deployment, top, is_absolute), deployment, top)
    return None


def is_directory(deployment: Deployment, has_kustomization: bool) -> bool:
    """Return True where Argo CD applies the files of a folder, with a kustomization or without, one by one."""
    declaration = deployment.declaration
    is_raw = declaration.engine == "argocd" and declaration.how == "raw"
    return is_raw and (declaration.directory.is_named or not has_kustomization)


def _is_among(real: str, roots: Sequence[Root], tops: Collection[str]) -> bool:
    """Return True for a folder below a PATH, also one with hidden files only, and for one that holds a root."""
    is_beside = any(within(root.path, real) or (root.kind == "files" and within(real, root.path)) for root in roots)
    return is_beside or any(within(real, top) for top in tops)


def _is_read(deployment: Deployment, real: str, path: str) -> bool:
    """Return True for a folder below a directory of Argo CD, or a bundle of Fleet, that the engine reads with it."""
    declaration = deployment.declaration
    return within(path, real) and (declaration.engine == "fleet" or declaration.directory.recurse)


def _directory(deployment: Deployment, top: str, is_absolute: bool) -> Root:
    """Return the root of a folder that Argo CD applies as it stands.

    Names with a dot count, and so do charts, folders with a kustomization and links to files in the repository; links
    to folders are not entered, and files with a mark of Argo CD's are left out.
    Source: Argo CD 3.2, reposerver/repository/repository.go, findManifests.
    """
    start, real = "" if is_absolute else os.getcwd(), deployment.real(top)
    chosen = [
        path
        for path in sorted(files_in(real))
        if applies(deployment.declaration.directory, os.path.relpath(path, real))
    ]
    held = [File(relative(path, start), os.path.realpath(path)) for path in chosen if _is_rendered(path, top)]
    return Root("files", relative(real, start), real, NO_GRAPH, tuple(held))


def _is_rendered(path: str, top: str) -> bool:
    """Return False for a link out of the repository, which the survey reports, and for a file that Argo CD passes over.

    What cannot be read counts: whoever reads it says so.
    """
    if not within(os.path.realpath(path), top) or not os.path.isfile(path):
        return False
    try:
        return _SKIPPED not in files.read_regular(os.path.realpath(path), path)
    except KrmfnError:
        return True


def files_in(top: str) -> Iterator[str]:
    """Yield the paths of the files in a folder of which Argo CD may apply some, also of those further below."""
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in names:
            # jsonnet, which Argo CD runs, is not judged
            if name.endswith(SUFFIXES) and name not in _NO_MANIFESTS:
                yield os.path.join(folder, name)


def _holds(deployment: Deployment, real: str, root: Root, by_path: dict[str, Root], exact: set[str]) -> bool:
    """Return True where a deployment brings a root to its cluster: the folder itself, or what stands below it.

    Below a folder without a kustomization Flux, Fleet and our plugin take all roots that have no deployment.
    """
    if root.path == real:
        return True
    top = by_path.get(real)
    is_whole = bool(top and top.kind == "kustomization") or deployment.path == "."
    return not is_whole and root.path not in exact and within(root.path, real)
