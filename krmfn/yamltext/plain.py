"""Plain data: the strings, numbers, booleans, nulls, lists and mappings that a manifest may hold."""

from __future__ import annotations

from typing import Any

from ..errors import KrmfnError
from ..fieldpath import join
from ..resource import same

_INFINITY = float("inf")
_DEEPEST = 200
"""Levels of nesting that our readers take (`yamltext.values.MAX_DEPTH`); a value that holds itself has more."""


def copied(value: Any) -> Any:
    """Return a deep copy of plain data. Raises KrmfnError, with the field path, for what JSON does not have."""
    try:
        return _copied(value, 0)
    except ValueError:
        raise KrmfnError(_odd(value, ())) from None


def _copied(value: Any, depth: int) -> Any:
    """Return a deep copy; raises ValueError for what JSON does not have. The usual case first: objects are many."""
    if depth >= _DEEPEST:
        raise ValueError
    kind = type(value)
    if kind is dict:
        return {
            key if type(key) is str and key.isascii() else _word(key): (
                child if type(child) is str and child.isascii() else _copied(child, depth + 1)
            )
            for key, child in value.items()
        }
    if kind is list:
        return [_copied(child, depth + 1) for child in value]
    if kind is bool or kind is int or value is None:
        return value
    if isinstance(value, str):
        return _word(value)
    if isinstance(value, (dict, list)):
        return _copied(dict(value) if isinstance(value, dict) else list(value), depth)
    if isinstance(value, int) or (isinstance(value, float) and -_INFINITY < value < _INFINITY):
        return value
    raise ValueError


def _word(value: Any) -> str:
    if isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value):
        return value
    raise ValueError


def _odd(value: Any, path: tuple[str | int, ...]) -> str:
    """Return the sentence for the first thing in `value` that JSON does not have; "" when there is none."""
    if len(path) >= _DEEPEST:
        return f"{join(path[:3])} is nested deeper than {_DEEPEST} levels, or holds itself"
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                return (
                    f"{join(path)} has the key {key!r}, which is not a string"
                    if path
                    else f"the key {key!r} is not a string"
                )
        return next(
            filter(None, (_odd(child, (*path, key)) or _odd(key, (*path, key)) for key, child in value.items())), ""
        )
    if isinstance(value, list):
        return next(filter(None, (_odd(child, (*path, at)) for at, child in enumerate(value))), "")
    try:
        _copied(value, 0)
    except ValueError:
        if isinstance(value, str):
            return f"{join(path)} holds half a surrogate pair, which no UTF-8 text can"
        shown = repr(value) if isinstance(value, float) else f"a Python {type(value).__name__}"
        return f"{join(path)} is {shown}; a manifest holds what JSON has"
    return ""


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
