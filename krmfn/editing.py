"""Single items of a list: found by what they are, made anew, and made from an owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from . import writer
from .envelope import Envelope
from .errors import KrmfnError
from .item import PATH, Item
from .ownership import Id, known_as
from .resource import Manifest, Ref, copied


def get(items: Iterable[Item], wanted: Ref) -> Item | None:
    """Return the item with an id, None when there is none. Raises KrmfnError, with their places, for two."""
    found = [item for item in items if item.kind == wanted.kind and item.ref.id == wanted.id]
    if len(found) > 1:
        places = (item.place.path if item.place and item.place.path else "a list without paths" for item in found)
        at = " and in ".join(dict.fromkeys(places))
        raise KrmfnError(f"{wanted} is there {len(found)} times, in {at}: say which item is meant")
    return found[0] if found else None


def fresh(envelope: Envelope, manifest: Manifest, ref: Ref, path: str) -> Item:
    """Return a new item for the list, for kpt in the file `path`."""
    if path:
        manifest = copied(manifest)
        manifest["metadata"].setdefault("annotations", {})[PATH] = path
    return writer.new(envelope, manifest, ref)


def stale(
    items: Iterable[Item], marked: Iterable[Item], function: str, owner: Item, wanted: Collection[Id]
) -> list[Item]:
    """Return what the function made of the owner before, and does no more.

    Raises KrmfnError for an item with a wanted id that it did not make.
    """
    mine = [item for item in marked if _is_from(function, owner, item)]
    ours = set(map(id, mine))
    for item in items:
        if item.ref.id in wanted and id(item) not in ours:
            raise KrmfnError(f"{item.ref} is there, and was not made from {owner.ref}: rename it, or remove it")
    return [item for item in mine if item.ref.id not in wanted]


def _is_from(function: str, owner: Item, item: Item) -> bool:
    """Return True for what the function made of the owner, also of one that kustomize renamed; a copy is not."""
    mark = item.mark
    if mark is None or mark.function != function or mark.owner not in known_as(owner.ref, owner.annotations):
        return False
    return mark.made in known_as(item.ref, item.annotations)
