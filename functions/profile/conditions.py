"""Checks of a Profile's conditions, and of its entries of `texts` but for the options in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ..kmm.lookup import strings, table
from . import defaulting, expressions, misuse, refusals, structural
from .product import MADE, SERIALISED, whens
from .structural import Node

Mistake = tuple[FieldPath, str]
"""The path of a field of a Profile, from its `spec`, and what is wrong with it."""
METADATA = (("metadata", "name"), ("metadata", "namespace"))
"""What can be read of a config's metadata."""
_EMPTY = "a `when` without `config` and `unset` does nothing; write one of the two, or remove it"


def mistakes(spec: Mapping[str, Any], node: Node) -> Iterator[Mistake]:
    """Yield the mistakes in conditions, in entries of `texts`, and in the paths of `ignored`."""
    yield from ((path, _EMPTY) for path, when in whens(spec) if not when.keys() & {"config", "unset"})
    conditions: list[tuple[FieldPath, Mapping[str, Any]]]
    conditions = [((*path, "if"), when["if"]) for path, when in whens(spec)]
    conditions += [(("texts", name, "if"), text["if"]) for name, text in spec.get("texts", {}).items() if "if" in text]
    refused: list[tuple[FieldPath, Mapping[str, Any]]]
    refused = [(("refuse", index, "if"), entry["if"]) for index, entry in enumerate(spec.get("refuse", ()))]
    for path, condition in refused:
        for name, value in condition.items():
            if not _wrong_path(name, node) and (message := refusals.unsaid(name, value, node)):
                yield (*path, name), message
    for path, condition in (*conditions, *refused):
        for name, value in condition.items():
            if message := _wrong_path(name, node) or _wrong_value(name, value, node):
                yield (*path, name), message
    for name, text in spec.get("texts", {}).items():
        yield from _of_text(name, text, node)
    for word in ("ignored", "deprecated"):
        for name in spec.get(word, {}):
            if message := _wrong_path(name, node):
                yield (word, name), message
    yield from _of_target(spec.get("for", {}), "schema" in spec)


def _of_target(target: Mapping[str, Any], has_schema: bool) -> Iterator[Mistake]:
    """Yield what is wrong with the versions and the scope of the vendor's own kind."""
    if target and not target.get("versions") and not target.get("schemas"):
        yield ("for", "versions"), "is missing; write the versions that are read, or `schemas` with one for each"
    schemas = target.get("schemas", {})
    if schemas and target.get("versions") and {*schemas} != {*target["versions"]}:
        yield (
            ("for", "schemas"),
            f"has {', '.join(schemas)}, and `versions` are others; name the same, or leave them out",
        )
    if schemas and has_schema:
        yield ("schema",), "has no effect beside for.schemas; move it to the versions there, or remove it"
    is_cluster_wide = target.get("scope") == "Cluster"
    if is_cluster_wide and not target.get("namespace"):
        yield ("for", "namespace"), "is missing; a cluster-wide config has none: write where its objects are made"
    elif "namespace" in target and not is_cluster_wide:
        yield ("for", "namespace"), "has no effect: objects are made in the namespace of the config; remove it"


def _of_text(name: str, text: Mapping[str, Any], node: Node) -> Iterator[Mistake]:
    """Yield the mistakes in an entry of `texts`, but for those in its condition and its expressions."""
    for word in SERIALISED & text.keys():
        if problem := _wrong_path(text[word], node):
            yield ("texts", name, word), problem
        if others := text.keys() & {"each", "quote", "separator"}:
            yield ("texts", name, min(others)), f"has no effect beside `{word}`, which prints one value; remove it"
    message = _wrong_path(text["each"], node) if "each" in text else ""
    if not message and "each" in text and not _has_entries(text["each"], node):
        message = "must be a map or a list, since `each` is one entry of it; for one value write `as` alone"
    if message:
        yield ("texts", name, "each"), message
    if len(text.keys() & MADE) != 1 or not text.keys() & {"each", "as", *SERIALISED}:
        remedy = (
            "write one of `as`, `each` with `entry` (for a list), `each` with `onto` (for a mapping), `json`, `yaml`"
        )
        yield ("texts", name), remedy
    elif "each" in text and "as" not in text and not message:
        yield from _fields_of_entries(name, text, node)
    for match in expressions.OF_ENTRY.finditer(text.get("as", "")):
        if match[1] not in ("key", "value"):
            yield ("texts", name, "as"), f"{match[0]} is not read in `as`; write ${{value}}, or an `entry` for a list"
    if misuse.is_quoted_twice(text):
        yield ("texts", name, "as"), misuse.TWICE


