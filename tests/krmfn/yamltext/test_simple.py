"""The reader for plain layouts: sure and right, or None."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krmfn.yamltext import linetree, load, losses, positions, rows, simple
from tests.examples import EXAMPLES

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
    "a: [b, 'c, ]', \"#d\", 1]\n": {"a": ["b", "c, ]", "#d", 1]},
    "a: {b: c d, \"e\": {f: [true, ~]}, 'g': []} # h\ni: j\n": {
        "a": {"b": "c d", "e": {"f": [True, None]}, "g": []},
        "i": "j",
    },
    "- [http://x/y]\n- a: [ {b: -1} ]\n": [["http://x/y"], {"a": [{"b": -1}]}],
    "a: &x 1 # c\nb: *x\nc:\n- *x\n- &y-2 'd e'\n- f: *y-2 # g\n": {"a": 1, "b": 1, "c": [1, "d e", {"f": "d e"}]},
    "- &x  -a\n- b: *x\n": ["-a", {"b": "-a"}],
    "a: >\n  b\n  c\n\n  d\n\n\n  e\n\nf: >- # g\n  h\n  i\n": {"a": "b c\nd\n\ne\n", "f": "h i"},
}
OTHER = [
    "yes: a\n", "1: a\n", "012: a\n", "null: a\n", "a: \x7f\n", "a: \x80\n", "a: '\ufffe'\n",
    "", "a: |\n",
    "a: |\n\n", "a: |\nb: c\n", "a: |2\n  b\n", "a: |\n   b\n  c\n", "a: |\n  b",
    "- |\n  b\n    ", "a: |\n  b\n  ", "a: |\n  b\n ",
    "a: |\n   \n  b\n", "a: |\n  \tb\n", "a: >+\n  b\n", "a: >2\n  b\n", "a: >\n  b\n   c\n", "a: >\n\n  b\n",
    "a: >\n  b \n  c\n", "a: [b,]\n", "a: {b}\n", "a: {b:}\n", "a: {b: }\n", "a: {b: c, b: d}\n", "a: {yes: c}\n",
    "a: [yes]\n", "a: [b: c]\n", "a: [b]c\n", "a: [b]]\n", "a: [b}\n", "a: [}\n", "a: [b,, c]\n", "a: [&x b]\n",
    "a: [*x]\n", "a: [!!str b]\n", 'a: {"b":c}\n', "a: [b\n  c]\n", "a: ['it''s']\n", 'a: ["b\\n"]\n', "a: [b #c]\n",
    "a: [b?]\n", "a: {b: c:}\n", "a: {<<: {}}\n", "a: [\tb]\n", "a: [2001-01-01]\n", "[a]\n", "a: [b] c: d\n",
    "a: " + "[" * 30 + "]" * 30 + "\n", "a: [-, b]\n", "a: [b]\n" + "b: c\n" * 1 + "# d" * 40_000 + "\n",
    "a: 'b\n  c'\n", 'a: "b\\n"\n', "a: 'it''s'\n", "a: b\n  c\n",
    "a: *x\n", "a: *x\nb: &x c\n", "a: &x b\nc: &x d\n", "a: &x\nb: *x\n", "a: &x\n  b: c\n", "a: &x [b]\n",
    "- &x a: b\n", "a: &x |\n  b\n", "a: &x &y b\n", "a: &x !!str b\n", "a: &x *y\n", "a: &x b\n*x : c\n",
    "a: &x b\nc: *x d\n", "a: &x yes\n", "a: &x b\nc: *x\n  d\n", "a: &x.y b\n", "a: &x b\nc: {d: *x}\n",
    "a: &x b\n<<: *x\n", "a: &x b\nc: *x: d\n", "a: &x 2001-01-01\n",
    "a: !!str b\n", "'a': b\n", "? a\n: b\n", "<<: *x\n", "a: b\na: c\n", "a:\n- b\n c: d\n",
    "a:\n    b: c\n  d: e\n", "a: b: c\n", "a: 'b'c\n", "a : b\n", "\ta: b\n", "a:\tb\n", "a: b\r\n", "a: '\u2028'\n",
    "a: b\n---\nc: d\n", "a:\n-\n  b: c\n", "a: b\n...\n", "- - a\n", "a: b#c\n", "a: b\nc\n", "  a: b\nc: d\n",
    "- a\nb: c\n", "a: b # c\rd: e\n", "a: ---\n", "- a: b\n c: d\n", " " * 200 + "a: b\n",
    "a: yes\n", "a: On # b\n", "- n\n", "a: 2001-01-01\n", "k" * 1_025 + ": a\n", "a:\n  " + "k" * 1_025 + ":\n",
]  # fmt: skip


@pytest.mark.parametrize("text", SIMPLE)
def test_simple(text: str) -> None:
    assert repr(simple.read(text)) == repr(SIMPLE[text])


@pytest.mark.parametrize("text", OTHER)
def test_left_to_a_parser(text: str) -> None:
    assert simple.read(text) is None


def test_where_scalars_stand() -> None:
    lines, spans = simple.lines_of("- a: 'b c' # d\n\n  e: |\n    f\n    g\n")
    first, literal, last = lines
    assert (first.column, first.dash, first.quote, first.span) == (0, 2, "'", (5, 10))
    assert (literal.column, literal.dash, literal.quote, literal.value) == (2, 0, "|", "f\ng\n")
    assert (last.column, spans) == (-1, [(0, 1), (2, 5)])


def test_data_is_made_anew_each_time() -> None:
    text = "a:\n  b: []\n  c: {}\nd:\n- []\n"
    first, second = simple.read(text), simple.read(text)
    first["a"]["b"].append(1)
    first["a"]["c"]["x"] = 1
    first["d"][0].append(1)
    assert second == {"a": {"b": [], "c": {}}, "d": [[]]}


SCALARS = (
    "a",
    "b c",
    '"x"',
    "'y, z'",
    "1",
    "-x",
    "--f",
    "a:b",
    "null",
    "0x1F",
    "http://x/y",
    "'#'",
    "",
    "yes",
    "&a b",
    "*a",
)
MARKS = (
    "{",
    "}",
    "[",
    "]",
    ", ",
    ",",
    ": ",
    " ",
    " #",
    "k: ",
    '"k": ',
    "k:",
    "?",
    "- ",
    "\\",
    "'",
    '"',
    "2001-01-01",
    "<<: ",
)
ROWS = ("    a", "    b c", "", "     more", "    d ", "    # x", "   ", "    - e", "    f: g", "  h")
TEXTS = ("a:\n  b: {}\nc: d\n", "- {}\n- z\n", "a:\n- {}\n- b: c\n", "- a: {}\n  e: f\n", "a:\n  - b: {}\n\n\n")
brackets = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")
        | st.lists(inner, max_size=3).map(
            lambda parts: f"{{{', '.join(f'k{n}: {part}' for n, part in enumerate(parts))}}}"
        )
    ),
)
broken = st.lists(st.sampled_from(SCALARS + MARKS), max_size=7).map("".join)
blocks = st.lists(st.sampled_from(ROWS), max_size=5).map("\n".join)
values = (
    brackets
    | st.tuples(st.sampled_from("[{"), broken, st.sampled_from("]}")).map("".join)
    | st.tuples(st.sampled_from((">", ">-", "|", "|-", ">+")), blocks).map("\n".join)
)


@settings(max_examples=EXAMPLES * 7)
@given(text=st.sampled_from(TEXTS), value=values)
def test_brackets_and_blocks_are_read_as_a_parser_reads_them(text: str, value: str) -> None:
    """Their data, and where each node in them stands."""
    text = text.replace("{}", value)
    data = simple.read(text)
    if data is None:
        return
    assert repr(data) == repr(load.read(text.encode()))
    trees = linetree.tree(text), load.compose(text.encode())
    places = [
        [(node.id, node.start_mark.index, node.end_mark.index) for node in positions.nodes(tree) if is_leaf(node)]
        for tree in trees
    ]
    assert places[0] == places[1]


PLAIN = ("*x", "*y", "*x # f", "e", "&z 'g'", "&w 1", "*w", "*x", "*y")
PARTS = (*PLAIN * 6, "&x b", "&z yes", "&v", "&v [g]", "&v |\n      h", "*x\n    i: j")
ANCHORED = ("k: {}\n", "l:\n- {}\n- m: {}\n  n: {}\n- {}\n", "o:\n  p: {}\n  q: {} # r\n", "<<: {}\n", "s: [{}]\n")


@settings(max_examples=EXAMPLES * 7)
@given(st.lists(st.sampled_from(ANCHORED), min_size=1, max_size=4), st.lists(st.sampled_from(PARTS), min_size=12))
def test_anchors_of_scalars_are_read_as_a_parser_reads_them(texts: list[str], values: list[str]) -> None:
    """Their data, where they and their aliases stand, and how often each stands in the tree."""
    text = "g: &x b\nh: &y 'c d'\n" + "".join(map("{}{}".format, "ABCD", texts))
    for value in values:
        text = text.replace("{}", value, 1)
    data = simple.read(text)
    if data is None:
        return
    assert repr(data) == repr(load.read(text.encode()))
    counts, found = list[Any](), list[Any]()
    for root in (linetree.tree(text), load.compose(text.encode())):
        lines, nodes = rows.Rows(text, root), [*positions.nodes(root)]
        spans = {id(node): (node.start_mark.index, node.end_mark.index) for node in nodes if node.id == "scalar"}
        collections = [node for node in nodes if node.id != "scalar"]
        found.append([[lines.alias(node, at) for at, _ in enumerate(positions.parts(node))] for node in collections])
        counts.append({spans[name]: number for name, number in losses.shared(text, root).items()})
        found.append([spans[id(node)] for node in nodes if node.id == "scalar"])
    assert (counts[0], found[:2]) == (counts[1], found[2:])


def is_leaf(node: Any) -> bool:
    return node.id == "scalar" or bool(node.flow_style)


def test_nesting_is_no_danger() -> None:
    assert simple.read("\n".join(f"{' ' * n}a:" for n in range(5_000))) is None
    for deep in ("\n".join(f"{' ' * n}- a:\n{' ' * n}  b:" for n in range(0, 100, 2)),
                 "".join(f"{' ' * n}a:\n" for n in range(100)) + " " * 100 + "b: c\n"):  # fmt: skip
        assert simple.read(deep) == load.read(deep.encode())
