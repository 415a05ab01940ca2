"""The structural schema of a Profile's options: as JSON Schema, its defaults, its fields by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from krmfn.printing import did_you_mean
from krmfn.resource import join
from krmfn.typed import Any

from ..mistake import Mistake

Node = dict[str, Any]
Path = tuple[str | int, ...]
ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "absent"})()
"""In place of a value that does not exist."""
KEPT = (
    *("required", "enum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
    *("multipleOf", "uniqueItems"),
)
BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
OPEN = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
EMBEDDED = "x-kubernetes-embedded-resource"
_HEAD: Node = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object", OPEN: True}}
"""Fields that an embedded resource has although its schema does not list them."""
CLASSES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
_LARGEST = 2**1024
NESTED = {"object": "a mapping", "array": "a list"}
"""What a type that is no scalar is called."""
ALTERNATIVES = ("allOf", "anyOf", "oneOf")
AS_GO_READS = frozenset((*ALTERNATIVES, "not", "multipleOf", *(word for pair in BOUNDS for word in pair)))
"""Keywords whose values Go reads otherwise than JSON Schema does."""


def json_schema(node: Node) -> Node:
    """Return a structural schema as JSON Schema, for editors: it refuses fields that the schema does not list.

    Formats, CEL rules and what x-kubernetes- keywords ask for are left out, and patterns too.
    """
    schema = _values(node)
    is_of_any_type = bool(node.get(OPEN)) or "properties" not in node
    kind = node.get("type") or (None if is_of_any_type else "object")
    if node.get(INT_OR_STRING):
        schema["type"] = ["integer", "string", "null"] if node.get("nullable") else ["integer", "string"]
    elif kind:
        schema["type"] = [kind, "null"] if node.get("nullable") else kind
    schema |= _inner(node, json_schema)
    if node.get(EMBEDDED):
        fields = node.get("properties", {})
        head = {name: json_schema(_open(fields.get(name, child))) for name, child in _HEAD.items()}
        schema["properties"] = head | schema.get("properties", {}) | head  # these come first, and win
    rest = node.get("additionalProperties", False)
    is_closed = kind == "object" and not node.get(OPEN)
    if is_closed or "additionalProperties" in node:
        schema["additionalProperties"] = json_schema(rest) if isinstance(rest, dict) else rest
    return schema


def _open(node: Node) -> Node:
    """Return a schema that refuses no field, at any depth: the API server prunes nothing of a resource's metadata.

    Source: pkg/apiserver/schema/pruning/algorithm.go of k8s.io/apiextensions-apiserver v0.34.2.
    """
    return _with_each(node, lambda inner: {**inner, OPEN: True})


def _with_each(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a schema in which it, and each one below it, is changed."""
    changed = change(node)
    if isinstance(changed.get("properties"), dict):
        changed["properties"] = {name: _with_each(child, change) for name, child in changed["properties"].items()}
    for word in ("items", "additionalProperties"):
        if isinstance(changed.get(word), dict):
            changed[word] = _with_each(changed[word], change)
    return changed


def shape(node: Node) -> Node:
    """Return the JSON Schema of types, fields, lengths and enums; `misfits` judges all else, as Go reads it."""
    return json_schema(_without_values(node))


def _without_values(node: Node) -> Node:
    """Return a structural schema without the keywords that are judged as Go reads them."""
    return _with_each(node, lambda inner: {word: value for word, value in inner.items() if word not in AS_GO_READS})


def _values(node: Node) -> Node:
    """Return the keywords of a schema that restrict values, but for their type and their shape."""
    schema: Node = {word: node[word] for word in KEPT if word in node}
    if "enum" in schema:  # the API server takes null for none of them, whether it is listed or not
        schema["enum"] = [choice for choice in schema["enum"] if choice is not None]
    for bound, exclusive in BOUNDS:
        if bound in node:
            schema[exclusive if node.get(exclusive) else bound] = node[bound]
    schema |= {word: [_alternative(part) for part in node[word]] for word in ALTERNATIVES if word in node}
    return schema | ({"not": _alternative(node["not"])} if "not" in node else {})


def _alternative(node: Node) -> Node:
    """Return a part of allOf, anyOf, oneOf or not: it allows other fields, and keeps its pattern."""
    shape: Node = {word: node[word] for word in ("type", "pattern") if word in node}
    return {**_values(node), **shape, **_inner(node, _alternative)}


def _inner(node: Node, convert: Callable[[Node], Node]) -> Node:
    """Return the schemas of fields and entries, each converted."""
    fields = {name: convert(child) for name, child in node.get("properties", {}).items()}
    schema: Node = {"properties": fields} if "properties" in node else {}
    return schema | ({"items": convert(node["items"])} if "items" in node else {})


def field(node: Node, name: str) -> Node | None:
    """Return the schema of a field of an object; {} for a field that may hold anything, None for one not allowed."""
    known = node.get("properties", {})
    if name in known:
        child = known[name]
        if not isinstance(child, dict):
            return None
        return _open(child) if node.get(EMBEDDED) and name in _HEAD else child
    rest = node.get("additionalProperties") if not (node.get(EMBEDDED) and name in _HEAD) else _HEAD[name]
    if isinstance(rest, dict):
        return rest
    return {} if node.get(OPEN) or rest is True or not node else None


def at(node: Node, parts: Sequence[str]) -> Node | None:
    """Return the schema of the field at a path; None where the schema has none."""
    for part in parts:
        child = field(node, part)
        if child is None:
            return None
        node = child
    return node


def unknown_option(node: Node, parts: Sequence[str]) -> Mistake | None:
    """Return the mistake that the schema has no such option, with those that it has; None when it has it."""
    for length in range(1, len(parts) + 1):
        if at(node, parts[:length]) is None:
            known = list((at(node, parts[: length - 1]) or {}).get("properties", {}))
            hint = did_you_mean(parts[length - 1], known, f"known there: {', '.join(known) or 'nothing'}", "'")
            return Mistake(f"the schema has no {join(parts[:length])}", hint)
    return None


def leaves(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the path and the schema of each field without fields of its own: the options."""
    for name, child in node.get("properties", {}).items():
        if child.get("properties"):
            yield from leaves(child, (*path, name))
        else:
            yield (*path, name), child


def nodes(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the path and the schema of a node and of each one below it."""
    yield path, node
    known = node.get("properties", {}) if isinstance(node, dict) else {}
    for name, child in known.items() if isinstance(known, dict) else ():
        yield from nodes(child, (*path, "properties", name))
    for word in ("items", "additionalProperties") if isinstance(node, dict) else ():
        if word in node and not (word == "additionalProperties" and isinstance(node[word], bool)):
            yield from nodes(node[word], (*path, word))


def is_finite(value: Any) -> bool:
    """Return False for a number that JSON or Go has not: .nan, .inf, an integer above the largest fraction."""
    return not isinstance(value, (int, float)) or -_LARGEST < value < _LARGEST


def may_be(node: Node, value: Any) -> bool:
    """Return True when a field of this schema can hold a scalar: its type, its enum; JSON has no .nan and no .inf."""
    kind = node.get("type")
    if not is_finite(value):
        return False
    if kind in CLASSES and (not isinstance(value, CLASSES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return False
    return "enum" not in node or any(type(choice) is type(value) and choice == value for choice in node["enum"])
