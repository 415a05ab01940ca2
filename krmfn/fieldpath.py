"""Field paths as people write them: `spec.daemonSets[0].image`, `metadata.labels[example.com/team]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_PART = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


def join(parts: Iterable[str | int]) -> str:
    """The path of `parts`: list indexes and keys that are no plain word go into brackets."""
    path = ""
    for part in parts:
        if isinstance(part, str) and _PLAIN.fullmatch(part):
            path += f".{part}" if path else part
        else:
            path += f"[{part}]"
    return path


def split(path: str) -> list[str]:
    """The parts of a path; an index comes back as its digits."""
    return [plain or bracketed for plain, bracketed in _PART.findall(path)]


def starts(path: str, parent: str) -> bool:
    """True when `path` is `parent` or a field below it."""
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))


def moved(path: str, table: Mapping[str, str]) -> str | None:
    """The path with the longest parent that `table` knows replaced by what it says; None when it knows none."""
    known = max((parent for parent in table if starts(path, parent)), key=len, default=None)
    return None if known is None else table[known] + path[len(known) :]
