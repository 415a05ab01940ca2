"""Do two claims want the same node? Asked of the real nodes, and of every possible one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from krmfn.results import Result, Severity

from .groups import Arena, Scene, arenas, set_scene
from .messages import Claim, Conflict, Kind, to_result, undecided, unlisted
from .pairs import Sides, told_apart, unmet
from .selectors import Exhausted, Node, Work, match, overlaps

__all__ = ["Claim", "Node", "check"]

STEPS = 5_000_000
"""The bound on the work of each pass beyond what is linear in its input: look-ups, some seconds of them."""

LISTED = 1_000
"""How many conflicts are told one by one."""

TOO_MUCH = (
    "too many selectors share labels or match the same nodes; tell them apart by one label, or check fewer at once"
)


class _Meeting(NamedTuple):
    """What is collected about one conflict: the kernel modules, and the real nodes per set of matching selectors."""

    modules: set[str]
    nodes: dict[tuple[int, ...], list[str]]


_Found = dict[tuple[Kind, Sides], _Meeting]


def check(claims: Sequence[Claim], nodes: Sequence[Node] | None, mode: str = "auto") -> list[Result]:
    """The findings KRM301 to KRM306 (see `conflicts`), the same ones for any order of claims and nodes.

    `auto`: with nodes (neither None nor empty) what meets on one of them is an error, and what could meet on another
    is a warning; without nodes what could meet is an error. `nodes`: real nodes only, and without any an error, since
    nothing is decided. `selectors`: what could meet, whatever nodes there are. `off`: nothing. Two pools of one config
    that could meet are never more than a warning.
    """
    if mode not in ("auto", "nodes", "selectors", "off"):
        raise ValueError(f"unknown mode of node exclusivity: {mode}")
    scene = set_scene(claims)
    among = [] if mode == "off" else arenas(scene)
    if not among:
        return []
    if mode == "nodes" and not nodes:
        remedy = "the mode is `nodes`, but no Node objects are given; add them, or use mode `auto`"
        return [undecided(f"{len(scene.claims):,} node selectors", remedy, "error")]
    real: _Found = {}
    possible: _Found = {}
    open_ends: list[Result] = []
    if nodes and mode != "selectors":
        open_ends += _meet(scene, among, nodes, real)
    # What could meet is a mere warning only beside nodes that were all looked at.
    unseen = bool(nodes) and mode == "auto" and not open_ends
    if mode != "nodes":
        open_ends += _may_meet(scene, among, real, possible, "warning" if unseen else "error")
    found = [*_conflicts(scene, real), *_conflicts(scene, possible, unseen)]
    found.sort(key=lambda conflict: conflict.severity)  # errors first: none of them is left out for a warning
    rest = [unlisted(LISTED, found[LISTED:])] if len(found) > LISTED else []
    return [*map(to_result, found[:LISTED]), *rest, *open_ends]


def _meet(scene: Scene, among: Sequence[Arena], nodes: Sequence[Node], found: _Found) -> list[Result]:
    """The exact pass: all sets of claims of one arena that select the same real nodes; returns what is undecided."""
    arenas_of: dict[int, list[int]] = {}
    for number, arena in enumerate(among):
        for i in arena.members:
            arenas_of.setdefault(i, []).append(number)
    claimed = scene.by_selector(sorted(arenas_of))
    groups = list(claimed.values())
    names_of: dict[tuple[int, ...], list[str]] = {}
    work = Work(STEPS)
    decided = 0
    try:
        for hits, names in match(list(claimed), nodes, work):
            if hits not in names_of:
                claims = sorted(i for hit in hits for i in groups[hit])
                work.spend(sum(len(arenas_of[i]) for i in claims))
                names_of[hits] = names
                for arena, members in _clashes(scene, among, arenas_of, claims):
                    meeting = found.setdefault((arena.kind, (members, ())), _Meeting(set(), {}))
                    meeting.modules.add(arena.module)
                    meeting.nodes[hits] = names
            else:
                names_of[hits] += names
            decided += len(names)
    except Exhausted:
        return [undecided(f"{len(nodes) - decided:,} of {len(nodes):,} nodes", TOO_MUCH, "error")]
    return []


def _clashes(
    scene: Scene, among: Sequence[Arena], arenas_of: Mapping[int, Sequence[int]], claims: Sequence[int]
) -> Iterator[tuple[Arena, tuple[int, ...]]]:
    """Of claims on one node, the sets that exclude each other."""
    if len(claims) < 2:
        return
    present: dict[int, list[int]] = {}
    for i in claims:
        for number in arenas_of[i]:
            present.setdefault(number, []).append(i)
    for number, members in present.items():
        if len(members) > 1 and scene.clash(among[number].kind, members):
            yield among[number], tuple(members)


def _may_meet(scene: Scene, among: Sequence[Arena], real: _Found, found: _Found, severity: Severity) -> list[Result]:
    """The static pass: all sets of claims of one arena that could select the same node, and do not select the same
    real one; returns what is undecided."""
    met: dict[tuple[Kind, int], set[int]] = {}
    for number, (kind, (members, _)) in enumerate(real):
        for i in members:
            met.setdefault((kind, i), set()).add(number)
    marks = {claim: frozenset(numbers) for claim, numbers in met.items()}
    work = Work(STEPS)
    for position, arena in enumerate(among):
        try:
            for sides in _overlapping(scene, arena, marks, work):
                found.setdefault((arena.kind, sides), _Meeting(set(), {})).modules.add(arena.module)
        except Exhausted:
            left = {i for undone in among[position:] for i in undone.members}
            return [undecided(f"every pair of {len(left):,} node selectors", TOO_MUCH, severity)]
    return []


def _overlapping(
    scene: Scene, arena: Arena, marks: Mapping[tuple[Kind, int], frozenset[int]], work: Work
) -> Iterator[Sides]:
    """The claims of one arena that could meet and have not met."""
    kind = arena.kind
    claimed = scene.by_selector(arena.members)
    groups = list(claimed.values())
    for hits in overlaps(list(claimed), work):
        left, right = ([i for hit in side for i in groups[hit]] for side in hits)
        if len(left) == 1 and not right:
            continue
        work.spend(len(left) + len(right))
        for sides in unmet(left, right, lambda i: marks.get((kind, i), frozenset()), work):
            for one, other in told_apart(*sides, lambda i: scene.who(kind, i)):
                if scene.clash(kind, one + other):
                    yield one, other


def _conflicts(scene: Scene, found: _Found, unseen: bool = False) -> list[Conflict]:
    """What was collected, in the order of rule and owners."""
    conflicts = []
    for (kind, sides), meeting in sorted(found.items(), key=lambda item: item[0]):
        left, right = (tuple(scene.claims[i] for i in side) for side in sides)
        nodes = [sorted(names) for names in meeting.nodes.values()]
        conflicts.append(Conflict(kind, left, right, tuple(sorted(meeting.modules)), nodes, unseen))
    return conflicts
