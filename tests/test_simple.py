"""The reader for plain layouts: sure and right, or None."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn.yamltext import simple

SIMPLE: dict[str, Any] = {
    "a: b\nc: 1\nd: 'e f'\n": {"a": "b", "c": 1, "d": "e f"},
    "a:\n  b:\n    c: d\ne:\n": {"a": {"b": {"c": "d"}}, "e": None},
    "a:\n- b\n- c: d\n  e: f\ng: h\n": {"a": ["b", {"c": "d", "e": "f"}], "g": "h"},
    "a:\n  -  b\n  -  c: d\n     e: f\n": {"a": ["b", {"c": "d", "e": "f"}]},
    "- a: []\n  b: {}\n": [{"a": [], "b": {}}],
    "# c\na: b # d\n\n  # e\nf: 'g' # h": {"a": "b", "f": "g"},
    "a: -x\nb: --flag\nc: a:b\nd: http://x/y\ne: .5\n": {
        "a": "-x",
        "b": "--flag",
        "c": "a:b",
        "d": "http://x/y",
        "e": 0.5,
    },
    "a: b c - d\ne: f:g 'h'\n": {"a": "b c - d", "e": "f:g 'h'"},
    "a: | # c\n  b\n   c\n\n  d\n\n# e\nf: g\n": {"a": "b\n c\n\nd\n", "f": "g"},
    "- a: |-\n    # b\n    - c\n  d: |+\n    e\n\n- |\n f\n": [{"a": "# b\n- c", "d": "e\n\n"}, "f\n"],
    "a:\n- b: |\n\n      c\n  d: e\n": {"a": [{"b": "\nc\n", "d": "e"}]},
    "a: |\n  b\n   \n": {"a": "b\n \n"},
    "a: |\n  b\n \n   \n\nc: d\n": {"a": "b\n\n \n", "c": "d"},
    "a: |-\n  b\n    \n  \n": {"a": "b\n  "},
    "a: |+\n  b\n   \n\n": {"a": "b\n \n\n"},
}
OTHER = [
    "yes: a\n", "1: a\n", "012: a\n", "null: a\n", "a: \x7f\n", "a: \x80\n", "a: '\ufffe'\n",
    "", "a: |\n",
    "a: |\n\n", "a: |\nb: c\n", "a: |2\n  b\n", "a: |\n   b\n  c\n", "a: |\n  b",
    "a: |\n   \n  b\n", "a: |\n  \tb\n", "a: >\n  b\n",
    "a: 'b\n  c'\n", 'a: "b\\n"\n', "a: 'it''s'\n", "a: b\n  c\n", "a: [b]\n", "a: &x b\n",
    "a: *x\n", "a: !!str b\n", "'a': b\n", "? a\n: b\n", "<<: *x\n", "a: b\na: c\n", "a:\n- b\n c: d\n",
    "a:\n    b: c\n  d: e\n", "a: b: c\n", "a: 'b'c\n", "a : b\n", "\ta: b\n", "a:\tb\n", "a: b\r\n", "a: '\u2028'\n",
    "a: b\n---\nc: d\n", "a:\n-\n  b: c\n", "a: b\n...\n", "- - a\n", "a: b#c\n", "a: b\nc\n", "  a: b\nc: d\n",
    "- a\nb: c\n", "a: b # c\rd: e\n", "a: ---\n", "- a: b\n c: d\n", " " * 200 + "a: b\n",
]  # fmt: skip


@pytest.mark.parametrize("text", SIMPLE)
def test_simple(text: str) -> None:
    tree = simple.parse(text)
    assert tree is not None
    assert repr(simple.data(tree)) == repr(SIMPLE[text])


@pytest.mark.parametrize("text", OTHER)
def test_left_to_a_parser(text: str) -> None:
    assert simple.parse(text) is None


def test_the_marks_of_scalars() -> None:
    text = "- a: 'b c'\n  d:\n  - e\n"
    tree = simple.parse(text)
    assert isinstance(tree, simple.Sequence)
    first = tree.values[0]
    assert isinstance(first, simple.Mapping)
    scalar = first.values["a"]
    assert isinstance(scalar, simple.Scalar)
    assert (text[scalar.start : scalar.end], scalar.quote) == ("'b c'", "'")
    assert (first.column, text[: first.end]) == (2, text)


def test_data_is_made_anew_each_time() -> None:
    tree = simple.parse("a:\n  b: []\n")
    assert tree is not None
    one, other = simple.data(tree), simple.data(tree)
    one["a"]["b"].append(1)
    assert other == {"a": {"b": []}}


def test_nesting_is_no_danger() -> None:
    assert simple.parse("\n".join(f"{' ' * n}a:" for n in range(5_000))) is None
    deep = "\n".join(f"{' ' * n}- a:\n{' ' * n}  b:" for n in range(0, 100, 2))
    simple.parse(deep)
