"""Clusters whose inputs are the same on both sides of a change: what is made of them is the same, too.

The inputs of a root are a closed list: what its kustomizations read, the files that count beside them, the settings.
Where that is not certain (something remote, a chart, a flag for kustomize, anything that cannot be read) both sides are
built and compared.

And whose folders change: a pull request that moves them chooses what is compared, so that is told before all else.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType

from krmfn import KrmfnError, Result, info, warning
from krmfn.printing import some
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..cluster import cluster_streams, config
from ..cluster.deployed import Cluster, Clusters
from ..cluster.survey import Root, places
from ..command import Context
from ..options import RunOptions
from ..paths import files
from ..plan import Comparison
from .base import Base
from .pairs import Pair

Digest = Callable[[str], bytes]


class _Open(Exception):  # no error: both sides are built then
    """The inputs of a cluster are no closed list."""


class Sides(NamedTuple):
    """Which clusters there were and are, but for those whose inputs are the same; None where it is not known."""

    old: Clusters | None = None
    new: Clusters | None = None
    same: frozenset[str] = frozenset()
    places: Mapping[str, int] = MappingProxyType({})
    """Where each cluster stands among those that are; nothing where none is the same."""


def laid_out(context: Context, base: Base, names: Sequence[str]) -> Sides:
    """Return the clusters of both sides, but for those with a kustomization that have the same inputs, which are named.

    Loose files cost little: they are always compared. Nothing is known when something of it is not certain, or not set
    alike, and nothing is alike when anything is wrong with a side: which files count is not certain then.
    """
    options = base.options(context.options)
    former = [base.path(name) for name in names]
    is_alike = not edits_config(base) and _same_settings(options, context.options, base.root)
    if not is_alike or base.skipped or context.options.cluster or not all(map(os.path.lexists, [*names, *former])):
        return Sides()
    try:
        old = cluster_streams.layout_of(context._replace(options=options), former)
        new = cluster_streams.layout_of(context, names)
    except KrmfnError:  # said when that side is rendered
        return Sides()
    if any(side.failures or any(one.severity == "error" for one in side.findings) for side in (old, new)):
        return Sides(old, new)
    read = lru_cache(maxsize=None)(lambda path: sha256(files.read_regular(path, path, max_bytes())).digest())
    before = {(*places(one.roots, base.folder),): one for one in reversed(old.clusters)}
    same: list[tuple[Cluster, Cluster]] = []
    for there in (one for one in new.clusters if any(root.kind == "kustomization" for root in one.roots)):
        here = before.get((*places(there.roots, base.root),))
        try:
            if here and _inputs(here, base.folder, read) == _inputs(there, base.root, read):
                same.append((here, there))
        except (_Open, KrmfnError):
            continue
    gone, alike = {one.name for one, _ in same}, frozenset(one.name for _, one in same)
    order = {one.name: at for at, one in enumerate(new.clusters) if alike}
    old = old._replace(clusters=[one for one in old.clusters if one.name not in gone])
    return Sides(old, new._replace(clusters=[one for one in new.clusters if one.name not in alike]), alike, order)


def _same_settings(old: RunOptions, new: RunOptions, top: str) -> bool:
    """Return True when both sides are built with the same options and functionConfig, and no Profiles for all."""
    if new.kustomize or new.allow_remote or len(old.function_config) != len(new.function_config):
        return False
    pairs = zip(old.function_config, new.function_config, strict=True)
    try:
        is_same = all(files.read_named(one, old.root) == files.read_named(other, new.root) for one, other in pairs)
        return is_same and not config.read(top)[0].profiles  # what these hold counts for every cluster
    except KrmfnError:
        return False


def _inputs(cluster: Cluster, top: str, digest: Digest) -> list[tuple[str, str, bytes]]:
    """Return what a cluster is made from: root, path from the top, digest. Raises _Open when there may be more."""
    read = ((root.path[len(top) :], real) for root in cluster.all_roots for real in _read(root))
    return [(path, os.path.relpath(real, top), digest(real)) for path, real in read]


def _read(root: Root) -> Iterator[str]:
    """Yield the paths, without links, of the files that a root is made from, in the order in which they are named.

    Where links change places, the files and what names them are the same.
    """
    yield from sorted(file.real for file in root.files)
    if root.kind != "kustomization":
        return
    for one in root.graph.below(root.path):
        is_closed = all(reference.kind in ("file", "folder", "inline") for reference in one.references)
        if not is_closed or any(finding.severity == "error" for finding in one.findings):
            raise _Open
        yield one.path
        yield from (reference.real for reference in one.references if reference.kind == "file")


def with_folders(base: Base, pair: Pair, compared: Comparison, is_edited: bool) -> Comparison:
    """Return a comparison that says first how the folders of its cluster change, and that the configuration does.

    A folder that a cluster has no more is doubtful, but for one that is gone with its cluster; a folder that it has
    besides is where the configuration changes, too: `is_edited`, as `edits_config` tells.
    """
    if compared.failed:
        return compared
    old, new = pair
    was = _folders(old, base.folder) if old else {}
    now = _folders(new, base.root) if new else {}
    gone = [path for path in was if path not in now]
    if not new:
        gone = [path for path in gone if was[path] != "files" and os.path.isdir(os.path.join(base.root, path))]
    more = [path for path in now if path not in was] if old else []
    parts = [f"no longer {some(gone, len(gone))}"] if gone else []
    parts += [f"now {some(more, len(more))}"] if more else []
    notes = list[Result]()
    if parts:
        what = f"folders of the cluster change ({', '.join(parts)}); make sure that these are what is deployed, for "
        say = warning if gone or is_edited else info
        notes.append(say(f"{what}nothing else is compared"))
    told = [note.message for note in notes]
    if is_edited:
        told.append(f"{config.NAME} changes, which says what is compared and what is left out")
    doubtful = tuple(note.message for note in notes if note.severity == "warning")
    return compared._replace(first=(*told, *compared.first), notes=[*notes, *compared.notes], doubtful=doubtful)


def edits_config(base: Base) -> bool:
    """Tell whether the configuration file is not what it is in the base, or cannot be read on one of the sides."""
    try:
        return _text(base.folder) != _text(base.root)
    except KrmfnError:
        return True


def _folders(cluster: Cluster, top: str) -> dict[str, str]:
    """Return the kind of each root of a cluster by its path from the top."""
    return dict(places(cluster.all_roots, top))


def _text(top: str) -> bytes:
    path = os.path.join(top, config.NAME)
    return files.read_regular(path, config.NAME, max_bytes()) if os.path.lexists(path) else b""
