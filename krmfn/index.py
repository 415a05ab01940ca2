"""The items of some kinds by their ids."""

from collections.abc import Collection, Iterable, Sequence

from .item import Item
from .names import Names
from .ownership import Id
from .resource import GroupKind
from .typed import Any

__all__ = ["Index", "has", "index_of"]


class Index:
    """The items of some kinds by their ids; made once, since functions ask and add object by object."""

    def __init__(self, items: Iterable[Item], kinds: Collection[str]) -> None:
        """Take the items of a list, and the kinds that are looked for."""
        self.kinds = frozenset(kinds)
        self.items = [*items]
        self.by_id: dict[Id, list[Item]] = {}
        self.children: dict[Id, Sequence[Item]] | None = None  # by their owners; None until `owned.put_owned` asks
        self.names: dict[GroupKind, Names] = {}
        """By which ids the owners of a kind are known, once `owned.put_owned` has asked."""
        self._names: dict[int, Id] = {}
        for item in self.items:
            # most items have not been read, and their kind is then looked at without a call
            if (item.kind if item._content else item._kind or item.kind) in self.kinds:
                self._note(item)

    def add(self, item: Item) -> None:
        """Add an item that was added to the list."""
        self.items.append(item)
        self.names.pop((item.group, item.kind), None)
        if item.kind in self.kinds:
            self._note(item)

    def _note(self, item: Item) -> None:
        name = self._names[id(item)] = item.ref.id
        self.by_id.setdefault(name, []).append(item)

    def drop(self, item: Item) -> None:
        """Drop an item that was removed from the list."""
        self.items.remove(item)
        if id(item) in self._names:
            self.by_id[self._names.pop(id(item))].remove(item)

    def holds(self, items: list[Item], kinds: Collection[str]) -> bool:
        """Return True for the same items, open ones by the same names, when these kinds were looked for."""
        if not self.kinds.issuperset(kinds) or self.items != items:  # an item equals itself only
            return False
        read = ((id(item), item.ref) for item in items if item._content and item._content.is_open)
        return all(self._names.get(key) == (ref.id if ref.kind in self.kinds else None) for key, ref in read)


def index_of(resources: Any, kinds: Collection[str]) -> Index:
    """Return the index of some kinds of a list's items; one that still holds is used again."""
    known: Index | None = resources.index
    if known is None or not known.holds(resources.items, kinds):
        known = resources.index = Index(resources.items, known.kinds.union(kinds) if known else kinds)
    return known


def has(resources: Any, item: Item) -> bool:
    """Return True for an item of a list. Where it stood is kept, since functions ask item by item."""
    items, at = resources.items, resources.places.get(id(item), len(resources.items))
    if at < len(items) and items[at] is item:
        return True
    resources.places = {id(other): at for at, other in enumerate(items)}
    return id(item) in resources.places
