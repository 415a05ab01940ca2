"""What an edit took away, to be found again where an equal value has come."""

from collections import deque
from collections.abc import Iterator

from ..typed import Any
from . import align, replaced
from .replaced import Gone

__all__ = ["Candidates", "Place", "places_below", "places_in"]

Place = tuple[Any, Any]
"""A collection of the new data, and a key or an index in it."""


class Candidates:
    """What went, found by its value, and by that with its key, with where it went from, and with its identity."""

    def __init__(self, parts: Iterator[Gone], used: set[int]) -> None:
        """Sort what went; those in `used`, which grows, are no candidates any more."""
        self.used = used
        self.by_text: dict[str, deque[Gone]] = {}
        self.by_trait: dict[tuple[str, str, Any], deque[Gone]] = {}
        self.checked: set[str] = set()
        """The texts of equal values of which it is known that it does not matter which of them is where."""
        for part in parts:
            text = align.text_of(part.origin.old)
            self.by_text.setdefault(text, deque()).append(part)
            for trait in (("name", part.name), ("holder", part.holder), ("value", id(part.origin.old))):
                self.by_trait.setdefault((text, *trait), deque()).append(part)

    def sure(self, place: Place) -> Gone | None:
        """Return which of the equal values that went is the one at a place, where that is the same, or its key is."""
        (data, name), value = place, place[0][place[1]]
        text = align.text_of(value)
        identical = None if replaced.is_little(value) else self._first(self.by_trait.get((text, "value", id(value))))
        named = self._first(self.by_trait.get((text, "name", name))) if isinstance(data, dict) else None
        return identical or named

    def rest(self, place: Place, count: int) -> Gone | None:
        """Return which of the equal values that went and are not used yet stands where `count` equal ones have come.

        One of the same collection comes first. A value that says little has to be the only one. Raises WouldLose where
        nobody knows which it is.
        """
        (data, name), is_little = place, replaced.is_little(place[0][place[1]])
        text = align.text_of(data[name])
        if self._first(self.by_text.get(text)) is None:
            return None
        self._check_alike(text, place, count if is_little else 1, least=1 if is_little else count + 1)
        if is_little:
            return self._only(text, place) if count == 1 else None
        return self._first(self.by_trait.get((text, "holder", id(data)))) or self._first(self.by_text[text])

    def _only(self, text: str, place: Place) -> Gone | None:
        """Return the first of equal values that say little; None where it is a word that another one may be."""
        match = self._first(self.by_text[text])
        if match is None or not replaced.is_word(match):
            return match
        replaced.check_word(match, replaced.path_to(match.origin.walk, *place))
        are_more = sum(id(part.origin.node) not in self.used for part in self.by_text[text]) > 1
        return None if are_more and not match.origin.comments else match

    def _first(self, parts: "deque[Gone] | None") -> Gone | None:
        """Return the first that is not used yet; those before it are forgotten."""
        while parts and id(parts[0].origin.node) in self.used:
            parts.popleft()
        return parts[0] if parts else None

    def _check_alike(self, text: str, place: Place, come: int, least: int) -> None:
        """Raise WouldLose where so many equal values went, or more, that are not alike, or fewer than have come.

        Once for a text: of those that are alike, and of too few, later questions are about some.
        """
        if text not in self.checked:
            self.checked.add(text)
            free = [part for part in self.by_text[text] if id(part.origin.node) not in self.used]
            if len(free) >= least:
                replaced.check_alike(free, replaced.path_to(free[0].origin.walk, *place), come)


def places_in(value: Any) -> Iterator[Place]:
    """Yield the places of a collection, none of another value."""
    if isinstance(value, (dict, list)):
        yield from ((value, name) for name in (value if isinstance(value, dict) else range(len(value))))


def places_below(places: list[Place]) -> Iterator[Place]:
    """Yield some places and those below them, outer ones first."""
    stack = places[::-1]
    while stack:
        data, name = stack.pop()
        yield data, name
        stack += [*places_in(data[name])][::-1]
