"""Paths of fields: their parts, and what stands there in data."""

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from .errors import Refused
from .resource import join
from .typed import Any
from .yamltext.simple import WORDS, scalar

__all__ = ["MISSING", "child", "chosen", "is_choice", "named", "parts_of", "read"]

MISSING = object()
"""The value of a field that is not there."""
_CHOICE = r"\[(?:-[0-9]{1,9}|[A-Za-z_][A-Za-z0-9_./-]*=[^\[\]]+)\]"
_ODD = r"\[(?:[\"'?(@].*|-?[0-9]*:.*|[^=*]*\*.+|.+\*[^=*]*|-[0-9]*[^0-9=][^=]*|=.*|(?:\S|\s(?!=))*\s=.*)\]"
"""Brackets of other languages of paths: quotes, filters, slices, wildcards within a word."""
_PATH = r"(?:[^./\[\]]+|\[[^\[\]]+\])(?:\.[^./\[\]]+|\[[^\[\]]+\])*"


def parts_of(item: Any, path: str | Sequence[str | int], is_pattern: bool = False) -> tuple[str, ...]:
    """Return the parts of a path; one that chooses an entry, `[-1]` or `[name=web]`, keeps its brackets.

    A tuple is taken part by part, as keys and indexes. Raises KrmfnError, with the item, for what is no path.
    """
    if isinstance(path, (tuple, list)):
        return tuple(map(str, path))
    if not isinstance(path, str) or not re.fullmatch(_PATH, path):
        message = f"{path!r} is no field path; write one like spec.containers[0].image"
        if "/" in str(path):
            message += "; a key with a / or a dot goes into brackets: metadata.annotations[example.com/team]"
        raise Refused(message, item, f"{item.ref}: ")
    words = _words(path)
    for word in words:
        if word[0] == "[" and (re.fullmatch(_ODD, word) or (word == "[*]" and not is_pattern)):
            advice = "take [0], [-1], [name=web], a key like [example.com/team], or a tuple of parts"
            message = "each() takes [*], and" if word == "[*]" else f"{word} is not read as a part of a path:"
            raise Refused(f"{path!r} is no field path: {message} {advice}", item, f"{item.ref}: ")
    return tuple(word if is_choice(word) or word == "[*]" else word.strip("[]") for word in words)


@lru_cache(maxsize=4096)
def _words(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\[[^\[\]]*\]|[^.\[\]]+", path))


def is_choice(part: str) -> bool:
    """Return True for a part that chooses an entry of a list: `[-1]`, `[name=web]`."""
    return part[:1] == "[" and re.fullmatch(_CHOICE, part) is not None


def chosen(part: str, entries: Any) -> list[int]:
    """Return the indexes of the entries that a part chooses (see `is_choice`); none of what is no list."""
    if not isinstance(entries, list):
        return []
    key, sign, text = part[1:-1].partition("=")
    if not sign:
        return [len(entries) + int(key)] if len(entries) + int(key) >= 0 else []
    return [at for at, entry in enumerate(entries) if isinstance(entry, dict) and _text(entry.get(key)) == text]


def _text(value: Any) -> str | None:
    """Return a scalar as a path has it."""
    return value if isinstance(value, str) else None if isinstance(value, (dict, list)) else json.dumps(value)


@lru_cache(maxsize=4096)
def _is_odd(part: str) -> bool:
    """Return True for a part that may be another word to Kubernetes as a plain key: `y`, `012`."""
    if part in WORDS:
        return True
    value = scalar(part) if part[:1] in "+-.0123456789" else part
    return not isinstance(value, str) and str(value) != part


def named(item: Any, parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a path as the manifest has them: the indexes of chosen entries, keys that are spelled oddly.

    A part that chooses nothing stays. Raises KrmfnError, with the item, for one that chooses several entries.
    """
    if not any(_is_odd(part) or part[:1] == "[" for part in parts):
        return parts
    names: tuple[str, ...] = ()
    value: Any = item.content.manifest
    for part in parts:
        name = part
        if is_choice(part):
            indexes = chosen(part, value)
            if len(indexes) > 1:
                raise Refused(f"{join(names)}{part} is the name of {len(indexes)} entries", item, f"{item.ref}: ")
            name = str(indexes[0]) if indexes else part
        elif isinstance(value, dict) and part not in value and _is_odd(part):
            name = item.content.name_of(names, part)
        names = (*names, name)
        value = child(value, name)
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
