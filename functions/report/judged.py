"""Findings with the texts of their rules, and conflicts with the selectors of those who are in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from krmfn.resource import Place
from krmfn.results import Result
from krmfn.rule import Rule

from ..exclusivity import Conflict
from ..exclusivity.messages import REMEDY, Claim, law_of
from .parts import CONFLICTS, SIDES, Part

FINDINGS = 200
"""Findings of one rule that are shown."""
_SEVERITIES = ("error", "warning", "info")


class Finding(NamedTuple):
    """A finding of a cluster."""

    cluster: str
    where: str
    subject: str
    message: str


class Chapter(NamedTuple):
    """The findings of one rule and one severity."""

    severity: str
    id: str
    rule: Rule | None
    findings: Sequence[Finding]
    more: int
    """Further ones that are not shown."""


class Side(NamedTuple):
    """One who takes part in a conflict."""

    who: str
    where: str


class Clash(NamedTuple):
    """A conflict, with the selectors side by side."""

    cluster: str
    severity: str
    rule: str
    law: str
    """Why they exclude each other, and what to do."""
    nodes: Sequence[str]
    """Nodes that all of them select; none: they could select the same one."""
    sides: Sequence[Side]
    more: int
    """Further ones in it that are not shown."""
    labels: Sequence[tuple[str, Sequence[str | None]]]
    """Per label the value that each side wants; None where it wants none."""


def chapters(parts: Sequence[Part], rules: Mapping[str, Rule]) -> list[Chapter]:
    """Return the findings by severity and rule."""
    found: dict[tuple[int, str], list[Finding]] = {}
    for part in parts:
        for result in part.findings:
            key = (_SEVERITIES.index(result.severity), result.rule)
            found.setdefault(key, []).append(_finding(part, result))
    return [
        Chapter(_SEVERITIES[severity], rule, rules.get(rule), findings[:FINDINGS], max(0, len(findings) - FINDINGS))
        for (severity, rule), findings in sorted(found.items())
    ]


def _finding(part: Part, result: Result) -> Finding:
    subject = result.subject.removesuffix(": ")
    return Finding(part.name, result.where.removesuffix(": "), subject, result.message)


def clashes(parts: Sequence[Part]) -> tuple[list[Clash], int]:
    """Return the conflicts, errors first, and how many more there are than are shown."""
    pairs = [(part, conflict) for part in parts for conflict in part.conflicts]
    pairs.sort(key=lambda pair: pair[1].severity)
    return [_clash(part, conflict) for part, conflict in pairs[:CONFLICTS]], max(0, len(pairs) - CONFLICTS)


def _clash(part: Part, conflict: Conflict) -> Clash:
    claims = [*conflict.left, *conflict.right]
    if conflict.right:  # each of one with each of the others: show some of both
        claims = [*conflict.left[: SIDES // 2], *conflict.right[: SIDES // 2]]
    shown = claims[:SIDES]
    keys = sorted({key for claim in shown for key in claim.selector})
    labels = [(key, [claim.selector.get(key) for claim in shown]) for key in keys]
    rule, law = law_of(conflict)
    more = len(conflict.left) + len(conflict.right) - len(shown)
    nodes = sorted({name for names in conflict.nodes for name in names})
    sides = [_side(claim) for claim in shown]
    return Clash(part.name, conflict.severity, rule, f"{law}: {REMEDY}", nodes, sides, more, labels)


def _side(claim: Claim) -> Side:
    pool = f"pool {claim.pool} of " if claim.pool else ""
    place = claim.place or Place()
    side = f" ({claim.theirs})" if claim.theirs else ""
    return Side(f"{pool}{claim.ref}{side}", f"{place.path}:{place.line}" if place.line else place.path)
