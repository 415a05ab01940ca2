"""Who owns an object on the cluster: ownerReferences up to the top, managers of its fields, and the marks of tools."""

from collections.abc import Iterator, Sequence

from krmfn.ownership import Id
from krmfn.typed import NamedTuple

from ..fleet.owned import Head, Owner
from .dump import Dump

HELM_RELEASE = "HelmRelease"
"""The kind of Flux's objects that install releases of Helm."""
_HELM, _FLUX_HELM = "meta.helm.sh/release-name", "helm.toolkit.fluxcd.io/name"


class Applier(NamedTuple):
    """An engine's object that marks what it applies."""

    kind: str
    name: str
    """With its namespace, where that is known: `flux-system/apps`."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Ownership(NamedTuple):
    """Who owns an object."""

    head: Head
    references: tuple[Owner, ...]
    """Its own ownerReferences: with each of these objects it is deleted."""
    above: tuple[tuple[Owner, Owner], ...]
    """The owners of owners up to the top, each with what it owns."""
    release: str = ""
    """The Helm release that would delete it: `namespace/name`."""
    appliers: tuple[Applier, ...] = ()
    """The engines' objects that mark it as theirs."""

    @property
    def is_owned(self) -> bool:
        """Return whether it goes with something else than Git."""
        return bool(self.references or self.release)


def ownership(head: Head, dump: Dump) -> Ownership:
    """Return who owns an object of a dump."""
    above, seen = list[tuple[Owner, Owner]](), set[Owner]()
    rest = list(head.owners)
    while rest:
        owner = rest.pop(0)
        if owner in seen:
            continue
        seen.add(owner)
        if parent := dump.by_uid(owner.uid):
            above += ((top, owner) for top in parent.owners)
            rest += parent.owners
    return Ownership(head, head.owners, tuple(above), _release(head), tuple(_appliers(head)))


def _release(head: Head) -> str:
    """Return the Helm release of an object; "" for none."""
    if name := head.marks.get(_HELM):
        return f"{head.marks.get('meta.helm.sh/release-namespace', head.ref.namespace)}/{name}"
    return ""


def _appliers(head: Head) -> Iterator[Applier]:
    """Yield the engines' objects that a mark names."""
    marks = head.marks
    if name := marks.get(_FLUX_HELM):
        yield Applier(HELM_RELEASE, f"{marks.get('helm.toolkit.fluxcd.io/namespace', head.ref.namespace)}/{name}")
    if name := marks.get("kustomize.toolkit.fluxcd.io/name"):
        namespace = marks.get("kustomize.toolkit.fluxcd.io/namespace", head.ref.namespace)
        yield Applier("Kustomization", f"{namespace}/{name}")
    tracked = marks.get("argocd.argoproj.io/tracking-id", "").partition(":")[0]
    if name := tracked or marks.get("argocd.argoproj.io/instance", ""):
        yield Applier("Application", name)
    if name := marks.get("olm.owner"):
        yield Applier(marks.get("olm.owner.kind", "ClusterServiceVersion"), name)


def describe(owner: Owner, namespace: str) -> str:
    """Return an owner in words: it has the namespace of what it owns, or none."""
    return f"{owner.kind} {namespace + '/' if namespace else ''}{owner.name}"


def where(owner: Owner, dump: Dump, namespace: str) -> str:
    """Return what is known of an owner: "" for one that the dump has, else a part of a sentence."""
    head = dump.by_uid(owner.uid)
    if head:
        return ""
    others = [
        other
        for other in dump.heads.values()
        if (other.ref.group, other.ref.kind, other.ref.name) == (owner.group, owner.kind, owner.name)
        and other.ref.namespace in ("", namespace)
    ]
    if others:
        return "which is there with another uid, so the garbage collector takes this reference for one to nothing"
    key: Id = (owner.group, owner.kind, namespace, owner.name)
    if dump.shows(key):
        return "which is not on the cluster any more"
    return "which the dump does not show, so what owns it is not known"


def as_data(owned: Ownership) -> list[dict[str, str]]:
    """Return the owners for programs: references, those above, a release, the engines' marks, and the managers."""
    namespace = owned.head.ref.namespace
    rows: list[dict[str, str]] = [_reference(owner, "ownerReferences") for owner in owned.references]
    rows += (_reference(top, f"ownerReferences of {describe(of, namespace)}") for top, of in owned.above)
    rows += (
        {"kind": "Helm release", "name": owned.release, "via": "annotations"} for _ in filter(None, [owned.release])
    )
    rows += ({"name": str(applier), "via": "labels"} for applier in owned.appliers)
    rows += ({"name": manager, "via": "managedFields"} for manager in owned.head.managers)
    return rows


def _reference(owner: Owner, via: str) -> dict[str, str]:
    return {"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid, "via": via}


def tops(owned: Sequence[Ownership]) -> list[tuple[Owner, str]]:
    """Return the owners without an owner of their own, each once, with the namespace of what they own."""
    owners = dict[Owner, str]()
    for entry in owned:
        below = {of for _, of in entry.above}
        for owner in (*entry.references, *(top for top, _ in entry.above)):
            if owner not in below:
                owners.setdefault(owner, entry.head.ref.namespace)
    return list(owners.items())
