"""`if` of a Profile: what must hold of a config's options; equality, one of several, or whether one is written."""

from __future__ import annotations

from collections.abc import Mapping

from krmfn.typed import Any

from .expressions import Values, at, path_of
from .structural import ABSENT


def holds(condition: Mapping[str, Any], values: Values) -> bool:
    """Return True when all entries of a condition hold."""
    return all(_holds(path, wanted, values) for path, wanted in condition.items())


def _holds(path: str, wanted: Any, values: Values) -> bool:
    root, parts = path_of(path) or ("", ())
    if isinstance(wanted, dict):
        written = values.written if root == "spec" else values.metadata
        return (at(written, parts) is not ABSENT) is wanted.get("exists")
    own = at(values.spec if root == "spec" else values.metadata, parts)
    return any(same(own, one) for one in (wanted if isinstance(wanted, list) else [wanted]))


def same(one: Any, other: Any) -> bool:
    """Return True for equal scalars of one type; true is not 1, and 1 is not "1"."""
    number = (int, float)
    alike = type(one) is type(other) or (type(one) in number and type(other) in number)
    return alike and bool(one == other)
