"""Packed pairs of claims, without pairs of one owner and without pairs that already conflict on a real node."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from .selectors import Work

Pairs = tuple[tuple[int, ...], tuple[int, ...]]
"""Claims by position: `(group, ())` all of which meet, or `(left, right)` each of which meets each."""


def unmet(
    left: Collection[int], right: Collection[int], marks: Callable[[int], frozenset[int]], work: Work
) -> Iterator[Pairs]:
    """Yield the pairs without those that have met: two claims with a common mark (the number of a real conflict).

    Claims with the same marks are taken together, so that a set without any marks costs nothing extra.
    """
    left_groups, right_groups = _by_marks(left, marks), _by_marks(right, marks)
    for n, (met, claims) in enumerate(left_groups):
        others = right_groups or left_groups[n + 1 :]
        work.spend(len(others) + len(claims))
        yield from _each(claims, [i for there, group in others if met.isdisjoint(there) for i in group])
        if not right_groups and not met:
            yield tuple(claims), ()


def of_different_owners(
    left: Collection[int], right: Collection[int], owner_of: Callable[[int], int]
) -> Iterator[Pairs]:
    """Yield the pairs without those of one owner, each owner by its first claim."""
    first_left, first_right = _first(left, owner_of), _first(right, owner_of)
    if not first_right:
        yield tuple(first_left.values()), ()
        return
    both = first_left.keys() & first_right.keys()
    yield from _each(first_left.values(), [claim for owner, claim in first_right.items() if owner not in both])
    # Owners in left and right: each against the others, and never one's left claim against another's left claim.
    yield from _each(
        [claim for owner, claim in first_left.items() if owner not in both], [first_right[owner] for owner in both]
    )
    for owner in sorted(both):
        yield from _each([first_left[owner]], [first_right[other] for other in both if other > owner])


def _each(left: Iterable[int], right: Iterable[int]) -> Iterator[Pairs]:
    """Yield each with each: the smaller group first, a single pair as one group, nothing when a group is empty."""
    one, other = sorted((tuple(sorted(left)), tuple(sorted(right))), key=lambda claims: (len(claims), claims))
    if one:
        yield (tuple(sorted(one + other)), ()) if len(other) == 1 else (one, other)


def _first(claims: Iterable[int], owner_of: Callable[[int], int]) -> dict[int, int]:
    """Return the first claim of each owner, in the order of claims."""
    first: dict[int, int] = {}
    for claim in sorted(claims):
        first.setdefault(owner_of(claim), claim)
    return first


def _by_marks(claims: Iterable[int], marks: Callable[[int], frozenset[int]]) -> list[tuple[frozenset[int], list[int]]]:
    alike: dict[frozenset[int], list[int]] = {}
    for claim in claims:
        alike.setdefault(marks(claim), []).append(claim)
    return list(alike.items())
