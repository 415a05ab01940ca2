"""Findings with the texts of their rules, and the conflicts of all clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from krmfn import Result
from krmfn.rule import Rule
from krmfn.typed import NamedTuple

from ..formats.grouped import where
from ..plan import Comparison
from .parts import CONFLICTS, Clash, Part

FINDINGS = 200
"""Findings of one rule that are shown."""
_SEVERITIES = ("error", "warning", "info")


class Chapter(NamedTuple):
    """The findings of one rule and one severity."""

    severity: str
    id: str
    rule: Rule | None
    findings: Sequence[tuple[str, Result]]
    """Each once, with the clusters that have it; "" where there is only one."""
    more: int
    """Further ones that are not shown."""


def chapters(parts: Sequence[Part], rules: Mapping[str, Rule]) -> list[Chapter]:
    """Return the findings by severity and rule."""
    found: dict[tuple[int, str], dict[object, tuple[Result, list[str]]]] = {}
    for part in parts:
        for result in part.findings:
            key = (_SEVERITIES.index(result.severity), result.rule)
            name = (str(result), part.name if result.unlisted else "")
            found.setdefault(key, {}).setdefault(name, (result, []))[1].append(part.name)
    made = []
    for severity, rule in sorted(found):
        every = list(found[severity, rule].values())
        shown = [(where(names, len(parts)) if len(parts) > 1 else "", one) for one, names in every[:FINDINGS]]
        more = sum(one.unlisted or 1 for one, _ in every[FINDINGS:])
        made.append(Chapter(_SEVERITIES[severity], rule, rules.get(rule), shown, more))
    return made


def refused(compared: Sequence[Comparison]) -> list[Result]:
    """Return the errors about what changes: the cluster would refuse it, or it is not known."""
    return [note for one in compared for note in one.notes if note.severity == "error"]


def clashes(parts: Sequence[Part]) -> tuple[list[tuple[str, Clash]], int]:
    """Return the conflicts with their clusters, errors first, and how many more there are than are shown."""
    pairs = [(part.name, clash) for part in parts for clash in part.clashes]
    pairs.sort(key=lambda pair: pair[1].severity)
    return pairs[:CONFLICTS], max(0, len(pairs) - CONFLICTS) + sum(part.more_clashes for part in parts)
