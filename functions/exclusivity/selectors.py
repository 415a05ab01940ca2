"""Equality selectors in bulk: which of them can meet on some node, and which of them do meet on a given one.

Both questions are quadratic when asked pair by pair. Here they are asked of groups, and every step is counted, so that
a hostile input ends in `Exhausted` instead of an hour of silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

Pairs = frozenset[tuple[str, str]]
"""A selector as its (label, value) pairs."""

Group = tuple[list[int], list[int]]
"""Selectors by position: `(group, [])` is about all pairs in the group, `(left, right)` about each with each."""


class Node(NamedTuple):
    """A node as exclusivity sees it; names are unique (who reads the input reports a node that is there twice)."""

    name: str
    labels: Mapping[str, str]


class Exhausted(Exception):
    """The work bound is reached; what was not looked at by now is not decided."""


class Work:
    """The steps that are left; one step is about one look-up."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> None:
        """Take `steps`, or raise Exhausted."""
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted


def overlaps(selectors: Sequence[Pairs], work: Work) -> Iterator[Group]:
    """Every pair of distinct selectors that can select one node, packed into groups (as positions in `selectors`).

    Each pair is in exactly one group, and each selector in exactly one `(group, [])`, alone if need be.

    Two equality selectors are disjoint for every possible node iff they share a label with different values (Kubernetes
    label selectors; a node has one value per label). So a label that occurs with two values splits the selectors into
    groups that cannot meet, plus those without this label, which may meet any of them; and where no label occurs with
    two values, all meet. Selectors that are told apart by a common label, as good ones are, cost linear time.
    """
    waiting: list[Group] = [(list(range(len(selectors))), [])]
    while waiting:
        left, right = waiting.pop()
        if len(left) == 1 and not right:
            yield left, right
            continue
        work.spend(sum(len(selectors[i]) + 1 for i in left) + sum(len(selectors[i]) + 1 for i in right))
        parts = _across(selectors, left, right) if right else _within(selectors, left)
        if parts is None:
            yield left, right
        else:
            waiting += parts


def _within(selectors: Sequence[Pairs], rows: list[int]) -> list[Group] | None:
    """The smaller questions that one group comes down to, None when all of it overlaps."""
    index = _index(selectors, rows)
    keys = [key for key, values in index.items() if len(values) > 1]
    if not keys:
        return None
    _, key = max((sum(map(len, index[key].values())), key) for key in keys)
    having, lacking = _split(index[key], rows)
    parts: list[Group] = [(group, []) for group in index[key].values()]
    return [*parts, (lacking, []), (having, lacking)] if lacking else parts


def _across(selectors: Sequence[Pairs], left: list[int], right: list[int]) -> list[Group] | None:
    """The smaller questions that left against right comes down to, None when each overlaps each."""
    lefts, rights = _index(selectors, left), _index(selectors, right)
    keys = [key for key in lefts.keys() & rights.keys() if len(lefts[key].keys() | rights[key].keys()) > 1]
    if not keys:
        return None
    _, key = max((sum(map(len, [*lefts[key].values(), *rights[key].values()])), key) for key in keys)
    having, lacking = _split(lefts[key], left)
    _, right_lacking = _split(rights[key], right)
    parts = [(group, rights[key][value]) for value, group in lefts[key].items() if value in rights[key]]
    parts += [(having, right_lacking)] if right_lacking else []
    return [*parts, (lacking, right)] if lacking else parts


def _index(selectors: Sequence[Pairs], rows: Iterable[int]) -> dict[str, dict[str, list[int]]]:
    """label -> value -> rows."""
    index: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        for key, value in selectors[row]:
            index.setdefault(key, {}).setdefault(value, []).append(row)
    return index


def _split(values: dict[str, list[int]], rows: list[int]) -> tuple[list[int], list[int]]:
    """The rows that have a label, given its values, and those that lack it; both in the order of `rows`."""
    having = {row for group in values.values() for row in group}
    return [row for row in rows if row in having], [row for row in rows if row not in having]


def match(selectors: Sequence[Pairs], nodes: Iterable[Node], work: Work) -> Iterator[tuple[tuple[int, ...], list[str]]]:
    """For all nodes: the selectors (as positions) that select them, with the names of these nodes.

    Nodes that look the same to every selector are asked once, and only selectors are tried whose rarest label the node
    has: near-linear, unless many selectors share all their labels.
    """
    known: Pairs = frozenset().union(*selectors)
    alike: dict[Pairs, list[str]] = {}
    for node in nodes:
        alike.setdefault(known.intersection(node.labels.items()), []).append(node.name)
    number = Counter(pair for seen in alike for pair in seen)
    by_rarest: dict[tuple[str, str], list[int]] = {}
    for i, selector in enumerate(selectors):
        if selector:
            by_rarest.setdefault(min(selector, key=lambda pair: (number[pair], pair)), []).append(i)
    everywhere = [i for i, selector in enumerate(selectors) if not selector]
    for names in alike.values():
        names.sort()
    # The order decides what is still undecided when the work runs out, so it must not depend on the input's order.
    for seen in sorted(alike, key=lambda seen: alike[seen][0]):
        tried = [i for pair in seen if pair in by_rarest for i in by_rarest[pair]]
        work.spend(len(tried))
        yield tuple(sorted(everywhere + [i for i in tried if selectors[i] <= seen])), alike[seen]
