"""What does not fit a structural schema, of that which JSON Schema does not say or which Go reads otherwise.

Source: pkg/apiserver/validation of k8s.io/apiextensions-apiserver v0.34.2, and pkg/validation/validate of the
k8s.io/kube-openapi that it is built with.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from krmfn.typed import Any

from ..kmm.lookup import members
from ..mistake import FieldMistake, Mistake
from . import embedded, formats, lists
from .defaulting import as_integers
from .structural import EMBEDDED, INT_OR_STRING, OPEN, Node, Path, field, is_finite, nodes, shape

_INTEGERS = range(-(2**63), 2**63)
_SHORT = range(-(2**31), 2**31)
_LONG = 80
"""The most characters of a schema that a mistake quotes."""
_COUNTS = {"Length": str, "Items": list, "Properties": dict}


def misfits(node: Node, value: Any, path: Path = ()) -> Iterator[FieldMistake]:
    """Yield the path of each value that the API server refuses although it fits the schema's `shape`, and why.

    The value has its defaults.
    """
    if not is_finite(value):
        yield path, Mistake("must be a finite number")
        return
    if value is None:  # of null the server judges nothing but its type
        return
    yield from _of_value(node, value, path)
    if isinstance(value, list):
        yield from lists.duplicates(node, value, path)
    if isinstance(value, dict) and node.get(EMBEDDED):
        yield from embedded.misfits(value, path)
    if isinstance(value, dict) and node.get("additionalProperties") is True:
        yield from _unnamed(node, value, path)
    for key, inner in members(value):
        child = field(node, key) if isinstance(value, dict) else node.get("items")
        if isinstance(child, dict):
            yield from misfits(child, inner, (*path, key))


def broken_defaults(node: Node) -> Iterator[FieldMistake]:
    """Yield each default that does not fit the schema that it stands in."""
    from krmfn import schema

    for path, child in nodes(node):
        if child.get("default") is not None:
            default = as_integers(child, child["default"])
            shapes = [shape(child)]
            if child.get(INT_OR_STRING) and "type" in child:  # of values the former counts, of defaults both
                shapes.append(shape({word: value for word, value in child.items() if word != INT_OR_STRING}))
            rules = ({"properties": {"default": rule}} for rule in shapes)
            findings = next(filter(None, (schema.check({"default": default}, rule) for rule in rules)), [])
            mistakes = [Mistake(finding.message, finding.remedy) for finding in findings]
            mistakes = mistakes or [mistake.after("it ") for _, mistake in misfits(child, default)]
            for mistake in mistakes:
                yield (*path, "default"), mistake.after("the default breaks its own schema: ")


def _of_value(node: Node, value: Any, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with a value itself: its bounds, its pattern, its format, its alternatives."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from ((path, mistake) for mistake in _of_number(node, value))
    is_any = not (node.get("type") or node.get(INT_OR_STRING))
    if is_any and formats.is_judged(node.get("format", "")) and not isinstance(value, (str, list)):
        yield path, Mistake("must be a text, since it has a format")
    if isinstance(value, str):
        if "pattern" in node:
            from ..kmm.regexps import matches  # here: few schemas have one

            if node["pattern"] and not matches(node["pattern"], value):
                yield path, Mistake(f"must match {node['pattern']}")
        if not formats.fits(node.get("format", ""), value):
            yield path, Mistake(f"is {value[:_LONG]!r}; must be {formats.MEANINGS[formats.normal(node['format'])]}")
    yield from _of_alternatives(node, value, path)


def _of_number(node: Node, value: int | float) -> Iterator[Mistake]:
    """Yield what is wrong with a number. Go compares a whole number with a bound that it has cut to a whole one."""
    number = int(value) if isinstance(value, float) and value.is_integer() and int(value) in _INTEGERS else value
    is_whole = isinstance(number, int) and number in _INTEGERS
    number = number if is_whole else float(number)
    if not is_whole and not isinstance(value, float) and (node.get("type") == "integer" or node.get(INT_OR_STRING)):
        yield Mistake(f"is {value}; must fit 64 bits")
    if is_whole and node.get("format") == "int32" and node.get("type") == "integer" and number not in _SHORT:
        yield Mistake(f"is {value}; must fit 32 bits, as its format int32 says")
    for word, sign in (("minimum", 1), ("maximum", -1)):
        if word in node:
            bound = int(node[word]) if is_whole else node[word]
            is_exclusive = node.get(f"exclusive{word.capitalize()}", False)
            if (number - bound) * sign < 0 or (is_exclusive and number == bound):
                side = ("above" if is_exclusive else "at least", "below" if is_exclusive else "at most")[sign < 0]
                cut = f", which Go cuts to {bound} for a whole number" if bound != node[word] else ""
                yield Mistake(f"is {value}; must be {side} {node[word]}{cut}")
    if "multipleOf" in node and not _is_multiple(number, node["multipleOf"], is_whole):
        cut = f", which Go cuts to {int(node['multipleOf'])} for a whole number"
        is_cut = is_whole and int(node["multipleOf"]) != node["multipleOf"]
        yield Mistake(f"is {value}; must be a multiple of {node['multipleOf']}{cut if is_cut else ''}")


def _is_multiple(number: int | float, factor: int | float, is_whole: bool) -> bool:
    """Return True for a multiple, as Go finds it: of a fraction it allows for one part in a thousand million."""
    if is_whole:
        return int(factor) > 0 and number % int(factor) == 0
    quotient = 1 / factor * number if factor < 1 else number / factor
    if not abs(quotient) < 2**53:
        return False
    integer = int(quotient)
    return quotient == integer or (integer > 0 and (quotient - integer) / (quotient + integer) < 1e-9)


def _of_alternatives(node: Node, value: Any, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong by allOf, anyOf, oneOf and not."""
    for part in node.get("allOf", ()):
        yield from _of_part(part, value, path)
    for word in ("anyOf", "oneOf"):
        parts = node.get(word, ())
        fitting = [part for part in parts if next(_of_part(part, value, path), None) is None]
        if parts and not fitting:
            yield path, Mistake(f"fits none of the alternatives that `{word}` of the schema lists: {_excerpt(parts)}")
        elif word == "oneOf" and len(fitting) > 1:
            mistake = Mistake(
                f"fits {len(fitting)} alternatives of `oneOf` of the schema, not one: {_excerpt(fitting)}"
            )
            yield path, mistake
    if "not" in node and next(_of_part(node["not"], value, path), None) is None:
        yield path, Mistake(f"fits what `not` of the schema refuses: {_excerpt(node['not'])}")


