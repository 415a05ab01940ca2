"""Cheap looks: what they are sure of, and what they leave to a parser."""

from __future__ import annotations

import textwrap

import pytest

from krmfn.yamltext import heads, peek
from krmfn.yamltext.peek import MISSING, UNSURE


def root(text: str) -> peek.Mapping:
    """The mapping of an item with its dash at column 0."""
    block = peek.root(text.encode(), 0, len(text), 0)
    assert isinstance(block, peek.Mapping)
    return block


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("kind: Pod", "Pod"),
        ("kind:   Pod  ", "Pod"),
        ("kind: Pod # why", "Pod"),
        ('kind: "a b"', "a b"),
        ("kind: 'a b' # why", "a b"),
        ("kind: a:b", "a:b"),
        ("kind: Pod\n", "Pod"),
        ("kind: Pod\n\n# c\n", "Pod"),
        ("other: 1", MISSING),
        ("kinds: Pod", MISSING),
        ("x: |\n    kind: Pod", MISSING),
        ("x:\n    kind: Pod", MISSING),
        ("kind:", UNSURE),
        ("kind: yes", UNSURE),
        ("kind: 1", UNSURE),
        ("kind: 2001-01-01", UNSURE),
        ("kind: a b", "a b"),
        ("kind: a  b", UNSURE),
        ("kind: Red Hat 9.4 (Plow) # c", "Red Hat 9.4 (Plow)"),
        ("kind: a b: c", UNSURE),
        ("kind: a :b", UNSURE),
        ("kind: 'it''s'", UNSURE),
        ('kind: "\\n"', UNSURE),
        ("kind: |\n    Pod", UNSURE),
        ("kind: [Pod]", UNSURE),
        ("kind: *x", UNSURE),
        ("kind: !!str Pod", UNSURE),
        ("kind: Pod\n    more", UNSURE),
        ("kind: Pod\n\n    more", UNSURE),
        ("kind:\tPod", UNSURE),
        ("kind : Pod", UNSURE),
        ("'kind': Pod", UNSURE),
        ("? kind\n  : Pod", UNSURE),
        ("<<: *x", UNSURE),
        ("kind: Pod\n  kind: Job", UNSURE),
        ('kind: Pod\n  "kind": Job', UNSURE),
    ],
)
def test_scalar(line: str, value: object) -> None:
    assert root(f"- a: b\n  {line}\n  z: c\n").scalar(b"kind") == value


def test_the_first_key() -> None:
    assert root("- kind: Pod\n  b: c\n").scalar(b"kind") == "Pod"
    assert root("- kind : Pod\n  b: c\n").scalar(b"kind") == UNSURE


@pytest.mark.parametrize(
    "text", ["-   a: b\n", "- 'a': b\n", "- [a]\n", "- - a: b\n", "-\n  a: b\n", "- &x\n  a: b\n", ""]
)
def test_items_that_are_left_to_a_parser(text: str) -> None:
    assert peek.root(text.encode(), 0, len(text), 0) == UNSURE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x:\n    a: b\n    c: d", {"a": "b", "c": "d"}),
        ("x:\n   a: b\n  y: c", {"a": "b"}),
        ("x: # why\n\n    # more\n    a: b", {"a": "b"}),
        ("x:\n    a/b.c: 'd e' # f", {"a/b.c": "d e"}),
        ("x:", MISSING),
        ("x:\n  y: c", MISSING),
        ("y: c", MISSING),
        ("x: {}", UNSURE),
        ("x:\n  - a: b", UNSURE),
        ("x: &l\n    a: b", UNSURE),
        ("x:\n    a: b\n\n    c: d", UNSURE),
        ("x:\n    a: b\n# left\n    c: d", UNSURE),
        ("x:\n    a: 1", UNSURE),
        ("x:\n    a: b\n    a: c", UNSURE),
        ("x:\n    a: b\n      c", UNSURE),
        ("x:\n    'a': b", UNSURE),
        ("x:\n    a: b\n    'c': d", UNSURE),
        ("x:\n    a: b\n    yes: d", UNSURE),
        ("x:\n    a: b\n    1: d", UNSURE),
        ("x:\n    a: b\n    " + "k" * 1_025 + ": d", UNSURE),
    ],
)
def test_strings(text: str, expected: object) -> None:
    inner = root(f"- w: v\n  {text}\n  z: c\n").mapping(b"x")
    assert (inner.strings() if isinstance(inner, peek.Mapping) else inner) == expected


