"""Structural schemas of `spec` made at random, values for them, and what krmfn makes of a config with both."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import hypothesis.strategies as st
from krmfn_functions.paths import manifests
from krmfn_functions.profile import keywords, misfits, structural
from krmfn_functions.profile.defaulting import with_defaults
from krmfn_functions.profile.product import Profile, product
from krmfn_functions.rendering.products import check_options

from krmfn import Item
from tests.builders import manifest

GROUP, KIND = "judged.example.com", "Judged"
Node = dict[str, Any]
NAMES = ("a", "b", "c")


class Case(NamedTuple):
    """A schema of `spec`, and what is written there."""

    schema: Node
    written: Any


class Judged(NamedTuple):
    """What becomes of a value (None where it is refused), and why it is refused."""

    becomes: Any
    refusals: tuple[str, ...] = ()


def judged(schema: Node, written: Any) -> Judged:
    """Return what krmfn makes of a config of a vendor's kind whose `spec` has this schema."""
    profile = profile_of(schema)
    config = manifest(f"{GROUP}/v1", KIND, "x", "kmm")
    refusals = tuple(finding.message for finding in check_options(profile, item_of({**config, "spec": written})))
    return Judged(None if refusals else with_defaults(profile.options, {"spec": written}).get("spec"), refusals)


def profile_of(schema: Node) -> Profile:
    """Return a Profile whose options have this schema."""
    spec = {
        "for": {"group": GROUP, "versions": ["v1"], "kind": KIND},
        "schema": {"type": "object", "properties": {"spec": schema}},
    }
    return product(item_of({**manifest("krmfn.dev/v1alpha1", "Profile", "judged", ""), "spec": spec}))


def item_of(resource: Any) -> Item:
    """Return a resource as it is read."""
    (item,) = manifests.read_stream(json.dumps(resource).encode()).items
    return item


def is_structural(schema: Node) -> bool:
    """Return True for the schema of a field without a mistake that krmfn names."""
    root = {"type": "object", "properties": {"a": schema}}
    return not [*keywords.mistakes(root), *misfits.broken_defaults(root)]


_SCALARS = st.one_of(st.sampled_from([None, True, False, "", "a", "bc", "1"]), st.integers(-1, 3))
VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from([*NAMES, "z"]), inner, max_size=3),
    ),
    max_leaves=5,
)
_COUNT = st.integers(0, 2)


@st.composite
def _leaf(draw: st.DrawFn) -> Node:
    kind = draw(st.sampled_from(["string", "integer", "boolean", "int-or-string"]))
    node: Node = {structural.INT_OR_STRING: True} if kind == "int-or-string" else {"type": kind}
    if kind == "string" and draw(st.booleans()):
        node[draw(st.sampled_from(["minLength", "maxLength"]))] = draw(_COUNT)
    if kind == "integer" and draw(st.booleans()):
        node[draw(st.sampled_from(["minimum", "maximum", "multipleOf"]))] = draw(st.integers(1, 2))
    if draw(st.integers(0, 3)) == 0:
        node["enum"] = draw(st.lists(_SCALARS.filter(lambda value: value is not None), min_size=1, max_size=2))
    return node


def _conditions() -> st.SearchStrategy[Node]:
    """Return conditions on the fields of an object: some must be there, or have a value."""
    part = st.fixed_dictionaries(
        {},
        optional={
            "required": st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
            "properties": st.dictionaries(
                st.sampled_from(NAMES), st.fixed_dictionaries({"enum": st.lists(_SCALARS, min_size=1, max_size=1)})
            ),
        },
    ).filter(bool)
    several = st.lists(part, min_size=1, max_size=2)
    words = {"not": part, "anyOf": several, "oneOf": several, "allOf": several}
    return st.sampled_from(sorted(words)).flatmap(lambda word: words[word].map(lambda value: {word: value}))


@st.composite
def _inner(draw: st.DrawFn, child: st.SearchStrategy[Node]) -> Node:
    kind = draw(st.sampled_from(["fields", "fields", "map", "list"]))
    if kind == "map":
        return {"type": "object", "additionalProperties": draw(child)}
    if kind == "list":
        bounds = draw(st.dictionaries(st.sampled_from(["minItems", "maxItems"]), _COUNT, max_size=1))
        return {"type": "array", "items": draw(child), **bounds}
    fields = draw(st.dictionaries(st.sampled_from(NAMES), child, min_size=1, max_size=3))
    node: Node = {"type": "object", "properties": fields}
    if draw(st.booleans()):
        node["required"] = draw(st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=2, unique=True))
    if draw(st.integers(0, 4)) == 0:
        node[structural.OPEN] = True
    if draw(st.integers(0, 4)) == 0:
        node["minProperties"] = draw(_COUNT)
    if draw(st.integers(0, 2)) == 0:
        node |= {
            key: value
            for key, value in draw(_conditions()).items()
            if set(NAMES) == set(fields) or is_structural({**node, key: value})
        }
    return node


@st.composite
def _given(draw: st.DrawFn, child: st.SearchStrategy[Node]) -> Node:
    """Return a schema that may have a default or take null."""
    node = draw(child)
    if draw(st.booleans()):
        node = {**node, "default": draw(fitting(node))}
    if draw(st.integers(0, 3)) == 0:
        node = {**node, "nullable": True}
    return node if is_structural(node) else {key: value for key, value in node.items() if key != "default"}


SCHEMAS = st.recursive(_given(_leaf()), lambda child: _given(_inner(child)), max_leaves=4)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw an object with a field of a schema made at random, and a value for it."""
    inner = draw(SCHEMAS)
    schema = {"type": "object", "properties": {"a": inner}}
    return Case(schema, {"a": draw(fitting(inner))} if draw(st.integers(0, 4)) else {})


@st.composite
def fitting(draw: st.DrawFn, node: Node) -> Any:
    """Draw a value that fits a schema as to types, most of the time."""
    if draw(st.integers(0, 14)) == 0:
        return draw(VALUES)
    if "enum" in node:
        return draw(st.sampled_from(node["enum"]))
    kind = node.get("type", "integer")
    if kind == "object":
        rest = node.get("additionalProperties", {"type": "string"})
        fields: Any = node.get("properties") or dict.fromkeys(NAMES, rest)
        names = draw(st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=3))
        return {name: draw(fitting(fields[name])) for name in names}
    if kind == "array":
        return [draw(fitting(node["items"])) for _ in range(draw(_COUNT))]
    kinds = {"string": st.sampled_from(["a", "bc", ""]), "boolean": st.booleans(), "integer": st.integers(-1, 3)}
    return draw(kinds[kind])
