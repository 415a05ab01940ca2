"""Which equality selectors can select a common node, which of them select a given node, and packed pairs of them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from krmfn.typed import TypeVar

from ..grouping import grouped

Labels = frozenset[tuple[str, str]]
"""A selector as a set of (label, value) pairs."""

Name = TypeVar("Name", str, tuple[str, int])
"""A node's name, which is unique, or that with a number which makes it so."""
Group = tuple[list[int], list[int]]
"""Selectors by position: `(group, [])` is about all pairs in the group, `(left, right)` about each with each."""


class Exhausted(Exception):
    """The bound on the work is reached; what is not decided by now stays undecided."""


class Work:
    """The steps that are left; one step is about one look-up."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def spend(self, steps: int) -> None:
        """Take `steps`, or raise Exhausted."""
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted


def overlaps(selectors: Sequence[Labels], work: Work) -> Iterator[Group]:
    """Yield every pair of distinct selectors that can select one node, packed into groups (positions in `selectors`).

    Each pair is in exactly one group, and each selector in exactly one `(group, [])`, alone if need be.

    Two equality selectors are disjoint for every possible node iff they share a label with different values (Kubernetes
    label selectors; a node has one value per label). So a label that occurs with two values splits the selectors into
    groups that cannot overlap, plus those without this label, which may overlap any of them; and where no label occurs
    with two values, all overlap. Selectors that differ in a common label, as good ones are, cost linear time.
    """
    waiting: list[Group] = [(list(range(len(selectors))), [])]
    while waiting:
        left, right = waiting.pop()
        if len(left) == 1 and not right:
            yield left, right
            continue
        work.spend(sum(len(selectors[i]) + 1 for i in (*left, *right)))
        if (parts := _parts(selectors, left, right)) is None:
            yield left, right
        else:
            waiting += parts


def _parts(selectors: Sequence[Labels], left: list[int], right: list[int]) -> list[Group] | None:
    """Return the smaller groups that a group, or left against right, splits into; None when each overlaps each."""
    index = _index(selectors, left)
    other_index = _index(selectors, right) if right else index
    shared = ((key, values, other_index[key]) for key, values in index.items() if key in other_index)
    keys = [key for key, values, others in shared if len(values) > 1 or values.keys() != others.keys()]
    if not keys:
        return None
    _, key = max((sum(map(len, [*index[key].values(), *other_index[key].values()])), key) for key in keys)
    groups, others = index[key], other_index[key]
    having, lacking = _split(groups, left)
    if not right:
        parts: list[Group] = [(group, []) for group in groups.values()]
        return [*parts, (lacking, []), (having, lacking)] if lacking else parts
    _, right_lacking = _split(others, right)
    parts = [(group, others[value]) for value, group in groups.items() if value in others]
    parts += [(having, right_lacking)] if right_lacking else []
    return [*parts, (lacking, right)] if lacking else parts


def _index(selectors: Sequence[Labels], rows: Iterable[int]) -> dict[str, dict[str, list[int]]]:
    """Return the rows that have each label and value: label -> value -> rows."""
    index: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        for key, value in selectors[row]:
            index.setdefault(key, {}).setdefault(value, []).append(row)
    return index


def _split(values: dict[str, list[int]], rows: list[int]) -> tuple[list[int], list[int]]:
    """Return the rows that have a label, given its values, and those that lack it, in the order of `rows`."""
    having = {row for group in values.values() for row in group}
    return [row for row in rows if row in having], [row for row in rows if row not in having]


def match(
    selectors: Sequence[Labels], nodes: Iterable[tuple[Name, Mapping[str, str]]], work: Work
) -> Iterator[tuple[tuple[int, ...], list[Name]]]:
    """Yield, for all nodes (name and labels), the selectors, as positions, that select them, and the nodes' names.

    Nodes that look the same to every selector are matched once, and only selectors are tried whose rarest label the
    node has: near-linear, unless many selectors share all their labels. So equal ones are passed once.
    """
    known: Labels = frozenset().union(*selectors)
    keys = {key for key, _ in known}
    alike: dict[Labels, list[Name]] = {}
    for name, labels in nodes:
        # the smaller of the two is walked through: a node may have forty labels, of which selectors use one
        pairs = [(key, labels[key]) for key in keys if key in labels] if len(keys) < len(labels) else labels.items()
        alike.setdefault(known.intersection(pairs), []).append(name)
    nodes_with = Counter(pair for seen in alike for pair in seen)
    labelled = ((i, selector) for i, selector in enumerate(selectors) if selector)
    by_rarest = grouped((min(selector, key=lambda pair: (nodes_with[pair], pair)), i) for i, selector in labelled)
    everywhere = [i for i, selector in enumerate(selectors) if not selector]
    for names in alike.values():
        names.sort()
    # The order decides what is still undecided when the work runs out, so it must not depend on the input's order.
    for seen in sorted(alike, key=lambda seen: alike[seen][0]):
        tried = [i for pair in seen if pair in by_rarest for i in by_rarest[pair]]
        work.spend(len(tried))
        yield tuple(sorted(everywhere + [i for i in tried if selectors[i] <= seen])), alike[seen]


Pairs = tuple[tuple[int, ...], tuple[int, ...]]
"""Claims by position: `(group, ())` all of which meet, or `(left, right)` each of which meets each."""


def unmet(
    left: Collection[int], right: Collection[int], marks: Callable[[int], frozenset[int]], work: Work
) -> Iterator[Pairs]:
    """Yield the pairs without those that have met: two claims with a common mark (the number of a real conflict).

    Claims with the same marks are taken together, so that a set without any marks costs nothing extra.
    """
    left_groups = list(grouped((marks(i), i) for i in left).items())
    right_groups = list(grouped((marks(i), i) for i in right).items()) if right else []
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
    first_left = {owner_of(i): i for i in sorted(left, reverse=True)}
    if not right:
        yield tuple(sorted(first_left.values())), ()
        return
    first_right = {owner_of(i): i for i in sorted(right, reverse=True)}
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
