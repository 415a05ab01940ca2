"""Field paths as people write them: `spec.daemonSets[0].image`, `metadata.labels[example.com/team]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

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
