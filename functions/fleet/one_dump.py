"""Whether the objects of a dump are of one cluster and of one time: a name has one uid then."""

from collections.abc import Iterable, Iterator

from krmfn import KrmfnError, Manifest

from ..kmm.lookup import table, text

_NOT_ASKED = frozenset({"Event", "Node", "NodeInventory", "Pod"})
"""Kinds of which there are very many; Nodes are refused where they are read, and NodeInventories are of no server."""


def checked(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield objects. Raises KrmfnError for two of one kind and name that are of two clusters, or of two times.

    They have two uids, or none: of a cluster whose uids were removed each object is there once.
    """
    uids = dict[tuple[str, str, str, str], str]()
    for manifest in objects:
        kind, metadata = text(manifest, "kind"), table(manifest, "metadata")
        name, uid = text(metadata, "name"), text(metadata, "uid")
        is_known_elsewhere = kind == "Namespace" and uid  # kube-system names the cluster
        if name and kind not in _NOT_ASKED and not is_known_elsewhere:
            group, namespace = text(manifest, "apiVersion").rpartition("/")[0], text(metadata, "namespace")
            key = group, kind, namespace, name
            if problem := _problem(uids.get(key), uid):
                subject = f"{kind} {namespace}{'/' if namespace else ''}{name}"
                raise KrmfnError(f"it holds two dumps ({subject} {problem}); pass one file for each cluster")
            uids[key] = uids.get(key) or uid
        yield manifest


def _problem(known: str | None, uid: str) -> str:
    """Return what is wrong with a name that was seen with a uid, or None, and now has another one; "" for nothing."""
    if known == uid == "":
        return "is there twice, without a uid"
    return "has two uids" if known and uid and known != uid else ""
