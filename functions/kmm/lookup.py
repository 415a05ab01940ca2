"""Reading a manifest that may be broken: what has the wrong type reads as absent, the schema says so elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Table = dict[str, Any]


def table(value: Any, *keys: str) -> Table:
    """The mapping under the keys, {} when there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def has(value: Table, key: str) -> bool:
    """Whether KMM's pointer is set: an empty mapping counts, null does not."""
    return isinstance(value.get(key), dict)


def text(value: Any, key: str) -> str:
    """The string under the key, "" when there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def listing(value: Any, key: str) -> list[Any] | None:
    """The list under the key; None is nil, which KMM tells from an empty list."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else None


def tables(value: Any, key: str) -> Iterator[tuple[int, Table]]:
    """The mappings in the list under the key, with their positions; {} for what is none."""
    for index, entry in enumerate(listing(value, key) or []):
        yield index, entry if isinstance(entry, dict) else {}


def texts(value: Any, key: str) -> list[str]:
    """The strings in the list under the key; "" for what is none."""
    return [entry if isinstance(entry, str) else "" for entry in listing(value, key) or []]
