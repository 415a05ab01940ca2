"""What we write: every YAML reader from 1.1 to 1.2 gets the same data back, with no alias, in kyaml's layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import ryaml
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from krmfn.yamltext import emit, load
from krmfn.yamltext.simple import Timestamp


def ruamel(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


READERS: dict[str, Callable[[str], Any]] = {
    "PyYAML with libyaml": lambda text: yaml.load(text, yaml.CSafeLoader),
    "PyYAML in Python": lambda text: yaml.load(text, yaml.loader.SafeLoader),
    "ruamel.yaml, YAML 1.2": ruamel,
    "ryaml": ryaml.loads,  # type: ignore[attr-defined]
    "ours": lambda text: load.read(text.encode()),
}

WORDS = """
yes Yes no NO on off Off true True TRUE false null Null NULL ~ y Y n N = << - -- ? : , # & * ! | > @ ` % . .. ... ---
1e3 1E3 12e45 1.5e3 08 012 0o17 0x1F 0X1F 0b11 1_000 1__0 _1 -_ +_1 0x_ 0b_1 0o_7 1:30 12:30:45 190:20:30.15 -1:30
.5 5. -.5 +1 +.5 1. 1.e5 .inf -.Inf +.INF .nan .NaN .NAN 2001-01-01 2001-1-1 2001-12-14t21:59:43.10-05:00
1.10 6.10 1e999 18446744073709551616 -x -1 --x a:b a: :a a#b #a "a 'a a' it's [a {a a] a} a,b !a &a *a %a @a `a |a >a
"""
PITFALLS = [
    *WORDS.split(),
    "", " ", "  a", "a  ", "a b", "a: b", "a #b", "a # b", "- a", "? a", "-\ta", "a\t", "\ta", "a\tb", "a\nb", "a\n",
    "\na", "a\n\n", "a\n\nb", " a\nb", "a\n b", "a \nb", "a\t\nb", "a\n ", "\n", "\n\n", "a\rb", "a\r\nb", "\r",
    "a\x85b", "\u2028", "a\u2029b", "\ufeffa", "a\ufeff", "\x00", "\x07", "\x7f", "\x1b[0m", "é", "ü b", "\U0001f600",
    "\xa0", "a\xa0", "\ud7ff", "\ufffd", "\ufffe", "\uffff", "--- a", "... a", "2001-01-01 00:00:00", "a\\b", "\\",
    '"', "'", "''", "a'b\"c", "# a\nb", "a\n# b", "a\n---\nb", "a\n- b: c", "null\n", "x" * 200,
    "x y " * 60, "k" * 2000, "\n" * 3 + "a",
]  # fmt: skip


def everywhere(text: str) -> dict[str, Any]:
    """`text` as a value, a key and an entry, at several depths."""
    return {"value": text, "list": [text, [text], {"a": text, "k" + text: text}], text: {text: [], "last": text}}


def readers() -> list[Any]:
    return [pytest.param(reader, id=name) for name, reader in READERS.items()]


@pytest.mark.parametrize("reader", readers())
def test_pitfalls_come_back_as_strings(reader: Callable[[str], Any]) -> None:
    for text in PITFALLS:
        data = everywhere(text)
        assert reader(emit.dump(data)) == data, text
        assert reader(emit.dump([data], 2)) == [data], text


@given(st.text() | st.text("ab01_+-.:eExX \n\t#'\"\\-?!&*[]{},|>%@`=<~yno", max_size=8))
@example("a\n\n")
def test_any_string_comes_back_from_every_reader(text: str) -> None:
    data = everywhere(text)
    written = emit.dump(data)
    for name, reader in READERS.items():
        assert reader(written) == data, name


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.integers(0, 4))
@example({"a": 1e16, "b": float("inf"), "c": float("-inf"), "d": 1e-7, "e": 1.0}, 0)
def test_any_data_comes_back(data: Any, indent: int) -> None:
    for name, reader in READERS.items():
        read_back = reader(emit.dump([data], indent))
        assert repr(read_back) == repr([data]), name


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("a\nb", "|"), ("a\n", "|"), ("a\n\n", "|"), ("a\n\nb", "|"), ("a\n b", "|"), ("a\n\tb", "|"), ("a\tb\nc", "|"),
        (" a\nb", '"'), ("\na", '"'), ("\ta\nb", '"'), ("a \nb", '"'), ("a\t\nb", '"'), ("a\nb ", '"'), ("a\nb\t", '"'),
        ("a\x07\nb", '"'), ("a\u2028\nb", '"'), ("a", ""), ("1", '"'), ("- a", "'"),
    ],
)  # fmt: skip
def test_a_text_of_several_lines_is_a_block_where_that_gives_it_back(text: str, style: str) -> None:
    written = emit.dump({"a": text})[3:]
    assert (written[0] if written[0] in "'\"|" else "") == style


def test_the_same_object_twice_is_written_twice() -> None:
    shared = {"a": ["b"]}
    text = emit.dump({"one": shared, "two": [shared, shared]})
    assert "&" not in text and "*" not in text
    assert load.read(text.encode()) == {"one": shared, "two": [shared, shared]}


def test_the_layout_is_kyamls() -> None:
    data = {
        "apiVersion": "v1",
        "list": ["a", {"b": 1, "c": [True, None]}, [["d"]], [], {}],
        "text": "one\ntwo\n",
        "kept": "one\n\n",
        "stripped": "one\n\n  two",
        "quotes": ["yes", "1.10", "a: b", "it's", "tab\t", "8080:80"],
        "key with # sign": "",
    }
    assert emit.dump([data]) == (
        "- apiVersion: v1\n"
        "  list:\n"
        "  - a\n"
        "  - b: 1\n"
        "    c:\n"
        "    - true\n"
        "    - null\n"
        "  - - - d\n"
        "  - []\n"
        "  - {}\n"
        "  text: |\n"
        "    one\n"
        "    two\n"
        "  kept: |+\n"
        "    one\n"
        "\n"
        "  stripped: |-\n"
        "    one\n"
        "\n"
        "      two\n"
        "  quotes:\n"
        '  - "yes"\n'
        '  - "1.10"\n'
        "  - 'a: b'\n"
        "  - it's\n"
        '  - "tab\\t"\n'
        "  - 8080:80\n"
        "  'key with # sign': \"\"\n"
    )


def test_a_long_key_stands_behind_a_question_mark() -> None:
    key = "k" * 129
    assert emit.dump({key: "v", "a": 1}) == f"? {key}\n: v\na: 1\n"
    assert emit.dump({key: {"b": [1]}}) == f"? {key}\n:\n  b:\n  - 1\n"


@pytest.mark.parametrize("date", ["2001-01-01", "2001-1-1", "2001-12-14T21:59:43.10Z", "2001-12-14 21:59:43"])
def test_a_plain_date_stays_plain(date: str) -> None:
    """In quotes it would be a string to kubectl, which makes another one of the plain date."""
    data = load.read(f"a: {date}\n".encode())
    assert type(data["a"]) is Timestamp
    assert emit.dump(data) == f"a: {date}\n"
    assert emit.dump({"a": str(date)}) == f'a: "{date}"\n'


def test_a_date_that_only_a_tag_makes_one_is_quoted() -> None:
    assert emit.dump({"a": Timestamp("2001-01-01 x: y")}) == 'a: "2001-01-01 x: y"\n'
