"""What functions were lent: collections that stand in a text, and are known by their identity wherever they go.

A value of one item that is put into another one, or into a new one, is found here with the text that it came from.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from ..resource import fingerprint
from ..typed import Any
from .align import Known, collections, text_of

__all__ = ["Pending", "Source", "first_source_of", "has_left", "known_in", "link", "link_equal", "parts", "source_of"]

Pending = Mapping[int, tuple[tuple[str, ...], Known]]
"""Mappings to which scalars were written, by their identities: each with its path, and what it held."""
_NOTHING: Mapping[int, Known] = MappingProxyType({})


class Source:
    """A text of an item, and the collections of its data that were lent."""

    __slots__ = ("__weakref__", "_text", "first", "indent", "lists", "mark", "newcomers", "newer", "root")

    def __init__(self, text: bytes, indent: int, root: Any, written: Mapping[int, Known] = _NOTHING) -> None:
        """Take an item's text (its dash at column `indent`; -2: a document) and the data that was read from it.

        `written` are the mappings of the data to which something was written since.
        """
        self._text, self.indent, self.root = text, indent, root
        self.newer: Callable[[], bytes] | None = None
        """What returns the text with comments that have been written since."""
        self.first = self
        """The first text of the item from which something was lent."""
        self.newcomers: Mapping[int, tuple[Any, Source | None]] = {}
        """The collections that had come since, by their identities, each with the text of another item that had it."""
        self.lists: dict[int, Known] = {**dict(collections(root)), **written}
        data = None if written else fingerprint(root)
        self.mark = None if data is None else hash(data)
        """A hash of what was read; None where that is not known any more."""
        _homes.unread.append((weakref.ref(self), ()))

    def followed_by(self, text: bytes, root: Any) -> "Source":
        """Return the next text of the item, with the data that was read from this one and edited since."""
        new = {id(part): (part, source_of(part)) for part in parts(root) if id(part) not in self.lists}
        source = Source(text, self.indent, root)
        source.first, source.newcomers = self.first, {**new, **self.newcomers}
        return source

    @property
    def text(self) -> bytes:
        """Return the text, with the comments that have been written since."""
        if self.newer:
            self._text, self.newer = self.newer(), None
        return self._text

    @text.setter
    def text(self, text: bytes) -> None:
        self._text, self.newer = text, None

    @property
    def is_intact(self) -> bool:
        """Return True when the data surely is what was read: nobody changed it in place."""
        return self.mark is not None and hash(fingerprint(self.root)) == self.mark

    def add(self, known: Known) -> None:
        """Add what is known of a copy."""
        self.lists[id(known.value)] = known
        _homes.unread.append((weakref.ref(self), (id(known.value),)))

    def note_renamed(self, mapping: dict[str, Any], old: str, new: str) -> None:
        """Note that a key of a mapping has another name."""
        if known := self.lists.get(id(mapping)):
            others = {key: name for key, name in known.renamed.items() if key != old}
            self.lists[id(mapping)] = known._replace(renamed=others | {new: known.renamed.get(old, old)})


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


def link_equal(before: Any, copy: Any) -> None:
    """Note what JSON made anew: a part of a value that is equal to one part of what was there is a copy of that."""
    texts = [(text_of(part), part) for part in parts(before) if part]
    counts = Counter(text for text, _ in texts)
    old = {text: part for text, part in texts if counts[text] == 1}
    new = [(text_of(part), part) for part in parts(copy) if part]
    counts = Counter(text for text, _ in new)
    for text, part in new:
        if text in old and counts[text] == 1 and source_of(part) is None and (source := source_of(old[text])):
            source.add(source.lists[id(old[text])]._replace(value=part))


def known_in(value: Any, lists: dict[int, Known]) -> dict[int, Known]:
    """Return what is known of the collections in a value: `lists`, and those that other texts gave, with these.

    What was in another item since, and has left that, has the comments that it had there.
    """
    others: dict[int, Known] = {}
    held: dict[int, set[int]] = {}
    for part in parts(value) if _homes.unread or _homes.places else ():  # most functions that add objects lend nothing
        source = source_of(part)
        if source is None or source.lists is lists:
            continue
        known = source.lists[id(part)]._replace(source=source)
        if id(part) not in lists or has_left(known, held):
            others[id(part)] = known
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


def first_source_of(value: Any) -> Source | None:
    """Return the first text that had a collection, of all items; None for one that was new since lists were written."""
    source = source_of(value)
    while source:
        known, earlier = source.newcomers.get(id(value), (None, None))
        if known is not value:
            return source.first if id(value) in source.first.lists else source
        source = earlier
    return None


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
