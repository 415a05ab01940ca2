"""Single items of a list: found by what they are, added, removed, and made from an owner."""

from __future__ import annotations

from collections.abc import Iterable

from . import writer
from .errors import KrmfnError
from .item import PATH, Item
from .ownership import known_as, stamp
from .resource import Manifest, Ref, copied
from .resourcelist import ResourceList, checked


def get(resources: ResourceList, wanted: Ref) -> Item | None:
    """Return the item with an id, None when there is none. Raises KrmfnError when there are two."""
    items = [item for item in resources.items if item.kind == wanted.kind and item.ref.id == wanted.id]
    if len(items) > 1:
        places = (item.place.path if item.place and item.place.path else "a list without paths" for item in items)
        at = " and in ".join(dict.fromkeys(places))
        raise KrmfnError(f"{wanted} is there {len(items)} times, in {at}: say which item is meant")
    return items[0] if items else None


def append(resources: ResourceList, manifest: Manifest, path: str) -> Item:
    """Add a resource at the end, for kpt in the file `path`; return its item."""
    ref = checked(manifest)
    if path:
        manifest = copied(manifest)
        manifest["metadata"].setdefault("annotations", {})[PATH] = path
    item = writer.new(resources.envelope, manifest, ref)
    resources.items.append(item)
    resources.changes.append(("created", ref))
    return item


def remove(resources: ResourceList, item: Item) -> None:
    """Take an item out. Raises KrmfnError when it is not in the list."""
    at = next((at for at, one in enumerate(resources.items) if one is item), None)
    if at is None:
        raise KrmfnError(f"{item.ref} cannot be removed: it is not in the list")
    del resources.items[at]
    resources.changes.append(("removed", item.ref))


def own(resources: ResourceList, owner: Item, manifests: Iterable[Manifest]) -> None:
    """Stamp and upsert what the function makes of an owner, and remove what it made of it before and does no more."""
    made = [stamp(copied(manifest), resources.function or "function", owner.ref) for manifest in manifests]
    wanted = {checked(manifest).id for manifest in made}
    mine = {id(item) for item in resources.marked() if _is_from(resources.function or "function", owner, item)}
    for item in resources.items:
        if item.ref.id in wanted and id(item) not in mine:
            raise KrmfnError(f"{item.ref} is there, and was not made from {owner.ref}: rename it, or remove it")
    for item in [item for item in resources.items if id(item) in mine and item.ref.id not in wanted]:
        remove(resources, item)
    resources.upsert_owned(made)


def _is_from(function: str, owner: Item, item: Item) -> bool:
    """Return True for what the function made of the owner, also of one that kustomize renamed; a copy is not."""
    mark = item.mark
    if mark is None or mark.function != function or mark.owner not in known_as(owner.ref, owner.annotations):
        return False
    return mark.made in known_as(item.ref, item.annotations)
