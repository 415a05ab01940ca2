"""What went from an item before its text was written anew: in the end it may be in another item, or be back."""

from collections import Counter
from collections.abc import Iterable, Iterator

from .spelling import standing_of
from .strays import Stray, changes, got, is_new, last_text, leaves, scalars
from .typed import Any, NamedTuple
from .yamltext import align, lent

__all__ = ["Departure", "all_of", "arrived", "common", "displaced", "had", "lost", "of", "was_there", "without"]


class Departure(NamedTuple):
    """What went from one text of an item."""

    source: lent.Source
    text: str
    """The text, with the comments as they were when it went."""
    strays: list[Stray]
    """The scalars, mappings and lists."""
    moved: Counter[str]
    """The commented scalars that came at another place of the item at once: they have their comments there."""
    carried: set[int]
    """The collections that did so."""
    following: lent.Source | None = None
    """The next text; None for the last one that there is."""

    def scalars(self, carried: set[int]) -> Iterator[Stray]:
        """Yield the scalars that went and are not elsewhere with their lines, in one of the `carried` collections."""
        known = carried | self.carried
        gone = (part for stray in self.strays for part in leaves(self.source, stray, known))
        is_earlier = self.following is not None
        yield from (stray._replace(text=self.text, is_earlier=is_earlier) for stray in without(gone, self.moved))


def of(item: Any) -> tuple[Departure, ...]:
    """Return what goes from the text of an item that is about to be written anew, if anything does."""
    content, carried = item.content, set[int]()
    source, gone, come = last_text(content), list[Stray](), list[Stray]()
    if source is None:
        return ()
    for is_gone, stray in changes(item, source, carried):
        (gone if is_gone else come).append(stray)
    if not gone:
        return ()
    text = source.text.decode()
    went = [part._replace(text=text) for stray in gone for part in leaves(source, stray, set(carried))]
    moved = common([stray for stray in went if standing_of(stray).has_comments], come)
    return (Departure(source, text, [*gone, *displaced(went, come, text)], moved, carried),)


def common(went: list[Stray], come: list[Stray]) -> Counter[str]:
    """Return the scalars that went from one place of an item and came at another one, with their comments."""
    within = Counter(align.text_of(stray.value) for stray in come if not stray.is_foreign)
    return within & Counter(align.text_of(stray.value) for stray in went)


def displaced(went: list[Stray], come: list[Stray], text: str) -> list[Stray]:
    """Return the scalars of a text whose comments made way for those of others that came from the same item."""
    onto = {align.text_of(stray.value) for stray in come if stray.former}
    equal = [stray for stray in went if align.text_of(stray.value) in onto]
    commented = {align.text_of(stray.value) for stray in equal if standing_of(stray).has_comments}
    moved = [stray.former for stray in come if stray.former and align.text_of(stray.value) in commented]
    return [stray._replace(text=text) for stray in moved]


def lost(item: Any, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars that went from an item's texts, but for those in `carried` collections.

    One that came after the first text, and has nothing to take along, is none: it was on its way to another item.
    """
    first, departures = item.content.first, [*all_of(item, carried)]
    for departure in departures:
        for stray in departure.scalars(carried):
            if stray.former and item.at(stray.former.parts).comment == standing_of(stray).comment:
                continue
            is_own = not is_new(item) and (departure.source is first or was_there(first, stray))
            if is_own or standing_of(stray).has_comments:
                yield stray


def was_there(first: lent.Source, stray: Stray) -> bool:
    """Return True for a value that stood in a mapping or list of the first text already."""
    known = first.lists.get(stray.holder)
    entries = known.entries if known else ()
    name, text = stray.parts[-1], align.text_of(stray.value)
    if isinstance(entries, dict):
        return name in entries and align.text_of(entries[name]) == text
    return any(align.text_of(entry) == text for entry in entries)


def all_of(item: Any, carried: set[int]) -> Iterator[Departure]:
    """Yield what went from each text of an item; note in `carried` what is elsewhere in it with its lines."""
    yield from item.content.departures
    source = last_text(item.content)
    if source is not None:
        gone = [stray for is_gone, stray in changes(item, source, carried) if is_gone]
        yield Departure(source, source.text.decode(), gone, Counter(), set())


def arrived(item: Any, carried: set[int]) -> list[Stray]:
    """Return the scalars that an item has got, those among them that went before and are back (see `strays.got`)."""
    following = (departure.following for departure in item.content.departures)
    by_path: dict[tuple[str, ...], Stray] = {}
    for source in (None if is_new(item) else item.content.first, *following):
        by_path.update((stray.parts, stray) for stray in got(item, source, carried))
    return [*by_path.values()]


def had(item: Any, carried: set[int]) -> Iterator[Stray]:
    """Yield the scalars of an item that went as a whole, and those that had gone from it before."""
    for departure in item.content.departures:
        yield from departure.scalars(carried)
    source = last_text(item.content)
    text = (source.text if source else item.content.text).decode()
    yield from (stray._replace(text=text) for stray in scalars(item, carried))


def without(strays: Iterable[Stray], common: Counter[str]) -> Iterator[Stray]:
    """Yield scalars without the first ones that others are equal to, by how many there are of each."""
    rest = common.copy()
    for stray in strays:
        text = align.text_of(stray.value)
        rest[text] -= 1
        if rest[text] < 0:
            yield stray
