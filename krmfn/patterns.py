"""The fields of an item that fit a pattern, or a fieldSpec of kustomize."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .fieldpath import FieldPath, join
from .fields import Editable, ItemField, parts_of

__all__ = ["each", "field_spec"]


def each(item: Editable, pattern: str) -> list[ItemField]:
    """Return the fields that fit a pattern, in the order of the text, as they are now.

    `[*]` is every entry of a list, `*` every value of a mapping, `**` zero or more levels of both. Raises KrmfnError,
    with item and path, where the pattern goes on below a scalar and no `*` or `**` stands before.
    """
    parts = parts_of(item, pattern)
    entries = {at for at, part in enumerate(re.findall(r"\[[^\[\]]*\]|[^.\[\]]+", pattern)) if part == "[*]"}

    def below(value: Any, path: FieldPath, states: frozenset[int]) -> Iterator[FieldPath]:
        states = _closed(states, parts)
        if path and len(parts) in states:
            yield path
        if not isinstance(value, (dict, list)):
            number = max(states)
            if value is not None and number < len(parts) and not {"*", "**"} & _free(parts[: number + 1], entries):
                raise ItemField(item, join(path)).failure(f"is no mapping and no list, and {pattern} goes on below it")
            return
        children = value.items() if isinstance(value, dict) else ((at, value[at]) for at in range(len(value)))
        for key, child in children:
            further = frozenset(_next(states, parts, entries, key))
            if further:
                yield from below(child, (*path, key), further)

    return [ItemField(item, join(path)) for path in below(item.manifest, (), frozenset({0}))]


def field_spec(
    item: Editable, path: str, *, group: str = "", version: str = "", kind: str = "", create: bool = False
) -> list[ItemField]:
    """Return the fields that a fieldSpec of kustomize means (`spec/images[]/image`; it goes through lists by itself).

    None of an item of another group, version or kind, where they are given; one that is not there only with `create`,
    below mappings. Raises KrmfnError, with item and path, where the path goes on below a scalar.
    """
    own = item.ref
    found = (own.group, own.api_version.rpartition("/")[2], own.kind)
    if any(part and part != one for part, one in zip((group, version, kind), found, strict=True)):
        return []
    parts = [part.replace("\\/", "/") for part in re.split(r"(?<!\\)/", path.replace("[]", ""))]

    def below(value: Any, at: FieldPath, rest: list[str]) -> Iterator[FieldPath]:
        if isinstance(value, list):
            for number, entry in enumerate(value):
                yield from below(entry, (*at, number), rest)
        elif not rest:
            yield at
        elif isinstance(value, dict) and (rest[0] in value or create):
            yield from below(value.get(rest[0]), (*at, rest[0]), rest[1:])
        elif value is None and create:
            yield (*at, *rest)
        elif value is not None and not isinstance(value, dict):
            raise ItemField(item, join(at)).failure(f"is no mapping and no list, and {path} goes on below it")

    return [ItemField(item, join(at)) for at in below(item.manifest, (), parts)]


def _closed(states: frozenset[int], parts: tuple[str, ...]) -> frozenset[int]:
    """Return the positions in a pattern with those that a `**` of no level leads to."""
    more = {at + 1 for at in states if at < len(parts) and parts[at] == "**"} - states
    return _closed(states | more, parts) if more else states


def _free(parts: tuple[str, ...], entries: set[int]) -> set[str]:
    return {part for at, part in enumerate(parts) if at not in entries}


def _next(states: frozenset[int], parts: tuple[str, ...], entries: set[int], key: str | int) -> Iterator[int]:
    """Yield the positions behind a key or index."""
    for at in states:
        if at == len(parts):
            continue
        if parts[at] == "**":
            yield at
        elif parts[at] == "*":
            if (at in entries) == isinstance(key, int):
                yield at + 1
        elif parts[at] == str(key):
            yield at + 1
