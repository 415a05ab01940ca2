"""What is kept of a dump to compare it with what Git renders: these objects, who owns what, and the operators."""

from collections.abc import Collection

from krmfn import Manifest
from krmfn.ownership import Id
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..fleet.owned import Head, head_of, is_kept
from ..kmm.lookup import table, text

_OLM = "operators.coreos.com"


class Dump(NamedTuple):
    """A cluster as it is; `add` fills it."""

    rendered: frozenset[Id]
    """What Git renders."""
    objects: dict[Id, Manifest]
    """Those that the cluster has."""
    heads: dict[Id, Head]
    deployments: list[Manifest]
    versions: list[Manifest]
    """ClusterServiceVersions: the operators that OLM runs."""
    subscriptions: list[Manifest]
    """OLM's, which renew these."""
    kinds: set[tuple[str, str]]
    """The groups and kinds that the dump has any object of."""
    namespaces: set[str]
    """The namespaces that it has any object of."""
    secrets: list[str]
    """The Secrets in it, whose values nobody asked for."""

    def shows(self, key: Id) -> bool:
        """Return whether the dump would have an object if the cluster had it: its kind and its namespace are there."""
        group, kind, namespace, _ = key
        return (group, kind) in self.kinds and (not namespace or namespace in self.namespaces)

    def by_uid(self, uid: str) -> Head | None:
        """Return the head with a uid."""
        return next((head for head in self.heads.values() if uid and head.uid == uid), None)


def empty(rendered: Collection[Id]) -> Dump:
    """Return a dump without an object."""
    return Dump(frozenset(rendered), {}, {}, [], [], [], set(), set(), [])


def add(dump: Dump, manifest: Manifest) -> None:
    """Add an object, as far as it counts."""
    name = ref(manifest)
    dump.kinds.add((name.group, name.kind))
    dump.namespaces.update({name.namespace} - {""})
    if (name.group, name.kind) == ("", "Namespace"):
        dump.namespaces.add(name.name)
    if (name.group, name.kind) == ("", "Secret"):
        dump.secrets.append(f"{name.namespace}/{name.name}")
    elif name.id in dump.rendered:
        dump.objects[name.id] = manifest
    if is_kept(manifest) or name.id in dump.rendered:
        dump.heads[name.id] = head_of(manifest)
    if (name.group, name.kind) == ("apps", "Deployment"):
        dump.deployments.append(manifest)
    elif (name.group, name.kind) == (_OLM, "ClusterServiceVersion"):
        if "olm.copiedFrom" not in table(manifest, "metadata", "labels"):
            dump.versions.append(manifest)
    elif (name.group, name.kind) == (_OLM, "Subscription") and text(manifest, "kind"):
        dump.subscriptions.append(manifest)
