"""What does not fit a schema, and what would; the quick check against jsonschema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import schema
from krmfn.yamltext.simple import Timestamp

DATE = Timestamp("2001-01-01")
NAME = {"type": "string", "pattern": "^[a-z]+$", "maxLength": 5, "x-says": "lower case letters"}
SCHEMA: dict[str, Any] = {
    "$defs": {"name": NAME},
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"$ref": "#/$defs/name"},
        "image": {"type": "string", "description": "the image to pull"},
        "mode": {"type": "string", "enum": ["on", "off"]},
        "one": {"type": "string", "enum": ["only"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "flag": {"type": "boolean"},
        "labels": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]+$", "x-says": "a label key"},
            "additionalProperties": {"type": "string"},
        },
        "list": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/name"}},
        "texts": {"type": ["array", "object"], "items": {"type": "string"}},
        "size": {"type": ["string", "integer"]},
        "nested": {"type": "object", "required": ["image"], "properties": {"image": {"$ref": "#/$defs/name"}}},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("node", "value", "message"),
    [
        ({"maxLength": 4096}, "ab" * 5000, "has 10,000 characters; must be at most 4,096"),
        ({"minLength": 2}, "a", "has 1 character; must be at least 2"),
        ({"pattern": "^b"}, "a" * 500, f"is '{'a' * 60}... (500 characters)'; must match ^b"),
        ({"pattern": f"^({'b' * 500})$"}, "a" * 500, f"must match ^({'b' * 58}... (504 characters)"),
        ({"pattern": "^b", "x-says": "a b", "examples": ["bcd"]}, "acd", "is 'acd'; must be a b; did you mean 'bcd'?"),
    ],
)
def test_a_long_text_is_not_all_of_a_message(node: dict[str, Any], value: str, message: str) -> None:
    """The reason stands behind it."""
    (finding,) = schema.check({"a": value}, {"properties": {"a": {"type": "string", **node}}})
    assert finding.text.endswith(message), finding.text


def messages(value: dict[str, Any]) -> list[str]:
    findings = schema.check(value, SCHEMA)
    return [f"{finding.field.path if finding.field else ''}: {finding.text}" for finding in findings]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"naem": "a", "name": "a"}, "naem: unknown field 'naem'; did you mean 'name'?"),
        ({"IMAGE": "a", "name": "a"}, "IMAGE: unknown field 'IMAGE'; did you mean 'image'?"),
        ({"zzzz": "a", "name": "a"}, "zzzz: unknown field 'zzzz'; known here: count, flag, image, labels, list, mode,"),
        ({}, "name: is required"),
        ({"name": "A"}, "name: is 'A'; must be lower case letters"),
        ({"name": "abcdefgh"}, "name: is 'abcdefgh'; must be lower case letters, at most 5 characters"),
        ({"name": "a" * 9999}, f"name: is '{'a' * 60}... (9,999 characters)'; must be lower case letters"),
        ({"name": "a\n"}, "name: is 'a\\n'; must be lower case letters"),
        ({"name": True}, 'name: is the boolean true; must be a string; write it in quotes, "true"'),
        ({"name": 6}, 'name: is the number 6; must be a string; write it in quotes, "6"'),
        ({"name": 1.1}, 'name: is the number 1.1; must be a string; write it in quotes, "1.1", with every digit'),
        ({"name": 1.23456789012}, '"1.23456789012"'),
        ({"name": None}, "name: is empty; must be a string"),
        ({"name": "a", "image": DATE}, 'image: is the date 2001-01-01; must be a string; write it in quotes, "2001'),
        ({"name": "a", "image": Timestamp("2001-01-01 1:2:3" + "0" * 80)}, "image: is a date; must be a string"),
        ({"name": ["a"]}, "name: is a list; must be a string"),
        ({"name": "a", "flag": "yes"}, "flag: is the string 'yes'; must be true or false"),
        ({"name": "a", "flag": 1}, "flag: is the number 1; must be true or false"),
        ({"name": "a", "list": "a"}, "list: is the string 'a'; must be a list"),
        (
            {"name": "a", "texts": "b c"},
            "texts: is the string 'b c'; must be a list or a mapping; write it as a list, [\"b c\"]",
        ),
        ({"name": "a", "texts": 'b"'}, "texts: is the string 'b\"'; must be a list or a mapping"),
        ({"name": "a", "list": []}, "list: must not be empty; leave the field out if it is not needed"),
        ({"name": "a", "list": ["a", "B"]}, "list[1]: is 'B'; must be lower case letters"),
        ({"name": "a", "mode": "maybe"}, "mode: is 'maybe'; must be one of 'on', 'off'"),
        ({"name": "a", "one": "other"}, "one: is 'other'; must be 'only'"),
        ({"name": "a", "count": 0}, "count: is 0; must be at least 1"),
        ({"name": "a", "count": 9}, "count: is 9; must be at most 5"),
        ({"name": "a", "count": True}, "count: is the boolean true; must be a whole number"),
        ({"name": "a", "count": 1.5}, "count: is the number 1.5; must be a whole number"),
        ({"name": "a", "size": 1.5}, "size: is the number 1.5; must be a string or a whole number"),
        ({"name": "a", "labels": {"A b": "x"}}, "labels[A b]: its key is 'A b'; must be a label key"),
        ({"name": "a", "labels": {"a": 1}}, "labels.a: is the number 1; must be a string"),
        ({"name": "a", "nested": {}}, "nested.image: is required"),
    ],
)
def test_what_is_wrong_is_reported_with_what_would_be_right(value: dict[str, Any], message: str) -> None:
    (finding,) = messages(value)
    assert message in finding


def test_everything_is_reported_at_once_in_the_order_of_the_paths() -> None:
    value = {"list": [f"{n}" for n in range(11)], "flag": "x", "labels": {"B": 1, "A": "x"}, "zzz": 1}
    paths = [line.partition(":")[0] for line in messages(value)]
    assert paths == ["flag", "labels.A", "labels.B", "labels.B", *(f"list[{n}]" for n in range(11)), "name", "zzz"]


@pytest.mark.parametrize("key", ["²", "9" * 5000])
def test_a_key_that_looks_like_a_number_is_no_index(key: str) -> None:
    """Python's int reads neither; krmfn ended in a traceback."""
    assert [line.partition(":")[0] for line in messages({"name": "a", "labels": {key: 1}})] == [f"labels[{key}]"] * 2


