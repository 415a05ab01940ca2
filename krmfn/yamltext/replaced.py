"""Values that moved onto a field or an entry that was there: their comments take the place of the former value's."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from itertools import chain

from ..typed import Any, NamedTuple
from . import align, losses, origins
from .origins import Origin
from .simple import OLD

__all__ = ["Gone", "Written", "check_alike", "check_word", "is_little", "is_word", "moved_onto", "parts", "path_to"]


class Gone(NamedTuple):
    """A value that is not at its place any more."""

    origin: Origin
    name: Any
    """The key that it had; None in a list."""
    holder: int
    """The identity of the new collection that it went from; 0 for a part of what went."""


class Written(NamedTuple):
    """A place whose value is another one now."""

    old: Origin
    data: Any
    """The new collection that holds it."""
    name: Any

    @property
    def value(self) -> Any:
        """Return what is there now."""
        return self.data[self.name]


def parts(gone: Gone, others: Set[int] = frozenset()) -> Iterator[Gone]:
    """Yield what went and its parts, at all levels, but for the `others` and their parts."""
    if id(gone.origin.node) in others:
        return
    yield gone
    for name, part in origins.parts_of(gone.origin.walk, gone.origin.node, gone.origin.old):
        yield from parts(Gone(part, name if part.key else None, 0), others)


def is_little(value: Any) -> bool:
    """Return True for a value that says as little as many others do: a number, a boolean, one character."""
    return not value or (not isinstance(value, (dict, list)) and (not isinstance(value, str) or len(value) < 2))


def moved_onto(
    walk: Any, written: list[Written], gone: Iterable[Gone], is_free: Callable[[Gone], bool]
) -> dict[tuple[int, Any], Origin]:
    """Return which values that went, with comments, stand at places where others were: by collection and name.

    What stood at such a place went, too, and may stand at another one. Raises WouldLose where nobody knows which value
    it is.
    """
    texts = {id(place): align.text_of(place.value) for place in written}
    counts = Counter[Any](texts.values())
    counts.update((texts[id(place)], place.name) for place in written if isinstance(place.data, dict))
    known: dict[str, list[Gone]] = {}
    used = set[int]()
    origins: dict[tuple[int, Any], Origin] = {}
    went: list[Gone] = [*chain.from_iterable(map(parts, gone))]
    while went:
        for source in filter(is_free, went):
            known.setdefault(align.text_of(source.origin.old), []).append(source)
        went = []
        for place in written:
            key = id(place.data), place.name
            equal = known.get(texts[id(place)], ())
            free = [part for part in equal if is_free(part) and id(part.origin.node) not in used]
            part = _which(walk, place, free, counts) if key not in origins else None
            if part is None or not part.origin.comments:
                continue
            _check_place(walk, place, part)
            origins[key] = part.origin
            used.update(id(other.origin.node) for other in parts(part))
            went += parts(Gone(place.old, place.name, 0))
    return origins


def _which(walk: Any, place: Written, free: list[Gone], counts: Counter[Any]) -> Gone | None:
    """Return which of the equal values that went is at a place; None for a new one. Raises WouldLose.

    `counts`: at how many places each value is written, by its text, and by that with the key.
    """
    same = walk.known(place.value)
    identical = [part for part in free if same and part.origin.node is same.node]
    named = [part for part in free if isinstance(place.data, dict) and part.name == place.name]
    for sure in (identical, named):
        if len(sure) == 1:
            return sure[0]
    text = align.text_of(place.value)
    if same:  # it is a copy
        return None
    if counts[text] > len(free):  # some of them are new: one that has its old key is elsewhere
        names = Counter(part.name for part in free)
        direct = [part for part in free if part.holder and (names[part.name] > 1 or not counts[text, part.name])]
        if direct:
            check_alike(direct, path_to(walk, place.data, place.name), counts[text])
        return None
    path = path_to(walk, place.data, place.name) if free else ()
    if len(free) > 1:
        check_alike(free, path)
    if free:
        check_word(free[0], path)
    return free[0] if free else None


def is_word(gone: Gone) -> bool:
    """Return True for a boolean that is a string to kustomize (`yes`): an equal one need not be meant to be that."""
    return isinstance(gone.origin.old, bool) and gone.origin.node.value in OLD


def check_word(gone: Gone, path: tuple[str, ...]) -> None:
    """Raise WouldLose for such a word with a comment that went with what it was in, and is not known by its key."""
    comments = gone.origin.comments
    if comments and not gone.holder and is_word(gone):
        raise losses.WouldLose(losses.unknown_word(gone.origin.node.value, comments[0]), path)


def check_alike(gone: list[Gone], path: tuple[str, ...], come: int = 1) -> None:
    """Raise WouldLose when equal values that went have other comments: nobody knows which of them is still there.

    And where one has a comment, and more have `come` than went: nobody knows which of these it is. Of what is said of
    many (see `losses.is_said_of_many`) that is asked only of what went by itself, not with a mapping or list around it.
    """
    are_more = come > len(gone)
    if are_more and losses.is_said_of_many(gone[0].origin.old):
        gone = [part for part in gone if part.holder]
    remarks = ["\n".join(part.origin.comments) for part in gone]
    if len({*remarks}) > 1 or (are_more and any(remarks)):
        raise losses.WouldLose(losses.unknown(len(gone), next(filter(None, remarks)).partition("\n")[0], come), path)


def _check_place(walk: Any, place: Written, part: Gone) -> None:
    """Raise WouldLose where it may be chance that the two values are equal, and each has a comment."""
    comment, other = part.origin.comment, place.old.comment
    if is_little(place.value) and comment and other and comment != other:
        problem = f"the comment {comment[:40]!r} moves with its value onto {other[:40]!r}, or one of them would be lost"
        raise losses.WouldLose(
            f"cannot be written: {problem}; clear one first by `field.comment`", path_to(walk, place.data, place.name)
        )


def path_to(walk: Any, data: Any, name: Any) -> tuple[str, ...]:
    """Return the path of a place in an item, which may stand in a list of one."""
    is_listed = isinstance(walk.new, list) and len(walk.new) == 1
    stack: list[tuple[Any, tuple[str, ...]]] = [(walk.new[0] if is_listed else walk.new, ())]
    while stack:
        value, path = stack.pop()
        if value is data:
            return (*path, str(name))
        if isinstance(value, (dict, list)):
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            stack += [(part, (*path, str(key))) for key, part in entries]
    return tuple(walk.path)
