"""Roots that may be built on neither side of a change: what they list is compared as it stands, or said to be unknown.

The files that such a root lists are compared where all else that a build of it would read is the same on both sides.
"""

import os
from collections.abc import Callable, Mapping, Sequence

from krmfn import KrmfnError, Manifest, Result, info
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from ..cluster import foreign
from ..cluster.deployed import Cluster, Clusters
from ..cluster.survey import Root
from ..command import Context
from ..kustomization.graph import Kustomization
from ..paths import files
from ..plan import Comparison
from .base import Base
from .pairs import Pair
from .unchanged import Unknown, paths_of

_LISTS = frozenset({"apiVersion", "kind", "metadata", "resources", "bases"})
"""Fields of a kustomization that only list others."""


class Partly(NamedTuple):
    """What can be compared of a cluster with roots that cannot be built."""

    notes: list[Result]
    """Which roots are not compared as a whole."""
    unknown: tuple[str, ...]
    """The roots of others in which something changes that is not known."""
    is_of_others: bool = False
    """Whether the whole cluster is one of others, so that nothing of it is compared."""


class Both(NamedTuple):
    """The clusters of both sides."""

    old: Clusters
    new: Clusters


def compared(context: Context, base: Base, pairs: Sequence[Pair], sides: Both) -> list[Partly | None]:
    """Return of each cluster what can be compared though roots of it cannot be built; None where there are none."""
    if all(side is None or side.is_whole for pair in pairs for side in (pair.old, pair.new)):
        return [None] * len(pairs)
    # who names a folder asks about it, and who names a repository about what concerns krmfn
    is_repository = bool(foreign.repositories(sides.new))
    concerns_nobody = foreign.concerns_nobody(context, sides) if is_repository else lambda _: False
    return [_partly(base, pair, concerns_nobody) for pair in pairs]


def noted(comparison: Comparison, partly: Partly) -> Comparison:
    """Return a comparison that says what of its cluster is not compared as a whole."""
    return comparison._replace(notes=[*comparison.notes, *partly.notes], unbuilt=partly.unknown)


def _partly(base: Base, pair: Pair, concerns_nobody: Callable[[Root], bool]) -> Partly | None:
    """Return what can be compared of a cluster in which only roots that may not be built are missing, on both sides.

    `concerns_nobody` returns whether a root holds nothing of krmfn's. None where what changes is not known.
    """
    if not (pair.old and pair.new and pair.old.is_blocked and pair.new.is_blocked):
        return _of_others(pair, concerns_nobody)
    old, new = _blocked(pair.old, base.folder), _blocked(pair.new, base.root)
    if old.keys() != new.keys():
        return None
    notes, unknown = list[Result](), list[str]()
    for path, root in new.items():
        former = old[path]
        listed, former_listed = _parts(pair.new, root), _parts(pair.old, former)
        if _is_same(_inputs(former, base.folder), _inputs(root, base.root)):
            continue
        if listed and former_listed and _is_same(_rest(former, base.folder), _rest(root, base.root)):
            message = (
                f"{root.name} cannot be built (krmfn check), so the files that it lists are compared as they stand"
            )
            notes.append(info(message))
        elif concerns_nobody(former) and concerns_nobody(root):
            notes.append(_unread_of_others([root.name]))
            unknown.append(root.name)
        else:
            return None
    return Partly(notes, tuple(unknown))


def _of_others(pair: Pair, concerns_nobody: Callable[[Root], bool]) -> Partly | None:
    """Return that nothing is known of a cluster that cannot be read, if nothing in it is krmfn's; else None.

    Whoever breaks such a root breaks it for others, whose checks say so: `check` does not build it either.
    """
    clusters = [side for side in (pair.old, pair.new) if side]
    roots = [root for cluster in clusters for root in cluster.all_roots]
    if all(cluster.is_whole for cluster in clusters) or not all(map(concerns_nobody, roots)):
        return None
    names = tuple(root.name for root in clusters[-1].all_roots)  # as they are called here, where they are here
    return Partly([_unread_of_others(names)], names, is_of_others=True)


def _unread_of_others(names: Sequence[str]) -> Result:
    """Return the note about roots of others, in which something changes that is not known."""
    message = f"{', '.join(names)} cannot be read, and holds nothing of krmfn's: what changes is not known"
    return info(message, remedy="`krmfn check --all` says why")


def _blocked(cluster: Cluster, top: str) -> dict[str, Root]:
    """Return the roots that cannot be built, by their paths from the top of the repository."""
    names = {failure.path for failure in cluster.failures}
    return {os.path.relpath(root.path, top): root for root in cluster.roots if root.name in names}


def _parts(cluster: Cluster, root: Root) -> bool:
    """Return whether the files that a root lists are among what is compared."""
    return any(name == root.name for name, _ in cluster.parts)


def _is_same(old: Mapping[str, object] | None, new: Mapping[str, object] | None) -> bool:
    return old is not None and old == new


def _inputs(root: Root, top: str) -> dict[str, object] | None:
    """Return the texts of all files that a build would read, by their paths from the top; None where others may be."""
    try:
        return {os.path.relpath(real, top): _text(real) for real in paths_of(root)} | _added(root)
    except (Unknown, KrmfnError):
        return None


def _rest(root: Root, top: str) -> dict[str, object] | None:
    """Return what a build would read beside the files that are compared, and beside the lists of these."""
    inputs = _inputs(root, top)
    if inputs is None:
        return None
    kustomizations = root.graph.below(root.path)
    compared = {path for node in kustomizations for path in (node.path, *_listed(node))}
    rest = {path: text for path, text in inputs.items() if os.path.join(top, path) not in compared}
    others = ((os.path.relpath(node.folder, top), _others(node)) for node in kustomizations)
    return rest | {f"{folder}/": other for folder, other in others if other}


def _listed(node: Kustomization) -> list[str]:
    """Return the paths of the files under `resources`."""
    return [link.real for link in node.references if link.role == "resource" and link.kind == "file"]


def _others(node: Kustomization) -> Manifest:
    """Return the fields of a kustomization that do more than list files, and what it lists that is no file."""
    fields = {key: value for key, value in node.manifest.items() if key not in _LISTS}
    links = [link for link in node.references if link.role == "resource" and link.kind not in ("file", "folder")]
    if links:
        fields["resources"] = sorted(link.text for link in links)
    return fields


def _added(root: Root) -> dict[str, object]:
    return {"": repr((root.namespace, root.additions, root.finish))}


def _text(path: str) -> bytes:
    return files.read_regular(path, path, max_bytes())
