"""The roots below a PATH: what is deployed as a whole, and which files are a part of it.

A root is an outermost kustomization, a Kptfile package, or the loose files that belong to neither. Loose files go with
the nearest root above them. What only a kustomization reads (patches, values, ConfigMap sources), what is in a helm
chart, and a file that holds nothing like a resource is in no root.
"""

import os
from collections.abc import Collection, Iterable, Sequence, Set
from functools import lru_cache, partial

from krmfn import KrmfnError, Place, Result, error
from krmfn.streams import max_bytes
from krmfn.typed import Literal, NamedTuple

from ..kustomization.calls import Ours
from ..kustomization.graph import NO_GRAPH, Graph
from ..paths import disk, excludes, files, manifests, roots
from ..paths.contents import has_resource
from ..paths.disk import File, relative, resolved
from ..paths.excludes import Excluder, excluder
from ..paths.roots import parents

_SMALL = 1 << 16
"""The size up to which a file's text is kept until it is read for good: of a large one two copies would be there."""
Kind = Literal["kustomization", "package", "files", "stream"]

NOTHING = excluder()
"""Leaves nothing out."""
PACKAGE = "Kptfile"
Loose = tuple[str, File]
"""The folder of a file, and the file."""
_CHART = "Chart.yaml"


class Root(NamedTuple):
    """Something that is deployed as a whole."""

    kind: Kind
    name: str
    """The folder, or the one file, as people are shown it; - for stdin."""
    path: str
    """The folder or file, absolute and without links; "" for stdin."""
    graph: Graph
    """The kustomizations below the PATH, this root's among them when it is one."""
    files: tuple[File, ...] = ()
    """A package's files, or loose files. Beside a kustomization these are not deployed: an inventory, a functionConfig,
    and whatever somebody forgot to list."""


def places(every: Iterable[Root], top: str) -> list[tuple[str, Kind]]:
    """Return the path from a folder, and the kind, of each root but for that of stdin."""
    return [(os.path.relpath(one.path, top), one.kind) for one in every if one.path]


class Survey(NamedTuple):
    """The roots below one PATH, and what is wrong outside of them."""

    roots: list[Root]
    findings: list[Result]
    excluded: frozenset[str] = frozenset()
    """The files that were left out, resolved."""


