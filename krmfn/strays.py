"""The scalars that an item has lost, and those that it has got, since something of it was lent."""

from collections.abc import Iterable, Iterator

from .item import Item
from .typed import Any, NamedTuple
from .yamltext import align, lent

__all__ = ["Parts", "Stray", "got", "had", "losing", "lost"]

Parts = tuple[str, ...]

_TOP: tuple[Parts, Parts] = (), ()


class Stray(NamedTuple):
    """A scalar that an item has lost, or got."""

    item: Item
    parts: Parts
    """Its path; of one that went that in the old text."""
    value: Any
    is_removed: bool = False
    """Whether its whole item went: then it did not have to move."""
    is_onto: bool = False
    """Whether another scalar was at its place."""
    is_part: bool = False
    """Whether it went with a mapping or list around it, and not by itself."""
    former: "Stray | None" = None
    """The scalar that was at its place, if there was one."""

    @property
    def name(self) -> str:
        """Return its key; "" in a list."""
        return "" if self.parts[-1].isdecimal() else self.parts[-1]


def losing(items: list[Item], before: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items from which a scalar with a comment or quotes may have gone, and those that went as a whole."""
    present = {id(item) for item in items}
    removed = [item for item in before if item._content and id(item) not in present]
    losers = [item for item in items if item._content and _may_have_lost(item)]
    return losers, [item for item in removed if b"#" in item.content.text]


def _may_have_lost(item: Item) -> bool:
    """Return False for an item from which nothing went that has a comment or quotes, as nearly all are."""
    source = item.content.first if item.is_read else None
    if source is None or not (b"#" in source.text or (not item.content.is_replaced and b"'" in source.text)):
        return False
    return item.content.is_replaced or any(map(_is_less, source.lists.values()))


def _is_less(known: align.Known) -> bool:
    """Return True when a part of a collection is not there any more; a scalar that was written over is."""
    entries, now = known.entries, known.value
    if isinstance(now, list):
        return len(now) != len(entries) or any(part is not other for part, other in zip(entries, now, strict=True))
    kept = (now.get(name) if isinstance(part, (dict, list)) else part for name, part in entries.items())
    return not entries.keys() <= now.keys() or any(map(_is_other, entries.values(), kept))


def _is_other(part: Any, now: Any) -> bool:
    return part is not now


def lost(item: Item, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars that an item had and has not, but for those in `carried` collections."""
    source = item.content.first
    values = source and (source.root, item.content.manifest)
    for is_gone, stray in _changes(item, source, values, _TOP, carried) if source and values else ():
        if is_gone:
            yield stray


def had(item: Item, carried: set[int]) -> Iterator[Stray]:
    """Yield all scalars that an item had, but for those in `carried` collections."""
    source = item.content.first
    if source is None:
        yield from _leaves(item, item.content.manifest, (), carried)
    else:
        yield from _old_leaves(item, source, source.root, (), carried)


def got(item: Item, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars that an item has got; note in `carried` what came with its lines and all that is in them."""
    source = item.content.first
    if source is None:
        yield from _leaves(item, item.content.manifest, (), carried)
        return
    for is_gone, stray in _changes(item, source, (source.root, item.content.manifest), _TOP, carried):
        if not is_gone:
            yield stray


def _changes(
    item: Item, source: lent.Source, values: tuple[Any, Any], paths: tuple[Parts, Parts], carried: set[int]
) -> Iterator[tuple[bool, Stray]]:
    """Yield the scalars that went from a value of a text, True with them, and those that have come.

    `values`: what was read from the text, and what is there now; `paths`: where each of them is.
    """
    (old, new), (former_path, path) = values, paths
    if id(old) not in source.lists or type(old) is not type(new) or _is_another(item, source, old, new):
        if isinstance(old, (dict, list)) or isinstance(new, (dict, list)):
            yield from (
                _gone(item, source, old, former_path, carried) if isinstance(old, (dict, list)) else ()
            )  # else it stays
            is_onto = not isinstance(new, (dict, list))
            yield from ((False, stray._replace(is_onto=is_onto)) for stray in _leaves(item, new, path, carried))
        elif align.text_of(old) != align.text_of(new):  # a date that JSON made a string is itself
            yield False, Stray(item, path, new, is_onto=True, former=Stray(item, former_path, old))
        return
    before = source.lists[id(old)].entries
    pairs = dict[Any, Any]()
    """The names of what is there now, with those that they had."""
    if isinstance(new, list):
        pairs = dict(enumerate(align.match_entries(before, new, source.lists)))
    else:
        pairs = {name: name if name in before else None for name in new}
    stayed = {*pairs.values()}
    for name, part in before.items() if isinstance(before, dict) else enumerate(before):
        if name not in stayed:
            yield from _gone(item, source, part, (*former_path, str(name)), carried)
    for name, former in pairs.items():
        if former is None:
            yield from ((False, stray) for stray in _leaves(item, new[name], (*path, str(name)), carried))
        else:
            both = (*former_path, str(former)), (*path, str(name))
            yield from _changes(item, source, (before[former], new[name]), both, carried)


def _gone(item: Item, source: lent.Source, value: Any, parts: Parts, carried: set[int]) -> Iterator[tuple[bool, Stray]]:
    """Yield True with each scalar of a value that went from a text."""
    is_part = isinstance(value, (dict, list))
    for stray in _old_leaves(item, source, value, parts, carried):
        yield True, stray._replace(is_part=is_part)


def _is_another(item: Item, source: lent.Source, old: Any, new: Any) -> bool:
    """Return True for a collection that came from elsewhere to the place of an old one."""
    known = source.lists.get(id(new))
    home = source if known and known.value is new else _source_of(item, new)
    return home is not None and home.lists[id(new)].origin is not old


def _source_of(item: Item, value: Any) -> lent.Source | None:
    """Return the text that gave a collection; None for one that is new since the list was written."""
    return None if item.content.unsourced.get(id(value)) is value else lent.source_of(value)


def _old_leaves(item: Item, source: lent.Source, value: Any, parts: Parts, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars of a value as it was in a text; of what stands elsewhere with its lines what it has lost."""
    if not isinstance(value, (dict, list)):
        yield Stray(item, parts, value)
    elif id(value) in source.lists:
        entries = source.lists[id(value)].entries
        kept = _kept(source, value) if id(value) in carried else set[Any]()
        for name, part in entries.items() if isinstance(entries, dict) else enumerate(entries):
            is_inner = isinstance(part, (dict, list))
            carried.update({id(part)} if is_inner and name in kept else ())
            if is_inner or name not in kept:
                yield from _old_leaves(item, source, part, (*parts, str(name)), carried)


def _kept(source: lent.Source, value: Any) -> set[Any]:
    """Return the names of what a collection had and still has."""
    entries, now = source.lists[id(value)].entries, source.lists[id(value)].value
    if isinstance(now, list):
        return {match for match in align.match_entries(entries, now, source.lists) if match is not None}
    return {name for name, part in entries.items() if name in now and type(now[name]) is type(part)}


def _leaves(item: Item, value: Any, parts: Parts, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars of a new value; of what was lent from a text only those that it has got since."""
    if not isinstance(value, (dict, list)):
        yield Stray(item, parts, value)
    elif source := _source_of(item, value):
        origin = source.lists[id(value)].origin
        carried.add(id(origin))
        changes = _changes(item, source, (origin, value), ((), parts), carried)
        yield from (stray for is_gone, stray in changes if not is_gone)
    else:
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, part, (*parts, str(name)), carried)
