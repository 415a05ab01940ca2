"""The files below a PATH: kustomizations, packages, charts, and those that no kustomization reads."""

import os
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial

from krmfn import KrmfnError, Place, Result, error
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..kustomization.documents import unreadable
from ..kustomization.graph import Graph
from ..paths import disk, excludes, files, manifests
from ..paths.contents import has_resource
from ..paths.disk import File, Text, resolved
from ..paths.excludes import Excluder
from ..paths.roots import parents, root_of
from ..paths.templates import holds_config, is_to_be_filled_in
from .engine_files import KEPT

PACKAGE = "Kptfile"
Loose = tuple[str, File]
"""The folder of a file, and the file."""
_CHART = "Chart.yaml"


class Listing(NamedTuple):
    """The files below a folder that are read, and what is wrong with the others."""

    bound: str | None
    """The folder out of which no link may lead; None: there is none."""
    kustomizations: Sequence[str]
    """The real folders of kustomizations."""
    packages: Collection[str]
    """Those of outermost packages."""
    charts: Collection[str]
    others: Sequence[Loose]
    """The other files."""
    excluded: set[str]
    """The real paths of the files that are left out."""
    findings: Sequence[Result]
    submodules: Mapping[str, str]
    """See `Survey`."""


class Unlisted(NamedTuple):
    """The files that no kustomization reads."""

    loose: list[Loose]
    """Those with resources."""
    in_charts: set[str]
    """The real paths of those with resources in Helm charts."""
    chart_configs: list[str]
    """See `Survey`, as below."""
    templates: list[str]


def listed(path: str, real: str, root: str | None, exclude: Excluder) -> Listing:
    """Return what is below a folder; `real` is its path, absolute and without links, `root` the value of --root."""
    bound = root_of(real, root)
    listing, problems = disk.files_below(File(path, real), _is_read, bound, manifests.KUSTOMIZATIONS)
    start = 0 if path == "." else len(os.path.join(path, ""))
    is_excluded = partial(exclude, bound or real)
    paths = [(os.path.join(real, file.name[start:]), file) for file in listing]
    kept = [(name, file) for name, file in paths if not is_excluded(name)]
    findings = list[Result]()
    for name, problem in problems:
        if not is_excluded(os.path.join(real, name[start:]) + "/" * os.path.isdir(name)):
            findings.append(unreadable(problem, name, "KRM523"))
    work_tree = root_of(real) if root else bound
    messages = excludes.missing_files(real, work_tree, is_excluded, _is_read)
    findings += [error(message, rule="KRM523", place=Place(path)) for message in messages]
    rows = _with_folders(kept)
    packages = {folder for folder, name, _ in rows if name == PACKAGE}
    inner = {folder for folder in packages for parent in parents(folder) if parent != folder and parent in packages}
    markers = {*manifests.KUSTOMIZATIONS, PACKAGE, _CHART}
    return Listing(
        bound,
        kustomizations=list(dict.fromkeys(folder for folder, name, _ in rows if name in manifests.KUSTOMIZATIONS)),
        packages=packages - inner,
        charts={folder for folder, name, _ in rows if name == _CHART},
        others=[(folder, file) for folder, name, file in rows if name not in markers],
        excluded={file.real for _, file in {*paths} - {*kept}} if len(kept) < len(paths) else set(),
        findings=findings,
        submodules=dict(excludes.missing_submodules(real, work_tree, is_excluded)),
    )


def _is_read(name: str) -> bool:
    return name in manifests.KUSTOMIZATIONS or name == PACKAGE or name.endswith(manifests.SUFFIXES)


def _with_folders(kept: Sequence[tuple[str, File]]) -> list[tuple[str, str, File]]:
    """Return the real folder, the name and the file for each file with its path."""
    real = lru_cache(maxsize=None)(os.path.realpath)
    folder_of = lru_cache(maxsize=None)(lambda path: resolved(path, real))
    return [(str(folder_of(os.path.dirname(path))), os.path.basename(path), file) for path, file in kept]


def loose_files(listing: Listing, graph: Graph, texts: dict[str, bytes]) -> Unlisted:
    """Return the files that no kustomization reads: those with resources, and those of other tools.

    What is in `texts`, by paths without links, was read already, and is taken from there.
    The files of a chart are templates that Helm fills in, and no resources yet. They are counted as left out, since a
    Chart.yaml that somebody adds hides files.
    """
    references = (reference for node in graph.kustomizations.values() for reference in node.references)
    used = {reference.real for reference in references if reference.kind == "file"}
    result, limit, rest = Unlisted([], set(), [], []), max_bytes(), KEPT
    for folder, file in listing.others:
        if file.real in used:
            continue
        is_in_chart = bool(listing.charts) and any(parent in listing.charts for parent in parents(folder))
        try:
            known = texts.pop(file.real, None)
            text = files.read_regular(file.real, file.name, limit) if known is None else known
            files.bounded(text, file.name, limit)
        except KrmfnError:  # it is reported when its documents are read
            result.loose.extend([] if is_in_chart else [(folder, file)])
            continue
        limit -= len(text)
        is_ours = has_resource(text)
        if is_ours and not is_in_chart:
            is_kept = len(text) <= rest
            rest -= len(text) if is_kept else 0
            result.loose.append((folder, file._replace(text=Text(text) if is_kept else None)))
        elif is_ours:
            result.in_charts.add(file.real)
            if holds_config(text):
                result.chart_configs.append(os.path.normpath(file.name))
        elif not is_in_chart and is_to_be_filled_in(text):
            result.templates.append(os.path.normpath(file.name))
    return result
