"""The roots below a PATH: what is deployed as a whole, and which files are a part of it.

A root is an outermost kustomization, a Kptfile package, or the loose files that belong to neither. Loose files belong
to the nearest root above them. Files that only a kustomization reads (patches, values, ConfigMap sources), files in a
Helm chart, and files that hold nothing like a resource are in no root.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache, partial
from types import MappingProxyType

from krmfn import KrmfnError, Place, Result, error
from krmfn.streams import max_bytes
from krmfn.typed import Literal, NamedTuple

from ..deployments.deployment import Addition
from ..deployments.substitution import NO_FINISH, Finish
from ..kustomization.calls import Ours
from ..kustomization.graph import NO_GRAPH, Graph, unlisted
from ..paths import disk, excludes, files, manifests
from ..paths.contents import has_resource
from ..paths.disk import File, relative, resolved
from ..paths.excludes import Excluder, excluder
from ..paths.roots import parents, root_of
from ..paths.templates import holds_config, is_to_be_filled_in

_SMALL = 1 << 16
"""The size in bytes up to which a file's text is kept until its documents are read; a larger file is read again."""
Kind = Literal["kustomization", "package", "files", "stream"]

NOTHING = excluder()
"""Excludes nothing."""
PACKAGE = "Kptfile"
Loose = tuple[str, File]
"""The folder of a file, and the file."""
_CHART = "Chart.yaml"


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


class _Sorted(NamedTuple):
    """The files that no kustomization reads."""

    loose: list[Loose]
    """Those with resources."""
    in_charts: set[str]
    """The real paths of those with resources in Helm charts."""
    chart_configs: list[str]
    """See `Survey`, as below."""
    templates: list[str]


def survey(
    path: str,
    ours: Ours,
    root: str | None = None,
    exclude: Excluder = NOTHING,
    marks: Collection[str] = (),
    as_root: bool = False,
    deployed: Collection[str] = (),
) -> Survey:
    """Return the roots below a PATH: a folder, a file, or - for stdin.

    `root` is the value of --root; `exclude` tells which paths are left out; `marks` are absolute paths without links
    whose loose files make roots of their own, and so do the kustomizations in `deployed`. With `as_root` a folder with
    a kustomization is that one root, whatever is below it, and whichever kustomization lists it.
    Raises KrmfnError for a PATH that does not exist or may not be read.
    """
    if path == "-":
        return Survey([Root("stream", path, "", NO_GRAPH)], [])
    if os.path.basename(path) in (*manifests.KUSTOMIZATIONS, PACKAGE) and os.path.isfile(path):
        path = os.path.dirname(path) or "."
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        if not os.path.lexists(path):
            raise KrmfnError(f"{path}: No such file or directory")
        return Survey([Root("files", os.path.normpath(path), real, NO_GRAPH, (File(path, real),))], [])
    return _below(path, real, ours, root, exclude, (marks, deployed), as_root)


