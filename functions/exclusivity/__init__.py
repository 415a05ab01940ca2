"""Node exclusivity: the conflicts between claims on nodes, on the nodes of the input and on any possible node."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from krmfn import Result
from krmfn.results import Severity

from ..grouping import grouped
from ..mistake import Mistake
from ..sources import NO_BUILDS, Sources
from .claim import Claim, Conflict, ExclusionGroup, FindPlace, Groups, Kind
from .node import Node
from .selectors import Exhausted, Pairs, Work, match, of_different_owners, overlaps, unmet

__all__ = ["Claim", "Conflict", "Node", "check", "conflicts", "findings"]

STEPS = 5_000_000
"""The bound on the work of each pass beyond what is linear in its input, in look-ups: some seconds."""

LISTED = 1_000
"""How many conflicts are reported one by one."""

TOO_MUCH = Mistake(
    "too many selectors share labels or match the same nodes", "tell them apart by one label, or check fewer at once"
)


Claims = Sequence[Claim]
Nodes = Sequence[Node] | None
_Marks = Mapping[tuple[Kind, int], frozenset[int]]
"""The numbers of the real conflicts that a claim takes part in, by kind and position."""
_Meetings = defaultdict[tuple[Kind, Pairs], tuple[set[str], dict[tuple[int, ...], list[str]]]]
"""The kernel modules of each conflict, and its real nodes per set of selectors, by position, that match them."""


def check(
    claims: Claims,
    nodes: Nodes,
    mode: str = "auto",
    where: FindPlace = attrgetter("place"),
    sources: Sources = NO_BUILDS,
) -> list[Result]:
    """Return the findings KRM301 to KRM306, the same ones for any order of claims and nodes.

    `auto`: with nodes (neither None nor empty) claims that meet on one of them are an error, and claims that could meet
    on another node a warning; without nodes claims that could meet are an error. `nodes`: only real nodes count, and
    without any the finding is that nothing is decided. `selectors`: claims that could meet count, whatever the nodes.
    `off`: nothing is compared. Two pools of one config that could meet are never more than a warning. `where` returns
    the places of the claims in the findings, and in `sources` the places of those in builds are looked for.
    """
    decided, undecided = conflicts(claims, nodes, mode)
    return [*(findings(decided, where, sources) if decided else ()), *undecided]


def findings(decided: Sequence[Conflict], where: FindPlace, sources: Sources) -> list[Result]:
    """Return the findings about conflicts, the first LISTED one by one; `where` and `sources` as for `check`."""
    from .messages import to_result, unlisted  # here: few lists have a conflict

    rest = [unlisted(LISTED, decided[LISTED:])] if len(decided) > LISTED else []
    return [*(to_result(conflict, where, sources) for conflict in decided[:LISTED]), *rest]


def conflicts(claims: Claims, nodes: Nodes, mode: str = "auto") -> tuple[list[Conflict], list[Result]]:
    """Return the conflicts, errors first, and the findings about what is undecided; modes as for `check`.

    `nodes` are those of this cluster. On a hub's clusters, whose nodes are not known, selectors decide in every mode
    but `off`. Raises ValueError for an unknown mode.
    """
    if mode not in ("auto", "nodes", "selectors", "off"):
        raise ValueError(f"unknown mode of node exclusivity: {mode}")
    if mode == "off":
        return [], []
    local, undecided = _decide([claim for claim in claims if not claim.of_hub], nodes, mode)
    of_hub, undecided_of_hub = _decide([claim for claim in claims if claim.of_hub], None, "selectors")
    # errors first: the limit on listed conflicts never drops an error for a warning
    return sorted([*local, *of_hub], key=lambda conflict: conflict.severity), [*undecided, *undecided_of_hub]


def _decide(claims: Claims, nodes: Nodes, mode: str) -> tuple[list[Conflict], list[Result]]:
    """Return the conflicts of claims on nodes of one kind, and the findings about what is undecided."""
    groups = Groups(claims)
    if not groups.groups:
        return [], []
    if mode == "nodes" and not nodes:
        reason = Mistake("the mode is `nodes`, but no Node objects are given", "add them, or use mode `auto`")
        return [], [_undecided(f"{len(claims):,} node selectors", reason, "error")]
    real, possible = (_Meetings(lambda: (set(), {})) for _ in range(2))
    undecided = _add_real(groups, nodes, real) if nodes and mode != "selectors" else []
    # a possible conflict is a mere warning only when all nodes were looked at
    unseen = bool(nodes) and mode == "auto" and not undecided
    if mode != "nodes":
        undecided += _add_possible(groups, real, possible, "warning" if unseen else "error")
    return [*_conflicts(groups, real), *_conflicts(groups, possible, unseen)], undecided


def _add_real(groups: Groups, nodes: Sequence[Node], meetings: _Meetings) -> list[Result]:
    """Add the claims of one group that select the same real nodes to the meetings; return what is undecided."""
    names_of: dict[tuple[int, ...], list[str]] = {}
    work, decided = Work(STEPS), 0
    claimed = grouped((groups.selectors[i], i) for i in groups.of_claim)
    same_selector = list(claimed.values())
    try:
        for selectors, names in match(list(claimed), map(attrgetter("name", "labels"), nodes), work):
            if selectors in names_of:
                names_of[selectors] += names
            else:
                claims = sorted(i for selector in selectors for i in same_selector[selector])
                work.spend(sum(len(groups.of_claim[i]) for i in claims))
                names_of[selectors] = names
                for group, members in groups.clashes(claims):
                    modules, names_by_selectors = meetings[group.kind, (members, ())]
                    modules.add(group.module)
                    names_by_selectors[selectors] = names
            decided += len(names)
    except Exhausted:
        return [_undecided(f"{len(nodes) - decided:,} of {len(nodes):,} nodes", TOO_MUCH, "error")]
    return []


def _add_possible(groups: Groups, real: _Meetings, meetings: _Meetings, severity: Severity) -> list[Result]:
    """Add the claims of one group that could select the same node, and no real one, to the meetings.

    Return what is undecided.
    """
    numbers_of = defaultdict[tuple[Kind, int], list[int]](list)
    for number, (kind, (members, _)) in enumerate(real):
        for i in members:
            numbers_of[kind, i].append(number)
    marks = {claim: frozenset(numbers) for claim, numbers in numbers_of.items()}
    work = Work(STEPS)
    for position, group in enumerate(groups.groups):
        try:
            for pairs in _overlapping(groups, group, marks, work):
                meetings[group.kind, pairs][0].add(group.module)
        except Exhausted:
            rest = {i for undecided in groups.groups[position:] for i in undecided.members}
            return [_undecided(f"every pair of {len(rest):,} node selectors", TOO_MUCH, severity)]
    return []


def _overlapping(groups: Groups, group: ExclusionGroup, marks: _Marks, work: Work) -> Iterator[Pairs]:
    """Yield the claims of one group that could meet, without those that meet on a real node."""
    kind, unmarked = group.kind, frozenset[int]()
    claimed = grouped((groups.selectors[i], i) for i in group.members)
    same_selector = list(claimed.values())
    for packed in overlaps(list(claimed), work):
        first, second = ([i for selector in positions for i in same_selector[selector]] for positions in packed)
        if len(first) == 1 and not second:
            continue
        work.spend(len(first) + len(second))
        for pairs in unmet((first, second), lambda i: marks.get((kind, i), unmarked), work):
            for members, rivals in of_different_owners(pairs, lambda i: groups.owner_in(kind, i)):
                if groups.clash(kind, members + rivals):
                    yield members, rivals


def _conflicts(groups: Groups, meetings: _Meetings, unseen: bool = False) -> Iterator[Conflict]:
    """Yield the conflicts of the meetings in the order of kind and owners."""
    for (kind, pairs), (modules, nodes) in sorted(meetings.items(), key=lambda item: item[0]):
        first, second = (tuple(groups.claims[i] for i in claims) for claims in pairs)
        yield Conflict(kind, first, second, tuple(sorted(modules)), [*map(sorted, nodes.values())], unseen)


def _undecided(subject: str, reason: Mistake, severity: Severity) -> Result:
    """Return the finding that node exclusivity is not decided for some nodes or selectors (KRM305)."""
    message = f"node exclusivity could not be decided for {subject}: {reason.message}"
    return Result(message, severity, "KRM305", remedy=reason.remedy)
