"""Clusters whose inputs are the same on both sides of a change: what is made of them is the same, too.

The inputs of a root are a closed list: what its kustomizations read, the files that count beside them, the settings.
Where that is not certain (something remote, a chart, a flag for kustomize, anything that cannot be read) both sides are
built and compared.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256

from krmfn.errors import KrmfnError
from krmfn.runner import max_bytes

from ..cluster import config
from ..cluster.config import NAME as CONFIG_FILE
from ..cluster.layout import Cluster, Layout
from ..cluster.survey import Root
from ..options import RunOptions
from ..paths import files

Digest = Callable[[str], bytes]


class _Open(Exception):  # no error: both sides are built then
    """The inputs of a cluster are no closed list."""


def alike(old: Layout, old_top: str, new: Layout, new_top: str) -> frozenset[str]:
    """Return the names of the clusters with a kustomization that have the same inputs on both sides.

    The tops are given without links. Loose files cost little: they are always compared. Nothing is alike when anything
    is wrong with a side: which files count is not certain then.
    """
    if any(side.failures or any(one.severity == "error" for one in side.findings) for side in (old, new)):
        return frozenset()
    read = lru_cache(maxsize=None)(_digest)
    before = {one.name: one for one in old.clusters}
    names: set[str] = set()
    for there in (one for one in new.clusters if any(root.kind == "kustomization" for root in one.roots)):
        here = _twin(there, new_top, before, old_top)
        try:
            if here and _inputs(here, old_top, read) == _inputs(there, new_top, read):
                names.add(there.name)
        except (_Open, KrmfnError):
            continue
    return frozenset(names)


def same_settings(old: RunOptions, old_top: str, new: RunOptions, new_top: str) -> bool:
    """Return True when both sides are built with the same options, functionConfig and configuration file."""
    if new.kustomize or new.allow_remote or len(old.function_config) != len(new.function_config):
        return False
    try:
        for one, other in zip(old.function_config, new.function_config, strict=True):
            if files.read_named(one, old.root) != files.read_named(other, new.root):
                return False
        configs = [os.path.join(top, CONFIG_FILE) for top in (old_top, new_top)]
        there = [os.path.lexists(path) for path in configs]
        if any(there) and any(config.read(top)[0].profiles for top in (old_top, new_top)):
            return False  # what these hold counts for every cluster
        return not any(there) or (all(there) and _digest(configs[0]) == _digest(configs[1]))
    except KrmfnError:
        return False


def _twin(cluster: Cluster, top: str, others: Mapping[str, Cluster], other_top: str) -> Cluster | None:
    """Return the cluster of the other side with the same roots."""
    own = roots(cluster, top)
    return next((one for one in others.values() if roots(one, other_top) == own), None)


def roots(cluster: Cluster, top: str) -> list[tuple[str, str]]:
    """Return kind and path, from the top, of each root of a cluster."""
    return [(root.kind, os.path.relpath(root.path, top)) for root in cluster.roots]


def _inputs(cluster: Cluster, top: str, digest: Digest) -> list[tuple[str, str, bytes]]:
    """Return what a cluster is made from: root, path from the top, digest. Raises _Open when there may be more."""
    return [
        (root.path[len(top) :], os.path.relpath(real, top), digest(real))
        for root in (*cluster.roots, *(root for _, root in cluster.outside))
        for real in sorted(_read(root))
    ]


def _read(root: Root) -> Iterator[str]:
    """Yield the paths, without links, of the files that a root is made from."""
    yield from (file.real for file in root.files)
    if root.kind != "kustomization":
        return
    for one in root.graph.below(root.path):
        is_closed = all(reference.kind in ("file", "folder", "inline") for reference in one.references)
        if not is_closed or any(finding.severity == "error" for finding in one.findings):
            raise _Open
    yield from root.graph.files(root.path)


def _digest(path: str) -> bytes:
    return sha256(files.read_regular(path, path, max_bytes())).digest()
