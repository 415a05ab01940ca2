"""Parts of a manifest whose types nobody has checked: what is no mapping and no list counts as nothing."""

import re
from collections.abc import Iterator
from functools import lru_cache

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*").fullmatch
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]").fullmatch
MOST_OF_SUBDOMAIN = 253
_LAST_NUMBER = 2**63 - 1


def table(parent: Any, name: str) -> dict[str, Any]:
    """Return the mapping at a field; {} for none."""
    value = parent.get(name) if isinstance(parent, dict) else None
    return value if isinstance(value, dict) else {}


def tables(parent: Any, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the mappings of the list at a field, each with its index; {} for a null, as the API server reads it."""
    value = parent.get(name) if isinstance(parent, dict) else None
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if entry is None or isinstance(entry, dict):
            yield index, entry or {}


def text(parent: Any, name: str) -> str:
    """Return the text at a field; "" for none."""
    value = parent.get(name) if isinstance(parent, dict) else None
    return value if isinstance(value, str) else ""


def number(parent: Any, name: str) -> int | None:
    """Return the whole number at a field; None for none, and for one that no field of the API can hold."""
    value = parent.get(name) if isinstance(parent, dict) else None
    return value if is_number(value) else None


def is_number(value: Any) -> bool:
    """Return True for a whole number of 64 bits; Python refuses to print one of some thousand digits."""
    return type(value) is int and -_LAST_NUMBER <= value <= _LAST_NUMBER


def is_label(name: str) -> bool:
    """Return True for an RFC 1123 label."""
    return _LABEL(name) is not None


def is_subdomain(name: str) -> bool:
    """Return True for an RFC 1123 subdomain."""
    return len(name) <= MOST_OF_SUBDOMAIN and _SUBDOMAIN(name) is not None


@lru_cache(maxsize=1024)
def is_qualified(key: str) -> bool:
    """Return True for the key of a label: a name, with a subdomain and a slash before it or not."""
    prefix, slash, name = key.rpartition("/")
    return _NAME(name) is not None and (not slash or is_subdomain(prefix))


def label_values(part: Any) -> Iterator[FieldMistake]:
    """Yield the values in an expression about labels that no label can have."""
    values = part.get("values")
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, str) and not is_label_value(value):
            yield ("values", index), Mistake(f"is {value!r}", "write at most 63 letters, digits, '-', '_' and '.'")


def is_label_value(value: str) -> bool:
    """Return True for what may be the value of a label."""
    return not value or _NAME(value) is not None
