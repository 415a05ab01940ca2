"""Paths of fields: their parts, and what stands there in data."""

import re
from functools import lru_cache

from .errors import Refused
from .resource import split
from .typed import Any
from .yamltext.simple import WORDS, scalar

__all__ = ["MISSING", "child", "named", "parts_of", "read"]

MISSING = object()
"""The value of a field that is not there."""
_PATH = r"(?:[^./\[\]]+|\[[^\[\]]+\])(?:\.[^./\[\]]+|\[[^\[\]]+\])*"


def parts_of(item: Any, path: str) -> tuple[str, ...]:
    """Return the parts of a path. Raises KrmfnError, with the item, for what is none."""
    if not isinstance(path, str) or not re.fullmatch(_PATH, path):
        message = f"{path!r} is no field path; write one like spec.containers[0].image"
        if "/" in str(path):
            message += "; a key with a / or a dot goes into brackets: metadata.annotations[example.com/team]"
        raise Refused(message, item, f"{item.ref}: ")
    return split(path)


@lru_cache(maxsize=4096)
def _is_odd(part: str) -> bool:
    """Return True for a part that may be another word to Kubernetes as a plain key: `y`, `012`."""
    if part in WORDS:
        return True
    value = scalar(part) if part[:1] in "+-.0123456789" else part
    return not isinstance(value, str) and str(value) != part


def named(item: Any, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a path with each key as the manifest has it, where the text spells it in another way."""
    if not any(map(_is_odd, parts)):
        return parts
    names: tuple[str, ...] = ()
    value: Any = item.content.manifest
    for part in parts:
        is_missing = isinstance(value, dict) and part not in value and _is_odd(part)
        names = (*names, item.content.name_of(names, part) if is_missing else part)
        value = child(value, names[-1])
    return names


def read(value: Any, parts: tuple[str, ...]) -> Any:
    """Return what stands at the parts of a path; MISSING for nothing."""
    for part in parts:
        value = child(value, part)
    return value


def child(value: Any, part: str) -> Any:
    """Return what a mapping or list has under a key or index; MISSING for nothing."""
    if isinstance(value, dict):
        return value.get(part, MISSING)
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return value[int(part)]
    return MISSING
