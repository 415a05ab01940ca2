"""The parts of a schema in allOf, anyOf, oneOf and not: they restrict values, and say nothing of their shape.

Source: pkg/apiserver/schema/{validation,complete}.go of k8s.io/apiextensions-apiserver v0.34.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn.typed import Any

from ..mistake import FieldMistake, Mistake
from .extensions import SHAPES
from .structural import ALTERNATIVES, Node, Path, field

_OUTSIDE = ("type", "default", "nullable", "title", "description", *SHAPES)
"""Keywords that stand outside of the parts alone."""
_EITHER = [{"type": "integer"}, {"type": "string"}]
"""The one place where parts may have a type: what x-kubernetes-int-or-string means, as older tools write it."""


NO_SCHEMA = Mistake("must be a schema, such as {type: string}")
"""What is said of `items` or of a field that is no mapping."""


def of(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Yield the place of each part of a schema, those below other parts among them, and the part."""
    for place, part in _direct(node):
        yield (*path, *place), part
        yield from of(part, (*path, *place))
    for place, part in _below(node) if path else ():
        yield (*path, *place), part
        yield from of(part, (*path, *place))


def _direct(node: Node) -> Iterator[tuple[Path, Any]]:
    """Yield the parts in allOf, anyOf, oneOf and not, but for those that say `an integer or a string`."""
    for word in ALTERNATIVES:
        entries = node.get(word, ())
        for index, part in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(part, dict) and not (word == "anyOf" and entries == _EITHER):
                yield (word, index), part
    if isinstance(node.get("not"), dict):
        yield ("not",), node["not"]


def _below(part: Node) -> Iterator[tuple[Path, Any]]:
    """Yield the parts for the fields and the entries of a part."""
    fields = part.get("properties", {})
    for name, child in fields.items() if isinstance(fields, dict) else ():
        if isinstance(child, dict):
            yield ("properties", name), child
    for word in ("items", "additionalProperties"):
        if isinstance(part.get(word), dict):
            yield (word,), part[word]


def mistakes(part: Node, place: Path) -> Iterator[FieldMistake]:
    """Yield the keywords of a part that stand outside of the parts alone."""
    parent = next(word for word in place if word in (*ALTERNATIVES, "not"))
    for word in _OUTSIDE:
        if part.get(word) or (word == "default" and part.get(word) is not None):
            yield (word,), Mistake(f"a structural schema has {word} outside of {parent}", "write it there")
    if part.get("anyOf") == _EITHER and place != ("allOf", 0):
        yield ("anyOf",), Mistake(f"a structural schema has type outside of {parent}", "write it there")
    if not isinstance(part.get("items", {}), dict):
        yield ("items",), NO_SCHEMA
    if part.get("additionalProperties") not in (None, False):  # {} is a schema, too
        yield ("additionalProperties",), Mistake(f"a structural schema has it outside of {parent}", "write it there")
    elif "additionalProperties" in part and part.get("properties"):
        yield ("additionalProperties",), Mistake("properties and additionalProperties exclude each other")
    if "metadata" in part.get("properties", {}):
        yield ("properties", "metadata"), Mistake(f"no part of {parent} may speak of metadata", "write it outside")


def unlisted(node: Node, path: Path) -> Iterator[FieldMistake]:
    """Yield the fields and entries that only the parts of a schema list: they are dropped before the parts count."""
    for place, part in _direct(node):
        yield from _unlisted(part, node, (*path, *place))


def _unlisted(part: Node, node: Node, path: Path) -> Iterator[FieldMistake]:
    for place, inner in _direct(part):
        yield from _unlisted(inner, node, (*path, *place))
    fields = part.get("properties", {})
    for name, inner in fields.items():
        child = field(node, name)
        if child is None:
            mistake = Mistake(
                f"{name} is listed here alone, so a config cannot have it", "write it in `properties` outside, too"
            )
            yield (*path, "properties", name), mistake
        elif child:
            yield from _unlisted(inner, child, (*path, "properties", name))
    if isinstance(part.get("items"), dict) and isinstance(node.get("items"), dict):
        yield from _unlisted(part["items"], node["items"], (*path, "items"))
