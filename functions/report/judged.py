"""Findings with the texts of their rules, and the conflicts of all clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from krmfn import Result
from krmfn.rule import Rule

from .parts import CONFLICTS, Clash, Part

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


def chapters(parts: Sequence[Part], rules: Mapping[str, Rule]) -> list[Chapter]:
    """Return the findings by severity and rule."""
    found: dict[tuple[int, str], list[tuple[Part, Result]]] = {}
    for part in parts:
        for result in part.findings:
            key = (_SEVERITIES.index(result.severity), result.rule)
            found.setdefault(key, []).append((part, result))
    return [
        Chapter(
            *(_SEVERITIES[severity], rule, rules.get(rule)),
            [_finding(*pair) for pair in found[severity, rule][:FINDINGS]],
            sum(result.unlisted or 1 for _, result in found[severity, rule][FINDINGS:]),
        )
        for severity, rule in sorted(found)
    ]


def _finding(part: Part, result: Result) -> Finding:
    subject = result.subject.removesuffix(": ")
    return Finding(part.name, result.where.removesuffix(": "), subject, result.message)


def clashes(parts: Sequence[Part]) -> tuple[list[tuple[str, Clash]], int]:
    """Return the conflicts with their clusters, errors first, and how many more there are than are shown."""
    pairs = [(part.name, clash) for part in parts for clash in part.clashes]
    pairs.sort(key=lambda pair: pair[1].severity)
    return pairs[:CONFLICTS], max(0, len(pairs) - CONFLICTS) + sum(part.more_clashes for part in parts)
