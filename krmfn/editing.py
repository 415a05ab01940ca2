"""Single items of a list: found by what they are, made anew, and made from an owner."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from . import writer
from .envelope import Envelope
from .errors import KrmfnError, Refused
from .item import PATH, Item
from .ownership import known_as, stamp
from .resource import Manifest, Ref, checked, copied
from .results import Result

__all__ = ["fresh", "get", "owned", "refuse_twins", "under_old_names"]

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


def refuse_twins(items: Sequence[Item], kinds: Collection[str], there: Collection[int]) -> None:
    """Raise KrmfnError, with its places, for an item with the id of one of those at `there`, of these kinds."""
    ids = {items[at].ref.id for at in there}
    for at, item in enumerate(items):
        if item.kind in kinds and at not in there and item.ref.id in ids:
            get(items, item.ref)  # raises: there are two


def fresh(envelope: Envelope, manifest: Manifest, ref: Ref, path: str) -> Item:
    """Return a new item for the list, for kpt in the file `path`."""
    if path:
        manifest = copied(manifest)
        manifest["metadata"].setdefault("annotations", {})[PATH] = path
    return writer.new(envelope, manifest, ref)


def owned(resources: _List, owner: Item, manifests: Iterable[Manifest]) -> tuple[list[Manifest], list[Item]]:
    """Return the manifests with the function's mark, and the items that it made of the owner before and does no more.

    Raises KrmfnError for an item with the id of a manifest that it did not make.
    """
    function = resources.function or "function"
    stamped = [stamp(copied(manifest), function, owner.ref) for manifest in manifests]
    wanted = {checked(manifest).id for manifest in stamped}
    mine = [item for item in resources.marked() if _is_from(function, owner, item)]
    ours = set(map(id, mine))
    for item in resources.items:
        if item.ref.id in wanted and id(item) not in ours:
            message = f"is there, and was not made from {owner.ref}: rename it, or remove it"
            raise Refused(message, item, f"{item.ref} ")
    return stamped, [item for item in mine if item.ref.id not in wanted]


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


def _is_from(function: str, owner: Item, item: Item) -> bool:
    """Return True for what the function made of the owner, also of one that kustomize renamed; a copy is not."""
    mark = item.mark
    if mark is None or mark.function != function or mark.owner not in known_as(owner.ref, owner.annotations):
        return False
    return mark.made in known_as(item.ref, item.annotations)
