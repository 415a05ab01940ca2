"""The roots below a PATH: what is deployed as a whole, and which files are a part of it.

A root is an outermost kustomization, a Kptfile package, or the loose files that belong to neither. Loose files belong
to the nearest root above them. Files that only a kustomization reads (patches, values, ConfigMap sources), files in a
Helm chart, and files that hold nothing like a resource are in no root.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from krmfn import KrmfnError, Result
from krmfn.typed import Literal, NamedTuple

from ..deployments.deployment import Addition
from ..deployments.substitution import NO_FINISH, Finish
from ..kustomization.calls import Ours
from ..kustomization.graph import NO_GRAPH, Graph, unlisted
from ..paths import manifests
from ..paths.disk import File, relative
from ..paths.excludes import Excluder, excluder
from ..paths.roots import parents
from .surveyed_files import PACKAGE, Loose, listed, loose_files

Kind = Literal["kustomization", "package", "files", "stream"]

NOTHING = excluder()
"""Excludes nothing."""


class Root(NamedTuple):
    """Something that is deployed as a whole."""

    kind: Kind
    name: str
    """The folder or the file, as users see it; - for stdin."""
    path: str
    """The folder or file, absolute and without links; "" for stdin."""
    graph: Graph
    """All kustomizations below the PATH."""
    files: tuple[File, ...] = ()
    """The files of a package, or loose files. Those beside a kustomization are not deployed: an inventory, a
    functionConfig, and files that somebody forgot to list."""
    namespace: str = ""
    """The namespace that Argo CD gives to resources without one; "" where it does not apply them as they stand."""
    additions: tuple[Addition, ...] = ()
    """What its engine has written into the kustomization, which is so in the graph."""
    editor: str = ""
    """The object of the engine that says so, with its file."""
    is_generated: bool = False
    """Whether its kustomization stands in no file, but is what Flux writes where there is none."""
    finish: Finish = NO_FINISH
    """What its engine does after the build."""


def places(roots: Iterable[Root], top: str) -> list[tuple[str, Kind]]:
    """Return the path from a folder, and the kind, of each root but for that of stdin."""
    return [(os.path.relpath(root.path, top), root.kind) for root in roots if root.path]


class Survey(NamedTuple):
    """The roots below one PATH, and what is wrong outside of them."""

    roots: list[Root]
    findings: list[Result]
    excluded: frozenset[str] = frozenset()
    """The real paths of the files that `exclude` leaves out, or that are in Helm charts."""
    submodules: Mapping[str, str] = MappingProxyType({})
    """The paths of the submodules that are not checked out, each with its name from the root of the repository."""
    chart_configs: tuple[str, ...] = ()
    """The names of the files in Helm charts that hold a config or a Module."""
    templates: tuple[str, ...] = ()
    """The names of the templates of other tools in which no kind stands: nobody reads them."""


class Scope(NamedTuple):
    """What holds for each PATH that is surveyed."""

    ours: Ours
    root: str | None = None
    """The value of --root."""
    exclude: Excluder = NOTHING
    """Says which paths are left out."""
    marks: Collection[str] = ()
    """Absolute paths without links whose loose files make roots of their own."""
    deployed: Collection[str] = ()
    """Those whose kustomizations make roots of their own."""
    as_root: bool = False
    """Whether a folder with a kustomization is that one root, whatever is below it, and whichever one lists it."""
    texts: dict[str, bytes] | None = None
    """The texts of small files that were read already, by their paths without links; each is taken from here once."""


def survey(path: str, scope: Scope) -> Survey:
    """Return the roots below a PATH: a folder, a file, or - for stdin.

    Raises KrmfnError for a PATH that does not exist or may not be read.
    """
    if path == "-":
        return Survey([Root("stream", path, "", NO_GRAPH)], [])
    if os.path.basename(path) in (*manifests.KUSTOMIZATIONS, PACKAGE) and os.path.isfile(path):
        path = os.path.dirname(path) or "."
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        if not os.path.lexists(path):
            raise KrmfnError("No such file or directory", file=path)
        return Survey([Root("files", os.path.normpath(path), real, NO_GRAPH, (File(path, real),))], [])
    return _below(path, real, scope)


def _below(path: str, real: str, scope: Scope) -> Survey:
    """Return the roots below a folder; `real` is its path, absolute and without links."""
    listing = listed(path, real, scope.root, scope.exclude)
    graph, tops = NO_GRAPH, list[str]()
    if listing.kustomizations:
        from ..kustomization import reading  # imported here: most folders have none

        graph = reading.read(listing.kustomizations, listing.bound, scope.ours, os.path.isabs(path))
        tops = _tops(graph, listing.kustomizations, real, scope.deployed)
    as_root = scope.as_root and real in listing.kustomizations
    findings = list(listing.findings)
    if not as_root:
        covered = {kustomization.folder for kustomization in graph.below(*tops)}
        for folder, kustomization in graph.kustomizations.items():
            findings += unlisted(kustomization) if folder not in covered else ()
    kinds: dict[str, Kind] = {**dict.fromkeys(listing.packages, "package"), **dict.fromkeys(tops, "kustomization")}
    unlisted_files = loose_files(listing, graph, {} if scope.texts is None else scope.texts)
    by_root = _by_root(unlisted_files.loose, kinds, scope.marks, real)
    folders = [real] if as_root else sorted(by_root)
    cwd = "" if os.path.isabs(path) else os.getcwd()
    return Survey(
        [Root(kinds.get(top, "files"), relative(top, cwd), top, graph, tuple(by_root[top])) for top in folders],
        findings,
        frozenset(listing.excluded | unlisted_files.in_charts),
        listing.submodules,
        tuple(unlisted_files.chart_configs),
        tuple(unlisted_files.templates),
    )


def _tops(graph: Graph, kustomizations: Sequence[str], real: str, deployed: Collection[str]) -> list[str]:
    """Return the folders of kustomizations that are roots: the outermost, the PATH, and what engines deploy."""
    tops = _outermost_folders(graph, kustomizations, real)
    tops += [real] if real in kustomizations and real not in tops else []  # a link may list it
    return tops + [folder for folder in kustomizations if folder in deployed and folder not in tops]


def _by_root(
    loose: Sequence[Loose], kinds: Mapping[str, Kind], marks: Collection[str], real: str
) -> dict[str, list[File]]:
    """Return the loose files of each root; those below none make one for the PATH, and one for each mark."""
    by_root: dict[str, list[File]] = {folder: [] for folder in kinds}
    for folder, file in loose:
        above = (parent for parent in parents(folder) if parent in kinds or parent in marks or parent == real)
        by_root.setdefault(file.real if file.real in marks else next(above, real), []).append(file)
    return by_root


def _outermost_folders(graph: Graph, folders: Sequence[str], path: str) -> list[str]:
    """Return the folders whose kustomization no other one lists; of a circle, where all are listed, the first.

    A Component is a root only if it is the PATH.
    """
    bases = ((node.folder, base.real) for node in graph.kustomizations.values() for base in node.bases)
    listed = {real for folder, real in bases if real != folder}
    candidates = [folder for folder in folders if folder == path or not graph.kustomizations[folder].is_component]
    tops = [folder for folder in candidates if folder not in listed]
    covered = {kustomization.folder for kustomization in graph.below(*tops)}
    for folder in candidates:
        if folder not in covered:
            tops.append(folder)
            covered.update(kustomization.folder for kustomization in graph.below(folder))
    return tops