def _excerpt(schema: Any) -> str:
    text = json.dumps(schema)
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def _of_part(part: Node, value: Any, path: Path) -> Iterator[FieldMistake]:
    """Yield what does not fit a part of allOf, anyOf, oneOf or not, which allows fields that it does not list."""
    kind, choices = part.get("type"), part.get("enum")
    if kind and not _is_of(kind, value):
        yield path, Mistake(f"must be of type {kind}")
    if choices and not any(_is_choice(value, choice) for choice in choices):
        yield path, Mistake(f"must be one of {', '.join(map(json.dumps, choices))}")
    if value is None:
        return
    yield from ((path, mistake) for mistake in _of_size(part, value))
    yield from _of_value(part, value, path)
    if isinstance(value, list) and "items" in part:
        for index, inner in enumerate(value):
            yield from _of_part(part["items"], inner, (*path, index))
    if isinstance(value, dict):
        yield from (((*path, name), Mistake("is required")) for name in part.get("required", ()) if name not in value)
        known = part.get("properties", {})
        for name, inner in value.items():
            if name in known:
                yield from _of_part(known[name], inner, (*path, name))
            elif part.get("additionalProperties") is False:
                yield (*path, name), Mistake("is not allowed here")


def _is_of(kind: str, value: Any) -> bool:
    """Return True for a value of one of the two types that a part may ask for: integer, string."""
    if kind == "string":
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_choice(value: Any, choice: Any) -> bool:
    return bool(choice is not None and value == choice and isinstance(value, bool) == isinstance(choice, bool))


def _of_size(part: Node, value: Any) -> Iterator[Mistake]:
    """Yield what is wrong with the length of a text, the number of entries, the number of fields."""
    for counted, kind in _COUNTS.items():
        if isinstance(value, kind):
            if len(value) < part.get(f"min{counted}", 0):
                yield Mistake(f"must have at least {part[f'min{counted}']}")
            if len(value) > part.get(f"max{counted}", len(value)):
                yield Mistake(f"must have at most {part[f'max{counted}']}")


def _unnamed(node: Node, value: dict[str, Any], path: Path) -> Iterator[FieldMistake]:
    """Yield each field below a field of any name: `additionalProperties: true` keeps that one alone."""
    known = node.get("properties", {})
    for name in (name for name in value if name not in known):
        entries = value[name] if isinstance(value[name], list) else [value[name]]
        for inner in entries:
            if isinstance(inner, dict) and inner:
                remedy = f"give the schema `{OPEN}: true` there"
                yield (
                    (*path, name),
                    Mistake("has fields, which the API server drops below `additionalProperties: true`", remedy),
                )
                break
