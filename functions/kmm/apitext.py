"""How the API server names types, paths and wrong types."""

from __future__ import annotations

from typing import Any

Path = tuple[str | int, ...]


def type_name(value: Any) -> str:
    """JSON's name of a value's type, as the API server prints it; a whole number too large for 64 bits is a number."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer" if -(2**63) <= value < 2**63 else "number"
    names = ((str, "string"), (dict, "object"), (list, "array"), (float, "number"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")


def is_whole(value: Any) -> bool:
    """Whether a number with a point counts as a whole one."""
    return isinstance(value, float) and value.is_integer() and abs(value) < 2**53


def mistyped(where: str, given: str, wanted: str) -> str:
    """The API server's words for a wrong type."""
    return f'{where}: Invalid value: "{given}": {where} in body must be of type {wanted}: "{given}"'


def dotted(path: Path) -> str:
    """The path as the API server writes it, keys with dots in them included."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
