"""Cheap looks: what they are sure of, and what they leave to a parser."""

from __future__ import annotations

import pytest

from krmfn.yamltext import peek
from krmfn.yamltext.peek import MISSING, UNSURE


def root(text: str) -> tuple[bytes, peek.Block]:
    """The text of an item with its dash at column 0, and its block."""
    data = text.encode()
    found = peek.item_block(data, 0)
    assert isinstance(found, peek.Block)
    return data, found


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
        ("kind: a b", UNSURE),
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
    data, block = root(f"- a: b\n  {line}\n  z: c\n")
    assert peek.scalar(data, block, b"kind") == value


def test_the_first_key() -> None:
    assert peek.scalar(*root("- kind: Pod\n  b: c\n"), b"kind") == "Pod"
    assert peek.scalar(*root("- kind : Pod\n  b: c\n"), b"kind") == UNSURE


@pytest.mark.parametrize(
    "text", ["-   a: b\n", "- 'a': b\n", "- [a]\n", "- - a: b\n", "-\n  a: b\n", "- &x\n  a: b\n", ""]
)
def test_items_that_are_left_to_a_parser(text: str) -> None:
    assert peek.item_block(text.encode(), 0) == UNSURE


@pytest.mark.parametrize(
    ("text", "found"),
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
    ],
)
def test_strings(text: str, found: object) -> None:
    data, block = root(f"- w: v\n  {text}\n  z: c\n")
    inner = peek.block(data, block, b"x")
    assert (peek.strings(data, inner) if isinstance(inner, peek.Block) else inner) == found


def test_kinds_in_one_pass() -> None:
    items = [
        "- apiVersion: v1\n  kind: Pod\n  spec:\n    kind: None\n",
        "- apiVersion: v1\n  kind: Job # left to a closer look\n",
        "- kind: First\n",
        "- apiVersion: v1\n  kind: Pod\n  'kind': Job\n",
        "- apiVersion: v1\n  kind: Pod\n    more\n",
        "- apiVersion: v1\n  kind: yes\n",
        "- apiVersion: v1\n  text: |\n    x\n\n  kind: Node\n",
    ]
    text, starts = "".join(items).encode(), [len("".join(items[:n]).encode()) for n in range(len(items))]
    assert dict(peek.kinds(text, starts, len(text), 0, ())) == {0: "Pod", 6: "Node"}
