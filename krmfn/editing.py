"""Single items of a list: found by what they are, made anew, and made from an owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from . import writer
from .envelope import Envelope
from .errors import KrmfnError, Refused
from .item import PATH, Item
from .ownership import Id, known_as, stamp, updated
from .resource import Manifest, Ref, checked, copied, ref
from .results import Result
from .typed import Any

__all__ = ["Owned", "fresh", "get", "own", "refuse_twins", "under_old_names"]

_List = Any
"""A ResourceList, which stands above."""


def get(items: Iterable[Item], wanted: Ref) -> Item | None:
    """Return the item with an id, None when there is none. Raises KrmfnError, with their places, for two."""
    found = [item for item in items if item.kind == wanted.kind and item.ref.id == wanted.id]
    if len(found) > 1:
        places = (item.place.path if item.place and item.place.path else "a list without paths" for item in found)
        at = " and in ".join(dict.fromkeys(places))
        raise KrmfnError(f"{wanted} is there {len(found)} times, in {at}: say which item is meant")
    return found[0] if found else None


def refuse_twins(items: Sequence[Item], kinds: Collection[str], there: Mapping[Id, Item]) -> None:
    """Raise KrmfnError, with its places, for an item of these kinds with the id of one of those `there`."""
    for item in items:
        if item.kind in kinds and there.get(item.ref.id, item) is not item:
            get(items, item.ref)  # raises: there are two


def fresh(envelope: Envelope, manifest: Manifest, ref: Ref, path: str) -> Item:
    """Return a new item for the list, for kpt in the file `path`."""
    if path:
        manifest = copied(manifest)
        manifest["metadata"].setdefault("annotations", {})[PATH] = path
    return writer.new(envelope, manifest, ref)


class Owned:
    """What a list has, by ids, and what a function made of each owner: made once, since functions own object by object.

    It holds while the list has the same items (see `holds`).
    """

    def __init__(self, resources: _List) -> None:
        """Look through a list."""
        self.items, self.function = [*resources.items], resources.function or "function"
        self.there: dict[Id, Item] = {}
        self.twins: list[Item] = []
        """Items whose id one before them has."""
        self.made: dict[Id, Sequence[Item]] = {}
        for item in resources.items:
            if self.there.setdefault(item.ref.id, item) is not item:
                self.twins.append(item)
        for item in resources.marked():
            mark = item.mark
            # also of one that kustomize renamed; a copy is not
            if mark and mark.function == self.function and mark.made in known_as(item.ref, item.annotations):
                self.made[mark.owner] = [*self.made.get(mark.owner, ()), item]

    def holds(self, resources: _List) -> bool:
        """Return True when the list has the items that were looked through, and no others."""
        items: list[Item] = resources.items
        return self.items == items  # an item equals itself only


def own(resources: _List, owner: Item, manifests: Iterable[Manifest]) -> None:
    """Let these, and no others, be what the function makes of `owner` (see `ResourceList.own`)."""
    known: Owned | None = resources.owned
    if known is None or not known.holds(resources):
        known = Owned(resources)
    stamped = [stamp(copied(manifest), known.function, owner.ref) for manifest in manifests]
    wanted = {checked(manifest).id: manifest for manifest in stamped}
    names = known_as(owner.ref, owner.annotations)
    mine = [item for name in names for item in known.made.get(name, ()) if item.mark]
    ours = set(map(id, mine))
    there = [known.there[name] for name in wanted if name in known.there]
    read = (item for item in resources.items if item.is_read)  # these may be renamed
    for item in (*there, *known.twins, *read):
        if item.ref.id in wanted and id(item) not in ours:
            message = f"is there, and was not made from {owner.ref}: rename it, or remove it"
            raise Refused(message, item, f"{item.ref} ")
    for item in mine:
        if item.ref.id not in wanted:
            known.there.pop(item.ref.id, None)
            resources.remove(item)
    for name, manifest in wanted.items():
        found = known.there.get(name)
        if found and found.ref.id == name:
            manifest = updated(found.manifest, manifest)
        else:
            known.there.pop(name, None)  # it was renamed
        resources._put([(ref(manifest), manifest)], known.there)
    known.made.update(dict.fromkeys(names, ()))
    known.made[owner.ref.id] = [known.there[name] for name in wanted]
    known.items = [*resources.items]
    resources.owned = None if known.twins else known  # of twins another one may be the first now


def under_old_names(results: Sequence[Result], items: Iterable[Item]) -> list[Result]:
    """Return findings about edited items with the names and places that these had as they came."""
    old = {}
    for item in items:
        before = Item(item.data, item.start, item.end, item.indent, item.sure, item.file)
        if item.is_edited and item.ref != before.ref:
            old[item.ref] = before
    return [
        result._replace(ref=old[result.ref].ref, place=result.place and old[result.ref].place)
        if result.ref in old
        else result
        for result in results
    ]