def survey(
    path: str,
    ours: Ours,
    root: str | None = None,
    exclude: Excluder = NOTHING,
    marks: Collection[str] = (),
    itself: bool = False,
) -> Survey:
    """Return the roots below a PATH: a folder, a file, or - for stdin.

    `root` is what --root names; `exclude` says what is left out; `marks` are paths, absolute and without links, whose
    loose files make roots of their own. With `itself` a folder that holds a kustomization is that root and no other:
    neither what stands below it, nor who lists it, counts.
    Raises KrmfnError for a PATH that is not there or may not be read.
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
    return _below(path, real, ours, root, exclude, marks, itself)


def _below(
    path: str, real: str, ours: Ours, root: str | None, exclude: Excluder, marks: Collection[str], itself: bool
) -> Survey:
    """Return the roots below a folder; `real` is its path, absolute and without links."""
    bound = roots.root_of(real, root)
    listing, problems = disk.below(File(path, real), _is_read, bound, manifests.KUSTOMIZATIONS)
    start = 0 if path == "." else len(os.path.join(path, ""))
    is_excluded = partial(exclude, bound or real)
    paths = [(os.path.join(real, file.name[start:]), file) for file in listing]
    kept = [(name, file) for name, file in paths if not is_excluded(name)]
    kustomizations, packages, charts, others = _sorted(kept)
    graph, tops = NO_GRAPH, list[str]()
    if kustomizations:
        from ..kustomization import reading  # here: most folders have none

        graph = reading.read(kustomizations, bound, ours, os.path.isabs(path))
        tops = _outermost(graph, kustomizations, real)
    itself = itself and real in kustomizations
    tops += [real] if real in kustomizations and real not in tops else []  # one that lists it may be a link
    kinds: dict[str, Kind] = {**dict.fromkeys(packages, "package"), **dict.fromkeys(tops, "kustomization")}
    loose, in_charts = _loose(others, charts, graph)
    placed: dict[str, list[File]] = {folder: [] for folder in kinds}
    for folder, file in loose:  # those below no root make one for PATH, and one for each mark
        above = (one for one in parents(folder) if one in kinds or one in marks or one == real)
        placed.setdefault(file.real if file.real in marks else next(above, real), []).append(file)
    here = "" if os.path.isabs(path) else os.getcwd()
    wanted = [one for one in sorted(placed) if one == real or not itself]
    made = [Root(kinds.get(one, "files"), relative(one, here), one, graph, tuple(placed[one])) for one in wanted]
    # one may be a folder
    odd = (one for one in problems if not is_excluded(os.path.join(real, one[0][start:]) + "/" * os.path.isdir(one[0])))
    findings = [error(text.removeprefix(f"{name}: "), rule="KRM523", place=Place(name)) for name, text in odd]
    messages = excludes.missing(real, roots.root_of(real) if root else bound, is_excluded, _is_read)
    findings += [error(message, rule="KRM523", place=Place(path)) for message in messages]
    if kustomizations and not itself:
        covered = {one.folder for one in graph.below(*tops)}
        aside = (one for folder, one in graph.kustomizations.items() if folder not in covered)
        findings += [finding for one in aside for finding in one.findings]
    return Survey(made, findings, frozenset({file.real for _, file in {*paths} - {*kept}} | in_charts))


def _is_read(name: str) -> bool:
    return name in manifests.KUSTOMIZATIONS or name == PACKAGE or name.endswith(manifests.SUFFIXES)


def _sorted(kept: Iterable[tuple[str, File]]) -> tuple[list[str], set[str], set[str], list[Loose]]:
    """Return the folders of kustomizations, packages and charts, without links, and all other files with theirs."""
    real = lru_cache(maxsize=None)(os.path.realpath)
    folder_of = lru_cache(maxsize=None)(lambda path: resolved(path, real))
    every = [(str(folder_of(os.path.dirname(path))), os.path.basename(path), file) for path, file in kept]
    packages = {folder for folder, name, _ in every if name == PACKAGE}
    inner = {one for one in packages for above in parents(one) if above != one and above in packages}
    telling = {*manifests.KUSTOMIZATIONS, PACKAGE, _CHART}
    return (
        list(dict.fromkeys(folder for folder, name, _ in every if name in manifests.KUSTOMIZATIONS)),
        packages - inner,
        {folder for folder, name, _ in every if name == _CHART},
        [(folder, file) for folder, name, file in every if name not in telling],
    )


def _outermost(graph: Graph, folders: Sequence[str], path: str) -> list[str]:
    """Return the folders whose kustomization no other one lists; of a circle, which has none, the first.

    A Component counts only where it is listed, unless it is the PATH.
    """
    listed = {base.real for one in graph.kustomizations.values() for base in one.bases if base.real != one.folder}
    alone = [one for one in folders if one == path or not graph.kustomizations[one].is_component]
    tops = [folder for folder in alone if folder not in listed]
    covered = {one.folder for one in graph.below(*tops)}
    for folder in alone:
        if folder not in covered:
            tops.append(folder)
            covered.update(one.folder for one in graph.below(folder))
    return tops


def _loose(others: Sequence[Loose], charts: Set[str], graph: Graph) -> tuple[list[Loose], set[str]]:
    """Return the files that hold resources and that no kustomization reads, and the paths of those in charts.

    helm fills in what a chart holds, so that is no resource yet. Whoever adds a Chart.yaml takes files out of sight.
    """
    read = (one for kustomization in graph.kustomizations.values() for one in kustomization.references)
    used = {one.real for one in read if one.kind == "file"}
    loose, in_charts, left = list[Loose](), set[str](), max_bytes()
    for folder, file in others:
        if file.real in used:
            continue
        is_in_chart = not charts.isdisjoint(parents(folder))
        try:
            text = files.read_regular(file.real, file.name, left)
        except KrmfnError:  # the finding comes when it is read for good
            loose += [] if is_in_chart else [(folder, file)]
            continue
        left -= len(text)
        if has_resource(text):
            if is_in_chart:
                in_charts.add(file.real)
            else:
                loose.append((folder, file._replace(text=text if len(text) <= _SMALL else None)))
    return loose, in_charts
