"""Field paths as people write them: `spec.daemonSets[0].image`, `metadata.labels[example.com/team]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_PART = re.compile(r"([^.\[\]]+)|\[([^\]]*)\]")


def join(parts: Iterable[str | int]) -> str:
    """Return the path of `parts`: list indexes and keys that are not plain words go into brackets."""
    path = ""
    for part in parts:
        if isinstance(part, str) and _PLAIN.fullmatch(part):
            path += f".{part}" if path else part
        else:
            path += f"[{part}]"
    return path


def split(path: str) -> list[str]:
    """Return the parts of a path; an index comes back as its digits."""
    return [plain or bracketed for plain, bracketed in _PART.findall(path)]


def starts(path: str, parent: str) -> bool:
    """Return True when `path` is `parent` or a field below it."""
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))


def moved(path: str, table: Mapping[str, str]) -> str | None:
    """Return the path with its longest parent in `table` replaced by the entry there; None when it has none."""
    known = max((parent for parent in table if starts(path, parent)), key=len, default=None)
    return None if known is None else table[known] + path[len(known) :]
