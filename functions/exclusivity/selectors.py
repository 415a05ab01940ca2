"""Equality selectors: which can select a common node, and which select a given node; pairs of them, packed."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from krmfn.typed import TypeVar

from ..grouping import grouped

Labels = frozenset[tuple[str, str]]
"""A selector as a set of (label, value) pairs."""

Name = TypeVar("Name", str, tuple[str, int])
"""A unique name of a node, or one with a number that makes it unique."""
Group = tuple[list[int], list[int]]
"""Selectors by position: `(group, [])` stands for all pairs in the group, `(first, second)` for each with each."""


class Exhausted(Exception):
    """The bound on the work is reached; the rest stays undecided."""


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

    Each pair is in exactly one group, and each selector in exactly one `(group, [])`, if need be alone.

    Two equality selectors are disjoint for every possible node iff they share a label with different values (Kubernetes
    label selectors; a node has one value per label). So a label that occurs with two values splits the selectors into
    groups that cannot overlap, plus those without this label, which may overlap any of them; and where no label occurs
    with two values, all overlap. Selectors with different values of a common label, the usual case, cost linear time.
    """
    pending: list[Group] = [(list(range(len(selectors))), [])]
    while pending:
        first, second = pending.pop()
        if len(first) == 1 and not second:
            yield first, second
            continue
        work.spend(sum(len(selectors[i]) + 1 for i in (*first, *second)))
        if (parts := _parts(selectors, first, second)) is None:
            yield first, second
        else:
            pending += parts


def _parts(selectors: Sequence[Labels], first: list[int], second: list[int]) -> list[Group] | None:
    """Return the smaller groups that a group splits into; None when it cannot be split, so that all pairs overlap."""
    index = _index(selectors, first)
    other_index = _index(selectors, second) if second else index
    shared = ((key, values, other_index[key]) for key, values in index.items() if key in other_index)
    keys = [key for key, values, others in shared if len(values) > 1 or values.keys() != others.keys()]
    if not keys:
        return None
    _, key = max((sum(map(len, [*index[key].values(), *other_index[key].values()])), key) for key in keys)
    groups, others = index[key], other_index[key]
    with_key, without_key = _split(groups, first)
    if not second:
        parts: list[Group] = [(group, []) for group in groups.values()]
        return [*parts, (without_key, []), (with_key, without_key)] if without_key else parts
    _, second_without_key = _split(others, second)
    parts = [(group, others[value]) for value, group in groups.items() if value in others]
    parts += [(with_key, second_without_key)] if second_without_key else []
    return [*parts, (without_key, second)] if without_key else parts


def _index(selectors: Sequence[Labels], rows: Iterable[int]) -> dict[str, dict[str, list[int]]]:
    """Return the rows that have each label and value: label -> value -> rows."""
    index: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        for key, value in selectors[row]:
            index.setdefault(key, {}).setdefault(value, []).append(row)
    return index


def _split(values: dict[str, list[int]], rows: list[int]) -> tuple[list[int], list[int]]:
    """Return the rows that have a label, given its values, and those without it, in the order of `rows`."""
    members = {row for group in values.values() for row in group}
    return [row for row in rows if row in members], [row for row in rows if row not in members]


def match(
    selectors: Sequence[Labels], nodes: Iterable[tuple[Name, Mapping[str, str]]], work: Work
) -> Iterator[tuple[tuple[int, ...], list[Name]]]:
    """Yield, for all nodes (name and labels), the positions of the selectors that select them, and the nodes' names.

    Nodes that look the same to every selector are matched once, and a selector is tried only on nodes with its rarest
    label: near-linear, unless many selectors share all their labels. So pass equal selectors once.
    """
    pairs: Labels = frozenset().union(*selectors)
    keys = {key for key, _ in pairs}
    names_of: dict[Labels, list[Name]] = {}
    for name, labels in nodes:
        # walk through the smaller of the two: a node may have forty labels, of which selectors use one
        items = [(key, labels[key]) for key in keys if key in labels] if len(keys) < len(labels) else labels.items()
        names_of.setdefault(pairs.intersection(items), []).append(name)
    numbers = Counter(pair for node_labels in names_of for pair in node_labels)
    labelled = ((i, selector) for i, selector in enumerate(selectors) if selector)
    by_rarest = grouped((min(selector, key=lambda pair: (numbers[pair], pair)), i) for i, selector in labelled)
    unconditional = [i for i, selector in enumerate(selectors) if not selector]
    # the order decides what is undecided when the work runs out, so it must not depend on the input's order
    groups = [(node_labels, sorted(names)) for node_labels, names in names_of.items()]
    for node_labels, names in sorted(groups, key=lambda group: group[1][0]):
        candidates = [i for pair in node_labels if pair in by_rarest for i in by_rarest[pair]]
        work.spend(len(candidates))
        yield tuple(sorted(unconditional + [i for i in candidates if selectors[i] <= node_labels])), names


Pairs = tuple[tuple[int, ...], tuple[int, ...]]
"""Claims by position: `(group, ())` stands for all pairs in the group, `(first, second)` for each with each."""


def unmet(claims: Group, marks: Callable[[int], frozenset[int]], work: Work) -> Iterator[Pairs]:
    """Yield the pairs of claims that do not meet on a real node: those without a common mark.

    A mark is the number of a real conflict. Claims with the same marks are compared together, so that a set without any
    marks costs nothing extra.
    """
    first_groups, second_groups = (list(grouped((marks(i), i) for i in side).items()) for side in claims)
    for number, (group_marks, group) in enumerate(first_groups):
        others = second_groups or first_groups[number + 1 :]
        work.spend(len(others) + len(group))
        rivals = [i for other_marks, members in others if group_marks.isdisjoint(other_marks) for i in members]
        yield from _packed(group, rivals)
        if not second_groups and not group_marks:
            yield tuple(group), ()


def of_different_owners(pairs: Pairs, owner_of: Callable[[int], int]) -> Iterator[Pairs]:
    """Yield the pairs without those of one owner; each owner is represented by its first claim."""
    first, second = ({owner_of(i): i for i in sorted(side, reverse=True)} for side in pairs)
    if not second:
        yield tuple(sorted(first.values())), ()
        return
    common = first.keys() & second.keys()
    yield from _packed(first.values(), [claim for owner, claim in second.items() if owner not in common])
    others = [claim for owner, claim in first.items() if owner not in common]
    yield from _packed(others, [second[owner] for owner in common])
    # owners on both sides: each against the others, and never two claims of one side
    for owner in sorted(common):
        yield from _packed([first[owner]], [second[other] for other in common if other > owner])


def _packed(first: Iterable[int], second: Iterable[int]) -> Iterator[Pairs]:
    """Yield each with each: the smaller group first, a single pair as one group, nothing when a group is empty."""
    groups = (tuple(sorted(first)), tuple(sorted(second)))
    small, large = sorted(groups, key=lambda claims: (len(claims), claims))
    if small:
        yield (tuple(sorted(small + large)), ()) if len(large) == 1 else (small, large)