def _fields_of_entries(name: str, text: Mapping[str, Any], node: Node) -> Iterator[Mistake]:
    """Yield an error per field of an entry of `each` that the schema does not have."""
    option = structural.at(node, expressions.path_of(text["each"])) or {}
    entries = table(option, "items") or table(option, "additionalProperties")  # {} takes anything, as `true` does
    key = "entry" if "entry" in text else "onto"
    remedy = f"write what does not come from {text['each']} in a `when`"
    for path, template, _ in strings(text[key], ("texts", name, key)):
        for expression in expressions.parse(template):
            yield path, f"{expression.text} is not read in `{key}`; {remedy}"
        for match in expressions.OF_ENTRY.finditer(template):
            root, *inner = expressions.parts_of(match[1])
            if root == "value" and (message := structural.unknown_option(entries, inner)):
                yield path, f"{match[0]}: an entry of {text['each']} has no such field; {message}"
            elif root == "value" and match[0] != template and (message := _unprintable(match[0], entries, inner)):
                yield path, message


def _unprintable(text: str, entries: Node, parts: Sequence[str]) -> str:
    """Return why a field of the entries cannot be part of a text; "" when it always can."""
    option = structural.at(entries, parts) or {}
    if kind := structural.NESTED.get(option.get("type", "")):
        return f"{text} is {kind} and cannot be part of a text; name a field that is text or a number"
    missing = defaulting.missing_part(entries, parts, 0)
    if option.get("nullable"):
        return f"{text} may be absent; remove `nullable` from the schema"
    parent = "" if missing == parts else f", since {join(('value', *missing))} may be"
    return f"{text} may be absent{parent}; require it in the schema, or give it a default there" if missing else ""


def _has_entries(name: str, node: Node) -> bool:
    """Return True for an option that is a mapping or a list."""
    parts = expressions.path_of(name)
    option = structural.at(node, parts) or {}
    is_nested = option.get("type", "object") in ("object", "array") and not option.get(structural.INT_OR_STRING)
    return parts[0] == "spec" and is_nested


def _wrong_path(name: str, node: Node) -> str:
    """Return what is wrong with the path of an option; "" for nothing."""
    parts = expressions.path_of(name)
    if parts[:1] == ("metadata",):
        return "" if parts in METADATA else "of the metadata only name and namespace can be read"
    if not parts:
        return f"{name!r} is not the path of an option; write spec.a.b, or spec.a['b.c/d'] for such a name"
    return structural.unknown_option(node, parts)


def _wrong_value(name: str, value: Any, node: Node) -> str:
    """Return why a condition on an option cannot hold; "" when it can."""
    if isinstance(value, dict):
        is_right = list(value) == ["exists"] and isinstance(value["exists"], bool)
        return "" if is_right else "write a value, a list of values, {exists: true} or {exists: false}"
    if value == []:
        return "never holds: an empty list has no value; write one, or leave the condition out"
    parts = expressions.path_of(name)
    option = (structural.at(node, parts) or {}) if parts[0] == "spec" else {"type": "string"}
    for choice in value if isinstance(value, list) else [value]:
        if isinstance(choice, (dict, list)) or choice is None:
            return "must be a scalar, or a list of scalars of which it is one"
        if not structural.may_be(option, choice):
            return f"never holds: {name} cannot be {json.dumps(choice)}"
    return ""
