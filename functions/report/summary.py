"""The head of the page: what it says first, its numbers, and the list of images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from krmfn.counts import counted

from ..fleet.table import ASSUMED
from . import pictures, states
from .parts import Part


def ring(numbers: Counter[str]) -> tuple[int, str] | None:
    """Return how many per cent of the selected nodes have a driver, and the ring's dashes; None without such nodes."""
    selected = numbers.total() - numbers[states.UNSELECTED]
    if not selected:
        return None
    driven = states.driven(numbers)
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
