"""Field paths as people write them: `spec.daemonSets[0].image`, `metadata.labels[example.com/team]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

__all__ = ["FieldPath", "join", "moved", "split", "starts"]

FieldPath = tuple[str | int, ...]
"""The keys and list indexes that lead to a field."""
_PLAIN = r"[A-Za-z_$][A-Za-z0-9_$-]*"
_PART = r"([^.\[\]]+)|\[([^\]]*)\]?"


def join(parts: Iterable[str | int]) -> str:
    """Return the path of `parts`: list indexes and keys that are not plain words go into brackets."""
    path = ""
    for part in parts:
        if isinstance(part, str) and re.fullmatch(_PLAIN, part):
            path += f".{part}" if path else part
        else:
            path += f"[{part}]"
    return path


@lru_cache(maxsize=4096)
def split(path: str) -> tuple[str, ...]:
    """Return the parts of a path; an index comes back as its digits."""
    return tuple(plain or bracketed for plain, bracketed in re.findall(_PART, path))


def starts(path: str, parent: str) -> bool:
    """Return True when `path` is `parent` or a field below it."""
    return path == parent or path.startswith((f"{parent}.", f"{parent}["))


def moved(path: str, table: Mapping[str, str]) -> str | None:
    """Return the path with its longest parent in `table` replaced by the entry there; None when it has none."""
    known = max((parent for parent in table if starts(path, parent)), key=len, default=None)
    return None if known is None else table[known] + path[len(known) :]
