"""The scalars that an item has lost, and those that it has got, since something of it was lent."""

import re
from collections.abc import Iterable, Iterator

from .typed import Any, NamedTuple
from .yamltext import align, lent

__all__ = ["Parts", "Stray", "changes", "got", "is_new", "last_text", "leaves", "losing", "may_have_lost", "scalars"]

Parts = tuple[str, ...]
_MARKED = rb"[#'\"]"
"""A comment or quotes, perhaps."""


class Stray(NamedTuple):
    """A scalar that an item has lost, or got; or a mapping or list, for the scalars in it."""

    item: Any
    parts: Parts
    """Its path; of one that went that in the old text."""
    value: Any
    is_removed: bool = False
    """Whether its whole item went: then it did not have to move."""
    is_onto: bool = False
    """Whether another scalar was at its place."""
    is_part: bool = False
    """Whether it went with a mapping or list around it, and not by itself."""
    holder: int = 0
    """The identity of the mapping or list from which it went."""
    former: "Stray | None" = None
    """The scalar that was at its place, if there was one; of one that went a mapping or list that came there."""
    has_moved: bool = False
    """Whether a mapping or list was at its place that is at another one of its item."""
    text: str | None = None
    """The text from which it went, with the comments as they were then."""
    is_earlier: bool = False
    """Whether that has been written anew since."""
    is_foreign: bool = False
    """Whether it came within a mapping or list of another item: it has no comments from this one there."""

    @property
    def name(self) -> str:
        """Return its key; "" in a list."""
        return "" if self.parts[-1].isdecimal() else self.parts[-1]