def _below(
    path: str,
    real: str,
    ours: Ours,
    root: str | None,
    exclude: Excluder,
    marked: tuple[Collection[str], Collection[str]],
    as_root: bool,
) -> Survey:
    """Return the roots below a folder; `real` is its path, absolute and without links."""
    (marks, deployed), bound = marked, root_of(real, root)
    listing, problems = disk.files_below(File(path, real), _is_read, bound, manifests.KUSTOMIZATIONS)
    start = 0 if path == "." else len(os.path.join(path, ""))
    is_excluded = partial(exclude, bound or real)
    paths = [(os.path.join(real, file.name[start:]), file) for file in listing]
    kept = [(name, file) for name, file in paths if not is_excluded(name)]
    kustomizations, packages, charts, others = _sort_files(kept)
    graph, tops = NO_GRAPH, list[str]()
    if kustomizations:
        from ..kustomization import reading  # imported here: most folders have none

        graph = reading.read(kustomizations, bound, ours, os.path.isabs(path))
        tops = _outermost_folders(graph, kustomizations, real)
    as_root = as_root and real in kustomizations
    tops += [real] if real in kustomizations and real not in tops else []  # a link may list it
    tops += [folder for folder in kustomizations if folder in deployed and folder not in tops]
    kinds: dict[str, Kind] = {**dict.fromkeys(packages, "package"), **dict.fromkeys(tops, "kustomization")}
    sorted_files = _loose_files(others, charts, graph)
    by_root: dict[str, list[File]] = {folder: [] for folder in kinds}
    for folder, file in sorted_files.loose:  # those below no root make one for PATH, and one for each mark
        above = (parent for parent in parents(folder) if parent in kinds or parent in marks or parent == real)
        by_root.setdefault(file.real if file.real in marks else next(above, real), []).append(file)
    cwd, findings = "" if os.path.isabs(path) else os.getcwd(), list[Result]()
    for name, text in problems:
        if not is_excluded(os.path.join(real, name[start:]) + "/" * os.path.isdir(name)):
            findings.append(error(text.removeprefix(f"{name}: "), rule="KRM523", place=Place(name)))
    work_tree = root_of(real) if root else bound
    messages = excludes.missing_files(real, work_tree, is_excluded, _is_read)
    findings += [error(message, rule="KRM523", place=Place(path)) for message in messages]
    submodules = dict(excludes.missing_submodules(real, work_tree, is_excluded))
    if kustomizations and not as_root:
        covered = {kustomization.folder for kustomization in graph.below(*tops)}
        for folder, kustomization in graph.kustomizations.items():
            findings += unlisted(kustomization) if folder not in covered else ()
    folders = [real] if as_root else sorted(by_root)
    roots = [Root(kinds.get(top, "files"), relative(top, cwd), top, graph, tuple(by_root[top])) for top in folders]
    excluded = frozenset({file.real for _, file in {*paths} - {*kept}} | sorted_files.in_charts)
    chart_configs, templates = tuple(sorted_files.chart_configs), tuple(sorted_files.templates)
    return Survey(roots, findings, excluded, submodules, chart_configs, templates)


def _is_read(name: str) -> bool:
    return name in manifests.KUSTOMIZATIONS or name == PACKAGE or name.endswith(manifests.SUFFIXES)


def _sort_files(kept: Iterable[tuple[str, File]]) -> tuple[list[str], set[str], set[str], list[Loose]]:
    """Return the real folders of kustomizations, outermost packages and charts, and the other files with their folders.

    `kept` has each file with its path.
    """
    real = lru_cache(maxsize=None)(os.path.realpath)
    folder_of = lru_cache(maxsize=None)(lambda path: resolved(path, real))
    rows = [(str(folder_of(os.path.dirname(path))), os.path.basename(path), file) for path, file in kept]
    packages = {folder for folder, name, _ in rows if name == PACKAGE}
    inner = {folder for folder in packages for parent in parents(folder) if parent != folder and parent in packages}
    markers = {*manifests.KUSTOMIZATIONS, PACKAGE, _CHART}
    return (
        list(dict.fromkeys(folder for folder, name, _ in rows if name in manifests.KUSTOMIZATIONS)),
        packages - inner,
        {folder for folder, name, _ in rows if name == _CHART},
        [(folder, file) for folder, name, file in rows if name not in markers],
    )


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


def _loose_files(others: Sequence[Loose], charts: Set[str], graph: Graph) -> _Sorted:
    """Return the files that no kustomization reads: those with resources, and those of other tools.

    The files of a chart are templates that Helm fills in, and no resources yet. They are counted as left out, since a
    Chart.yaml that somebody adds hides files.
    """
    references = (reference for node in graph.kustomizations.values() for reference in node.references)
    used = {reference.real for reference in references if reference.kind == "file"}
    result, limit = _Sorted([], set(), [], []), max_bytes()
    for folder, file in others:
        if file.real in used:
            continue
        is_in_chart = not charts.isdisjoint(parents(folder))
        try:
            text = files.read_regular(file.real, file.name, limit)
        except KrmfnError:  # it is reported when its documents are read
            result.loose.extend([] if is_in_chart else [(folder, file)])
            continue
        limit -= len(text)
        is_ours = has_resource(text)
        if is_ours and not is_in_chart:
            result.loose.append((folder, file._replace(text=text if len(text) <= _SMALL else None)))
        elif is_ours:
            result.in_charts.add(file.real)
            if holds_config(text):
                result.chart_configs.append(os.path.normpath(file.name))
        elif not is_in_chart and is_to_be_filled_in(text):
            result.templates.append(os.path.normpath(file.name))
    return result
