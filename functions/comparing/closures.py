"""Clusters whose inputs are the same on both sides of a change: what is made of them is the same, too.

The inputs of a root are a closed list: what its kustomizations read, the files that count beside them, the settings.
Where that is not certain (something remote, a chart, a flag for kustomize, anything that cannot be read) both sides are
built and compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import sha256

from krmfn.errors import KrmfnError
from krmfn.streams import max_bytes

from ..cluster import config
from ..cluster.layout import Cluster, Layout
from ..cluster.survey import Root, places
from ..options import RunOptions
from ..paths import files

Digest = Callable[[str], bytes]


class _Open(Exception):  # no error: both sides are built then
    """The inputs of a cluster are no closed list."""


def changed(old: Layout, old_top: str, new: Layout, new_top: str) -> tuple[Layout, Layout, frozenset[str]]:
    """Return both sides without the clusters with a kustomization that have the same inputs, and the names of these.

    The tops are given without links. Loose files cost little: they are always compared. Nothing is alike when anything
    is wrong with a side: which files count is not certain then.
    """
    if any(side.failures or any(one.severity == "error" for one in side.findings) for side in (old, new)):
        return old, new, frozenset()
    read = lru_cache(maxsize=None)(_digest)
    before = {(*places(one.roots, old_top),): one for one in reversed(old.clusters)}
    same: list[tuple[Cluster, Cluster]] = []
    for there in (one for one in new.clusters if any(root.kind == "kustomization" for root in one.roots)):
        here = before.get((*places(there.roots, new_top),))
        try:
            if here and _inputs(here, old_top, read) == _inputs(there, new_top, read):
                same.append((here, there))
        except (_Open, KrmfnError):
            continue
    gone, alike = {one.name for one, _ in same}, frozenset(one.name for _, one in same)
    old = old._replace(clusters=[one for one in old.clusters if one.name not in gone])
    return old, new._replace(clusters=[one for one in new.clusters if one.name not in alike]), alike


def same_settings(old: RunOptions, new: RunOptions, top: str) -> bool:
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
    return [
        (root.path[len(top) :], os.path.relpath(real, top), digest(real))
        for root in (*cluster.roots, *(root for _, root in cluster.outside))
        for real in _read(root)
    ]


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


def _digest(path: str) -> bytes:
    return sha256(files.read_regular(path, path, max_bytes())).digest()
