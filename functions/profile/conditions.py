"""Checks of a Profile's conditions, and of its entries of `texts` but for the options in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from krmfn.resource import FieldPath, join
from krmfn.typed import Any

from ..kmm.lookup import strings, table
from ..mistake import FieldMistake, Mistake
from . import defaulting, expressions, misuse, refusals, structural
from .product import MADE, SERIALISED, whens
from .structural import Node

METADATA = (("metadata", "name"), ("metadata", "namespace"))
"""What can be read of a config's metadata."""
_EMPTY = Mistake("a `when` without `config` and `unset` does nothing", "write one of the two, or remove it")


def mistakes(spec: Mapping[str, Any], node: Node) -> Iterator[FieldMistake]:
    """Yield the mistakes in conditions, in entries of `texts`, and in the paths of `ignored`."""
    yield from ((path, _EMPTY) for path, when in whens(spec) if not when.keys() & {"config", "unset"})
    conditions: list[tuple[FieldPath, Mapping[str, Any]]]
    conditions = [((*path, "if"), when["if"]) for path, when in whens(spec)]
    conditions += [(("texts", name, "if"), text["if"]) for name, text in spec.get("texts", {}).items() if "if" in text]
    refused: list[tuple[FieldPath, Mapping[str, Any]]]
    refused = [(("refuse", index, "if"), entry["if"]) for index, entry in enumerate(spec.get("refuse", ()))]
    for path, condition in refused:
        for name, value in condition.items():
            if not _wrong_path(name, node) and (mistake := refusals.unsaid(name, value, node)):
                yield (*path, name), mistake
    for path, condition in (*conditions, *refused):
        for name, value in condition.items():
            if mistake := _wrong_path(name, node) or _wrong_value(name, value, node):
                yield (*path, name), mistake
    for name, text in spec.get("texts", {}).items():
        yield from _of_text(name, text, node)
    for word in ("ignored", "deprecated"):
        for name in spec.get(word, {}):
            if mistake := _wrong_path(name, node):
                yield (word, name), mistake
    yield from _of_target(spec.get("for", {}), "schema" in spec)


def _of_target(target: Mapping[str, Any], has_schema: bool) -> Iterator[FieldMistake]:
    """Yield what is wrong with the versions and the scope of the vendor's own kind."""
    if target and not target.get("versions") and not target.get("schemas"):
        mistake = Mistake("is missing", "write the versions that are read, or `schemas` with one for each")
        yield ("for", "versions"), mistake
    schemas = target.get("schemas", {})
    if schemas and target.get("versions") and {*schemas} != {*target["versions"]}:
        yield (
            ("for", "schemas"),
            Mistake(f"has {', '.join(schemas)}, and `versions` are others", "name the same, or leave them out"),
        )
    if schemas and has_schema:
        yield ("schema",), Mistake("has no effect beside for.schemas", "move it to the versions there, or remove it")
    is_cluster_wide = target.get("scope") == "Cluster"
    if is_cluster_wide and not target.get("namespace"):
        mistake = Mistake("is missing", "a cluster-wide config has none: write where its objects are made")
        yield ("for", "namespace"), mistake
    elif "namespace" in target and not is_cluster_wide:
        mistake = Mistake("has no effect: objects are made in the namespace of the config", "remove it")
        yield ("for", "namespace"), mistake


def _of_text(name: str, text: Mapping[str, Any], node: Node) -> Iterator[FieldMistake]:
    """Yield the mistakes in an entry of `texts`, but for those in its condition and its expressions."""
    for word in SERIALISED & text.keys():
        if mistake := _wrong_path(text[word], node):
            yield ("texts", name, word), mistake
        if others := text.keys() & {"each", "quote", "separator"}:
            mistake = Mistake(f"has no effect beside `{word}`, which prints one value", "remove it")
            yield ("texts", name, min(others)), mistake
    mistake = _wrong_path(text["each"], node) if "each" in text else None
    if not mistake and "each" in text and not _has_entries(text["each"], node):
        message = "must be a map or a list, since `each` is one entry of it"
        mistake = Mistake(message, "for one value write `as` alone")
    if mistake:
        yield ("texts", name, "each"), mistake
    if len(text.keys() & MADE) != 1 or not text.keys() & {"each", "as", *SERIALISED}:
        remedy = (
            "write one of `as`, `each` with `entry` (for a list), `each` with `onto` (for a mapping), `json`, `yaml`"
        )
        yield ("texts", name), Mistake(remedy)
    elif "each" in text and "as" not in text and not mistake:
        yield from _fields_of_entries(name, text, node)
    for match in expressions.OF_ENTRY.finditer(text.get("as", "")):
        if match[1] not in ("key", "value"):
            mistake = Mistake(f"{match[0]} is not read in `as`", "write ${value}, or an `entry` for a list")
            yield ("texts", name, "as"), mistake
    if misuse.is_quoted_twice(text):
        yield ("texts", name, "as"), misuse.TWICE


