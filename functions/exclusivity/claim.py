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
    """The claimant: a DeviceConfig, a Ptemplate or a hand-written Module."""
    selector: Mapping[str, str]
    """Labels that a node must have, with their values; {} is every node."""
    field: str = "spec.nodeSelector"
    """The path of the selector."""
    domain: str | None = None
    """Claims of one domain exclude each other: DeviceConfigs of one profile, or those without a profile; None: it can
    only exclude others by its kernel modules."""
    kernel_modules: frozenset[str] = frozenset()
    """The kernel modules that it loads; `-` and `_` are equal in these names, as in modprobe."""
    pool: str = ""
    """The node pool's name, where one config has several."""
    place: Place | None = None
    """Where the resource stands; the selector's own line is looked up when a conflict is reported."""
    module: tuple[str, str] = ("", "")
    """Namespace and name of the Module that drives the nodes."""
    of_hub: bool = False
    """Whether the nodes are those of a hub's clusters."""
    version: str = ""
    """The driver's version, where it is known: of two versions of one driver one may be a canary."""
    external: str = ""
    """The words for where it comes from, when that is elsewhere: `from --against`; "" for a claim of the input."""

    @property
    def claimant(self) -> str:
        """The claimant in words: `pool big of DeviceConfig kmm/a`."""
        return f"pool {self.pool} of {self.ref}" if self.pool else str(self.ref)


FindPlace = Callable[[Claim], Place | None]
"""Returns the place of a claim's selector."""


class Conflict(NamedTuple):
    """Claims that exclude each other and meet: all of `first`, or each of `first` with each of `second`."""

    kind: Kind
    first: tuple[Claim, ...]
    second: tuple[Claim, ...] = ()
    modules: tuple[str, ...] = ()
    """The kernel modules that all of them load (kind module)."""
    nodes: Sequence[Sequence[str]] = ()
    """The real nodes that they meet on, as sorted lists without common names; empty: they could meet on some node."""
    unseen: bool = False
    """Whether there are real nodes, and the claims meet on none of them."""

    @property
    def severity(self) -> Severity:
        """An error on a real node; a possible conflict is an error only when no nodes are given."""
        return "error" if self.nodes or not (self.unseen or self.kind == "pool") else "warning"


def local_conflict(conflict: Conflict) -> Conflict | None:
    """Return the conflict without the pairs of two external claims (--against); None when no pair remains.

    Its first claim is one of the input, which the finding is about.
    """
    first, second = conflict.first, conflict.second
    local, other_local = (tuple(claim for claim in side if not claim.external) for side in (first, second))
    if not (local or other_local):
        return None
    if second and not local:
        first, second = other_local, first
    elif second and not other_local:
        first = local
    first, second = (tuple(sorted(side, key=lambda claim: bool(claim.external))) for side in (first, second))
    return conflict._replace(first=first, second=second)


class ExclusionGroup(NamedTuple):
    """Claims, by position, of which no two may select the same node."""

    kind: Kind
    members: list[int]
    module: str = ""
    """The kernel module that all of them load (kind module)."""


class Groups:
    """Claims with their selectors, owners and domains as numbers, and the groups in which two exclude each other.

    The claims are sorted by resource, then by everything else, so that their order in the input does not matter. Small
    groups come first, so that they are decided within the bound on the work.
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
            self.order += sorted(same, key=lambda at: _sort_key(claims[at])) if len(same) > 1 else same
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
        """Return True when two members exclude each other; in one domain they do already, without a kernel module."""
        owners = members if kind == "pool" else map(self.owner.__getitem__, members)
        return len({*owners}) > 1 and (kind != "module" or len({self.domain[i] for i in members}) > 1)

    def clashes(self, claims: Iterable[int]) -> Iterator[tuple[ExclusionGroup, tuple[int, ...]]]:
        """Yield the groups with the claims on one node that exclude each other in them."""
        members_of = grouped((number, i) for i in claims for number in self.of_claim.get(i, ()))
        for number, members in members_of.items():
            if len(members) > 1 and self.clash(self.groups[number].kind, members):
                yield self.groups[number], tuple(members)


Rivals = dict[int, frozenset[int]]
"""Claims by position, each with all claims of the groups in which it excludes another one, itself included."""


def index_rivals(claims: Sequence[Claim]) -> Callable[[Iterable[int]], Rivals]:
    """Return the function that finds, among claims on one node (by position), those that exclude each other.

    The claims are indexed once.
    """
    groups = Groups(claims)
    numbers = {position: number for number, position in enumerate(groups.order)}

    def rivals_of(claims_on_node: Iterable[int]) -> Rivals:
        rivals: Rivals = {}
        for _, members in groups.clashes(numbers[position] for position in claims_on_node):
            positions = frozenset(groups.order[member] for member in members)
            for position in positions:
                rivals[position] = rivals.get(position, frozenset()) | positions
        return rivals

    return rivals_of


def _sort_key(claim: Claim) -> tuple[object, ...]:
    """Return what claims of one resource are sorted by."""
    domain = (claim.domain is not None, claim.domain or "")
    labels = sorted(claim.selector.items())
    return (claim.pool, claim.field, labels, (claim.place or Place())[:4], domain, sorted(claim.kernel_modules))
