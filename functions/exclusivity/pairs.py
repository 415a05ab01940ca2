"""Sets of overlapping claims made fit to tell: nobody against himself, and nothing that real nodes tell already."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from .selectors import Work

Sides = tuple[tuple[int, ...], tuple[int, ...]]
"""Claims by position: `(group, ())` all of which meet, or `(left, right)` each of which meets each."""


def unmet(
    left: Collection[int], right: Collection[int], marks: Callable[[int], frozenset[int]], work: Work
) -> Iterator[Sides]:
    """The same pairs without those that have met: two claims with a common mark (the number of a real conflict).

    Claims with the same marks are taken together, so that a set without any marks costs nothing extra.
    """
    lefts, rights = _by_marks(left, marks), _by_marks(right, marks)
    for n, (met, claims) in enumerate(lefts):
        others = rights or lefts[n + 1 :]
        work.spend(len(others) + len(claims))
        yield from _each(claims, [i for there, group in others if met.isdisjoint(there) for i in group])
        if not rights and not met:
            yield tuple(claims), ()


def told_apart(left: Collection[int], right: Collection[int], who: Callable[[int], int]) -> Iterator[Sides]:
    """The same pairs without those of one owner (`who` gives it), each owner by its first claim."""
    lefts, rights = _first(left, who), _first(right, who)
    if not rights:
        yield tuple(lefts.values()), ()
        return
    both = lefts.keys() & rights.keys()
    yield from _each(lefts.values(), [claim for owner, claim in rights.items() if owner not in both])
    # Owners on both sides: each against the others, and never one's left claim against another's left claim.
    yield from _each([claim for owner, claim in lefts.items() if owner not in both], [rights[owner] for owner in both])
    for owner in sorted(both):
        yield from _each([lefts[owner]], [rights[other] for other in both if other > owner])


def _each(left: Iterable[int], right: Iterable[int]) -> Iterator[Sides]:
    """Each with each: the smaller side first, a pair as a group, nothing when a side is empty."""
    one, other = sorted((tuple(sorted(left)), tuple(sorted(right))), key=lambda side: (len(side), side))
    if one:
        yield (tuple(sorted(one + other)), ()) if len(other) == 1 else (one, other)


def _first(claims: Iterable[int], who: Callable[[int], int]) -> dict[int, int]:
    """owner -> its first claim, in the order of claims."""
    first: dict[int, int] = {}
    for claim in sorted(claims):
        first.setdefault(who(claim), claim)
    return first


def _by_marks(claims: Iterable[int], marks: Callable[[int], frozenset[int]]) -> list[tuple[frozenset[int], list[int]]]:
    alike: dict[frozenset[int], list[int]] = {}
    for claim in claims:
        alike.setdefault(marks(claim), []).append(claim)
    return list(alike.items())
