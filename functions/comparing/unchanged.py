"""Clusters whose inputs are the same on both sides of a change: they are rendered alike, so neither side is built.

The inputs of a root are the files that its kustomizations read, the files beside them that count, and the settings.
Where there may be others (a flag for kustomize, anything that cannot be read) both sides are built and compared. A root
that may not be built (something remote, a chart, a function of others) is the same where all that it may read is.

Also clusters whose folders change: a pull request that changes them chooses what is compared, so a reviewer reads that
first.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256

from krmfn import KrmfnError, Result, info, warning
from krmfn.printing import some
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..cluster import cluster_streams, config
from ..cluster.deployed import Cluster, Clusters
from ..cluster.survey import Root, places
from ..command import Context
from ..kustomization.calls import BLOCKING
from ..options import RunOptions
from ..paths import files
from ..paths.manifests import KUSTOMIZATIONS
from ..plan import Comparison, Opening
from ..sentence import Topic
from .base import Base
from .pairs import Pair

_FOLDERS = Topic("folders")
"""What the finding about changed folders of a cluster is about."""


class Unknown(Exception):  # no error: both sides are built then
    """A cluster may have inputs that are not known."""


class Sides(NamedTuple):
    """The clusters of both sides, but for those whose inputs are the same; None where they are not known."""

    old: Clusters | None = None
    new: Clusters | None = None
    same: frozenset[str] = frozenset()
    """The names of the clusters whose inputs are the same."""
    places: Mapping[str, int] = {}  # read only
    """The number of each cluster of the new side, in the order of that side; empty where none is the same."""
    roots: Sequence[Root] = ()
    """Those of the new side, also of clusters whose inputs are the same."""


def lay_out_sides(context: Context, base: Base, names: Sequence[str]) -> Sides:
    """Return the clusters of both sides, without those that have a kustomization and the same inputs on both.

    Clusters of loose files cost little and are always compared. Without equal settings on both sides, or where a path
    is missing, no side is known; with an error on a side no cluster is the same: nobody knows which files count then.
    """
    options = base.options(context.options)
    former = [base.path(name) for name in names]
    is_alike = not edits_config(base) and _same_settings(options, context.options, base.root)
    if not is_alike or base.skipped or context.options.cluster or not all(map(os.path.lexists, [*names, *former])):
        return Sides()
    try:
        old = cluster_streams.layout_of(context._replace(options=options), former)
        new = cluster_streams.layout_of(context, names)
    except KrmfnError:  # it is reported when that side is rendered
        return Sides()
    if any(side.failures or any(map(_is_about_clusters, side.findings)) for side in (old, new)):
        return Sides(old, new)
    digest = lru_cache(maxsize=None)(lambda path: sha256(files.read_regular(path, path, max_bytes())).digest())
    by_places = {(*places(cluster.roots, base.folder),): cluster for cluster in reversed(old.clusters)}
    by_name = {(cluster.name, *places(cluster.roots, base.folder)): cluster for cluster in old.clusters}
    same: dict[str, str] = {}
    for cluster in new.clusters:
        key = (*places(cluster.roots, base.root),)
        twin = by_name.get((cluster.name, *key)) or by_places.get(key)
        is_built = any(root.kind == "kustomization" for root in cluster.roots)
        with suppress(Unknown, KrmfnError):
            if twin and is_built and _inputs(twin, base.folder, digest) == _inputs(cluster, base.root, digest):
                same[cluster.name] = twin.name
    order = {cluster.name: at for at, cluster in enumerate(new.clusters) if same}
    gone, roots = {*same.values()}, [root for cluster in new.clusters for root in cluster.roots]
    old = old._replace(clusters=[cluster for cluster in old.clusters if cluster.name not in gone])
    new = new._replace(clusters=[cluster for cluster in new.clusters if cluster.name not in same])
    return Sides(old, new, frozenset(same), order, roots)


def _is_about_clusters(finding: Result) -> bool:
    """Return True for an error after which nobody knows which files count.

    One about a kustomization that no root lists is none: it says nothing about the roots.
    """
    is_unlisted = finding.place is not None and os.path.basename(finding.place.path) in KUSTOMIZATIONS
    return finding.severity == "error" and not is_unlisted


def _same_settings(old: RunOptions, new: RunOptions, top: str) -> bool:
    """Return True when both sides have the same functionConfigs, and neither flags for kustomize nor `profiles`."""
    if new.kustomize or new.allow_remote or len(old.function_config) != len(new.function_config):
        return False
    pairs = zip(old.function_config, new.function_config, strict=True)
    try:
        is_same = all(files.read_named(path, old.root) == files.read_named(twin, new.root) for path, twin in pairs)
        settings = config.read(top)[0]
        return is_same and not settings.profiles and not settings.labels  # these Profiles count for every cluster
    except KrmfnError:
        return False


def _inputs(cluster: Cluster, top: str, digest: Callable[[str], bytes]) -> list[tuple[str, str, bytes]]:
    """Return each input of a cluster: what its engine adds to each root; then of each file its root, path and digest.

    Raises Unknown when there may be others, and KrmfnError when one cannot be read.
    """
    pairs = ((root.path[len(top) :], real) for root in cluster.all_roots for real in paths_of(root))
    added = ((root, repr((root.additions, root.finish)).encode()) for root in cluster.all_roots)
    engines = [(root.path[len(top) :], root.namespace, text) for root, text in added]
    return engines + [(path, os.path.relpath(real, top), digest(real)) for path, real in pairs]


def paths_of(root: Root) -> Iterator[str]:
    """Yield the real paths of the files that a root is made from: loose ones sorted, then as kustomizations name them.

    The order matters: two links that change places leave the files and the kustomizations as they are.
    """
    yield from sorted(file.real for file in root.files)
    if root.kind != "kustomization":
        return
    for kustomization in root.graph.below(root.path):
        errors = (finding for finding in kustomization.findings if finding.severity == "error")
        if any(error.rule not in BLOCKING for error in errors):
            raise Unknown
        yield kustomization.path
        for reference in kustomization.references:
            if reference.kind == "nothing":
                raise Unknown
            yield from (reference.real,) if reference.kind == "file" else ()
            yield from _files_below(reference.real) if reference.kind == "chart" else ()
        if any(not call.program for call in kustomization.calls):  # it may read any file there
            yield from _files_below(kustomization.folder)


def _files_below(folder: str) -> list[str]:
    """Return the paths of all files below a folder, in one order."""
    return sorted(os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)


def with_folder_changes(base: Base, pair: Pair, comparison: Comparison, is_edited: bool) -> Comparison:
    """Return a comparison that first says how the folders of its cluster change, and that the configuration changes.

    It is a warning when the cluster loses a folder, unless the folder is gone, too; also when it gains one and the
    configuration file changes (`is_edited`, see `edits_config`). That loose files are gone with their cluster is seen
    from the comparison, and counts like a warning: somebody else may have them now.
    """
    if comparison.failed:
        return comparison
    old = dict(places(pair.old.all_roots, base.folder)) if pair.old else {}
    new = dict(places(pair.new.all_roots, base.root)) if pair.new else {}
    gone, loose = [path for path in old if path not in new], list[str]()
    if not pair.new:
        loose = [path for path in gone if old[path] == "files"]
        gone = [path for path in gone if old[path] != "files" and os.path.isdir(os.path.join(base.root, path))]
    added = [path for path in new if path not in old] if pair.old else []
    parts = [f"no longer {some(gone, len(gone))}"] if gone else []
    parts += [f"now {some(added, len(added))}"] if added else []
    notes, first, doubtful = list[Result](), list[Opening](), list[Opening]()
    if parts:
        subject = f"folders of the cluster change ({', '.join(parts)})"
        message = f"{subject}; make sure that it still has all that are deployed, since no others are compared"
        opening, is_doubtful = Opening(message, _FOLDERS), bool(gone) or is_edited
        notes.append((warning if is_doubtful else info)((_FOLDERS, message)))
        first.append(opening)
        doubtful += [opening] if is_doubtful else []
    if is_edited:
        first.append(Opening(f"{config.NAME} changes, and with it what is compared and what is left out"))
    moved = (f"{path} is gone or moved: whether the cluster keeps what it held is not known" for path in loose)
    doubtful += map(Opening, moved)
    openings, notes = (*first, *comparison.first), [*notes, *comparison.notes]
    return comparison._replace(first=openings, notes=notes, doubtful=tuple(doubtful))


def edits_config(base: Base) -> bool:
    """Return True when the configuration file differs from that in the base, or cannot be read on one of the sides."""
    try:
        return _text(base.folder) != _text(base.root)
    except KrmfnError:
        return True


def _text(top: str) -> bytes:
    path = os.path.join(top, config.NAME)
    return files.read_regular(path, config.NAME, max_bytes()) if os.path.lexists(path) else b""
