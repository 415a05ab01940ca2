"""The quick cut: where it is sure, what it answers; where it must not be."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from krmfn import KrmfnError
from krmfn.yamltext import split, split_exact
from tests.krmfn import documents

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"


def texts(cut: split.Cut | None, data: bytes) -> list[str] | None:
    """The items' texts; None when the cut is not sure."""
    return None if cut is None else [data[start:end].decode() for start, end in cut.items]


SURE = {
    "dashes at column 0": ("items:\n- a: 1\n- b: 2\n", ["- a: 1\n", "- b: 2\n"]),
    "dashes further in": ("items:\n  - a: 1\n    x: y\n  - b: 2\n", ["  - a: 1\n    x: y\n", "  - b: 2\n"]),
    "nested dashes": ("items:\n- a:\n  - x\n- b:\n  -  y\n", ["- a:\n  - x\n", "- b:\n  -  y\n"]),
    "comments and blank lines": ("items: # c\n# d\n\n- a: 1\n\n# e\n- b: 2\n", ["- a: 1\n\n# e\n", "- b: 2\n"]),
    "a quote in a comment before the first": (
        'items: # "a\n# [b\n\n- a: "1\n    x"\n- b: 2\n',
        ['- a: "1\n    x"\n', "- b: 2\n"],
    ),
    "bare dashes": ("items:\n-\n  a: 1\n-\n- b\n", ["-\n  a: 1\n", "-\n", "- b\n"]),
    "dashes in a block scalar": (
        "items:\n- a: |\n    - x\n   \n    k:\n- b: 2\n",
        ["- a: |\n    - x\n   \n    k:\n", "- b: 2\n"],
    ),
    "items before": ("items:\n- a: 1\nfunctionConfig:\n  b: c\n", ["- a: 1\n"]),
    "no end of line": ("items:\n- a: 1\n- b: 2", ["- a: 1\n", "- b: 2"]),
    "quotes over lines": ("items:\n- a: 'it''s\n  - x'\n- b: 2\n", ["- a: 'it''s\n  - x'\n", "- b: 2\n"]),
    "flow over lines": ("items:\n- a: [x,\n  y: 1, 'z'\n  ]\n- b: 2\n", ["- a: [x,\n  y: 1, 'z'\n  ]\n", "- b: 2\n"]),
    "none": ("items: []\n", []),
    "null": ("items: null # c\n\n# d\n", []),
    "nothing": ("items:\n", []),
    "no key": ("", []),
}
UNSURE = {
    "CRLF": "items:\r\n- a: 1\r\n",
    "another line break": "items:\n- a: '\u2028'\n",
    "a directive": None,
    "one line": "items: [{a: 1}]\n",
    "an anchor": "items: &x\n- a: 1\n",
    "a tab": "items:\t\n- a: 1\n",
    "quotes that swallow a key": "x: 'a\nitems:\n- b'\nitems:\n- c: 1\n",
    "quotes that swallow a dash": "items:\n- a: 'it''s\n- x'\n- b: 2\n",
    "a flow collection that swallows a dash": "items:\n- a: [x,\ny, 'z'\n  ]\n- b: 2\n",
    "quotes without end": "items:\n- a: 'x\n- b: 1\n",
    "dashes out of line": "items:\n  - a: 1\n - b: 2\n",
    "a key in quotes": '"items":\n- a: 1\n',
    "a key twice": "items:\n- a: 1\nitems: []\n",
    "an end mark": "items:\n- a: 1\n...\n",
    "another document": "items:\n- a: 1\n---\na: b\n",
    "no space behind the dash": "items:\n-a: 1\n",
}


@pytest.mark.parametrize("above", ["", "# top\n\n---\n# more\n"], ids=["nothing above", "a mark and comments above"])
@pytest.mark.parametrize("name", SURE)
def test_sure(name: str, above: str) -> None:
    text, items = SURE[name]
    data = (above + HEAD + text).encode()
    assert texts(split.quick(data), data) == items


@pytest.mark.parametrize("name", UNSURE)
def test_unsure(name: str) -> None:
    text = UNSURE[name]
    assert split.quick((HEAD + text if text else f"%YAML 1.2\n---\n{HEAD}items: []\n").encode()) is None


@pytest.mark.parametrize("before", ['"a\n', "{\n", " a: b\n", "--- # c\n", "---\n---\n", "a\n", "\ta\n"])
def test_unsure_of_what_may_swallow_the_first_key(before: str) -> None:
    assert split.quick((before + HEAD + "items: []\n").encode()) is None


