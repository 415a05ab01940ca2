"""What functions were lent: collections that stand in a text, and are known by their identity wherever they go.

A value of one item that is put into another one, or into a new one, is found here with the text that it came from.
"""

import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from ..resource import fingerprint
from ..typed import Any
from .align import Known, collections

__all__ = ["Pending", "Source", "has_left", "known_in", "link", "parts", "source_of", "without_source"]

Pending = Mapping[int, tuple[tuple[str, ...], Known]]
"""Mappings to which scalars were written, by their identities: each with its path, and what it held."""
_NOTHING: Mapping[int, Known] = MappingProxyType({})


class Source:
    """A text of an item, and the collections of its data that were lent."""

    __slots__ = ("__weakref__", "indent", "lists", "mark", "root", "text")

    def __init__(self, text: bytes, indent: int, root: Any, written: Mapping[int, Known] = _NOTHING) -> None:
        """Take an item's text (its dash at column `indent`; -2: a document) and the data that was read from it.

        `written` are the mappings of the data to which something was written since.
        """
        self.text, self.indent, self.root = text, indent, root
        self.lists: dict[int, Known] = {**dict(collections(root)), **written}
        data = None if written else fingerprint(root)
        self.mark = None if data is None else hash(data)
        """A hash of what was read; None where that is not known any more."""
        _homes.unread.append((weakref.ref(self), ()))

    @property
    def is_intact(self) -> bool:
        """Return True when the data surely is what was read: nobody changed it in place."""
        return self.mark is not None and hash(fingerprint(self.root)) == self.mark

    def add(self, known: Known) -> None:
        """Add what is known of a copy."""
        self.lists[id(known.value)] = known
        _homes.unread.append((weakref.ref(self), (id(known.value),)))


class _Homes:
    """The sources of collections by their identities; it keeps none of them alive."""

    def __init__(self) -> None:
        self.unread: list[tuple[weakref.ref[Source], tuple[int, ...]]] = []
        """Those that are not in `places` yet, each with identities, () for all: most functions never ask."""
        self.places: dict[int, weakref.ref[Source]] = {}
        self.most = 100_000
        """How many there may be before those of texts that are gone are forgotten."""

    def home(self, value: Any) -> Source | None:
        for place, names in self.unread:
            if source := place():
                self.places.update(dict.fromkeys(names or source.lists, place))
        self.unread.clear()
        if len(self.places) > self.most:
            self.places = {name: place for name, place in self.places.items() if place()}
            self.most = max(self.most, 2 * len(self.places))
        return self.places[id(value)]() if id(value) in self.places else None


_homes = _Homes()


def source_of(value: Any) -> Source | None:
    """Return the text that a collection stood in when it was lent, or the original of its copy; None for a new one."""
    source = _homes.home(value)
    known = source.lists.get(id(value)) if source else None
    return source if known and known.value is value else None


def link(value: Any, copy: Any) -> None:
    """Note that a value is a copy of one that may have been lent."""
    for part, other in _pairs(value, copy):
        if source := source_of(part):
            source.add(source.lists[id(part)]._replace(value=other))


def known_in(value: Any, lists: dict[int, Known]) -> dict[int, Known]:
    """Return what is known of the collections in a value: `lists`, and those that other texts gave, with these."""
    others = {}
    for part in parts(value) if _homes.unread or _homes.places else ():  # most functions that add objects lend nothing
        if id(part) not in lists and (source := source_of(part)):
            others[id(part)] = source.lists[id(part)]._replace(source=source)
    return lists | others if others else lists


def has_left(known: Known, held: dict[int, set[int]]) -> bool:
    """Return True for a value of another text that is not in that text's data any more: it moved, and is no copy.

    `held` keeps the identities of what the data of each source holds, by the identity of the source.
    """
    source = known.source
    if source is None or known.origin is source.root:
        return False
    if id(source) not in held:
        holders = (other.value for other in source.lists.values())
        held[id(source)] = {id(part) for holder in holders for part in _members(holder)}
    return id(known.origin) not in held[id(source)]


def _members(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def without_source(value: Any, source: Source) -> dict[int, Any]:
    """Return the collections in a value that no text gave, neither `source` nor another one, by their identities."""
    return {id(part): part for part in parts(value) if id(part) not in source.lists and not source_of(part)}


def parts(value: Any) -> Iterator[Any]:
    """Yield the mappings and lists in a value, itself among them."""
    stack = [value] if isinstance(value, (dict, list)) else []
    while stack:
        value = stack.pop()
        yield value
        members = value.values() if isinstance(value, dict) else value
        stack += [part for part in members if isinstance(part, (dict, list))]


def _pairs(value: Any, copy: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each collection in a value with its copy."""
    stack = [(value, copy)] if isinstance(value, (dict, list)) else []
    while stack:
        value, copy = stack.pop()
        yield value, copy
        members = value.items() if isinstance(value, dict) else enumerate(value)
        stack += [(part, copy[key]) for key, part in members if isinstance(part, (dict, list))]
