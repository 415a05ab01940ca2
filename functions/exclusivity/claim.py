"""Claims on nodes; the groups that exclude each other: of one domain, on one kernel module, or pools of one config."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from krmfn import Place, Ref
from krmfn.results import Severity
from krmfn.typed import Any, Literal, NamedTuple

from ..grouping import grouped
from .selectors import Labels

Kind = Literal["driver", "module", "pool"]
"""Why claims exclude each other: the driver job of one profile, a kernel module, or the pools of one config."""


class Claim(NamedTuple):
    """The nodes that a resource selects; none for a generated Module, since its config claims them."""

    ref: Ref
    """Who claims: a DeviceConfig, a Ptemplate or a hand-written Module."""
    selector: Mapping[str, str]
    """Labels a node must have with these values; {} is every node."""
    field: str = "spec.nodeSelector"
    """Where the selector is written."""
    domain: str | None = None
    """Which driver job: DeviceConfigs of one profile (or all of none) have one, and exclude each other; None: no such
    job, it can only be in the way of others by its kernel modules."""
    kernel_modules: frozenset[str] = frozenset()
    """What it loads; `-` and `_` are equal in these names, as modprobe has it."""
    pool: str = ""
    """The node pool's name, where one config has several."""
    place: Place | None = None
    """Where it stands; in which line the selector does is looked for when a conflict is reported."""
    module: tuple[str, str] = ("", "")
    """Namespace and name of the Module that drives the nodes."""
    of_hub: bool = False
    """The nodes are those of a hub's clusters."""
    external: str = ""
    """What it is called where it stands elsewhere (--against): `theirs`; "" for what is here."""

    @property
    def claimant(self) -> str:
        """Who claims, in words: `pool big of DeviceConfig kmm/a`."""
        return f"pool {self.pool} of {self.ref}" if self.pool else str(self.ref)


FindPlace = Callable[[Claim], Place | None]
"""What returns the place of a claim's selector."""


def place_of(claim: Claim) -> Place | None:
    """Return where a claim stands."""
    return claim.place


class Conflict(NamedTuple):
    """Claims that exclude each other and meet: all of `left`, or each of `left` with each of `right`."""

    kind: Kind
    left: tuple[Claim, ...]
    right: tuple[Claim, ...] = ()
    modules: tuple[str, ...] = ()
    """The kernel modules that all of them load (kind module)."""
    nodes: Sequence[Sequence[str]] = ()
    """Real nodes they meet on, as sorted lists without common names; none: they could meet on some node."""
    unseen: bool = False
    """No node at hand shows it, although there are some."""

    @property
    def severity(self) -> Severity:
        """An error on a real node; a possible conflict is an error only when no nodes are given."""
        return "error" if self.nodes or not (self.unseen or self.kind == "pool") else "warning"


def local_conflict(conflict: Conflict) -> Conflict | None:
    """Return the conflict without the pairs of which both claims stand elsewhere (--against); None without any other.

    Its first claim is one that stands here: the finding is about that one.
    """
    sides = [tuple(sorted(side, key=lambda claim: bool(claim.external))) for side in (conflict.left, conflict.right)]
    own = [tuple(claim for claim in side if not claim.external) for side in sides]
    if not any(own):
        return None
    left, right = sides
    if right and not own[0]:
        left, right = own[1], left
    elif right and not own[1]:
        left = own[0]
    return conflict._replace(left=left, right=right)


class ExclusionGroup(NamedTuple):
    """Claims, by position, of which no two may select the same node."""

    kind: Kind
    members: list[int]
    module: str = ""
    """The kernel module that all of them load (kind module)."""