@pytest.mark.parametrize(
    ("text", "runs_on"),
    [
        ('a: "x\n  y"', True),
        ("a: 'x\n  y'", True),
        ("a: [x,\n  y]", True),
        ("a: {x: 1,\n  y: 2}", True),
        ('a: "x y"', False),
        ("a: 'it''s'", False),
        ("a: it's", False),
        ('a: "\\""', False),
        ("a: [x, 'y', \"z\"]", False),
        ("a: {x: 'y', z: [] }", True),
        ("a: b [c", True),
        ("a: [ [x], y ]", True),
    ],
)
def test_lines_of_items_that_run_on_or_seem_to_do_not_stand_alone(text: str, runs_on: bool) -> None:
    data = f"{HEAD}items:\n- b: 1\n- {text}\n- c: 1\n".encode()
    cut = split.quick(data)
    assert cut is not None
    assert cut.is_quick
    assert [not split.has_lone_lines(data, *span) for span in cut.items] == [False, runs_on, False]
    assert split.is_simple(f"{text}\n".encode()) is not runs_on


def test_sections() -> None:
    text = f"{HEAD}items:\n- a: 1\n# of the config\nfunctionConfig:\n  b: c\n"
    cut = split.quick(text.encode())
    assert cut is not None
    assert [(section.key, text[section.start : section.end]) for section in cut.sections] == [
        ("apiVersion", "apiVersion: config.kubernetes.io/v1\n"),
        ("kind", "kind: ResourceList\n"),
        ("items", "items:\n- a: 1\n# of the config\n"),
        ("functionConfig", "functionConfig:\n  b: c\n"),
    ]


@pytest.mark.parametrize(
    "text", ["a: " + "' " * 200_001, "[ " * 200_000, "a: [" + '"b", ' * 200_000 + "\n"], ids=lambda text: text[:9]
)
def test_what_is_open_at_its_end_is_unsure_however_long_it_is(text: str) -> None:
    """A look at the whole rest for each of its characters would take hours."""
    assert split.quick(f"{HEAD}items:\n- {text}\n- b: 1\n".encode()) is None


def test_a_million_blank_lines_are_an_item() -> None:
    blank = "\n" * 10**6
    data = f"{HEAD}items:\n- {blank}- b: 1\n".encode()
    assert texts(split.quick(data), data) == [f"- {blank}", "- b: 1\n"]


class Counted(bytes):
    """A text that notes how much of it is searched for line ends."""

    searched = 0

    def count(self, part: Any, start: Any = None, end: Any = None, /) -> int:
        self.searched += end - start
        return super().count(part, start, end)


def test_a_line_with_many_brackets_is_searched_once() -> None:
    """Each bracket of a line of 90 KB seemed to run over lines, and the text before each was searched anew."""
    data = Counted(b"a:\n" + b"{a: " * 20_000 + b"\n  b: [\n")
    places = [match.start() for match in re.finditer(rb"[{\[]", data)]
    assert split._rows(data, places[::-1]) == [1, 2]
    assert data.searched <= len(data)


TOKENS = [
    *documents.MARKS,
    '\\"',
    "\n- ",
    "\n- a: ",
    "\n  b: ",
    "\n",
    "\n---\n",
    "\nfoo: ",
    ">-",
    "!!str ",
    "&a ",
    "? ",
    "x",
    "'x\n- y'",
    '"x\n  k: y"',
]


@given(tokens=st.lists(st.sampled_from(TOKENS), max_size=14))
@example(tokens=["a: 'x''y", "\n- b'"])
@example(tokens=['a: "x', '\\"', "\n- b: c", '"'])
@example(tokens=["a: 'x", '"', "\n- y'", "\n- b: c"])
@example(tokens=['a: "', "\n- b: '", "\n- c", "'"])
@example(tokens=["a: [", "'x'", "\n- y]"])
def test_what_is_quoted_swallows_no_boundary(tokens: list[str]) -> None:
    """The quick division looks at the last quote before each boundary alone."""
    data = f"{HEAD}items:\n- {''.join(tokens)}\n- z: 1\n".encode()
    try:
        exact = split_exact.exact(data)
    except KrmfnError:
        return
    quick = split.quick(data)
    event("not sure" if quick is None else "sure")
    assert quick is None or quick._replace(heads=(), is_quick=False) == exact