def test_a_long_value_is_not_carried_along() -> None:
    (finding,) = schema.check({"name": "a" * 10_000_000}, SCHEMA)
    assert len(str(finding.to_manifest())) < 1000


def test_a_keyword_that_is_not_known_is_left_to_jsonschema() -> None:
    odd = {"type": "string", "format": "odd", "not": {"const": "a"}}
    assert not schema.Schema(odd).fits("b")
    assert schema.check({"a": "b"}, {"properties": {"a": odd}}) == []
    assert schema.check({"a": "a"}, {"properties": {"a": odd}}) != []


WORDS, KEYS = ["", "a", "on", "only", "A b"], list(SCHEMA["properties"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 7) | st.floats(allow_nan=False) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=6,
)


EQUALS = st.recursive(
    st.sampled_from([True, False, 0, 1, 0.0, 1.0, "1", None]),
    lambda inner: st.lists(inner, max_size=1) | st.fixed_dictionaries({"b": inner}),
    max_leaves=2,
)


@given(EQUALS, st.lists(EQUALS, min_size=1, max_size=3))
def test_a_choice_is_what_jsonschema_takes_for_one(value: Any, choices: list[Any]) -> None:
    """To Python True is 1, and 1 is 1.0: of these two JSON Schema takes the second alone."""
    rules = {"properties": {"a": {"enum": choices}}}
    is_valid = schema._validator()(rules).is_valid({"a": value})
    assert (schema.check({"a": value}, rules) == []) is is_valid
    assert is_valid or not schema.Schema(rules).fits({"a": value})


@given(st.dictionaries(st.sampled_from([*KEYS, "unknown"]), VALUES, max_size=4))
def test_the_quick_check_and_jsonschema_agree(value: dict[str, Any]) -> None:
    quick = schema.Schema(SCHEMA).fits(value)
    slow = next(schema._validator()(SCHEMA).iter_errors(value), None) is None
    assert quick == slow
    assert bool(schema.check(value, SCHEMA)) == (not slow)
