"""Node exclusivity: the conflicts between claims on nodes, on the nodes of the input and on any possible node."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from krmfn import Result
from krmfn.results import Severity

from ..grouping import grouped
from .claim import Claim, Conflict, ExclusionGroup, FindPlace, Groups, Kind, place_of
from .node import Node
from .selectors import Exhausted, Pairs, Work, match, of_different_owners, overlaps, unmet

__all__ = ["Claim", "Conflict", "Node", "check", "conflicts", "findings"]

STEPS = 5_000_000
"""The bound on the work of each pass beyond what is linear in its input: look-ups, some seconds of them."""

LISTED = 1_000
"""How many conflicts are reported one by one."""

TOO_MUCH = (
    "too many selectors share labels or match the same nodes; tell them apart by one label, or check fewer at once"
)


_Meetings = defaultdict[tuple[Kind, Pairs], tuple[set[str], dict[tuple[int, ...], list[str]]]]
"""The kernel modules of each conflict, and its real nodes per set of selectors, by position, that match them."""


def check(
    claims: Sequence[Claim], nodes: Sequence[Node] | None, mode: str = "auto", where: FindPlace = place_of
) -> list[Result]:
    """Return the findings KRM301 to KRM306, the same ones for any order of claims and nodes.

    `auto`: with nodes (neither None nor empty) what meets on one of them is an error, and what could meet on another
    is a warning; without nodes what could meet is an error. `nodes`: real nodes only, and without any an error, since
    nothing is decided. `selectors`: what could meet, whatever nodes there are. `off`: nothing. Two pools of one config
    that could meet are never more than a warning. `where` is asked about the claims that findings name.
    """
    found, unsettled = conflicts(claims, nodes, mode)
    return [*(findings(found, where) if found else ()), *unsettled]


def findings(found: Sequence[Conflict], where: FindPlace) -> list[Result]:
    """Return the findings about conflicts, the first ones of many; see `check`."""
    from .messages import to_result, unlisted  # here: few lists have a conflict

    rest = [unlisted(LISTED, found[LISTED:])] if len(found) > LISTED else []
    return [*(to_result(conflict, where) for conflict in found[:LISTED]), *rest]


def conflicts(
    claims: Sequence[Claim], nodes: Sequence[Node] | None, mode: str = "auto"
) -> tuple[list[Conflict], list[Result]]:
    """Return what `check` makes findings of: the conflicts, errors first, and the findings about what is undecided.

    `nodes` are those of this cluster: on a hub's clusters only selectors decide, and in no mode but `off` they do not.
    """
    if mode not in ("auto", "nodes", "selectors", "off"):
        raise ValueError(f"unknown mode of node exclusivity: {mode}")
    if mode == "off":
        return [], []
    real, unsettled = _decided([claim for claim in claims if not claim.of_hub], nodes, mode)
    of_hub, unsettled_of_hub = _decided([claim for claim in claims if claim.of_hub], None, "selectors")
    # errors first: none of them is left out for a warning
    return sorted([*real, *of_hub], key=lambda conflict: conflict.severity), [*unsettled, *unsettled_of_hub]


def _decided(claims: Sequence[Claim], nodes: Sequence[Node] | None, mode: str) -> tuple[list[Conflict], list[Result]]:
    """Return the conflicts of claims on nodes of one kind, and the findings about what is undecided."""
    groups = Groups(claims)
    if not groups.groups:
        return [], []
    if mode == "nodes" and not nodes:
        remedy = "the mode is `nodes`, but no Node objects are given; add them, or use mode `auto`"
        return [], [_undecided(f"{len(claims):,} node selectors", remedy, "error")]
    real, possible = (_Meetings(lambda: (set(), {})) for _ in range(2))
    unsettled = _meet(groups, nodes, real) if nodes and mode != "selectors" else []
    # What could meet is a mere warning only beside nodes that were all looked at.
    unseen = bool(nodes) and mode == "auto" and not unsettled
    if mode != "nodes":
        unsettled += _may_meet(groups, real, possible, "warning" if unseen else "error")
    return [*_conflicts(groups, real), *_conflicts(groups, possible, unseen)], unsettled


def _meet(groups: Groups, nodes: Sequence[Node], meetings: _Meetings) -> list[Result]:
    """Collect the claims of one group that select the same real nodes; return what is undecided."""
    names_of: dict[tuple[int, ...], list[str]] = {}
    work, decided = Work(STEPS), 0
    claimed = grouped((groups.selectors[i], i) for i in groups.of_claim)
    same_selector = list(claimed.values())
    try:
        for selecting, names in match(list(claimed), map(attrgetter("name", "labels"), nodes), work):
            if selecting in names_of:
                names_of[selecting] += names
            else:
                claims = sorted(i for selector in selecting for i in same_selector[selector])
                work.spend(sum(len(groups.of_claim[i]) for i in claims))
                names_of[selecting] = names
                for group, members in groups.clashes(claims):
                    modules, real = meetings[group.kind, (members, ())]
                    modules.add(group.module)
                    real[selecting] = names
            decided += len(names)
    except Exhausted:
        return [_undecided(f"{len(nodes) - decided:,} of {len(nodes):,} nodes", TOO_MUCH, "error")]
    return []


def _may_meet(groups: Groups, real: _Meetings, meetings: _Meetings, severity: Severity) -> list[Result]:
    """Collect the claims of one group that could select the same node, unless they select the same real one.

    Return what is undecided.
    """
    met = defaultdict[tuple[Kind, int], list[int]](list)
    for number, (kind, (members, _)) in enumerate(real):
        for i in members:
            met[kind, i].append(number)
    marks = {claim: frozenset(numbers) for claim, numbers in met.items()}
    work = Work(STEPS)
    for position, group in enumerate(groups.groups):
        try:
            for pairs in _overlapping(groups, group, marks, work):
                meetings[group.kind, pairs][0].add(group.module)
        except Exhausted:
            left = {i for undone in groups.groups[position:] for i in undone.members}
            return [_undecided(f"every pair of {len(left):,} node selectors", TOO_MUCH, severity)]
    return []


def _overlapping(
    groups: Groups, group: ExclusionGroup, marks: Mapping[tuple[Kind, int], frozenset[int]], work: Work
) -> Iterator[Pairs]:
    """Yield the claims of one group that could meet and have not met."""
    kind, unmarked = group.kind, frozenset[int]()
    claimed = grouped((groups.selectors[i], i) for i in group.members)
    same_selector = list(claimed.values())
    for packed in overlaps(list(claimed), work):
        left, right = ([i for selector in positions for i in same_selector[selector]] for positions in packed)
        if len(left) == 1 and not right:
            continue
        work.spend(len(left) + len(right))
        for pairs in unmet(left, right, lambda i: marks.get((kind, i), unmarked), work):
            for one, other in of_different_owners(*pairs, lambda i: groups.owner_in(kind, i)):
                if groups.clash(kind, one + other):
                    yield one, other


def _conflicts(groups: Groups, meetings: _Meetings, unseen: bool = False) -> Iterator[Conflict]:
    """Yield the collected conflicts in the order of rule and owners."""
    for (kind, pairs), (modules, nodes) in sorted(meetings.items(), key=lambda item: item[0]):
        left, right = (tuple(groups.claims[i] for i in claims) for claims in pairs)
        yield Conflict(kind, left, right, tuple(sorted(modules)), [*map(sorted, nodes.values())], unseen)


def _undecided(what: str, remedy: str, severity: Severity) -> Result:
    """Return the finding that node exclusivity is not decided for all nodes or selectors (KRM305)."""
    return Result(f"node exclusivity could not be decided for {what}: {remedy}", severity, "KRM305")
