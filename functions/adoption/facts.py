"""What is known of the objects that Git renders and of what runs, before anything is concluded."""

from collections.abc import Iterator, Sequence

from krmfn import Manifest, Ref
from krmfn.ownership import Id
from krmfn.resource import ref
from krmfn.typed import NamedTuple

from ..fleet.owned import Head, Owner, owned_by, references
from .dump import Dump
from .fields import Compared, Differing, compare
from .operators import Operator, operators
from .owners import Ownership, ownership, tops


class Rendered(NamedTuple):
    """What Git renders for a cluster."""

    manifests: Sequence[Manifest]
    """What the operator made until now, without its configs."""
    kinds: frozenset[tuple[str, str]]
    """The groups and kinds of the configs that Profiles are for."""
    kept: frozenset[tuple[str, str]]
    """Those that are deployed in spite of that (`keep: true`)."""
    paths: str
    """The PATHs, as a shell takes them."""
    cluster: str = ""
    """The cluster, where the dump was given by its name; else ""."""
    replaced: frozenset[Id] = frozenset()
    """The ids of those that an Application with `Replace=true` deploys."""
    is_failed: bool = False
    """Whether it has an error, so that objects may be missing."""


class Compare(NamedTuple):
    """An object that Git renders and that the cluster has."""

    ref: Ref
    owned: Ownership
    compared: Compared

    def differing(self, *outcomes: str) -> list[Differing]:
        """Return the differences about which a sync does one of these."""
        return [field for field in self.compared.differs if field.outcome in outcomes]


class Facts(NamedTuple):
    """What is known."""

    rendered: Rendered
    dump: Dump
    objects: tuple[Compare, ...]
    created: tuple[Ref, ...]
    """Those that the cluster does not have, by the dump."""
    unknown: tuple[Ref, ...]
    """Those of which the dump does not say whether the cluster has them."""
    owners: tuple[tuple[Owner, str], ...]
    """The owners at the top, each with the namespace of what it owns."""
    configs: tuple[Head, ...]
    """The configs of the Profiles' kinds on the cluster, and the owners at the top."""
    gone: tuple[Head, ...]
    """What goes with these and Git does not render."""
    operators: tuple[Operator, ...]

    @property
    def owned(self) -> list[Compare]:
        """The objects that go with something else than Git."""
        return [entry for entry in self.objects if entry.owned.is_owned]


def gather(rendered: Rendered, dump: Dump) -> Facts:
    """Return what a dump says of what Git renders."""
    refs = [ref(manifest) for manifest in rendered.manifests]
    pairs = [(name, m) for name, m in zip(refs, rendered.manifests, strict=True) if name.id in dump.heads]
    objects = tuple(
        Compare(name, ownership(dump.heads[name.id], dump), _compared(name, manifest, dump, rendered.replaced))
        for name, manifest in pairs
    )
    absent = [name for name in refs if name.id not in dump.heads]
    owners = tops([entry.owned for entry in objects])
    kinds = rendered.kinds | {(owner.group, owner.kind) for owner, _ in owners}
    configs = tuple(_configs(dump, rendered.kinds, owners))
    all_owners: list[Head | Owner] = [*configs, *(owner for owner, _ in owners)]
    ids = {name.id for name in refs}
    dependents = references(dump.heads.values())
    goers = owned_by(dependents, all_owners)
    # what KMM and controllers make of a rendered object goes and comes with that
    below = {head.ref.id for head in owned_by(dependents, (dump.heads[e.ref.id] for e in objects))}
    gone = tuple(head for head in goers if head.ref.id not in ids | below)
    heads = [entry.owned.head for entry in objects]
    created = tuple(name for name in absent if dump.shows(name.id))
    unknown = tuple(name for name in absent if not dump.shows(name.id))
    made_by = tuple(operators(dump, kinds, heads))
    return Facts(rendered, dump, objects, created, unknown, tuple(owners), configs, gone, made_by)


def _compared(name: Ref, manifest: Manifest, dump: Dump, replaced: frozenset[Id]) -> Compared:
    """Return how an object compares; the values of a Secret are not read."""
    live = dump.objects.get(name.id)
    return compare(live, manifest, name.id in replaced) if live is not None else Compared(0, 0, ())


def _configs(dump: Dump, kinds: frozenset[tuple[str, str]], owners: Sequence[tuple[Owner, str]]) -> Iterator[Head]:
    """Yield the configs on the cluster: of the Profiles' kinds, or an owner at the top."""
    uids = {owner.uid for owner, _ in owners}
    for head in dump.heads.values():
        if (head.ref.group, head.ref.kind) in kinds or (head.uid and head.uid in uids):
            yield head
