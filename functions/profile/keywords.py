"""Checks of a Profile's schema: what the API server refuses of a CustomResourceDefinition, and what is no use.

Source: apiextensions.k8s.io/v1, and pkg/apis/apiextensions/validation and pkg/apiserver/schema of
k8s.io/apiextensions-apiserver v0.34.2. The API server was seen to say the same of schemas made at random.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from krmfn.printing import did_you_mean
from krmfn.resource import split
from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from . import extensions, parts
from .structural import (
    ALTERNATIVES,
    BOUNDS,
    CLASSES,
    INT_OR_STRING,
    KEPT,
    OPEN,
    Node,
    Path,
    field,
    is_finite,
    may_be,
    nodes,
)

WORDS = frozenset(
    {
        *("type", "properties", "additionalProperties", "items", "default", "nullable", "description", "title"),
        *(*KEPT, *(word for pair in BOUNDS for word in pair), "pattern", "format"),
        *("example", "externalDocs", "not", *ALTERNATIVES, *extensions.WORDS),
    }
)
"""The keywords of openAPIV3Schema in apiextensions.k8s.io/v1 that a structural schema may have."""
_AT_ROOT = frozenset({*ALTERNATIVES, "not", "enum", "default", "nullable", "minProperties", "maxProperties"})
"""Keywords that no schema of a whole config has: `krmfn crd` gives each kind a status, which forbids them."""
_NUMBERS = ("minimum", "maximum", "multipleOf")
_VALUES: dict[str, Node] = {
    **{word: {"type": "integer"} for word in KEPT if word.startswith(("min", "max"))},
    **{word: {"type": "number"} for word in _NUMBERS},
    **{word: {"type": "boolean"} for word in ("uniqueItems", "nullable", "exclusiveMinimum", "exclusiveMaximum")},
    "required": {"type": "array", "items": {"type": "string"}},
    "enum": {"type": "array"},
    "properties": {"type": "object", "additionalProperties": {"type": "object"}},
    **{word: {"type": "array", "items": {"type": "object"}} for word in ALTERNATIVES},
    "not": {"type": "object"},
    **{word: {"type": "string"} for word in ("pattern", "format", "title", "description")},
    **extensions.VALUES,
}
"""What the value of a keyword must be."""
_SENSIBLE: dict[str, Node] = {
    **{word: {"minimum": 0} for word in KEPT if word.startswith(("min", "max"))},
    "multipleOf": {"exclusiveMinimum": 0},
    "enum": {"minItems": 1},
}
"""What it should be, too: the API server takes others, and then no value fits, or any."""
_OF_ALL = ("apiVersion", "kind", "metadata", "status")
_RANGES = tuple((f"min{of}", f"max{of}") for of in ("imum", "Length", "Items", "Properties"))
Mistakes = Iterator[FieldMistake]


def mistakes(node: Any) -> Mistakes:
    """Yield the paths where a schema is not structural, or where no value can fit it, and what to write."""
    refused = list(refusals(node))
    yield from refused
    if not refused:
        yield from useless(node)


def refusals(node: Any) -> Mistakes:
    """Yield what the API server refuses of a schema, but for its defaults and for the CEL in its rules."""
    for path, child in nodes(node):
        if not isinstance(child, dict):
            yield path, parts.NO_SCHEMA
            continue
        wrong = dict(_of_words(child))
        yield from (((*path, word) if word else path, mistake) for word, mistake in wrong.items())
        if not wrong:
            yield from _of_node(child, path)
            yield from extensions.mistakes(child, path)


def _of_words(node: Node) -> Iterator[tuple[str, Mistake]]:
    """Yield the keywords of a schema that are none, or whose values are of the wrong kind."""
    for word in node:
        if word not in WORDS:
            yield word, Mistake(f"{word} is not a keyword of a structural schema")
    kind = node.get("type", "")
    if kind not in ("", None) and not (isinstance(kind, str) and kind in CLASSES):
        hint = " with `nullable: true` for null" if isinstance(kind, list) else ""
        yield "type", Mistake(f"{kind!r} is not a type", f"write one of {', '.join(sorted(CLASSES))}{hint}")
    yield from _misfits(node, _VALUES)
    yield from ((word, Mistake("must be a finite number")) for word in _NUMBERS if not is_finite(node.get(word)))
    if isinstance(node.get("pattern"), str):
        from ..kmm.regexps import refusal  # here: few schemas have one

        if problem := refusal(node["pattern"]):
            reason = "is no regular expression of Go: " if problem.is_of_go else ""
            yield "pattern", Mistake(f"{reason}{problem.message}")
    if node.get("uniqueItems") is True:
        mistake = Mistake("no CRD may have it", f"write `{extensions.LIST_TYPE}: set` for a list without duplicates")
        yield "uniqueItems", mistake


def _misfits(node: Node, expected: dict[str, Node]) -> Iterator[tuple[str, Mistake]]:
    """Yield the keywords whose values do not fit, each once."""
    from krmfn import schema

    values = {word: node[word] for word in node.keys() & expected.keys()}
    mistakes: dict[str, Mistake] = {}
    for finding in schema.check(values, {"properties": expected}):
        word = split(finding.field.path)[0] if finding.field else ""
        mistakes.setdefault(str(word), Mistake(finding.message, finding.remedy))
    yield from sorted(mistakes.items())


def _of_node(node: Node, path: Path) -> Mistakes:
    """Yield what is wrong with a schema whose keywords are right, but not with those below it."""
    kind = node.get("type", "")
    if not kind and not (node.get(INT_OR_STRING) or node.get(OPEN)):
        yield path, Mistake("a structural schema has a type everywhere", "write one, such as type: object")
    if not path and kind != "object":
        yield (*path, "type"), Mistake("the schema of a config must be of type object", "write type: object")
    for word in () if path else sorted(_AT_ROOT & node.keys()):
        if node[word]:
            yield (*path, word), Mistake(f"the schema of a whole config may not have {word}", "write it below `spec`")
    rest = node.get("additionalProperties", True)
    if "additionalProperties" in node and not path:
        yield (*path, "additionalProperties"), Mistake("the schema of a whole config must name its fields", "remove it")
    elif node.get("properties") and rest is not True:
        yield (*path, "additionalProperties"), Mistake("properties and additionalProperties exclude each other")
    if kind == "array" and "items" not in node:
        yield (*path, "items"), Mistake("a list needs the schema of its items", "write `items`")
    yield from _of_parts(node, path)


def _of_parts(node: Node, path: Path) -> Mistakes:
    """Yield what is wrong in allOf, anyOf, oneOf and not of a schema, and in the parts below these."""
    for place, part in parts.of(node):
        wrong = dict(_of_words(part))
        yield from (((*path, *place, word), mistake) for word, mistake in wrong.items())
        if not wrong:
            yield from (((*path, *place, *below), mistake) for below, mistake in parts.mistakes(part, place))


def useless(node: Node) -> Mistakes:
    """Yield what the API server takes although no config, or any, can satisfy it."""
    for path, child in nodes(node):
        yield from (((*path, word), mistake) for word, mistake in _misfits(child, _SENSIBLE))
        yield from _empty_ranges(child, path)
        yield from _impossible(child, path)
        for place, part in parts.of(child):
            yield from (((*path, *place, word), mistake) for word, mistake in _misfits(part, _SENSIBLE))
            yield from _empty_ranges(part, (*path, *place))
        if path:
            yield from parts.unlisted(child, path)


def _empty_ranges(node: Node, path: Path) -> Mistakes:
    for low, high in _RANGES:
        if {low, high} <= node.keys() and node[low] > node[high]:
            yield (*path, low), Mistake(f"is above {high}, so no value fits")


def _impossible(node: Node, path: Path) -> Mistakes:
    """Yield the parts that no config can satisfy: an unknown field that is required, a choice of another type."""
    known, kind = node.get("properties", {}), node.get("type")
    required: Sequence[Any] = node.get("required", ())
    for name in required:
        if field(node, name) is None and (path or name not in _OF_ALL):
            hint = did_you_mean(name, known, f"known here: {', '.join(known) or 'nothing'}", "'")
            message = f"{name} is required, but is not a field here, so no config can be valid"
            yield (*path, "required"), Mistake(message, hint)
    for choice in node.get("enum", ()) if kind in CLASSES else ():
        if not may_be({"type": kind}, choice) and not (choice is None and node.get("nullable")):
            mistake = Mistake(f"{json.dumps(choice)} is of another type than {kind}, so it cannot be written")
            yield (*path, "enum"), mistake
