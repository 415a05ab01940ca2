"""Numbers with their nouns: `1 Module`, `200 DaemonSets`, `2 NetworkPolicies`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

__all__ = ["SHOWN", "counted", "extent", "listed", "plural", "some", "summary_of_changes"]

SHOWN = 5
"""How many names a sentence has before it counts the rest."""


def counted(number: int, noun: str) -> str:
    """Return the number with its noun, in the singular or the plural."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun; a kind that already is one (`Endpoints`) stays as it is."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    if noun.endswith(("ss", "x", "ch", "sh")):
        return f"{noun}es"
    return noun if noun.endswith("s") else f"{noun}s"


def extent(resources: int, files: int) -> str:
    """Return how much was looked at: `14 resources, 3 files`; a stream has no files."""
    return counted(resources, "resource") + (f", {counted(files, 'file')}" if files else "")


def some(names: Iterable[str], number: int, shown: int = SHOWN) -> str:
    """Return the names as `a, b, c, d, e and 7 more`; there are `number` in all."""
    first = list(islice(names, shown))
    return ", ".join(first) + (f" and {number - len(first):,} more" if number > len(first) else "")


def listed(numbers: Mapping[str, int]) -> str:
    """Return `2 DeviceConfigs, 1 Module`, in the order of the mapping; a count of zero is left out."""
    return ", ".join(counted(number, noun) for noun, number in numbers.items() if number)


def summary_of_changes(changes: Iterable[tuple[str, str]]) -> str:
    """Return `created 2 Modules; removed 1 DaemonSet` for (what, kind) pairs; "" for none."""
    kinds: dict[str, dict[str, int]] = {"created": {}, "updated": {}, "removed": {}}
    for what, kind in changes:
        of_one = kinds.setdefault(what, {})
        of_one[kind or "resource"] = of_one.get(kind or "resource", 0) + 1
    return "; ".join(f"{what} {listed(numbers)}" for what, numbers in kinds.items() if numbers)
