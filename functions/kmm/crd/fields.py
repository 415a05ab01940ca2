"""The CRD's rules about the fields of an object: unknown ones, missing ones, and nulls; `structure` applies them."""

from __future__ import annotations

from collections.abc import Container, Iterator

from krmfn import Result
from krmfn.fieldpath import FieldPath, join
from krmfn.rule import Rule
from krmfn.typed import Any

from ..rule import refused
from .apitext import dotted, mistyped
from .facts import Fact
from .hints import known_fields


def is_dropped(path: FieldPath) -> bool:
    """Return True for a status, which the API server drops before it validates an apply."""
    return path[:1] == ("status",)


def unknown_fields(value: Any, node: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield an error per field in a value that the CRD does not have."""
    is_map, is_list = node.type == "object" and node.fields is None, isinstance(value, list)
    if (is_list and node.type == "array") or (is_map and (not is_list or node.item is None)):
        return
    fields = node.fields or {}
    known = fields if path else {*fields, "apiVersion", "kind", "metadata"}
    for here in _unknown_paths(value, known, path):
        text = f'strict decoding error: unknown field "{dotted(here)}"'
        meant = node.type == "object" and not is_list
        yield refused(text, join(here), hint=known_fields(here, fields) if meant else "", rule="KMM051")


def _unknown_paths(value: Any, known: Container[str], path: FieldPath) -> Iterator[FieldPath]:
    """Yield the paths of unknown fields; in a list where none belongs, all fields of its entries."""
    if isinstance(value, dict):
        yield from ((*path, key) for key in value if key not in known)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _unknown_paths(entry, (), (*path, index))


KMM051 = Rule(
    "KMM051",
    "a field must exist in the Module CRD of this KMM version; unknown fields would be dropped silently",
    good='spec: {selector: {example.com/gpu: "true"}}\n',
    bad='spec: {nodeSelector: {example.com/gpu: "true"}}\n',
    remedy="Correct the field's name, remove the field, or set the KMM version that has it (`kmm.version`).",
)


def missing_fields(value: dict[str, Any], node: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield an error per field that the CRD requires in a value."""
    for key in node.required:
        if value.get(key) is None:
            yield refused(f"{dotted((*path, key))}: Required value", join((*path, key)), rule="KMM053")


KMM053 = Rule(
    "KMM053",
    "a required field must be present",
    good='spec: {devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}}\n',
    bad="spec: {devicePlugin: {container: {}}}\n",
    remedy="Add the field that the finding names.",
)


def null_value(node: Fact, parent: Fact, path: FieldPath) -> Iterator[Result]:
    """Yield the error about a field that is null, unless the CRD has a default for it."""
    if path[-1] not in parent.required and node.default is None and not is_dropped(path):
        expected = "integer,string" if node.type == "quantity" else node.type
        hint = "leave the field out: a plain create drops it, server-side apply refuses it"
        yield refused(mistyped(dotted(path), "null", expected), join(path), hint=hint, rule="KMM059")


KMM059 = Rule(
    "KMM059",
    "a field must not be null: server-side apply refuses it, and a plain create drops the field",
    good='spec: {selector: {example.com/gpu: ""}}\n',
    bad="spec: {selector: {example.com/gpu: null}}\n",
    remedy='Remove the field, or write its value; write an empty label value as "".',
)

RULES = (KMM051, KMM053, KMM059)
