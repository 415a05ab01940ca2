"""krmfn's variables in nested data: what is filled in, and what stays byte for byte."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.rendering.variables import VARIABLES, fill, mistake, references

VALUES = {name: f"<{name.lower()}>" for name in VARIABLES}
NAME = VALUES["KRMFN_NAME"]


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("$KRMFN_NAME", NAME),
        ("${KRMFN_NAME}", NAME),
        ("a$KRMFN_NAME-b${KRMFN_NAME}c", f"a{NAME}-b{NAME}c"),
        ("$KRMFN_NAME$KRMFN_NAME", NAME + NAME),
        ("$$KRMFN_NAME", f"${NAME}"),
        ("${X:-$KRMFN_NAME}", f"${{X:-{NAME}}}"),
        ("${X:-${KRMFN_NAME}}", f"${{X:-{NAME}}}"),
    ],
)
def test_a_variable_is_filled_in(text: str, filled: str) -> None:
    assert fill(text, VALUES) == filled


@pytest.mark.parametrize(
    "text",
    [
        *("$KERNEL_FULL_VERSION", "${KERNEL_VERSION:-x}", "$(KRMFN_NAME)", "$(X)", "$$", "$", "$1", "${", "KRMFN_NAME"),
        *("$ KRMFN_NAME", "$KRMFN", "${ KRMFN_NAME}", "$XKRMFN_NAME", "%KRMFN_NAME%", "\\$ARG", "#{KRMFN_NAME}"),
    ],
)
def test_every_other_dollar_stays(text: str) -> None:
    assert fill(text, VALUES) == text
    assert list(references(text)) == []


XYZZY, NONE = "$KRMFN_XYZZY_XYZZY", "is not a variable of krmfn"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$KRMFN_DRIVER_VERISON", f"$KRMFN_DRIVER_VERISON {NONE}; did you mean $KRMFN_DRIVER_VERSION?"),
        ("${KRMFN_NAMES}", f"${{KRMFN_NAMES}} {NONE}; did you mean ${{KRMFN_NAME}}S?"),
        ("$KRMFN_NAME_1", f"$KRMFN_NAME_1 {NONE}; did you mean ${{KRMFN_NAME}}_1?"),
        ("$KRMFN_NAMESPACE_", f"$KRMFN_NAMESPACE_ {NONE}; did you mean ${{KRMFN_NAMESPACE}}_?"),
        ("$krmfn_name", f"$krmfn_name {NONE}; did you mean $KRMFN_NAME?"),
        (XYZZY, f"{XYZZY} {NONE}; there are: $KRMFN_DRIVER_VERSION, $KRMFN_DRIVER_IMAGE, "),
        ("${KRMFN_NAME", "${KRMFN_NAME has no closing brace; "),
        ("${KRMFN_NAME:-x}", "${KRMFN_NAME:-x} has more than a name between its braces; "),
        ("${KRMFN_NAME-${X}}", "${KRMFN_NAME-${X} has more than a name between its braces; "),
    ],
)
def test_what_is_nearly_a_variable_is_a_mistake(text: str, message: str) -> None:
    [reference] = references({"args": [f"a {text}"]})
    wrong = mistake(reference)
    assert wrong
    assert wrong.text.startswith(message)
    assert fill(text, VALUES) == text


DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet="$(){}:-KRMFN_NAMEa "),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["args", "name", "selector", "$a"]), inner)
    ),
)


@given(DATA)
def test_the_shape_stays_and_no_type_changes(data: Any) -> None:
    """The values have no `$`, so filling in twice is filling in once; nothing without a reference changes."""
    filled = fill(data, VALUES)
    assert fill(filled, VALUES) == filled
    assert shape(filled) == shape(data)
    if not [reference for reference in references(data) if reference.name]:
        assert filled == data


@given(DATA)
def test_what_stands_in_the_right_fields_and_is_right_is_filled_in_and_nothing_else(data: Any) -> None:
    """After filling in, exactly the mistakes are left."""
    wrong = [(reference.path, reference.text) for reference in references(data) if mistake(reference)]
    rest = references(fill(data, VALUES, everywhere=False))
    assert [(reference.path, reference.text) for reference in rest] == wrong


def shape(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: shape(value) for key, value in data.items()}
    return [shape(value) for value in data] if isinstance(data, list) else type(data)


def test_keys_and_selectors_are_not_filled_in() -> None:
    text = "$KRMFN_NAME"
    fields = {
        "args": [text],
        "labels": {text: text},
        "name": text,
        "nodeSelector": {"path": text},
        "tolerations": [{"value": text}],
        "env": [{"name": text, "value": text, "valueFrom": {"fieldRef": {"fieldPath": text}}}],
    }
    filled = {
        "args": [NAME],
        "labels": {text: NAME},
        "env": [{"name": text, "value": NAME, "valueFrom": {"fieldRef": {"fieldPath": text}}}],
    }
    assert fill(fields, VALUES, everywhere=False) == fields | filled
    assert len([reference for reference in references(fields) if mistake(reference)]) == 6


@given(st.text(alphabet="$", max_size=3), st.sampled_from(VARIABLES), st.text(alphabet="$-. /", max_size=3))
def test_both_forms_are_one(before: str, name: str, after: str) -> None:
    plain, braced = f"{before}${name}{after}", f"{before}${{{name}}}{after}"
    assert fill(plain, VALUES) == fill(braced, VALUES) == before + VALUES[name] + after
    assert re.search("KRMFN_", fill(plain, VALUES)) is None