def _fields_of_entries(name: str, text: Mapping[str, Any], node: Node) -> Iterator[FieldMistake]:
    """Yield an error per field of an entry of `each` that the schema does not have."""
    option = structural.at(node, expressions.path_of(text["each"])) or {}
    entries = table(option, "items") or table(option, "additionalProperties")  # {} takes anything, as `true` does
    key = "entry" if "entry" in text else "onto"
    remedy = f"write what does not come from {text['each']} in a `when`"
    for path, template, _ in strings(text[key], ("texts", name, key)):
        for expression in expressions.parse(template):
            yield path, Mistake(f"{expression.text} is not read in `{key}`", remedy)
        for match in expressions.OF_ENTRY.finditer(template):
            root, *inner = expressions.parts_of(match[1])
            if root == "value" and (unknown := structural.unknown_option(entries, inner)):
                yield path, unknown.after(f"{match[0]}: an entry of {text['each']} has no such field; ")
            elif root == "value" and match[0] != template and (mistake := _unprintable(match[0], entries, inner)):
                yield path, mistake


def _unprintable(text: str, entries: Node, parts: Sequence[str]) -> Mistake | None:
    """Return why a field of the entries cannot be part of a text; None when it always can."""
    option = structural.at(entries, parts) or {}
    if kind := structural.NESTED.get(option.get("type", "")):
        return Mistake(f"{text} is {kind} and cannot be part of a text", "name a field that is text or a number")
    missing = defaulting.missing_part(entries, parts, 0)
    if option.get("nullable"):
        return Mistake(f"{text} may be absent", "remove `nullable` from the schema")
    parent = "" if missing == parts else f", since {join(('value', *missing))} may be"
    return (
        Mistake(f"{text} may be absent{parent}", "require it in the schema, or give it a default there")
        if missing
        else None
    )


def _has_entries(name: str, node: Node) -> bool:
    """Return True for an option that is a mapping or a list."""
    parts = expressions.path_of(name)
    option = structural.at(node, parts) or {}
    is_nested = option.get("type", "object") in ("object", "array") and not option.get(structural.INT_OR_STRING)
    return parts[0] == "spec" and is_nested


def _wrong_path(name: str, node: Node) -> Mistake | None:
    """Return what is wrong with the path of an option; None for nothing."""
    parts = expressions.path_of(name)
    if parts[:1] == ("metadata",):
        return None if parts in METADATA else Mistake("of the metadata only name and namespace can be read")
    if not parts:
        return Mistake(f"{name!r} is not the path of an option", "write spec.a.b, or spec.a['b.c/d'] for such a name")
    return structural.unknown_option(node, parts)


def _wrong_value(name: str, value: Any, node: Node) -> Mistake | None:
    """Return why a condition on an option cannot hold; None when it can."""
    if isinstance(value, dict):
        is_right = list(value) == ["exists"] and isinstance(value["exists"], bool)
        return None if is_right else Mistake("write a value, a list of values, {exists: true} or {exists: false}")
    if value == []:
        return Mistake("never holds: an empty list has no value", "write one, or leave the condition out")
    parts = expressions.path_of(name)
    option = (structural.at(node, parts) or {}) if parts[0] == "spec" else {"type": "string"}
    for choice in value if isinstance(value, list) else [value]:
        if isinstance(choice, (dict, list)) or choice is None:
            return Mistake("must be a scalar, or a list of scalars of which it is one")
        if not structural.may_be(option, choice):
            return Mistake(f"never holds: {name} cannot be {json.dumps(choice)}")
    return None
