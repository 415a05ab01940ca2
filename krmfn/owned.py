"""What a function makes of an owner: put in, found again in a later run, and removed."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from .editing import plan, put, with_refs
from .errors import KrmfnError, Refused
from .index import has, index_of
from .item import Item
from .names import Names
from .ownership import Id, Mark, known_as, mark_on, stamp
from .resource import GroupKind, Manifest, Ref, annotations_of, copied, ref
from .typed import Any

__all__ = ["Adopt", "put_all", "put_owned", "remove"]

_ABSENT = "cannot be an owner here, since it is not in the list: leave it out, or keep it in the list"
_PARTIAL = "internal.config.k8s.io/kpt-resource-id"
"""The annotation of each item where kpt sends a part of the package, by `selectors` or `exclude`."""

Adopt = Callable[[Item], bool]
"""Returns True for an object that somebody else made and that is taken over."""
_Objects = dict[Id, tuple[Ref, Manifest]]
"""What is made of an owner, by its ids."""


def put_owned(resources: Any, owner: Item | Manifest, manifests: Any, adopt: "Adopt | None") -> None:
    """Put in the objects that the function makes of `owner`, and remove its others (see `ResourceList.own`)."""
    if isinstance(owner, Item) and not has(resources, owner):
        raise Refused(_ABSENT, owner, f"{owner.ref} ")
    objects = _stamped(resources, owner, manifests)
    source, notes = (ref(owner), annotations_of(owner)) if isinstance(owner, dict) else (owner.ref, owner.annotations)
    index: Any = index_of(resources, {new.kind for new, _ in objects.values()})
    if index.children is None:
        index.children = _children(resources)
    if (kind := source.id[:2]) not in index.names:
        index.names[kind] = Names(owner[1:] for owner in _owners(resources, kind))
    known: Names = index.names[kind]
    marked = {name: index.children.get(name, ()) for name in known.of(source.id, known_as(source, notes))}
    marked = {name: [item for item in items if _mark(resources, item)] for name, items in marked.items()}
    children = {id(item) for items in marked.values() for item in items}
    others = [item for name in objects for item in index.by_id.get(name, ()) if id(item) not in children]
    _refuse_others(resources, others, owner, adopt)
    planned = plan(resources, objects.values(), index, is_owned=True)
    resources.owners.add(source.id)
    index.children.update({name: [it for it in items if it.ref.id not in objects] for name, items in marked.items()})
    stale = [item for name in marked if not known.is_shared(name) for item in index.children[name]]
    remove(resources, stale)
    for item in stale:
        index.drop(item)
    put(resources, planned)
    index.children.update({name: () for name in marked if not known.is_shared(name)})
    index.children[source.id] = [*index.children[source.id], *(index.by_id[name][0] for name in objects)]


def _stamped(resources: Any, owner: Item | Manifest, manifests: Any) -> _Objects:
    """Return copies of what is made of an owner, marked. Raises KrmfnError, also for what can be no owner."""
    if owner is None:
        raise KrmfnError("own needs an owner, and got None: pass an item, or the functionConfig of a run that has one")
    source = ref(owner) if isinstance(owner, dict) else owner.ref
    at = None if isinstance(owner, dict) else owner
    if not source.name:
        advice = "give its metadata a name, by which a later run finds what it made"
        raise Refused(f"cannot own anything: {advice}", at, f"{source} ")
    if source.id in resources.owners:
        raise Refused("was an owner before: call own once, with all that is made of it", at, f"{source} ")
    objects = {new.id: (new, _linked_copy(manifest)) for new, manifest in with_refs(manifests)}
    try:
        for _, manifest in objects.values():
            stamp(manifest, resources.function or "function", source, prefix=resources.prefix)
    except ValueError as failure:
        raise KrmfnError(str(failure)) from failure
    return objects


def put_all(resources: Any, manifests: Mapping[Item, Any], kind: GroupKind, adopt: "Adopt | None") -> None:
    """Put in what is made of each owner of a kind, and remove what is made of none any more (see `own_all`).

    All that can be refused is refused before the list changes.
    """
    _check_whole(resources, manifests, kind)
    by_owner = {owner: _stamped(resources, owner, some) for owner, some in manifests.items()}
    children = _children(resources)
    gone, free, known = _left_over(resources, by_owner, kind, children)
    by_owner = {owner: objects for owner, objects in by_owner.items() if id(owner) not in gone}
    pairs = [pair for objects in by_owner.values() for pair in objects.values()]
    index = index_of(resources, {new.kind for new, _ in pairs})
    makers: dict[Id, Item] = {}
    for owner, objects in by_owner.items():
        for name, (new, _) in objects.items():
            if makers.setdefault(name, owner) is not owner:
                raise Refused(f"cannot make {new}: {makers[name].ref} makes it, too", owner, f"{owner.ref} ")
        replaceable = free.union(id(item) for name in known.of(owner.ref.id) for item in children.get(name, ()))
        others = [item for name in objects for item in index.by_id.get(name, ()) if id(item) not in replaceable]
        _refuse_others(resources, others, owner, adopt)
    planned = plan(resources, pairs, index, is_owned=True)
    resources.owners.update(owner.ref.id for owner in by_owner)
    remove(resources, [*gone.values()])
    resources.index = None
    put(resources, planned)


def _owners(resources: Any, kind: GroupKind, has_config: bool = True) -> list[tuple[int, Id, set[Id]]]:
    """Return what may be an owner of a kind, by identity, with its id now and all by which it is known."""
    owners = [(id(item), item.ref, item.annotations) for item in resources.where(kind=kind[1], group=kind[0])]
    config = resources.function_config if has_config else None
    if config and ref(config).id[:2] == kind:
        owners.append((id(config), ref(config), annotations_of(config)))
    return [(key, now.id, known_as(now, notes)) for key, now, notes in owners]


def _left_over(
    resources: Any, by_owner: Mapping[Item, _Objects], kind: GroupKind, children: Mapping[Id, Sequence[Item]]
) -> tuple[dict[int, Item], set[int], Names]:
    """Return what no owner of a kind makes any more, by identity, what another owner may make now, and who is known.

    Where that is an owner itself, what was made of it goes, too.
    """
    owners = _owners(resources, kind, has_config=bool(children))
    ours = [(name, item) for name, items in children.items() if name[:2] == kind for item in items]
    gone: dict[int, Item] = {}
    while True:
        known = Names(owner[1:] for owner in owners if owner[0] not in gone)
        stay = [(it.ref.id, objects) for it, objects in by_owner.items() if id(it) not in gone]
        ids: dict[Id, set[Id]] = {}
        for owner, objects in stay:
            for name in known.of(owner):
                ids.setdefault(name, set()).update(objects)
        idle = known.known.keys() - {owner for owner, _ in stay}
        kept = {name for owner in idle for name in known.of(owner)} - ids.keys()
        free = [item for name, item in ours if name not in kept and item.ref.id not in ids.get(name, ())]
        new_ids = set[Id]().union(*ids.values())
        before, gone = gone, {id(item): item for item in free if item.ref.id not in new_ids}
        if {owner[0] for owner in owners}.isdisjoint(gone.keys() - before.keys()):
            _refuse_doubtful(resources, gone.values(), {owner: known.known[owner] for owner in idle})
            return gone, {id(item) for item in free}, known


def _refuse_doubtful(resources: Any, gone: Iterable[Item], idle: Mapping[Id, set[Id]]) -> None:
    """Raise Refused for an object to be removed that one of the owners may have made that this call does not name."""
    makers = {name: owner for owner, names in idle.items() for name in names}
    for item in gone if makers else ():
        mark = _mark(resources, item)
        if mark and mark.owner in makers:
            owner, other = (Ref("", *name[1:]) for name in (mark.owner, makers[mark.owner]))
            problem = f"was made from {owner}, as {other} was named, too: call own_all for both, or remove it"
            raise Refused(problem, item, f"{item.ref} ")


def _check_whole(resources: Any, owners: Iterable[Item], kind: GroupKind) -> None:
    """Raise Refused for what can be no owner here, and for a list in which kpt hides a part: an owner may be there."""
    for item in resources.mentioning(_PARTIAL):
        if _PARTIAL in item.annotations:
            advice = "remove `selectors` (and exclude) of this function in the Kptfile, or the options of `kpt fn eval`"
            raise Refused(f"comes in a part of a package, which may lack owners: {advice}", item, f"{item.ref} ")
    present, seen = {id(item) for item in resources.items}, set[Id]()
    for owner in owners:
        problem = ""
        if (owner.group, owner.kind) != kind:
            problem = f"cannot be an owner here: own_all was called for {kind[1]}"
        elif id(owner) not in present:
            problem = _ABSENT
        elif owner.ref.id in seen:
            problem = "is an owner here twice: leave one of the two out"
        if problem:
            raise Refused(problem, owner, f"{owner.ref} ")
        seen.add(owner.ref.id)


def _refuse_others(resources: Any, others: Sequence[Item], owner: Item | Manifest, adopt: "Adopt | None") -> None:
    """Raise Refused for an object with the id of one to be made that was not made from `owner`, nor is taken over."""
    function, present = resources.function or "function", _present_owners(resources, others)
    source = ref(owner) if isinstance(owner, dict) else owner.ref
    for item in others:
        mark = _mark(resources, item)
        maker = _maker(item, mark, function, present)
        if maker in (None, False) and adopt is not None and adopt(item):
            continue
        message = f"is there, and was not made from {source}: rename it, remove it, or let `adopt` take it over"
        if maker and isinstance(owner, Item):  # which stands in a file, unlike what was made right now
            raise Refused(f"cannot make {item.ref}: {maker} makes it, too", owner, f"{source} ")
        if maker:
            message = f"cannot be made from {source}: {maker} makes it, too"
        elif maker is False:
            known = Ref("", *mark.owner[1:]) if mark else ""
            message = f"was made from {known}, which is not in the list, and not from {source}: remove it, or adopt it"
        raise Refused(message, item, f"{item.ref} ")


def remove(resources: Any, items: Sequence[Item]) -> None:
    """Take some items out, in one pass. Raises KrmfnError when one is not in the list; none is taken out then."""
    present, gone = {id(item) for item in resources.items}, {id(item) for item in items}
    for item in items:
        if id(item) not in present:
            raise Refused("cannot be removed: it is not in the list", item, f"{item.ref} ")
    resources.items = [item for item in resources.items if id(item) not in gone]
    resources.removed += items
    resources.changes += [("removed", item.ref) for item in items]


def _linked_copy(manifest: Manifest) -> Manifest:
    """Return a copy of a manifest; what was lent in it is known there, too."""
    from .yamltext import lent

    copy: Manifest = copied(manifest)
    lent.link(manifest, copy)
    return copy


def _present_owners(resources: Any, items: Sequence[Item]) -> set[Id]:
    """Return the ids of what the marks of some items may name: those of all that is in the list, of such a kind."""
    kinds = {mark.owner[1] for mark in (_mark(resources, item) for item in items) if mark}
    config = resources.function_config if kinds else None
    owners = [(item.ref, item.annotations) for item in resources.items if item.kind in kinds] if kinds else []
    owners += [(ref(config), annotations_of(config))] if config else []
    return {name for owner in owners for name in known_as(*owner)}


def _mark(resources: Any, item: Item) -> Mark | None:
    """Return the mark of an item with the prefix of the function that runs."""
    return mark_on(item, resources.prefix)


def _maker(item: Item, mark: Mark | None, function: str, present: Collection[Id]) -> Ref | bool | None:
    """Return the owner of which a function makes an item; False for one that is not in the list, None for no owner."""
    if not mark or mark.function != function or mark.made != item.ref.id:
        return None
    return Ref("", *mark.owner[1:]) if mark.owner in present else False


def _children(resources: Any) -> dict[Id, list[Item]]:
    """Return the items that the function made of each owner; also those that kustomize renamed, but no copies."""
    function = resources.function or "function"
    children: dict[Id, list[Item]] = {}
    for item in resources.marked():
        mark = _mark(resources, item)
        if mark and mark.function == function and mark.made in known_as(item.ref, item.annotations):
            children.setdefault(mark.owner, []).append(item)
    return children
