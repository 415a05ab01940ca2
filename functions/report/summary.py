"""What the page says first, its numbers, the findings with the texts of their rules, the conflicts of all clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from krmfn import Result
from krmfn.printing import counted
from krmfn.results import Rule
from krmfn.typed import NamedTuple

from ..fleet.table import ASSUMED, DRIVEN
from ..formats.grouped import where
from ..plan import Comparison
from . import pictures, states
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


def ring(numbers: Counter[str]) -> tuple[int, str] | None:
    """Return how many per cent of the selected nodes have a driver, and the ring's dashes; None without such nodes."""
    selected = numbers.total() - numbers[states.UNSELECTED]
    if not selected:
        return None
    driven = numbers[DRIVEN]
    return driven * 100 // selected, pictures.arc(driven / selected)


def facts(parts: Sequence[Part], numbers: Counter[str], modules: int, images: int) -> list[tuple[str, str]]:
    """Return the numbers that describe the fleet, each with its noun."""
    kernels = {group.kernel for part in parts for group in part.groups if group.kernel}
    return [
        ("clusters" if len(parts) != 1 else "cluster", f"{len(parts):,}"),
        ("nodes", f"{numbers.total():,}"),
        ("kernels", f"{len(kernels):,}"),
        ("Modules" if modules != 1 else "Module", f"{modules:,}"),
        ("images", f"{images:,}"),
    ]


def spoken(numbers: Counter[str]) -> str:
    """Return the states with their numbers, for a reader who does not see a picture of them."""
    return ", ".join(f"{state.label}: {number:,}" for state, number in states.shown(numbers))


def verdict(parts: Sequence[Part], numbers: Counter[str], errors: int) -> tuple[str, str]:
    """Return the tone of the page, and its first sentence; "fine" only when every cluster was judged."""
    lacking = states.without_driver(numbers)
    selected = numbers.total() - numbers[states.UNSELECTED]
    unjudged = sum(bool(part.unjudged or part.bare or part.unchecked) for part in parts)
    if lacking:
        get = "get" if lacking > 1 else "gets"
        return "bad", f"{lacking:,} of {counted(selected, 'selected node')} {get} no driver."
    if errors:
        return "bad", f"{counted(errors, 'error')}: this cannot be merged as it is."
    if unjudged:
        where = f"In {unjudged:,} of {len(parts):,} clusters it" if len(parts) > 1 else "It"
        return "open", f"{where} is not known which node gets what."
    if unknown := numbers[states.UNKNOWN] + numbers[ASSUMED]:
        of = f"{unknown:,} of {counted(selected, 'selected node')}"
        return "open", f"Whether {of} {'gets its' if unknown == 1 else 'get their'} driver is not known."
    if not selected:
        return "open", "No selector selects a node."
    return "fine", f"Every selected node gets its driver: {counted(selected, 'node')}."


def chapters(parts: Sequence[Part], rules: Mapping[str, Rule]) -> list[Chapter]:
    """Return the findings by severity and rule."""
    found: dict[tuple[int, str], dict[object, tuple[Result, list[str]]]] = {}
    for part in parts:
        for result in part.findings:
            key = (_SEVERITIES.index(result.severity), result.rule)
            name = (str(result), part.name if result.unlisted else "")
            found.setdefault(key, {}).setdefault(name, (result, []))[1].append(part.name)
    made, names = [], [part.name for part in parts]
    for severity, rule in sorted(found):
        every = list(found[severity, rule].values())
        shown = [(where(held, names) if len(parts) > 1 else "", one) for one, held in every[:FINDINGS]]
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
