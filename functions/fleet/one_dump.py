"""Whether the objects of a dump are of one cluster and of one time: a name has one uid then."""

from collections.abc import Iterable, Iterator

from krmfn import KrmfnError, Manifest

from ..kmm.lookup import table, text

_NOT_ASKED = frozenset({"Event", "Namespace", "Node", "Pod"})
"""Kinds of which there are very many; Nodes and the Namespace kube-system are refused where they are read."""


def checked(objects: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield objects. Raises KrmfnError for two of one kind and name with two uids: they are of two clusters."""
    uids = dict[tuple[str, str, str, str], str]()
    for manifest in objects:
        kind, metadata = text(manifest, "kind"), table(manifest, "metadata")
        if (uid := text(metadata, "uid")) and kind not in _NOT_ASKED:
            group = text(manifest, "apiVersion").rpartition("/")[0]
            namespace, name = text(metadata, "namespace"), text(metadata, "name")
            if uids.setdefault((group, kind, namespace, name), uid) != uid:
                subject = f"{kind} {namespace}{'/' if namespace else ''}{name}"
                raise KrmfnError(f"it holds two dumps ({subject} has two uids); pass one file for each cluster")
        yield manifest
