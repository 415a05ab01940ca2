"""The exact cut: layouts that the quick one leaves to it, and what it refuses."""

from __future__ import annotations

import pytest

from krmfn.errors import KrmfnError
from krmfn.yamltext import split_exact

CUT = {
    "CRLF": ("kind: A\r\nitems:\r\n- a: 1\r\n- b: 2\r\n", ["- a: 1\r\n", "- b: 2\r\n"]),
    "old Mac": ("kind: A\ritems:\r- a: 1\r- b: 2\r", ["- a: 1\r", "- b: 2\r"]),
    "directives": ("%YAML 1.2\n---\nitems:\n- a: 1\n...\n", ["- a: 1\n"]),
    "anchors": ("items: &all\n- &x a: 1\n- *x\n", ["- &x a: 1\n", "- *x\n"]),
    "characters of several bytes": ("é: ü\nitems:\n- a: \U0001f600\n- b: 1\n", ["- a: \U0001f600\n", "- b: 1\n"]),
    "bare dashes": ("'items':\n-\n  a: 1\n- # c\n-\n", ["-\n  a: 1\n", "- # c\n", "-\n"]),
    "dashes in dashes": ("'items':\n  - - a\n    - b\n  - c\n", ["  - - a\n    - b\n", "  - c\n"]),
    "flow items": ("items: [{a: 1},\n  b, [c], *d ] # e\nx: &d y\n", ["{a: 1}", "b", "[c]", "*d"]),
    "flow list": ('{"kind": "A", "items": [{"a": "é"}, {"b": [1]}]}', ['{"a": "é"}', '{"b": [1]}']),
    "nothing": ("kind: A\r\nitems: []\r\n", []),
    "null": ("kind: A\r\nitems: # c\r\n", []),
}
REFUSED = {
    "- a\n": "expected a mapping",
    "": "expected a mapping",
    "a: 1\n---\nb: 1\n": "line 2: another document begins",
    "a: b: c\n": "line 1: mapping values are not allowed in this context",
    "? [a]\n: b\n": "line 1: a top-level key must be a word",
    "a: 1\na: 2\n": "a top-level key of the ResourceList appears twice",
    " a: 1\n b: 2\n": "line 1: write the keys of a ResourceList at the start of a line",
    "a: 1\n? b\n: 2\n": "line 2: write the keys of a ResourceList at the start of a line",
    "kind: A\n-:\nitems:\u0085-": "line 3: the dash of this item must begin a line",
    'items:\n- "a\n- b"\u2028- c\n': "line 3: the dash of this item must begin a line",
    "[" * 100_000: "expected a mapping",
    "a: " + "[" * 100_000: "line 1: nested deeper than 200 levels",
    "items:\n" + "- " * 100_000: "line 2: nested deeper than 200 levels",
}


@pytest.mark.parametrize("name", CUT)
def test_cut(name: str) -> None:
    text, items = CUT[name]
    data = text.encode()
    assert [data[start:end].decode() for start, end in split_exact.exact(data).items] == items


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(KrmfnError) as refused:
        split_exact.exact(text.encode())
    assert str(refused.value).startswith(REFUSED[text])


def test_new_items_of_an_empty_list_start_at_column_0() -> None:
    assert split_exact.exact(b"items: []\r\n").indent == 0


def test_sections_of_a_flow_list_are_its_values() -> None:
    data = b'{"kind": "A", "items": [1], "x": {"y": 2}}'
    cut = split_exact.exact(data)
    assert {section.key: data[section.start : section.end] for section in cut.sections} == {
        "kind": b'"A"',
        "items": b"[1]",
        "x": b'{"y": 2}',
    }
    assert cut.flow_root and cut.indent == -2
