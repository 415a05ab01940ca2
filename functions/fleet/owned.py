"""Who owns the objects of a dump: the references, the managers and the marks in `metadata`, and nothing of the data.

Source: Kubernetes 1.34, apimachinery, pkg/apis/meta/v1/types.go (OwnerReference, ManagedFieldsEntry).
"""

from collections.abc import Iterable, Mapping, Sequence

from krmfn import Manifest, Ref
from krmfn.ownership import Id
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..kmm.lookup import listing, table, tables, text

_UNOWNED_KINDS = frozenset({"Event", "Lease", "Node", "NodeModulesConfig", "Secret"})
"""Kinds of which a dump may have very many, and whose owners nobody asks for; a Secret of Helm's is no owner."""
_MACHINERY = frozenset({"", "apps", "batch"})
"""The groups of what makes pods by itself: a pod of these is nobody's own."""
_MARKS = (
    *("meta.helm.sh/release-name", "meta.helm.sh/release-namespace", "helm.toolkit.fluxcd.io/name"),
    *("helm.toolkit.fluxcd.io/namespace", "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
    *("argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance", "olm.owner", "olm.owner.kind"),
    *("olm.owner.namespace", "app.kubernetes.io/managed-by"),
)
"""Labels and annotations that say who applies an object."""


class Owner(NamedTuple):
    """An ownerReference."""

    api_version: str
    kind: str
    name: str
    uid: str

    @property
    def group(self) -> str:
        """The group of its kind; "" for the core group."""
        return self.api_version.rpartition("/")[0]


class Head(NamedTuple):
    """The metadata of an object, as far as it says who owns it."""

    ref: Ref
    uid: str
    owners: tuple[Owner, ...]
    managers: tuple[str, ...]
    """Those of fields outside of the status, in their order."""
    has_managers: bool
    """Whether the dump has managedFields of it: kubectl leaves them out without --show-managed-fields."""
    marks: Mapping[str, str]
    finalizers: tuple[str, ...]


def head_of(manifest: Manifest) -> Head:
    """Return the head of an object."""
    metadata = table(manifest, "metadata")
    owners = tuple(
        Owner(*(text(entry, key) for key in ("apiVersion", "kind", "name", "uid")))
        for _, entry in tables(metadata, "ownerReferences")
    )
    entries = [entry for _, entry in tables(metadata, "managedFields") if text(entry, "subresource") != "status"]
    managers = dict.fromkeys(filter(None, (text(entry, "manager") for entry in entries)))
    notes = {**table(metadata, "labels"), **table(metadata, "annotations")}
    marks = {key: str(notes[key]) for key in _MARKS if key in notes}
    finalizers = tuple(str(name) for name in listing(metadata, "finalizers") or ())
    return Head(
        ref(manifest),
        text(metadata, "uid"),
        owners,
        (*managers,),
        bool(metadata.get("managedFields")),
        marks,
        finalizers,
    )


def is_kept(manifest: Manifest) -> bool:
    """Return whether an object's owners are asked for: not those of DaemonSets' pods, and of what there is most of."""
    kind = text(manifest, "kind")
    if kind == "Pod":
        owners = [text(entry, "apiVersion") for _, entry in tables(table(manifest, "metadata"), "ownerReferences")]
        return any(version.rpartition("/")[0] not in _MACHINERY for version in owners)
    return kind not in _UNOWNED_KINDS


def references(heads: Iterable[Head]) -> dict[str, list[Head]]:
    """Return the objects that refer to each owner, by its uid."""
    dependents = dict[str, list[Head]]()
    for head in heads:
        for owner in head.owners:
            dependents.setdefault(owner.uid, []).append(head)
    return dependents


def owned_by(dependents: Mapping[str, Sequence[Head]], owners: Iterable[Head | Owner]) -> list[Head]:
    """Return the objects that go with some owners: those that refer to them, and what refers to these, in turn.

    A reference counts by its uid, as the garbage collector has it. `dependents` are those of `references`.
    """
    goers, seen_uids, open_uids = dict[Id, Head](), {""}, [owner.uid for owner in owners]
    while open_uids:
        uid = open_uids.pop()
        for head in dependents.get(uid, ()) if uid not in seen_uids else ():
            goers.setdefault(head.ref.id, head)
            open_uids.append(head.uid)
        seen_uids.add(uid)
    return list(goers.values())
