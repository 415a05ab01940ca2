"""Structural schemas made at random, most of them right, with values for them: the inputs of the target `schemas`."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

Node = dict[str, Any]
_WITH_VALUES = 0.02
"""How many of the inputs have values: a kind is created for each such input, which takes a second."""
NAMES = ("a", "b", "c")
FORMATS = (
    *("bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5"),
    *("isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration"),
    *("datetime", "date-time", "k8s-short-name", "unknown"),
)
TEXTS = (
    *(
        "",
        "a",
        "bc",
        "1",
        "a b",
        "a@b",
        "A",
        "é",
        "10.0.0.1",
        "010.0.0.1",
        "10.0.0.0/8",
        "10.0.0.0/99",
        "::1",
        "::1/64",
    ),
    *(
        "::ffff:1.2.3.4",
        "fe80::1%eth0",
        "2026-01-02",
        "2026-02-30",
        "2026-01-02T03:04:05Z",
        "2026-01-02t03:04:05.5+01:00",
    ),
    *(
        "2026-01-02T24:00:00Z",
        "1h30m",
        "2 days",
        "5 x",
        "1.5s",
        "1",
        "-1h",
        "http://a/b?c",
        "http://a b",
        "/x",
        "x",
        "*",
    ),
    *(
        "mailto:a",
        "http://[::1]:80/",
        "http://a:b/",
        "//a",
        "a%zz",
        "host.example.com",
        "my-host",
        "a-host",
        "a.b",
        "1.com",
    ),
    *(
        "00:00:5e:00:53:01",
        "0000.5e00.5301",
        "00-00-5e-00-53-0x",
        "#fff",
        "ffffff",
        "rgb(1,2,3)",
        "rgb(256,0,0)",
        "aGk=",
    ),
    *("aGk", "0321751043", "978-0321751041", "4111111111111111", "123-45-6789", "5f8f8c44b54764421b7156c9"),
    *("01234567-89ab-4cde-8f01-23456789abcd", "0123456789ab3cde8f0123456789abcd", "v1", "apps/v1", "a/b/c", "Kind"),
)
NUMBERS = (0, 1, -1, 2, 3, 5, 1.5, 2.5, 0.5, 0.1, -2, 100, 2**31, 2**53, 2**63, -(2**63), 1e300)
PATTERNS = ("^a", "^[a-z]*$", "b$", "^.{1,2}$", "")


def new(rng: random.Random) -> bytes:
    """Return an input: mostly one schema, sometimes a few schemas with values."""
    if rng.random() < _WITH_VALUES:
        return _dumped([_case(rng, True) for _ in range(10)])
    return _dumped([_case(rng, False)])


def changed(rng: random.Random, text: bytes) -> bytes:
    """Return an input with a change in one of its schemas, and new values where it had some."""
    try:
        cases = json.loads(text)["cases"]
        case = rng.choice(cases)
        spoil(rng, case["schema"])
        if case.get("values"):
            case["values"] = [value_of(rng, case["schema"]) for _ in range(5)]
    except (ValueError, LookupError, TypeError, AttributeError):
        return new(rng)
    return _dumped(cases)


def _case(rng: random.Random, with_values: bool) -> Node:
    schema = node(rng, 3)
    if rng.random() < 0.3:
        spoil(rng, schema)
    return (
        {"schema": schema, "values": [value_of(rng, schema) for _ in range(5)]} if with_values else {"schema": schema}
    )


def _dumped(cases: list[Node]) -> bytes:
    return (json.dumps({"cases": cases}, indent=1) + "\n").encode()


def node(rng: random.Random, depth: int) -> Node:
    """Return a schema that may be an object, a list or a scalar."""
    kind = rng.choice(("object", "object", "array", "scalar") if depth else ("scalar",))
    made = _object(rng, depth) if kind == "object" else _list(rng, depth) if kind == "array" else _scalar(rng)
    if rng.random() < 0.15:
        made["nullable"] = True
    if rng.random() < 0.25:
        made["default"] = value_of(rng, made)
    if rng.random() < 0.25:
        _add_parts(rng, made)
    return made


def _scalar(rng: random.Random) -> Node:
    kind = rng.choice(("string", "string", "integer", "number", "boolean", "either"))
    made: Node = {"x-kubernetes-int-or-string": True} if kind == "either" else {"type": kind}
    if kind == "string":
        _maybe(rng, made, 0.4, format=rng.choice(FORMATS))
    if kind in ("integer", "number"):
        _maybe(rng, made, 0.2, format=rng.choice(("int32", "int64", "float", "double")))
    made |= _restrictions(rng, made)
    return made


def _restrictions(rng: random.Random, of: Node) -> Node:
    """Return keywords that restrict the values of a schema."""
    made: Node = {}
    kind = of.get("type", "either" if of else rng.choice(("string", "integer", "object")))
    if kind in ("string", "either"):
        _maybe(rng, made, 0.2, pattern=rng.choice(PATTERNS))
        _maybe(rng, made, 0.2, **{rng.choice(("minLength", "maxLength")): rng.randrange(4)})
    if kind in ("integer", "number", "either"):
        bound = rng.choice(("minimum", "maximum"))
        _maybe(rng, made, 0.3, **{bound: rng.choice(NUMBERS[:12])})
        _maybe(rng, made, 0.3 if bound in made else 0, **{f"exclusive{bound.capitalize()}": True})
        _maybe(rng, made, 0.2, multipleOf=rng.choice((1, 2, 2.5, 0.5, 0.1)))
    if kind in ("string", "integer", "either"):
        choices: Any = {"string": TEXTS[:6], "integer": (0, 1, 2), "either": ("a", 0, "1")}[kind]
        _maybe(rng, made, 0.15, enum=rng.sample(choices, 2))
    if kind == "object":
        _maybe(rng, made, 0.2, **{rng.choice(("minProperties", "maxProperties")): rng.randrange(3)})
    if kind == "array":
        _maybe(rng, made, 0.2, **{rng.choice(("minItems", "maxItems")): rng.randrange(3)})
    return made


def _maybe(rng: random.Random, node: Node, chance: float, **words: Any) -> None:
    if rng.random() < chance:
        node.update(words)


def _object(rng: random.Random, depth: int) -> Node:
    made: Node = {"type": "object", **_restrictions(rng, {"type": "object"})}
    shape = rng.choice(("fields", "fields", "fields", "map", "open", "resource"))
    if shape == "map":
        return {**made, "additionalProperties": rng.choice((node(rng, depth - 1), node(rng, depth - 1), True, False))}
    if shape == "resource":
        made["x-kubernetes-embedded-resource"] = True
    names = rng.sample(NAMES, rng.choice((1, 2, 3)))
    if shape in ("fields", "resource") or rng.random() < 0.5:
        made["properties"] = {name: node(rng, depth - 1) for name in names}
        _maybe(rng, made, 0.4, required=rng.sample(names, rng.randint(1, len(names))))
    if shape == "open" or (shape == "resource" and rng.random() < 0.5):
        made["x-kubernetes-preserve-unknown-fields"] = True
    _maybe(rng, made, 0.1, **{"x-kubernetes-map-type": rng.choice(("atomic", "granular"))})
    return made


def _list(rng: random.Random, depth: int) -> Node:
    kind = rng.choice((None, None, "atomic", "set", "map"))
    made: Node = {"type": "array", "items": node(rng, depth - 1), **_restrictions(rng, {"type": "array"})}
    if kind:
        made["x-kubernetes-list-type"] = kind
    if kind == "set" and rng.random() < 0.8:
        made["items"] = _scalar(rng)
    if kind == "map":
        keys = rng.sample(NAMES, rng.choice((1, 1, 2)))
        made["x-kubernetes-list-map-keys"] = keys
        if rng.random() < 0.9:
            fields = {key: _scalar(rng) for key in keys}
            made["items"] = {"type": "object", "required": keys, "properties": {**fields, "d": node(rng, depth - 1)}}
    return made


def _add_parts(rng: random.Random, of: Node) -> None:
    word = rng.choice(("allOf", "anyOf", "oneOf", "not"))
    parts = [_part(rng, of) for _ in range(1 if word == "not" else rng.choice((1, 2)))]
    of[word] = parts[0] if word == "not" else parts


def _part(rng: random.Random, of: Node) -> Node:
    """Return a part of allOf and the like for a schema."""
    made = _restrictions(rng, of)
    if of.get("type") == "string":
        _maybe(rng, made, 0.3, format=rng.choice(FORMATS))
    fields = of.get("properties", {})
    if fields:
        names = rng.sample(sorted(fields), rng.randint(1, len(fields)))
        _maybe(rng, made, 0.5, required=names)
        _maybe(rng, made, 0.5, properties={name: _restrictions(rng, fields[name]) for name in names})
    if "items" in of:
        _maybe(rng, made, 0.4, items=_restrictions(rng, of["items"]))
    return made


_WRONG: tuple[Node, ...] = (
    *({"uniqueItems": True}, {"additionalProperties": False}, {"additionalProperties": True}, {"nullable": True}),
    *({"additionalProperties": {"type": "string"}}, {"x-kubernetes-preserve-unknown-fields": True}, {"title": "x"}),
    *({"x-kubernetes-preserve-unknown-fields": False}, {"x-kubernetes-int-or-string": True}, {"title": ""}),
    *({"x-kubernetes-embedded-resource": True}, {"x-kubernetes-list-type": "set"}, {"x-kubernetes-list-type": "bag"}),
    *({"x-kubernetes-list-type": "map"}, {"x-kubernetes-list-map-keys": ["a"]}, {"x-kubernetes-map-type": "atomic"}),
    *({"x-kubernetes-list-map-keys": ["a", "a"]}, {"x-kubernetes-map-type": "odd"}, {"x-kubernetes-odd": True}),
    *({"x-kubernetes-validations": [{"rule": "true"}]}, {"x-kubernetes-validations": [{"rule": " "}]}),
    *(
        {"x-kubernetes-validations": [{"rule": "true", "message": " "}]},
        {"x-kubernetes-validations": [{"message": "x"}]},
    ),
    *({"type": "string"}, {"type": "object"}, {"type": "array"}, {"type": "null"}, {"type": ""}, {"type": ["string"]}),
    *({"pattern": "("}, {"default": None}, {"default": {}}, {"default": "x"}, {"format": "date"}, {"$ref": "#/a"}),
    *({"properties": {"metadata": {"type": "object"}}}, {"properties": {"kind": {"type": "integer"}}}),
    *(
        {"properties": {"z": {"type": "string"}}},
        {"properties": {}},
        {"items": {"type": "string"}},
        {"nullable": False},
    ),
    *({"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
    *({"allOf": [{"anyOf": [{"type": "integer"}, {"type": "string"}]}]}, {"oneOf": [{"nullable": True}]}),
    *({"not": {"additionalProperties": False}}, {"not": {"additionalProperties": True}}, {"not": {"default": 1}}),
    *({"allOf": [{"properties": {"metadata": {}}}]}, {"allOf": [{"properties": {"zz": {"minLength": 1}}}]}),
    *({"anyOf": [{"x-kubernetes-validations": [{"rule": "true"}]}]}, {"anyOf": [{"uniqueItems": True}]}),
    *({"anyOf": [{"not": {"title": "x"}}]}, {"anyOf": [{"pattern": "("}]}, {"required": ["a"]}, {"enum": ["a"]}),
    *(
        {"minLength": "1"},
        {"required": "a"},
        {"allOf": {}},
        {"description": 5},
        {"example": 1},
        {"exclusiveMinimum": 1},
    ),
)
"""What is written over a schema, or over a part of one; some of it is right."""


def spoil(rng: random.Random, schema: Node) -> None:
    """Change a schema, or one below it: a keyword goes, or another comes."""
    places = [*_places(schema)]
    for _ in range(rng.choice((1, 1, 2))):
        place = rng.choice(places)
        if rng.random() < 0.25 and place:
            place.pop(rng.choice(sorted(place)))
        else:
            place.update(copy.deepcopy(rng.choice(_WRONG)))


def _places(schema: Any) -> Any:
    """Yield a schema and each mapping below it that is one."""
    if not isinstance(schema, dict):
        return
    yield schema
    for word in ("items", "additionalProperties", "not"):
        yield from _places(schema.get(word))
    fields = schema.get("properties")
    for child in fields.values() if isinstance(fields, dict) else ():
        yield from _places(child)
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word) or ():
            yield from _places(part)


def value_of(rng: random.Random, schema: Any, depth: int = 4) -> Any:
    """Return a value that fits a schema, most of the time."""
    if not isinstance(schema, dict) or not depth or rng.random() < 0.04:
        return rng.choice((None, True, {}, [], {"a": {"b": 1}}, [1, 1], rng.choice(TEXTS), rng.choice(NUMBERS)))
    if isinstance(schema.get("enum"), list) and schema["enum"] and rng.random() < 0.7:
        return rng.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        return _fields_of(rng, schema, depth)
    if kind == "array":
        count = rng.choice((0, 1, 2, 2, 3))
        return [value_of(rng, schema.get("items"), depth - 1) for _ in range(count)]
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "integer":
        return rng.choice((0, 1, 2, 3, 1.0, *NUMBERS))
    return rng.choice(NUMBERS) if kind == "number" or (kind != "string" and rng.random() < 0.5) else rng.choice(TEXTS)


def _fields_of(rng: random.Random, schema: Node, depth: int) -> Node:
    fields = schema.get("properties")
    fields = fields if isinstance(fields, dict) else {}
    rest = schema.get("additionalProperties")
    value = {name: value_of(rng, child, depth - 1) for name, child in fields.items() if rng.random() < 0.8}
    if isinstance(rest, dict) or rest is True or rng.random() < 0.05:
        value[rng.choice(NAMES)] = value_of(rng, rest, depth - 1)
    if schema.get("x-kubernetes-embedded-resource") and rng.random() < 0.9:
        value |= {
            "apiVersion": rng.choice(("v1", "apps/v1", "a/b/c", "")),
            "kind": rng.choice(("A", "Kind", "1A", "a_b")),
        }
        if rng.random() < 0.5:
            value["metadata"] = rng.choice(_METADATA)
    return value


_METADATA: tuple[Any, ...] = (
    None,
    "x",
    [],
    {},
    {"odd": 1},
    {"name": "x"},
    {"name": ""},
    {"name": 5},
    {"name": 0},
    {"name": "a/b"},
    {"generateName": "a-"},
    {"namespace": "a"},
    {"namespace": "A"},
    {"labels": {}},
    {"labels": []},
    {"labels": {"a": "b"}},
    {"labels": {"a": None}},
    {"labels": {"a": 1}},
    {"labels": {"a": "b c"}},
    {"labels": {"a b": "c"}},
    {"annotations": {"a": "b c"}},
    {"annotations": {"A/B": ""}},
    {"finalizers": []},
    {"finalizers": ["a/b"]},
    {"generation": 0},
    {"generation": "a"},
    {"creationTimestamp": None},
    {"creationTimestamp": "2026-01-02T15:04:05Z"},
    {"creationTimestamp": "2026"},
)