class Groups:
    """Claims with their selectors, owners and domains as numbers, and the groups in which two exclude each other.

    The claims are sorted by resource, then by all else, so that their order in the input does not matter. The small
    groups come first: they are always decided.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.order: list[int] = []
        """Per claim: its position in the input."""
        self.owner: list[int] = []
        """Per claim: the position of the first claim of the same resource."""
        # Most resources have one claim: sorting by all else only among claims of one resource saves half the time.
        ref_at = [claim.ref for claim in claims].__getitem__
        for _, group in groupby(sorted(range(len(claims)), key=ref_at), key=ref_at):
            same = list(group)
            self.owner += [len(self.order)] * len(same)
            self.order += sorted(same, key=lambda at: _rest(claims[at])) if len(same) > 1 else same
        self.claims = [claims[at] for at in self.order]
        self.selectors: list[Labels] = [frozenset(claim.selector.items()) for claim in self.claims]
        first: dict[object, int] = {}
        domains = (claim.ref if claim.domain is None else claim.domain for claim in self.claims)
        self.domain = [first.setdefault(domain, i) for i, domain in enumerate(domains)]
        """Per claim: the position of the first claim of the same domain, or of the same resource where it has none."""
        several = (group for group in self._groups() if len(group.members) > 1)
        groups = (group for group in several if self.clash(group.kind, group.members))
        self.groups = sorted(groups, key=lambda group: (len(group.members), group))
        self.of_claim = grouped((i, number) for number, group in enumerate(self.groups) for i in group.members)
        """The numbers of the groups that a claim is in."""

    def _groups(self) -> Iterator[ExclusionGroup]:
        pools, drivers, modules = (defaultdict[Any, list[int]](list) for _ in range(3))
        for i, claim in enumerate(self.claims):
            if claim.pool and self.owner[i] < i:
                pools[self.owner[i]].append(i)
            if claim.domain is not None:
                drivers[claim.domain].append(i)
            for name in {name.replace("-", "_") for name in claim.kernel_modules}:
                modules[name].append(i)
        yield from (ExclusionGroup("pool", [first, *others]) for first, others in pools.items())
        yield from (ExclusionGroup("driver", members) for members in drivers.values())
        yield from (ExclusionGroup("module", members, name) for name, members in modules.items())

    def owner_in(self, kind: Kind, claim: int) -> int:
        """Return the owner of a claim in a group of this kind: its resource; among pools the claim itself."""
        return claim if kind == "pool" else self.owner[claim]

    def clash(self, kind: Kind, members: Sequence[int]) -> bool:
        """Return True when two of them exclude each other; within a domain a common kernel module adds nothing."""
        owners = members if kind == "pool" else map(self.owner.__getitem__, members)
        return len({*owners}) > 1 and (kind != "module" or len({self.domain[i] for i in members}) > 1)

    def clashes(self, claims: Iterable[int]) -> Iterator[tuple[ExclusionGroup, tuple[int, ...]]]:
        """Yield, of claims on one node, the sets that exclude each other."""
        present: dict[int, list[int]] = {}
        for i in claims:
            for number in self.of_claim.get(i, ()):
                present.setdefault(number, []).append(i)
        for number, members in present.items():
            if len(members) > 1 and self.clash(self.groups[number].kind, members):
                yield self.groups[number], tuple(members)


def index_rivals(claims: Sequence[Claim]) -> Callable[[Iterable[int]], dict[int, frozenset[int]]]:
    """Return the function that gives, of claims on one node (by position), those that exclude another one of them.

    Each comes with all that it is in one group with, itself included: of those some other one is what it excludes.
    The claims are indexed once.
    """
    groups = Groups(claims)
    numbers = {position: number for number, position in enumerate(groups.order)}

    def excluded(present: Iterable[int]) -> dict[int, frozenset[int]]:
        rivals: dict[int, frozenset[int]] = {}
        for _, members in groups.clashes(numbers[position] for position in present):
            positions = frozenset(groups.order[member] for member in members)
            for position in positions:
                rivals[position] = rivals.get(position, frozenset()) | positions
        return rivals

    return excluded


def _rest(claim: Claim) -> tuple[object, ...]:
    domain = (claim.domain is not None, claim.domain or "")
    labels = sorted(claim.selector.items())
    return (claim.pool, claim.field, labels, (claim.place or Place())[:4], domain, sorted(claim.kernel_modules))
