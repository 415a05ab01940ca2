"""Plain data: the strings, numbers, booleans, nulls, lists and mappings that a manifest may hold."""

from __future__ import annotations

from typing import Any

from .errors import KrmfnError
from .fieldpath import join
from .resource import same

_INFINITY = float("inf")
_DEEPEST = 200
"""Levels of nesting that our readers take (`yamltext.values.MAX_DEPTH`); a value that holds itself has more."""


def copied(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """Return a deep copy of plain data. Raises KrmfnError, with the field path, for what JSON does not have."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise KrmfnError(f"{join(path)} holds half a surrogate pair; no UTF-8 text can")
        return value
    if isinstance(value, (dict, list)):
        if len(path) >= _DEEPEST:
            raise KrmfnError(f"{join(path[:3])} is nested deeper than {_DEEPEST} levels, or holds itself")
        if isinstance(value, list):
            return [copied(child, (*path, at)) for at, child in enumerate(value)]
        return {_key(key, path): copied(child, (*path, key)) for key, child in value.items()}
    if value is None or isinstance(value, int) or (isinstance(value, float) and -_INFINITY < value < _INFINITY):
        return value
    shown = f"{value!r}" if isinstance(value, float) else f"a Python {type(value).__name__}"
    raise KrmfnError(f"{join(path)} is {shown}; a manifest holds what JSON has")


def _key(key: Any, path: tuple[str | int, ...]) -> str:
    if isinstance(key, str):
        return str(copied(key, path))
    raise KrmfnError(
        f"{join(path)} has the key {key!r}, which is no string" if path else f"the key {key!r} is no string"
    )


def changed_at(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> str:
    """Return the path of the first field in which `new` is not what `old` is; "" when that is the whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in (*old, *new):
            if key not in old or key not in new:
                return join((*path, str(key)))
            if not same(old[key], new[key]):
                return changed_at(old[key], new[key], (*path, str(key)))
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            if not same(one, other):
                return changed_at(one, other, (*path, at))
    return join(path)
