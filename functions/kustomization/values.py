"""Fields of a resource as it is in the end, looked up in what it was made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache

from krmfn.item import Item
from krmfn.resource import Manifest, join, same, split
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at

Parts = tuple[str, ...]
"""A field's path in parts; an index of a list as its digits."""

_KEYS = ("name", "mountPath", "containerPort", "regexp", "literal", "key", "topologyKey")
"""What entries of lists are known by, where a patch or kustomize itself may move them."""


def moved(parts: Parts, whole: Any, other: Any) -> Parts:
    """Return the path that leads to the same field in `other` as `parts` do in `whole`.

    An entry of a list is known by its name or its like; one that `other` lacks gets an index past the end.
    """
    way: list[str] = []
    for part in parts:
        if isinstance(whole, list) and isinstance(other, list) and part.isdigit() and int(part) < len(whole):
            way.append(_index(whole[int(part)], int(part), other))
        else:
            way.append(part)
        whole, other = at(whole, (part,)), at(other, (way[-1],))
    return tuple(way)


def _index(entry: Any, index: int, entries: list[Any]) -> str:
    key = next((key for key in _KEYS if isinstance(entry, dict) and key in entry), None)
    for number, one in enumerate(entries):
        if one[key] == entry[key] if key and isinstance(one, dict) and key in one else key is None and same(one, entry):
            return str(number)
    return str(index if key is None and isinstance(entry, (dict, list)) else len(entries))


def same_at(path: str, whole: Manifest, other: Item) -> str | None:
    """Return the path at which `other` has what `whole` has at `path`, or lacks it, too; None when it differs."""
    way = moved(split(path), whole, other.manifest)
    value, there = at(whole, split(path)), at(other.manifest, way)
    if value is MISSING or there is MISSING:
        return path if value is there else None
    return join(way) if same(value, there) else None


def is_for(target: Manifest, manifest: Manifest, names: Collection[str]) -> bool:
    """Return True when a patch may be for the resource; selectors by labels and annotations are not evaluated."""
    return _fits(target.get("kind"), [manifest.get("kind", "")]) and _fits(target.get("name"), names)


def _fits(pattern: Any, words: Iterable[str]) -> bool:
    if not pattern:
        return True
    plain = str(pattern).replace("\\-", "-")
    return plain in words if plain.replace("-", "").isalnum() else any(_matches(str(pattern), word) for word in words)


@lru_cache(maxsize=1024)
def _matches(pattern: str, word: str) -> bool:
    """Return True when a regexp is all of a word, as kustomize says, or when it cannot be told.

    A stranger's regexp runs in RE2 only, with bounds: Python's engine may take for ever.
    """
    import re2  # type: ignore[import-untyped]  # late: few selectors are regexps

    options = re2.Options()
    options.log_errors, options.max_mem = False, 256 << 10
    try:
        long = len(pattern) + len(word) > 1000  # no name is
        return long or re2.search(f"^(?:{pattern})$", word, options) is not None
    except (re2.error, UnicodeError):
        return True
