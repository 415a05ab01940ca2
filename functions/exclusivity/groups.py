"""Who excludes whom: two DeviceConfigs of one domain always, any two others when they load a common kernel module,
and the pools of one config each other. Each such set is an `Arena`; all questions are asked per arena."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from krmfn.resource import Place, Ref

from .messages import Claim, Kind
from .selectors import Pairs


class Arena(NamedTuple):
    """Claims, by position, that exclude each other."""

    kind: Kind
    members: list[int]
    module: str = ""
    """The kernel module that all of them load (kind module)."""


class Scene(NamedTuple):
    """The claims in order, with what tells them apart as small numbers."""

    claims: Sequence[Claim]
    selectors: list[Pairs]
    """Per claim: what it selects."""
    owner: list[int]
    """Per claim: the position of the first claim of the same resource."""
    side: list[int]
    """Per claim: the position of the first claim of the same domain, or of the same resource where there is none."""

    def who(self, kind: Kind, claim: int) -> int:
        """What a claim is told apart by in an arena: its resource, or itself among the pools of one resource."""
        return claim if kind == "pool" else self.owner[claim]

    def by_selector(self, claims: Iterable[int]) -> dict[Pairs, list[int]]:
        """selector -> the claims that have it: all that select the same are asked once."""
        found: dict[Pairs, list[int]] = {}
        for i in claims:
            found.setdefault(self.selectors[i], []).append(i)
        return found

    def clash(self, kind: Kind, members: Iterable[int]) -> bool:
        """Do two of them exclude each other? Within a domain they do anyway: a common kernel module adds nothing."""
        members = list(members)
        if len({self.who(kind, i) for i in members}) < 2:
            return False
        return kind != "module" or len({self.side[i] for i in members}) > 1


def set_scene(claims: Sequence[Claim]) -> Scene:
    """The claims sorted: by resource, then by all else, so that nothing depends on the order they came in."""
    ordered: list[Claim] = []
    owner: list[int] = []
    # Most resources have one claim: sorting by all else only among claims of one resource saves half the time.
    for _, group in groupby(sorted(claims, key=_ref), key=_ref):
        same = list(group)
        owner += [len(ordered)] * len(same)
        ordered += sorted(same, key=_rest) if len(same) > 1 else same
    sides: dict[object, int] = {}
    side = []
    for i, claim in enumerate(ordered):
        side.append(sides.setdefault(claim.ref if claim.domain is None else claim.domain, i))
    return Scene(ordered, [frozenset(claim.selector.items()) for claim in ordered], owner, side)


def arenas(scene: Scene) -> list[Arena]:
    """All arenas in which somebody can be in somebody's way, the small ones first: they are decided in any case."""
    pools: dict[int, list[int]] = defaultdict(list)
    drivers: dict[str, list[int]] = defaultdict(list)
    modules: dict[str, list[int]] = defaultdict(list)
    for i, claim in enumerate(scene.claims):
        if scene.owner[i] < i:
            pools[scene.owner[i]].append(i)
        if claim.domain is not None:
            drivers[claim.domain].append(i)
        for name in {name.replace("-", "_") for name in claim.kernel_modules}:
            modules[name].append(i)
    found = [Arena("pool", [first, *others]) for first, others in pools.items()]
    found += [Arena("driver", members) for members in drivers.values()]
    found += [Arena("module", members, name) for name, members in modules.items()]
    clashing = [arena for arena in found if len(arena.members) > 1 and scene.clash(arena.kind, arena.members)]
    return sorted(clashing, key=lambda arena: (len(arena.members), arena))


def _ref(claim: Claim) -> Ref:
    return claim.ref


def _rest(claim: Claim) -> tuple[object, ...]:
    domain = (claim.domain is not None, claim.domain or "")
    labels = sorted(claim.selector.items())
    return (claim.pool, claim.field, labels, claim.place or Place(), domain, sorted(claim.kernel_modules))
