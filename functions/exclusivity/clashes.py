"""Of claims that meet on one node, those that exclude each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .claim import Claim
from .groups import exclusion_groups, index_of


def clashing(claims: Sequence[Claim]) -> Callable[[Iterable[int]], dict[int, frozenset[int]]]:
    """Return the function that gives, of claims on one node (by position), those that exclude another one of them.

    Each comes with all that it is in one group with, itself included: of those some other one is what it excludes.
    The claims are indexed once.
    """
    own = [claim._replace() for claim in claims]  # told apart by their identity, also when two are equal
    position_of = {id(claim): position for position, claim in enumerate(own)}
    index = index_of(own)
    groups = exclusion_groups(index)
    numbers = {position_of[id(claim)]: number for number, claim in enumerate(index.claims)}
    groups_of: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        for member in group.members:
            groups_of.setdefault(member, []).append(number)

    def answer(present: Iterable[int]) -> dict[int, frozenset[int]]:
        met: dict[int, dict[int, int]] = {}
        for position in present:
            for number in groups_of.get(numbers[position], ()):
                met.setdefault(number, {})[numbers[position]] = position
        excluded: dict[int, frozenset[int]] = {}
        for number, members in met.items():
            if len(members) > 1 and index.clash(groups[number].kind, members):
                together = frozenset(members.values())
                for position in together:
                    excluded[position] = excluded[position] | together if position in excluded else together
        return excluded

    return answer
