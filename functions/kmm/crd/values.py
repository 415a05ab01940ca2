"""The CRD's rules about one value: its type, fields, bounds and nulls; `structure` applies them to each."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import Any

from krmfn.fieldpath import join
from krmfn.results import Result

from ..gotext import quote
from ..rule import Rule, Rules, refused
from .apitext import Path, as_json, dotted, mistyped, type_name
from .facts import Node
from .hints import in_quotes, known_fields

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INFINITE = float("inf")


def is_dropped(path: Path) -> bool:
    """Return True for a status, which the API server drops before it validates an apply."""
    return path[:1] == ("status",)


def unknown_field(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM051: every field is one that the Module CRD of this KMM version has; others would silently be dropped."""
    is_map, is_list = node.type == "object" and node.fields is None, isinstance(value, list)
    if (is_list and node.type == "array") or (is_map and (not is_list or node.item is None)):
        return
    fields = node.fields or {}
    known = fields if path else {*fields, "apiVersion", "kind", "metadata"}
    for here in _unknown_paths(value, known, path):
        text = f'strict decoding error: unknown field "{dotted(here)}"'
        meant = node.type == "object" and not is_list
        yield refused(text, join(here), hint=known_fields(here, fields) if meant else "")


def _unknown_paths(value: Any, known: Container[str], path: Path) -> Iterator[Path]:
    """Yield the paths of unknown fields; in a list where none belongs, all fields of its entries."""
    if isinstance(value, dict):
        yield from ((*path, key) for key in value if key not in known)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _unknown_paths(entry, (), (*path, index))


def wrong_type(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM052: every value has the CRD's type; a string that looks like a number or a boolean is quoted."""
    given = type_name(value)
    wanted = ("integer", "string") if node.type == "quantity" else (node.type,)
    if given in wanted or (given == "number" and "integer" in wanted and is_dropped(path) and abs(value) < INFINITE):
        return
    where, hint = dotted(path), in_quotes(value, wanted)
    yield refused(mistyped(where, given, ",".join(wanted)), join(path), _shown(value), hint)
    if node.type == "quantity":
        text = f'<nil>: Invalid value: "": "{where}" must validate at least one schema (anyOf)'
        yield refused(text, join(path), _shown(value))
        yield refused(mistyped(where, given, "integer"), join(path), _shown(value))


def missing_field(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM053: every required field is there."""
    if isinstance(value, dict):
        for key in node.required:
            if value.get(key) is None:
                yield refused(f"{dotted((*path, key))}: Required value", join((*path, key)))


def too_few(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM054: a list that must have an entry has one; leave the field out instead of writing []."""
    if isinstance(value, list) and len(value) < node.low:
        where = dotted(path)
        text = f"{where}: Invalid value: {len(value)}: {where} in body should have at least {node.low} items"
        yield refused(text, join(path), value)


def too_many(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM055: a list with a limit keeps it (DRA selectors and config: 32). KMM main."""
    if isinstance(value, list) and node.high is not None and len(value) > node.high:
        text = f"{dotted(path)}: Too many: {len(value)}: must have at most {node.high} items"
        yield refused(text, join(path))


def wrong_pattern(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM056: a string has the CRD's pattern: quantities, names of DRA device classes."""
    pattern = QUANTITY if node.type == "quantity" else node.pattern
    if pattern and isinstance(value, str) and not re.fullmatch(pattern[1:-1], value):
        where = dotted(path)
        yield refused(
            f"{where}: Invalid value: {quote(value)}: {where} in body should match '{pattern}'", join(path), value
        )


def duplicate_entry(value: Any, node: Node, path: Path) -> Iterator[Result]:
    """KMM057: entries of a list that the API server treats as a map have different keys (resources.claims: name)."""
    if not isinstance(value, list) or not node.keys:
        return
    for index, entry in enumerate(value):
        if entry is not None and not isinstance(entry, dict):
            here, shown = (*path, index), quote(entry) if isinstance(entry, str) else as_json(entry)
            text = f"{dotted(here)}: Invalid value: {shown}: must be an object for an array of list-type map"
            yield refused(text, join(here), _shown(entry))
            return
    yield from _repeated(value, node.keys, path)


def _repeated(entries: list[Any], keys: tuple[str, ...], path: Path) -> Iterator[Result]:
    """Yield an error for each entry with the keys of an earlier one, once per key, as the API server does."""
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        if entry is None:
            continue
        text = as_json({key: entry[key] for key in keys if entry.get(key) is not None})
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            here = (*path, index)
            where = join((*here, keys[0]))
            yield refused(f"{dotted(here)}: Duplicate value: {text}", where, _shown(entry.get(keys[0])))


def null_value(node: Node, parent: Node, path: Path) -> Iterator[Result]:
    """KMM059: no field is null: server-side apply refuses it, and a plain create drops the field."""
    if path[-1] not in parent.required and node.default is None and not is_dropped(path):
        wanted = "integer,string" if node.type == "quantity" else node.type
        hint = "leave the field out: a plain create drops it, server-side apply refuses it"
        yield refused(mistyped(dotted(path), "null", wanted), join(path), hint=hint)


def _shown(value: Any) -> Any:
    return None if isinstance(value, (dict, list)) else value


RULES: Rules = (
    ("KMM051", unknown_field),
    ("KMM052", wrong_type),
    ("KMM053", missing_field),
    ("KMM054", too_few),
    ("KMM055", too_many),
    ("KMM056", wrong_pattern),
    ("KMM057", duplicate_entry),
)
NULL_RULES: Rules = (("KMM059", null_value),)


def _only(*functions: Rule) -> Rules:
    return tuple((rule_id, rule) for rule_id, rule in RULES if rule in functions)


RULES_OF = {
    "object": _only(unknown_field, wrong_type, missing_field),
    "array": _only(unknown_field, wrong_type, too_few, too_many, duplicate_entry),
    "quantity": _only(unknown_field, wrong_type, wrong_pattern),
    "string": _only(unknown_field, wrong_type, wrong_pattern),
    "boolean": _only(unknown_field, wrong_type),
    "integer": _only(unknown_field, wrong_type),
}
"""The rules for a value of each of the CRD's types."""
