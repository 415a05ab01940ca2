"""The defaults of a structural schema, as the API server gives them before it validates an object.

Source: pkg/apiserver/schema/defaulting/{algorithm,prunenulls}.go of k8s.io/apiextensions-apiserver v0.34.2.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from krmfn.typed import Any

from . import embedded
from .structural import EMBEDDED, INT_OR_STRING, Node, at

_EXACT = 2**53
"""Above this a fraction of Go's holds no exact integer, and the API server takes it for none."""
_INNER = ("items", "additionalProperties")


def with_defaults(node: Node, value: Any) -> Any:
    """Return a value with the defaults of its schema, and without the nulls that the API server drops.

    A default goes only into an object that is there: below an absent parent there is none, unless the parent has a
    default itself, such as {}.
    """
    if isinstance(value, dict):
        return _object_with_defaults(node, value)
    if isinstance(value, list):
        entries = table_of(node, "items")
        return [with_defaults(entries, _in_place_of_null(entries, inner)) for inner in value]
    return as_integers(node, value) if isinstance(value, float) else value


def as_integers(node: Node, value: Any) -> Any:
    """Return a value with whole numbers where its schema asks for integers: to the API server 1.0 is one."""
    if isinstance(value, float):
        is_integer = node.get("type") == "integer" or node.get(INT_OR_STRING)
        return int(value) if is_integer and value.is_integer() and -_EXACT <= value < _EXACT else value
    if isinstance(value, list):
        return [as_integers(table_of(node, "items"), inner) for inner in value]
    if isinstance(value, dict):
        known, rest = table_of(node, "properties"), table_of(node, "additionalProperties")
        return {name: as_integers(known.get(name, rest), inner) for name, inner in value.items()}
    return value


def _object_with_defaults(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    known, rest = table_of(node, "properties"), table_of(node, "additionalProperties")
    fields: dict[str, Any] = {}
    for name, inner in value.items():
        child = known.get(name, rest)
        filled = _in_place_of_null(child, inner)
        if filled is not None or child.get("nullable") or not child:  # of a field without a schema null is a value
            fields[name] = with_defaults(child, filled)
    for name, child in known.items():
        if name not in value and default_of(child) is not None:
            fields[name] = with_defaults(child, copy.deepcopy(default_of(child)))
    if node.get(EMBEDDED) and "metadata" in fields:
        fields["metadata"] = embedded.as_stored(fields["metadata"])
    return fields


def table_of(node: Node, word: str) -> Node:
    """Return the schema, or the schemas of fields, under a keyword; {} where there is none, or `true`."""
    inner = node.get(word)
    return inner if isinstance(inner, dict) else {}


def default_of(node: Node) -> Any:
    """Return the default of a schema; None for none, which `default: null` is, too."""
    return node.get("default")


def _in_place_of_null(node: Node, value: Any) -> Any:
    """Return a value, or in place of null the default of a schema that does not take null (None without one)."""
    return copy.deepcopy(default_of(node)) if value is None and not node.get("nullable") else value


def as_written(node: Node) -> Node:
    """Return a schema for what people write: without the requirement of fields that have a default."""
    schema = {**node, **{word: as_written(node[word]) for word in _INNER if isinstance(node.get(word), dict)}}
    known = table_of(node, "properties")
    if known:
        schema["properties"] = {name: as_written(child) for name, child in known.items()}
    if "required" in node:
        schema["required"] = [name for name in node["required"] if default_of(known.get(name, {})) is None]
    return schema


def missing_part(node: Node, parts: Sequence[str], present: int = 1) -> Sequence[str]:
    """Return the first part of a path that a config may lack: not required, without a default; () when all are there.

    The first parts, as many as `present`, are there in any case: `spec` itself, what a condition asks for.
    """
    parent = at(node, parts[:present]) or {}
    for length, part in enumerate(parts[present:], present + 1):
        child = table_of(parent, "properties").get(part, {})
        is_given = part in parent.get("required", ()) or default_of(child) is not None
        if not is_given or not child or child.get("nullable"):
            return parts[:length]
        parent = child
    return ()