def losing(items: list[Any], before: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """Return the items from which a scalar with a comment or quotes may have gone, and those that went as a whole."""
    present = {id(item) for item in items}
    removed = {id(item): item for item in before if item._content and id(item) not in present}.values()
    losers = [item for item in items if item._content and (item.content.departures or may_have_lost(item.content))]
    return losers, [item for item in removed if item.content.departures or re.search(_MARKED, item.content.text)]


def is_new(item: Any) -> bool:
    """Return True for an item that was made of data: it has got all that it has, whoever has read it since."""
    return item._fits is not None and item._origin is None


def last_text(content: Any) -> lent.Source | None:
    """Return what was lent of the last text of a `Content`; None where nothing was since the list was written."""
    return content._lent if content.first else None


def may_have_lost(content: Any) -> bool:
    """Return False where nothing went from the last text of a `Content` that has a comment or quotes, as in most."""
    source = last_text(content)
    if source is None or not (b"#" in source.text or (not content.is_replaced and re.search(_MARKED, source.text))):
        return False
    return content.is_replaced or any(map(_is_less, source.lists.values()))


def _is_less(known: align.Known) -> bool:
    """Return True when a part of a collection is not there any more; a scalar that one was written over is."""
    entries, now = known.entries, known.value
    if isinstance(now, list):
        return len(now) != len(entries) or any(part is not other for part, other in zip(entries, now, strict=True))
    if not entries.keys() <= now.keys():
        return True
    pairs = ((part, now[name]) for name, part in entries.items())
    return any(
        part is not other for part, other in pairs if isinstance(part, (dict, list)) or isinstance(other, (dict, list))
    )


def got(item: Any, source: lent.Source | None, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars that an item has got since a text; note in `carried` what came with its lines, and all in it.

    `source`: None for an item that is new: it has got all that it has.
    """
    if source is None:
        yield from _leaves(item, item.content.manifest, (), carried)
    else:
        yield from (stray for is_gone, stray in changes(item, source, carried) if not is_gone)


def scalars(item: Any, carried: set[int]) -> Iterator[Stray]:
    """Yield all scalars of an item's last text, but for those in `carried` collections."""
    source = last_text(item.content)
    if source is None:
        yield from _leaves(item, item.content.manifest, (), carried)
    else:
        yield from _old_leaves(item, source, source.root, (), carried)


def leaves(source: lent.Source, stray: Stray, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars of what went from a text, but for those in `carried` collections."""
    if isinstance(stray.value, (dict, list)):
        for part in _old_leaves(stray.item, source, stray.value, stray.parts, carried):
            yield part._replace(is_part=True)
    else:
        yield stray


def changes(item: Any, source: lent.Source, carried: set[int]) -> Iterator[tuple[bool, Stray]]:
    """Yield what went from an item since a text, True with it, and the scalars that have come."""
    yield from _changes(item, source, (source.root, item.content.manifest), ((), ()), carried)


def _changes(
    item: Any, source: lent.Source, values: tuple[Any, Any], paths: tuple[Parts, Parts], carried: set[int]
) -> Iterator[tuple[bool, Stray]]:
    """Yield what went from a value of a text, True with it, and the scalars that have come.

    `values`: what was read from the text, and what is there now; `paths`: where each of them is.
    """
    (old, new), (former_path, path) = values, paths
    if id(old) not in source.lists or type(old) is not type(new) or _is_another(source, old, new):
        if isinstance(old, (dict, list)) or isinstance(new, (dict, list)):
            if isinstance(old, (dict, list)):
                yield True, Stray(item, former_path, old)
            elif lent.source_of(new):  # else it stays, or its comment does
                yield True, Stray(item, former_path, old, former=Stray(item, path, new))
            is_onto = not isinstance(new, (dict, list))
            has_moved = is_onto and _is_in(item, source, old)
            come = _leaves(item, new, path, carried)
            yield from ((False, stray._replace(is_onto=is_onto, has_moved=has_moved)) for stray in come)
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
            yield True, Stray(item, (*former_path, str(name)), part, holder=id(old))
    for name, former in pairs.items():
        if former is None:
            yield from ((False, stray) for stray in _leaves(item, new[name], (*path, str(name)), carried))
        else:
            both = (*former_path, str(former)), (*path, str(name))
            yield from _changes(item, source, (before[former], new[name]), both, carried)


def _is_in(item: Any, source: lent.Source, old: Any) -> bool:
    """Return True for a collection of a text, or a copy of it, that is somewhere in its item."""
    known = (source.lists.get(id(part)) for part in lent.parts(item.content.manifest))
    return any(part.origin is old for part in known if part)


def _is_another(source: lent.Source, old: Any, new: Any) -> bool:
    """Return True for a collection that came from elsewhere to the place of an old one."""
    known = source.lists.get(id(new))
    home = source if known and known.value is new else lent.first_source_of(new)
    return home is not None and home.lists[id(new)].origin is not old


def _old_leaves(item: Any, source: lent.Source, value: Any, parts: Parts, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars of a mapping or list as it was in a text; of one with its lines elsewhere what it has lost."""
    if id(value) in source.lists:
        entries = source.lists[id(value)].entries
        kept = _kept(source, value) if id(value) in carried else set[Any]()
        for name, part in entries.items() if isinstance(entries, dict) else enumerate(entries):
            is_inner = isinstance(part, (dict, list))
            carried.update({id(part)} if is_inner and name in kept else ())
            if is_inner:
                yield from _old_leaves(item, source, part, (*parts, str(name)), carried)
            elif name not in kept:
                yield Stray(item, (*parts, str(name)), part, holder=id(value))


def _kept(source: lent.Source, value: Any) -> set[Any]:
    """Return the names of what a collection had and still has."""
    entries, now = source.lists[id(value)].entries, source.lists[id(value)].value
    if isinstance(now, list):
        return {match for match in align.match_entries(entries, now, source.lists) if match is not None}
    return {name for name, part in entries.items() if name in now and type(now[name]) is type(part)}


def _leaves(item: Any, value: Any, parts: Parts, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars of a new value; of what was lent from a text only those that it has got since."""
    if not isinstance(value, (dict, list)):
        yield Stray(item, parts, value)
        return
    home = lent.source_of(value)
    is_foreign = home is not None and home.first is not item.content.first
    for stray in _leaves_of(item, value, parts, carried):
        yield stray._replace(is_foreign=is_foreign or stray.is_foreign)


def _leaves_of(item: Any, value: Any, parts: Parts, carried: set[int]) -> Iterator[Stray]:
    """Yield the same of a mapping or list."""
    source = lent.first_source_of(value)
    if source and not (is_new(item) and source is item.content.first):  # later texts lack comments of what came later
        origin = source.lists[id(value)].origin
        carried.add(id(origin))
        changes = _changes(item, source, (origin, value), ((), parts), carried)
        yield from (stray for is_gone, stray in changes if not is_gone)
    else:
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, part, (*parts, str(name)), carried)
