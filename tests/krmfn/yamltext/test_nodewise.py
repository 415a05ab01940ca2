"""Edits of a simple text by the places of its nodes."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn.yamltext import nodewise, simple

TEXT = "- a: 1 # one\n  b: 'two'\n  c:\n    d: \"e\"\n  f:\n  - g # h\n  # i\n  - j: k\n"


def data(**changes: Any) -> list[dict[str, Any]]:
    return [{"a": 1, "b": "two", "c": {"d": "e"}, "f": ["g", {"j": "k"}], **changes}]


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({}, "", ""),
        ({"a": 2}, "a: 1 #", "a: 2 #"),
        ({"a": "1"}, "a: 1 #", 'a: "1" #'),
        ({"a": True}, "a: 1 #", "a: true #"),
        ({"a": None}, "a: 1 #", "a: null #"),
        ({"b": "it's"}, "'two'", "'it''s'"),
        ({"b": "a\nb"}, "'two'", '"a\\nb"'),
        ({"b": 2}, "'two'", "2"),
        ({"c": {"d": "x"}}, '"e"', '"x"'),
        ({"c": {"d": 'say "x"'}}, '"e"', '"say \\"x\\""'),
        ({"c": {"d": "\\"}}, '"e"', '"\\\\"'),
        ({"c": {"d": "e", "x": [1]}}, '"e"\n', '"e"\n    x:\n    - 1\n'),
        ({"f": ["G", {"j": "k", "l": "m"}]}, "- g # h\n  # i\n  - j: k\n", "- G # h\n  # i\n  - j: k\n    l: m\n"),
        ({"f": ["g", {"j": "k"}, "m"], "'o'": 1}, "j: k\n", "j: k\n  - m\n  '''o''': 1\n"),
        ({"f": ["g"]}, "  # i\n  - j: k\n", ""),
        ({"f": [{"j": "k"}, "g"]}, "  - g # h\n  # i\n  - j: k\n", "  # i\n  - j: k\n  - g # h\n"),
    ],
)
def test_patched(changes: dict[str, Any], old: str, new: str) -> None:
    """Entries that move take their lines along."""
    assert simple.read(TEXT) == data()
    assert nodewise.patched(TEXT, data(**changes)) == TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("value", "new", "text"),
    [
        ("{b: *x, c: 2}", {"b": {"k": "v"}, "c": 2, "d": 3}, "{b: *x, c: 2, d: 3}"),
        ("[*x, c]", [{"k": "v"}, "c", 3], "[*x, c, 3]"),
        ("{b: *x, c: 2}", {"b": {"k": "w"}, "c": 2}, "{b: {k: w}, c: 2}"),
    ],
)
def test_what_comes_beside_an_alias_in_brackets_leaves_it_and_all_lines_as_they_are(
    value: str, new: Any, text: str
) -> None:
    item = f"- q: &x {{k: v}} # c\n  a: {value} # d\n"
    assert nodewise.patched(item, [{"q": {"k": "v"}, "a": new}]) == item.replace(value, text)
