"""Roots of others, in a cluster with something of ours, that cannot be read on a side: the rest of it is compared.

`check` counts what is wrong with such a root and fails nothing, so neither do `diff` and `ci`. It is left out of both
sides, since what only one of them has would seem to be created or deleted.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from krmfn import KrmfnError, Result, info
from krmfn.printing import some

from ..cluster import cluster_inputs, cluster_streams, foreign
from ..cluster.deployed import Cluster, Clusters
from ..cluster.survey import Root
from ..command import Context
from .base import Base
from .pairs import pair_clusters
from .unbuilt import Both, Partly


def left_out(contexts: tuple[Context, Context], base: Base, sides: Both) -> tuple[Both, dict[str, Partly]]:
    """Return the sides without such roots, and what is left out, by the cluster's name on the new side.

    `contexts` are those of the old and of the new side.
    """
    partly = dict[str, Partly]()
    if not foreign.repositories(sides.new):
        return sides, partly
    pairs = pair_clusters(sides.old, base.folder, sides.new, base.root)
    broken = [(old, new) for old, new in pairs if old and new and not (old.is_whole and new.is_whole)]
    broken = [(old, new) for old, new in broken if max(len(old.roots), len(new.roots)) > 1]
    concerns_nobody = foreign.concerns_nobody(contexts[1], sides) if broken else lambda _: False
    for pair in broken:
        tops = (base.folder, base.root)
        by_paths = [_of_others(cluster, top, concerns_nobody) for cluster, top in zip(pair, tops, strict=True)]
        unread = [_unread(context, roots) for context, roots in zip(contexts, by_paths, strict=True)]
        paths = {path for side in unread for path in side}
        # what is ours on a side stays on both, and is an error there
        paths = {path for path in paths if not any(map(partial(_is_ours, path), pair, tops, by_paths))}
        rest = [
            _without(context, side, cluster, [by_path[path] for path in paths if path in by_path])
            for context, side, cluster, by_path in zip(contexts, sides, pair, by_paths, strict=True)
        ]
        if paths and all(side is not None for side in rest):
            sides = Both(*(side for side in rest if side is not None))
            names = [next(roots[path].name for roots in reversed(by_paths) if path in roots) for path in sorted(paths)]
            partly[pair[1].name] = Partly(_notes(names), tuple(names))
    return sides, partly


def _of_others(cluster: Cluster, top: str, concerns_nobody: Callable[[Root], bool]) -> dict[str, Root]:
    """Return the roots of a cluster in which nothing is ours, by their paths from the top of the repository."""
    return {os.path.relpath(root.path, top): root for root in cluster.roots if root.path and concerns_nobody(root)}


def _is_ours(path: str, cluster: Cluster, top: str, others: dict[str, Root]) -> bool:
    """Return whether a root of a cluster is at a path, and none of `others`."""
    return path not in others and path in {os.path.relpath(root.path, top) for root in cluster.roots if root.path}


def _unread(context: Context, roots: dict[str, Root]) -> list[str]:
    """Return the paths of the roots of which something cannot be read."""
    unread = list[str]()
    for path, root in roots.items():
        is_whole = False
        with suppress(KrmfnError):
            _, is_whole = cluster_inputs.read(context, [root])
        unread += [] if is_whole else [path]
    return unread


def _without(context: Context, side: Clusters, cluster: Cluster, roots: Sequence[Root]) -> Clusters | None:
    """Return a side with a cluster rendered without some roots; None where that cannot be read either."""
    paths = {root.path for root in roots}
    rest = cluster._replace(roots=tuple(root for root in cluster.roots if root.path not in paths))
    if not rest.roots:
        return None
    streams = side._replace(clusters=[rest], unassigned=(), failures=(), findings=())
    try:
        (rendered,) = cluster_streams.render(context, [], streams=streams).clusters
    except KrmfnError:
        return None
    if not rendered.is_whole:
        return None
    clusters = [rendered if other is cluster else other for other in side.clusters]
    failures = [failure for failure in side.failures if failure.cluster != cluster.name]
    return side._replace(clusters=clusters, failures=failures)


def _notes(names: Sequence[str]) -> list[Result]:
    verb = "holds" if len(names) == 1 else "hold"
    message = f"{some(names, len(names))} cannot be read, and {verb} nothing of krmfn's: what changes is not known"
    return [info(message, remedy="`krmfn check --all` says why")]
