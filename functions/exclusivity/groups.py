"""Groups of claims that exclude each other: of one domain, on one kernel module, or of the pools of one config."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from krmfn import Place, Ref
from krmfn.typed import NamedTuple

from .claim import Claim, Kind
from .selectors import Labels


class ExclusionGroup(NamedTuple):
    """Claims, by position, of which no two may select the same node."""

    kind: Kind
    members: list[int]
    module: str = ""
    """The kernel module that all of them load (kind module)."""


class Index(NamedTuple):
    """The claims in order, with their selectors, owners and domains as numbers."""

    claims: Sequence[Claim]
    selectors: list[Labels]
    """Per claim: what it selects."""
    owner: list[int]
    """Per claim: the position of the first claim of the same resource."""
    domain: list[int]
    """Per claim: the position of the first claim of the same domain, or of the same resource where there is none."""

    def owner_in(self, kind: Kind, claim: int) -> int:
        """Return the owner of a claim in a group of this kind: its resource; among pools the claim itself."""
        return claim if kind == "pool" else self.owner[claim]

    def by_selector(self, claims: Iterable[int]) -> dict[Labels, list[int]]:
        """Return the claims of each selector: those with the same selector are decided once."""
        groups: dict[Labels, list[int]] = {}
        for i in claims:
            groups.setdefault(self.selectors[i], []).append(i)
        return groups

    def clash(self, kind: Kind, members: Iterable[int]) -> bool:
        """Return True when two of them exclude each other; within a domain a common kernel module adds nothing."""
        members = list(members)
        if len({self.owner_in(kind, i) for i in members}) < 2:
            return False
        return kind != "module" or len({self.domain[i] for i in members}) > 1


def index_of(claims: Sequence[Claim]) -> Index:
    """Return the claims sorted by resource, then by all else, so that their order in the input does not matter."""
    ordered: list[Claim] = []
    owner: list[int] = []
    # Most resources have one claim: sorting by all else only among claims of one resource saves half the time.
    for _, group in groupby(sorted(claims, key=_ref), key=_ref):
        same = list(group)
        owner += [len(ordered)] * len(same)
        ordered += sorted(same, key=_rest) if len(same) > 1 else same
    first: dict[object, int] = {}
    domain = []
    for i, claim in enumerate(ordered):
        domain.append(first.setdefault(claim.ref if claim.domain is None else claim.domain, i))
    return Index(ordered, [frozenset(claim.selector.items()) for claim in ordered], owner, domain)


class Groups(NamedTuple):
    """The groups of some claims, the small ones first: they are always decided."""

    indexed: Index
    groups: list[ExclusionGroup]
    of_claim: dict[int, list[int]]
    """The numbers of the groups that a claim is in."""

    def clashes(self, claims: Iterable[int]) -> Iterator[tuple[ExclusionGroup, tuple[int, ...]]]:
        """Yield, of claims on one node, the sets that exclude each other."""
        present: dict[int, list[int]] = {}
        for i in claims:
            for number in self.of_claim.get(i, ()):
                present.setdefault(number, []).append(i)
        for number, members in present.items():
            if len(members) > 1 and self.indexed.clash(self.groups[number].kind, members):
                yield self.groups[number], tuple(members)


def groups_of(index: Index) -> Groups:
    """Return the groups in which two claims exclude each other, the small ones first."""
    pools: dict[int, list[int]] = defaultdict(list)
    drivers: dict[str, list[int]] = defaultdict(list)
    modules: dict[str, list[int]] = defaultdict(list)
    for i, claim in enumerate(index.claims):
        if index.owner[i] < i and claim.pool:
            pools[index.owner[i]].append(i)
        if claim.domain is not None:
            drivers[claim.domain].append(i)
        for name in {name.replace("-", "_") for name in claim.kernel_modules}:
            modules[name].append(i)
    groups = [ExclusionGroup("pool", [first, *others]) for first, others in pools.items()]
    groups += [ExclusionGroup("driver", members) for members in drivers.values()]
    groups += [ExclusionGroup("module", members, name) for name, members in modules.items()]
    groups = [group for group in groups if len(group.members) > 1 and index.clash(group.kind, group.members)]
    groups.sort(key=lambda group: (len(group.members), group))
    of_claim: dict[int, list[int]] = {}
    for number, group in enumerate(groups):
        for member in group.members:
            of_claim.setdefault(member, []).append(number)
    return Groups(index, groups, of_claim)


def clashing(claims: Sequence[Claim]) -> Callable[[Iterable[int]], dict[int, frozenset[int]]]:
    """Return the function that gives, of claims on one node (by position), those that exclude another one of them.

    Each comes with all that it is in one group with, itself included: of those some other one is what it excludes.
    The claims are indexed once.
    """
    distinct = [claim._replace() for claim in claims]  # told apart by their identity, also when two are equal
    position_of = {id(claim): position for position, claim in enumerate(distinct)}
    groups = groups_of(index_of(distinct))
    positions = [position_of[id(claim)] for claim in groups.indexed.claims]
    numbers = {position: number for number, position in enumerate(positions)}

    def excluded(present: Iterable[int]) -> dict[int, frozenset[int]]:
        rivals: dict[int, frozenset[int]] = {}
        for _, members in groups.clashes(numbers[position] for position in present):
            positions_of_group = frozenset(positions[member] for member in members)
            for position in positions_of_group:
                rivals[position] = rivals.get(position, frozenset()) | positions_of_group
        return rivals

    return excluded


def _ref(claim: Claim) -> Ref:
    return claim.ref


def _rest(claim: Claim) -> tuple[object, ...]:
    domain = (claim.domain is not None, claim.domain or "")
    labels = sorted(claim.selector.items())
    return (claim.pool, claim.field, labels, (claim.place or Place())[:4], domain, sorted(claim.kernel_modules))
