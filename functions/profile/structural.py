"""The schema of a Profile's options, structural as in a CRD: as JSON Schema, its defaults, its fields by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite

from krmfn.printing import did_you_mean
from krmfn.resource import join
from krmfn.typed import Any

from ..kmm.lookup import members

Node = dict[str, Any]
Path = tuple[str | int, ...]
ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "absent"})()
"""What stands for a value that is not there."""
KEPT = (
    *("required", "enum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"),
    *("multipleOf", "uniqueItems"),
)
BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
OPEN = "x-kubernetes-preserve-unknown-fields"
INT_OR_STRING = "x-kubernetes-int-or-string"
EMBEDDED = "x-kubernetes-embedded-resource"
_HEAD: Node = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object", OPEN: True}}
"""What an embedded resource has without a word in the schema."""
CLASSES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}
ALTERNATIVES = ("allOf", "anyOf", "oneOf")


def json_schema(node: Node) -> Node:
    """Return a structural schema as JSON Schema for `krmfn.schema`: no field that it does not list may be there.

    Formats and CEL rules are left out, and patterns too: `misfits` judges these, as Go reads them.
    """
    made = _values(node)
    kind = "object" if "properties" in node else node.get("type")
    if node.get(INT_OR_STRING):
        made["type"] = ["integer", "string"]
    elif kind:
        made["type"] = [kind, "null"] if node.get("nullable") else kind
    if node.get("nullable") and "enum" in made:
        made["enum"] = [*made["enum"], None]
    made |= _inner(node, json_schema)
    if node.get(EMBEDDED):
        made["properties"] = {name: json_schema(child) for name, child in _HEAD.items()} | made.get("properties", {})
    if kind == "object" and not node.get(OPEN):
        rest = node.get("additionalProperties", False)
        made["additionalProperties"] = json_schema(rest) if isinstance(rest, dict) else rest
    return made


def _values(node: Node) -> Node:
    """Return what a schema says of values beside their shape."""
    made: Node = {word: node[word] for word in KEPT if word in node}
    for bound, is_exclusive in BOUNDS:
        if bound in node:
            made[is_exclusive if node.get(is_exclusive) else bound] = node[bound]
    made |= {word: [_alternative(one) for one in node[word]] for word in ALTERNATIVES if word in node}
    return made | ({"not": _alternative(node["not"])} if "not" in node else {})


def _alternative(node: Node) -> Node:
    """Return a part of allOf, anyOf, oneOf or not: it says nothing about other fields, and a pattern counts here."""
    shape: Node = {word: node[word] for word in ("type", "pattern") if word in node}
    return {**_values(node), **shape, **_inner(node, _alternative)}


def _inner(node: Node, made: Callable[[Node], Node]) -> Node:
    """Return the schemas of fields and entries, as `made` makes them."""
    fields = {name: made(child) for name, child in node.get("properties", {}).items()}
    found: Node = {"properties": fields} if "properties" in node else {}
    return found | ({"items": made(node["items"])} if "items" in node else {})


def misfits(node: Node, value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield the path of each text that does not match its pattern, and of each number that JSON has not, and why."""
    if isinstance(value, float) and not isfinite(value):
        yield path, "must be a finite number"
    if isinstance(value, str) and "pattern" in node:
        from ..kmm.regexps import matches  # here: few schemas have one

        if not matches(node["pattern"], value):
            yield path, f"must match {node['pattern']}"
    for key, inner in members(value):
        child = field(node, key) if isinstance(value, dict) else node.get("items")
        if isinstance(child, dict):
            yield from misfits(child, inner, (*path, key))


def field(node: Node, name: str) -> Node | None:
    """Return the schema of a field of an object; {} where anything may stand, None where none of that name may."""
    known = node.get("properties", {})
    if name in known:
        return known[name] if isinstance(known[name], dict) else None
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


def unknown(node: Node, parts: Sequence[str]) -> str:
    """Return that the schema has no such option, and what it has; "" when it has it."""
    for length in range(1, len(parts) + 1):
        if at(node, parts[:length]) is None:
            known = list((at(node, parts[: length - 1]) or {}).get("properties", {}))
            hint = did_you_mean(parts[length - 1], known, f"known there: {', '.join(known) or 'nothing'}", "'")
            return f"the schema has no {join(parts[:length])}{hint}"
    return ""


def is_always_there(node: Node, parts: Sequence[str]) -> bool:
    """Return True when each config has a value at a path: by defaults, or since the schema requires all of it."""
    is_there = True
    for part in parts:
        child = node.get("properties", {}).get(part)
        if child is None or child.get("nullable"):
            return False
        is_there = (is_there and part in node.get("required", ())) or "default" in child
        node = child
    return is_there or with_defaults(node, ABSENT) is not ABSENT


def with_defaults(node: Node, value: Any) -> Any:
    """Return a value with the defaults of its schema, also where parents are absent; ABSENT for none."""
    if value is None and not node.get("nullable"):
        value = ABSENT
    if value is ABSENT:
        value = node.get("default", ABSENT)
    known = node.get("properties", {})
    if isinstance(value, dict) or (value is ABSENT and known):
        held: dict[str, Any] = {} if value is ABSENT else value
        inner = {name: field(node, name) for name in {**held, **known}}
        made = {name: with_defaults(child or {}, held.get(name, ABSENT)) for name, child in inner.items()}
        made = {name: own for name, own in made.items() if own is not ABSENT}
        return made if made or value is not ABSENT else ABSENT
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        entries = (with_defaults(node["items"], inner) for inner in value)
        return [None if entry is ABSENT else entry for entry in entries]
    return value


def leaves(node: Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield the path and the schema of each option: of each field that has no fields of its own."""
    for name, child in node.get("properties", {}).items():
        if child.get("properties"):
            yield from leaves(child, (*path, name))
        else:
            yield (*path, name), child


def nodes(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield a schema and those in it, each with its path."""
    yield path, node
    known = node.get("properties", {}) if isinstance(node, dict) else {}
    for name, child in known.items() if isinstance(known, dict) else ():
        yield from nodes(child, (*path, "properties", name))
    for word in ("items", "additionalProperties") if isinstance(node, dict) else ():
        if word in node and not (word == "additionalProperties" and isinstance(node[word], bool)):
            yield from nodes(node[word], (*path, word))


def may_be(node: Node, value: Any) -> bool:
    """Return True when a field of this schema can hold a scalar: its type, its enum."""
    kind = node.get("type")
    if kind in CLASSES and (not isinstance(value, CLASSES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return False
    return "enum" not in node or any(type(one) is type(value) and one == value for one in node["enum"])


def broken_defaults(node: Node) -> Iterator[tuple[Path, str]]:
    """Yield each default that does not fit the schema that it stands in."""
    from krmfn import schema

    for path, one in nodes(node):
        if "default" in one:
            for wrong in schema.check({"default": one["default"]}, {"properties": {"default": json_schema(one)}}):
                yield (*path, "default"), f"the default breaks its own schema: {wrong.message}"
            for _, message in misfits(one, one["default"]):
                yield (*path, "default"), f"the default breaks its own schema: it {message}"
