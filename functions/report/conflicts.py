"""The conflicts about nodes in a cluster, with the selectors of those who are in them side by side."""

from __future__ import annotations

from krmfn import Place

from .. import exclusivity
from ..exclusivity import Claim, Conflict
from ..exclusivity.claim import Where, across
from ..exclusivity.messages import REMEDY, in_files, law_of
from ..fleet.cluster import Cluster
from .parts import SIDES, Clash, Side


def conflicts(whole: Cluster, mode: str) -> list[Conflict]:
    """Return the conflicts about nodes here, and those on a hub's clusters, where only selectors decide."""
    nodes = [node for node in whole.fleet.nodes if node.cluster is None]
    found, _ = exclusivity.conflicts([driver.joint for driver in whole.every], nodes, mode)
    return sorted(filter(None, map(across, found)), key=lambda conflict: conflict.severity)


def clash(conflict: Conflict, where: Where) -> Clash:
    """Return a conflict with the selectors side by side; `where` returns the place of each."""
    claims = [*conflict.left, *conflict.right]
    if conflict.right:  # each of one with each of the others: show some of both
        claims = [*conflict.left[: SIDES // 2], *conflict.right[: SIDES // 2]]
    shown = claims[:SIDES]
    keys = sorted({key for claim in shown for key in claim.selector})
    labels = [(key, [claim.selector.get(key) for claim in shown]) for key in keys]
    rule, law = law_of(conflict)
    more = len(conflict.left) + len(conflict.right) - len(shown)
    nodes = sorted({name for names in conflict.nodes for name in names})
    return Clash(
        conflict.severity, rule, f"{law}: {REMEDY}", nodes, [_side(claim, where) for claim in shown], more, labels
    )


def _side(claim: Claim, where: Where) -> Side:
    pool = f"pool {claim.pool} of " if claim.pool else ""
    place = in_files(claim, where(claim)) or Place()
    side = f" ({claim.theirs})" if claim.theirs else ""
    return Side(f"{pool}{claim.ref}{side}", f"{place.path}:{place.line}" if place.line else place.path)