@pytest.mark.parametrize("indent", [0, 2])
@pytest.mark.parametrize(
    ("item", "head"),
    [
        ("apiVersion: v1\n  kind: Pod\n  spec:\n    kind: None\n", ("v1", "Pod")),
        ("apiVersion:  apps/v1 \n  kind: Job \n  a: b\n  # kind: c\n", ("apps/v1", "Job")),
        ("apiVersion: v1\n  kind: Job\n  kinds: left to a closer look\n", None),
        ("apiVersion: v1\n  kind: Job # left to a closer look\n", None),
        ("apiVersion: v1\n\n  kind: Job\n", None),
        ("apiVersion: v1\n  kind: Job\n\n   more\n", None),
        ("apiVersion: v1\n   more\n  kind: Job\n", None),
        ("apiVersion: v1\n  kind: Pod\n    more\n", None),
        ("kind: First\n  apiVersion: v1\n", None),
        ("apiVersion: v1\n  kind: Pod\n  'kind': Job\n", None),
        ("apiVersion: v1\n  kind: Pod\n  kind : Job\n", None),
        ("apiVersion: v1\n  kind: Pod\n  a: b\n  apiVersion: v2\n", None),
        ("apiVersion: v1\n  kind: Pod\n  ? kind\n  : Job\n", None),
        ("apiVersion: v1\n  kind: Pod\n  <<: *other\n", None),
        ("apiVersion: v1\n  kind: yes\n", None),
        ("apiVersion: 1\n  kind: Pod\n", None),
        ("apiVersion: v1\n  kind:\n    Pod\n", None),
    ],
)
def test_the_heads_of_all_items_in_one_pass(item: str, head: tuple[str, str] | None, indent: int) -> None:
    items = [f"- {item}", "- apiVersion: v1\n  kind: Node\n", f"- {item}", "- b: 1\n"]
    text, ends = "items:\n", []
    starts = []
    for entry in items:
        starts.append(len(text))
        text += textwrap.indent(entry, " " * indent)
        ends.append(len(text))
    text += "functionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n"
    found = {index: names for index, *names, _ in heads.heads(text.encode(), starts, ends[-1], indent)}
    assert found == {1: ["v1", "Node"]} | ({0: [*head], 2: [*head]} if head else {})


@pytest.mark.parametrize("indent", [0, 2])
@pytest.mark.parametrize(
    ("rest", "is_known"),
    [
        ("metadata:\n    name: a\n    labels:\n      b: c\n  spec:\n    metadata: d\n", True),
        ("metadata:\n    labels:\n      b: c\n", True),
        ("metadata:\n    name: a\n  # metadata: b\n", True),
        ("metadata: # why\n    name: a\n", False),
        ("metadata:\n      name: a\n", False),
        ("metadata:\n   name: a\n", False),
        ("metadata:\n    'name': a\n", False),
        ("metadata: {name: a}\n", False),
        ("metadata:\n\n    name: a\n", False),
        ("spec: b\n  metadata:\n    name: a\n", False),
        ("metadata:\n    name: a\n  spec: b\n  metadata:\n    name: c\n", False),
        ("metadata:\n    name: a\n  spec: b\n  metadata : c\n", False),
    ],
)
def test_where_metadata_begin_in_the_usual_way(rest: str, is_known: bool, indent: int) -> None:
    """What is written otherwise, or twice, is left to a closer look."""
    text = textwrap.indent(f"- apiVersion: v1\n  kind: Pod\n  {rest}- b: 1\n", " " * indent).encode()
    ((index, _, kind, start),) = heads.heads(text, [0, text.rindex(b"- b")], len(text), indent)
    assert (index, kind, start) == (0, "Pod", text.index(b"metadata:\n    ") + 14 + indent if is_known else 0)


@pytest.mark.parametrize(
    ("more", "is_read"),
    [
        ("", True),
        ("    annotations:\n      d: 'e'\n", True),
        ("    annotations:\n      d: 'e\n  f: g'\n", False),
        ("    annotations:\n      d: 'e\n      f: g'\n", False),
        ("    annotations: {d: e,\n  f: g}\n", False),
        ("  spec: 'e\n  f: g'\n", True),
    ],
)
def test_metadata_in_which_something_runs_over_lines_are_left_to_a_parser(more: str, is_read: bool) -> None:
    """They may end elsewhere than they seem to, and hold a key a second time."""
    above, behind = ("", more) if more.startswith("  spec") else (more, "")
    text = f"- metadata:\n{above}    labels:\n      b: c\n    name: a\n{behind}".encode()
    block = heads.metadata(text, text.index(b"    ") + 4, len(text), 4)
    assert isinstance(block, peek.Mapping) is is_read
    if isinstance(block, peek.Mapping):
        labels = block.mapping(b"labels")
        assert isinstance(labels, peek.Mapping)
        assert (labels.strings(), block.scalar(b"name")) == ({"b": "c"}, "a")
        assert block.mapping(b"labels").strings((b"b",)) == {"b": "c"}  # type: ignore[union-attr]
