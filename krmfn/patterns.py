"""The fields of an item that fit a pattern, or a fieldSpec of kustomize."""

import re
from collections.abc import Iterator
from functools import lru_cache

from .fieldpaths import chosen, is_choice, parts_of
from .fields import ItemField
from .typed import Any

__all__ = ["field_spec", "matching_fields"]

_FREE = ("*", "**")
_SPELLED = ("true", "false")
"""Keys that a text may spell in another way: `yes`, `off`."""


def matching_fields(item: Any, pattern: str, comment: str = "") -> list[ItemField]:
    """Return the fields that fit a pattern, in the order of the text, as they are now.

    `[*]` is every entry of a list, `[name=web]` each of that name, `[-1]` the last; `*` is every value of a mapping,
    `**` zero or more levels of both; `comment` is how the comment on the field's line must begin. Raises KrmfnError,
    with item and path, where the pattern goes on below a scalar and no `*` or `**` stands before.
    """
    parts = parts_of(item, pattern, is_pattern=True)
    choices = tuple(filter(is_choice, parts))
    free = next((at for at, part in enumerate(parts) if part in _FREE), len(parts))
    # with a wildcard here nothing raises, so an item without the words need not be looked at
    words = [part for part in parts[free + 1 :] if part[0].isalpha() and part not in _SPELLED] if free <= 1 else []
    if words and not all(map(item.mentions, words)):
        return []
    if comment and comment.encode() not in item.text:
        return []
    comments = item.content.comments(item) if comment else {}
    commented = {path for path, words in comments.items() if words.startswith(comment)}
    above = {path[:length] for path in commented for length in range(len(path) + 1)}

    def walk(value: Any, path: tuple[str, ...], states: frozenset[int]) -> Iterator[tuple[str, ...]]:
        if path and len(parts) in states and (not comment or path in commented):
            yield path
        if isinstance(value, (dict, list)):
            indexes = {choice: chosen(choice, value) for choice in choices}
            for key, child in value.items() if isinstance(value, dict) else enumerate(value):
                selected = frozenset(choice for choice in choices if key in indexes[choice])
                below, next_states = (*path, str(key)), _next_states(parts, states, key, selected)
                if next_states and (not comment or below in above):  # few fields have one
                    yield from walk(child, below, next_states)
        elif value is not None and not comment and max(states) < free:
            raise ItemField(item, path).failure(f"is no mapping and no list, and {pattern} goes on below it")

    return [ItemField(item, path) for path in walk(item.content.manifest, (), _closure(frozenset({0}), parts))]


def field_spec(
    item: Any, path: str, *, group: str = "", version: str = "", kind: str = "", create: bool = False
) -> list[ItemField]:
    """Return the fields that a fieldSpec of kustomize means (`spec/images[]/image`; it goes through lists by itself).

    None of an item of another group, version or kind, where they are given; one that is not there only with `create`,
    below mappings. Raises KrmfnError, with item and path, where the path goes on below a scalar.
    """
    names = (item.group, item.api_version.rpartition("/")[2], item.kind)
    if any(part and part != name for part, name in zip((group, version, kind), names, strict=True)):
        return []
    parts = [part.replace("\\/", "/") for part in re.split(r"(?<!\\)/", path.replace("[]", ""))]

    def below(value: Any, at: tuple[str, ...], rest: list[str]) -> Iterator[tuple[str, ...]]:
        if isinstance(value, list):
            for number, entry in enumerate(value):
                yield from below(entry, (*at, str(number)), rest)
        elif not rest:
            yield at
        elif isinstance(value, dict) and (rest[0] in value or create):
            yield from below(value.get(rest[0]), (*at, rest[0]), rest[1:])
        elif value is None and create:
            yield (*at, *rest)
        elif value is not None and not isinstance(value, dict):
            raise ItemField(item, at).failure(f"is no mapping and no list, and {path} goes on below it")

    return [ItemField(item, at) for at in below(item.content.manifest, (), parts)]


def _closure(states: frozenset[int], parts: tuple[str, ...]) -> frozenset[int]:
    """Return positions in a pattern, and those behind each `**` there, which may stand for no level."""
    further = {at + 1 for at in states if at < len(parts) and parts[at] == "**"} - states
    return _closure(states | further, parts) if further else states


@lru_cache(maxsize=4096)
def _next_states(
    parts: tuple[str, ...], states: frozenset[int], key: str | int, choices: frozenset[str]
) -> frozenset[int]:
    """Return the positions in a pattern behind a key or index; `choices`: its parts that choose this entry."""
    wild = "[*]" if isinstance(key, int) else "*"
    active = [at for at in states if at < len(parts)]
    repeated = {at for at in active if parts[at] == "**"}
    return _closure(frozenset(repeated | {at + 1 for at in active if parts[at] in (wild, str(key), *choices)}), parts)
