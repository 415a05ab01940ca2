"""Checks of the keywords in a Profile's schema: those that no CustomResourceDefinition takes."""

from __future__ import annotations

import json
from collections.abc import Iterator

from krmfn.printing import did_you_mean
from krmfn.resource import split
from krmfn.typed import Any

from .structural import ALTERNATIVES, BOUNDS, CLASSES, INT_OR_STRING, KEPT, OPEN, Node, Path, field, may_be, nodes

WORDS = frozenset(
    {
        *("type", "properties", "additionalProperties", "items", "default", "nullable", "description", "title"),
        *(*KEPT, *(word for pair in BOUNDS for word in pair), "pattern", "format"),
        *("example", "externalDocs", "not", *ALTERNATIVES),
    }
)
"""The keywords of openAPIV3Schema in apiextensions.k8s.io/v1; those that begin with x-kubernetes- are known, too."""
_OUTSIDE = ("type", "default", "nullable", "additionalProperties", "title", "description")
_VALUES: dict[str, Node] = {
    **{word: {"type": "integer", "minimum": 0} for word in KEPT if word.startswith(("min", "max"))},
    **{word: {"type": "number"} for word in ("minimum", "maximum")},
    "multipleOf": {"type": "number", "exclusiveMinimum": 0},
    **{word: {"type": "boolean"} for word in ("uniqueItems", "nullable", "exclusiveMinimum", "exclusiveMaximum")},
    **{word: {"type": "boolean"} for word in (OPEN, INT_OR_STRING)},
    "required": {"type": "array", "items": {"type": "string"}},
    "enum": {"type": "array", "minItems": 1},
    **{word: {"type": "array", "items": {"type": "object"}} for word in ALTERNATIVES},
    "not": {"type": "object"},
    **{word: {"type": "string"} for word in ("pattern", "format", "title", "description")},
}
"""What the value of a keyword must be."""
_OF_ALL = ("apiVersion", "kind", "metadata", "status")
_RANGES = tuple((f"min{of}", f"max{of}") for of in ("imum", "Length", "Items", "Properties"))


def mistakes(node: Any) -> Iterator[tuple[Path, str]]:
    """Yield the paths where a schema is not structural, and what to write. Source: apiextensions.k8s.io/v1."""
    for path, child in nodes(node):
        if isinstance(child, dict):
            yield from _of_node(child, path)
        else:
            yield path, "must be a schema, such as {type: string}"


def _of_node(node: Node, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the mistakes in a schema itself, not in those below it."""
    for word in node:
        if word not in WORDS and not word.startswith("x-kubernetes-"):
            yield (*path, word), f"{word} is not a keyword of a structural schema"
    kind = node.get("type")
    if kind is None and not (node.get(INT_OR_STRING) or node.get(OPEN)):
        yield path, "a structural schema has a type everywhere; write one, such as type: object"
    elif kind is not None and not (isinstance(kind, str) and kind in CLASSES):
        hint = " with `nullable: true` for null" if isinstance(kind, list) else ""
        yield (*path, "type"), f"{kind!r} is not a type; write one of {', '.join(sorted(CLASSES))}{hint}"
    if not path and kind != "object":
        yield (*path, "type"), "the schema of a config must be of type object; write type: object"
    known = node.get("properties", {})
    if not isinstance(known, dict):
        yield (*path, "properties"), "must be a mapping of fields to their schemas"
    if known and isinstance(node.get("additionalProperties"), dict):
        yield (*path, "additionalProperties"), "properties and additionalProperties exclude each other"
    if kind == "array" and "items" not in node:
        yield (*path, "items"), "a list needs the schema of its items; write `items`"
    yield from _of_values(node, path, not node.get(INT_OR_STRING))
    yield from _impossible(node, path)


def _impossible(node: Node, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the parts that no config can satisfy: an unknown field that is required, a choice of another type."""
    known, kind = node.get("properties", {}), node.get("type")
    required, choices = node.get("required"), node.get("enum")
    for name in required if isinstance(required, list) and isinstance(known, dict) else ():
        if isinstance(name, str) and field(node, name) is None and (path or name not in _OF_ALL):
            hint = did_you_mean(name, known, f"known here: {', '.join(known) or 'nothing'}", "'")
            yield (*path, "required"), f"{name} is required, but is not a field here, so no config can be valid{hint}"
    for choice in choices if isinstance(choices, list) and isinstance(kind, str) and kind in CLASSES else ():
        if not may_be({"type": kind}, choice) and not (choice is None and node.get("nullable")):
            yield (*path, "enum"), f"{json.dumps(choice)} is of another type than {kind}, so it cannot be written"


def _of_values(node: Node, path: Path, is_typed: bool) -> Iterator[tuple[Path, str]]:
    """Yield the keywords with a wrong value, also those in allOf, anyOf, oneOf and not."""
    from krmfn import schema

    from ..kmm.regexps import refusal  # here: few schemas have one

    messages: dict[str, str] = {}
    values = {word: node[word] for word in node.keys() & _VALUES.keys()}
    for finding in schema.check(values, {"properties": _VALUES}):
        messages.setdefault(split(finding.field.path)[0] if finding.field else "", finding.message)
    if "pattern" in node and "pattern" not in messages and (problem := refusal(node["pattern"])):
        reason = "is no regular expression of Go: " if problem.is_of_go else ""
        messages["pattern"] = f"{reason}{problem.message}"
    for low, high in _RANGES:
        if {low, high} <= node.keys() and not {low, high} & messages.keys() and node[low] > node[high]:
            messages[low] = f"is above {high}, so no value fits"
    yield from (((*path, word), message) for word, message in sorted(messages.items()))
    for word in ALTERNATIVES:
        for index, part in enumerate(node.get(word, ()) if word not in messages else ()):
            yield from _of_part(part, (*path, word, index), word, is_typed)
    if "not" in node and "not" not in messages:
        yield from _of_part(node["not"], (*path, "not"), "not", is_typed)


def _of_part(node: Any, path: Path, parent: str, is_typed: bool) -> Iterator[tuple[Path, str]]:
    """Yield the mistakes in a part of allOf, anyOf, oneOf or not, and in the fields and entries below it."""
    if not isinstance(node, dict):
        yield path, "must be a mapping of keywords"
        return
    for word in _OUTSIDE:
        if word in node and (is_typed or word != "type"):
            yield (*path, word), f"a structural schema has {word} outside of {parent}; write it there"
    yield from _of_values(node, path, is_typed)
    fields = node.get("properties", {})
    for name, child in fields.items() if isinstance(fields, dict) else ():
        yield from _of_part(child, (*path, "properties", name), parent, True)
    if "items" in node:
        yield from _of_part(node["items"], (*path, "items"), parent, True)
