"""Edits: exactly the change, with comments, order, quotes and layout as they were; where an item ends."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from krmfn.yamltext import edit, load
from krmfn.yamltext.edit import trailer

TEXT = """\
- apiVersion: v1 # the core
  # who it is
  kind: ConfigMap

  metadata:
    name: 'settings'
    labels: # for people
      team: "a" # ours
      tier: b
  data:
    mode: "yes\\tplease"
    list:
      - one # first
      - two
    script: |
      #!/bin/sh
      echo "a: b"

      # the end
  # the item's last comment

# of the next item
"""
LAST = "  # the item's last comment\n"
SIMPLE = TEXT.replace('    mode: "yes\\tplease"\n', "    mode: fast\n").replace(
    TEXT[TEXT.index("    script") : TEXT.index("  # the item")], ""
)


def updated(text: str, change: Any, indent: int = 0) -> str:
    """The item `text` after `change` was called with its data."""
    before = load.read(text.encode())
    data = copy.deepcopy(before[0] if indent >= 0 else before)
    change(data)
    out = edit.updated(text.encode(), data, indent)
    assert load.read(out) == ([data] if indent >= 0 else data)
    return out.decode()


@pytest.mark.parametrize("text", [SIMPLE, TEXT], ids=["simple", "not simple"])
@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda data: data["metadata"].update(name="others"), "name: 'settings'", "name: 'others'"),
        (lambda data: data["metadata"]["labels"].update(team="c"), 'team: "a" # ours', 'team: "c" # ours'),
        (lambda data: data["metadata"]["labels"].update(tier="yes"), "tier: b\n", 'tier: "yes"\n'),
        (lambda data: data["metadata"]["labels"].update(more="x: y"), "tier: b\n", "tier: b\n      more: 'x: y'\n"),
        (lambda data: data["data"]["list"].__setitem__(1, "three"), "- two", "- three"),
        (lambda data: data["metadata"]["labels"].pop("tier"), "      tier: b\n", ""),
        (lambda data: data["data"]["list"].append("three"), "- two\n", "- two\n      - three\n"),
        (lambda data: data.update(immutable=True), LAST, f"  immutable: true\n{LAST}"),
    ],
)
def test_the_change_and_no_other_byte(text: str, change: Any, old: str, new: str) -> None:
    assert updated(text, change) == text.replace(old, new)


@pytest.mark.parametrize(
    "text",
    [
        "- b: &x\n    b: 1\n  c: *x\n",  # a change behind an alias must not change its anchor
        "- a: 1\n  a: 2\n",
        "- <<: {a: 1}\n  b: 2\n",
        "- ? a\n  : 1\n",
        "- {a: 1, b: [x, y]} # flow\n",
        '- a: "x\ny"\n',
        "- a: !!binary aGk=\n",
        "-   a: 1\n    b:\n        c: 1\n",
        "- a: 1\r\n  b: 2\r\n",
        "-\n  a: 1\n",
        "- a: |+\n    x\n\n\n",
        "- a: >\n    x\n    # y\n# next\n",
        "- a: .inf\n  b: 2001-01-01\n  c: 0x1F\n  d: 1_000\n",
        "- a: 1 # no end of line",
        "- a: é\n  b: '\u2028'\n",
    ],
)
@pytest.mark.parametrize("path", ["a", "added", "c"])
def test_odd_items_change_only_in_the_edited_field(text: str, path: str) -> None:
    out = updated(text, lambda data: data.update({path: {"k": ["v", "\x85"]}}))
    assert out.endswith("# next\n") or "# next" not in text


def test_a_document() -> None:
    text = "# top\na: 1 # one\nb:\n- c\n"
    assert updated(text, lambda data: data.update(a=2), -2) == "# top\na: 2 # one\nb:\n- c\n"
    assert updated(text, lambda data: data["b"].append("d"), -2) == text + "- d\n"


def test_dashes_further_in() -> None:
    text = "  - a: 1 # one\n    b: c d\n  # next\n"
    assert updated(text, lambda data: data.update(a=2, e="f"), 2) == "  - a: 2 # one\n    b: c d\n    e: f\n  # next\n"


def test_true_is_not_one() -> None:
    assert updated("- a: 1\n  b: [true]\n", lambda data: data.update(a=True, b=[1])).startswith("- a: true\n")


@pytest.mark.parametrize(
    ("item", "behind"),
    [
        ("- a: b\n", ""),
        ("- a: b\n", "# of the next\n"),
        ("- a: b\n", "\n# of the next\n\n"),
        ("- a: b\r\n", "\r\n# of the next\r\n"),
        ("- a: b\n  # of this\n", "# of the next\n"),
        ("- a: |\n    b\n    # in the text\n", "\n# of the next\n"),
        ("- a: |+\n    b\n\n\n", "# of the next\n"),
        ("- a: |2+\n    b\n\n\n", ""),
        ("- a: b # c\n", "# no end of line"),
        ("- a: b", ""),
        *((f"- a:\n#{mark}  b\n", "") for mark in ("\r", "\x85", "\u2028", "\u2029")),  # they end the comment
    ],
)
def test_trailer(item: str, behind: str) -> None:
    assert trailer((item + behind).encode(), 0) == len(item.encode())


def test_comments_up_to_the_dashes_belong_to_the_next() -> None:
    text = b"  - a: b\n    # of this\n  # of the next\n# and this\n"
    assert text[trailer(text, 2) :] == b"  # of the next\n# and this\n"


def test_a_million_blank_lines_take_no_time() -> None:
    text = b"- a: |\n" + b"\n" * 1_000_000 + b"    b\n"
    assert trailer(text, 0) == len(text)
