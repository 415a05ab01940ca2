"""Edits in brackets: a splice, on one line and over lines, with anchors, aliases, comments, and in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from krmfn import Item, KrmfnError, ResourceList

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
META = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
Change = Callable[[Any], object]


def after(document: str, change: Change) -> str:
    """A document after a change of its item, which is an entry of a list."""
    item = "- " + "".join(f"  {line}" if line.strip() else line for line in document.splitlines(keepends=True))[2:]
    resources = ResourceList.parse((HEAD + item).encode())
    change(resources.items[0])
    out = resources.to_bytes().decode().removeprefix(HEAD)
    return "".join(line[2:] if line.strip() else line for line in out.splitlines(keepends=True))


def put(path: str, value: Any) -> Change:
    return lambda item: item.__setitem__(path, value)


def removed(path: str) -> Change:
    return lambda item: item.__delitem__(path)


def renamed(path: str, name: str) -> Change:
    def change(item: Item) -> None:
        item.at(path).rename(name)

    return change


def inserted(at: int, value: Any) -> Change:
    return lambda item: item.manifest["l"].insert(at, value)


def remarked(path: str, comment: str) -> Change:
    return lambda item: setattr(item.at(path), "comment", comment)


def moved(item: Item) -> None:
    item.manifest["e"] = item.manifest.pop("c")


def turned(item: Item) -> None:
    item.manifest["l"].reverse()


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        ("data: {n: 1,\n  v: yes}\n", put("data.b", "1"), 'data: {n: 1,\n  v: yes,\n  b: "1"}\n'),
        ("data: {n: 1,\n  v: yes}\n", removed("data.v"), "data: {n: 1}\n"),
        ("data: {n: 1,\n  v: yes}\n", removed("data.n"), "data: {v: yes}\n"),
        ('l: [0o17, yes, "q",\n 1.10]\n', put("l[4]", "z"), 'l: [0o17, yes, "q",\n 1.10,\n "z"]\n'),
        ("l: [1e3, 1_000]\n", put("l[2]", 3), "l: [1e3, 1_000, 3]\n"),
        ('data: {k: &x "1", l: *x}\n', put("data.b", "1"), 'data: {k: &x "1", l: *x, b: "1"}\n'),
        ('data: {k: &x "1", l: *x}\n', put("data.l", "2"), 'data: {k: &x "1", l: "2"}\n'),
        ('data: {k: &x "1", l: *x}\n', removed("data.l"), 'data: {k: &x "1"}\n'),
        ("n: &x {a: 1}\ndata: {k: *x, l: 1}\n", removed("data.k"), "n: &x {a: 1}\ndata: {l: 1}\n"),
        ("n: &x 1\ndata: {k: [*x, b], l: 1}\n", removed("data.k"), "n: &x 1\ndata: {l: 1}\n"),
        ("n: &x {a: 1}\ndata: {k: {b: *x}, l: *x}\n", removed("data.k"), "n: &x {a: 1}\ndata: {l: *x}\n"),
        ("n: &x 1\nl: [*x, b]\n", removed("l[0]"), "n: &x 1\nl: [b]\n"),
        ("n: &x 1\nl: [[*x], &y {b: *x}]\n", removed("l[1]"), "n: &x 1\nl: [[*x]]\n"),
        ("n: &x 1\nl:\n- - *x\n- b: *x\n", removed("l[0]"), "n: &x 1\nl:\n- b: *x\n"),
        ("n: &x 1\ndata:\n  k:\n    b: *x\n  l: *x\n", removed("data.k"), "n: &x 1\ndata:\n  l: *x\n"),
        ("n: &x 1\ndata:\n  k: [*x]\n  l: 1\n", put("data.k", "z"), "n: &x 1\ndata:\n  k: z\n  l: 1\n"),
        ("l: [&a 1, *a]\n", put("l[2]", "z"), "l: [&a 1, *a, z]\n"),
        ("n: &n web\nlabels: {app: *n}\n", put("labels.team", "x"), "n: &n web\nlabels: {app: *n, team: x}\n"),
        ('data: &d {k: "1"}\n', put("data.b", "1"), 'data: &d {k: "1", b: "1"}\n'),
        ("data: &d {}\n", put("data.b", "x"), "data: &d {b: x}\n"),
        ("data: {\n  # none yet\n}\n", put("data.b", 1), "data: {\n  # none yet\n  b: 1\n}\n"),
        ("data: {a: [\n  # none yet\n  ]}\n", put("data.a[0]", 1), "data: {a: [\n  # none yet\n  1\n  ]}\n"),
        ("data: {k: &x 1}\n", put("data.k", 2), "data: {k: &x 2}\n"),
        ("l:\n- &x {a: 1}\n", put("l[0].b", 2), "l:\n- &x {a: 1, b: 2}\n"),
        ("l: &x [{a: 1}]\n", put("l[1]", "z"), "l: &x [{a: 1}, z]\n"),
        ("l: &x\n- a: 1\n", put("l[0].a", 2), "l: &x\n- a: 2\n"),
        ("l: &x\n- a: 1\n", put("l[0].b", 2), "l: &x\n- a: 1\n  b: 2\n"),
        ("l: &x # c\n  # d\n  - a: 1\n", put("l[1]", 3), "l: &x # c\n  # d\n  - a: 1\n  - 3\n"),
        ("l: &x # L\n- a # A\n- b\n", removed("l[0]"), "l: &x # L\n- b\n"),
        ("l: &x\n- a # A\n- b\n", inserted(0, "c"), "l: &x\n- c\n- a # A\n- b\n"),
        ("l: &x\n- a # A\n- b\n", remarked("l[1]", "B"), "l: &x\n- a # A\n- b # B\n"),
        ("l:\n- &x\n  - a\n- b: 2\n", put("l[0][1]", "z"), "l:\n- &x\n  - a\n  - z\n- b: 2\n"),
        ("c: &x\n  a: 1 # A\nd: 1\n", moved, "d: 1\ne: &x\n  a: 1 # A\n"),
        ("l: !!seq\n- a: 1\n", put("l[1]", 3), "l: !!seq\n- a: 1\n- 3\n"),
        ("m: &m\n  l: &x\n  - a: 1\nn: *m\n", put("k", 3), "m: &m\n  l: &x\n  - a: 1\nn: *m\nk: 3\n"),
        ('data: {"c": "1", \'d\': "x"}\n', put("data.b", "z"), 'data: {"c": "1", \'d\': "x", b: z}\n'),
        ('data: {"c": "1"}\n', put("data.b", "z"), 'data: {"c": "1", "b": "z"}\n'),
        ("data: {'c': 1}\n", put("data.b", 2), "data: {'c': 1, 'b': 2}\n"),
        ('data: {"c":"1"}\n', put("data.b", {"e": ["f"]}), 'data: {"c":"1","b":{"e":["f"]}}\n'),
        ("data: {a: 1, b: 2}\n", renamed("data.a", "c"), "data: {c: 1, b: 2}\n"),
        ("data: {a: 1, yes: 2}\n", put("data.c", 3), "data: {a: 1, yes: 2, c: 3}\n"),
        ("data: {a: 1, b: }\n", put("data.c", 3), "data: {a: 1, b: , c: 3 }\n"),
        ("data: {\n  b: 2,\n  a:\n  }\n", put("data.c", 3), "data: {\n  b: 2,\n  a: ,\n  c: 3\n  }\n"),
        ("data: {b: , c: 1}\n", removed("data.c"), "data: {b: }\n"),
        ("data: {c: 1, b: }\n", removed("data.c"), "data: {b: }\n"),
        ('data: {"a":1, b: 2}\n', renamed("data.a", "c"), "data: {c: 1, b: 2}\n"),
        ('data: {"a":[1], b: 2}\n', renamed("data.a", "c"), "data: {c: [1], b: 2}\n"),
        ('data: {"a":1, "b": 2}\n', renamed("data.a", "c"), 'data: {"c":1, "b": 2}\n'),
        ("data: {a: , b}\n", put("data.a", 3), "data: {a: 3 , b}\n"),
        ("data: {a: , b}\n", put("data.b", 3), "data: {a: , b: 3}\n"),
        ("l: [a]\n", inserted(0, "b"), "l: [b, a]\n"),
        ("l: [ a, b ]\n", removed("l[0]"), "l: [ b ]\n"),
        ("l: [ a, b ]\n", removed("l[1]"), "l: [ a ]\n"),
        ("l: [a, b,]\n", put("l[2]", "c"), "l: [a, b, c,]\n"),
        ("l: [a, b, c]\n", removed("l[1]"), "l: [a, c]\n"),
        ("l: [ a ]\n", removed("l[0]"), "l: []\n"),
        ("l: [a, 'b', yes]\n", turned, "l: [yes, 'b', a]\n"),
        ("l: [\n  a, # A\n  b # B\n]\n", put("l[2]", "c"), "l: [\n  a, # A\n  b, # B\n  c\n]\n"),
        ("l: [\n  a, # A\n  b # B\n]\n", removed("l[1]"), "l: [\n  a # A\n]\n"),
        ("l: [\n  # above\n  a, # A\n  b # B\n]\n", removed("l[0]"), "l: [\n  b # B\n]\n"),
        ("l: [\n  # above\n  a, # A\n  b # B\n]\n", turned, "l: [\n  b, # B\n  # above\n  a # A\n]\n"),
        ("l: [ # all\n  a, # A\n  b] # l\n", removed("l[1]"), "l: [ # all\n  a # A\n  ] # l\n"),
        ("l: [ # all\n  a, # A\n  b] # l\n", put("l[2]", "c"), "l: [ # all\n  a, # A\n  b,\n  c] # l\n"),
        ("l: [\n  a\n  , # A\n  b]\n", removed("l[1]"), "l: [\n  a\n  , # A\n  ]\n"),
        ("l: [\n  a # A\n  ,\n  b]\n", removed("l[1]"), "l: [\n  a # A\n  ,]\n"),
        ("l: [a, b, # B\n  c]\n", removed("l[1]"), "l: [a,\n  c]\n"),
        ("l: [\n  a, b,\n  c]\n", removed("l[0]"), "l: [\n  b,\n  c]\n"),
        ("l: [a, {b: [c,\n  d]}]\n", put("l[1].b[2]", "e"), "l: [a, {b: [c,\n  d,\n  e]}]\n"),
    ],
)  # fmt: skip
def test_a_splice(text: str, change: Change, expected: str) -> None:
    assert after(META + text, change) == META + expected


@pytest.mark.parametrize("indent", [None, 2])
def test_json_stays_json(indent: int | None) -> None:
    data = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "j"}, "data": {"a": "b"}, "l": [1]}
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(data, indent=indent, separators=separators) + "\n"
    out = after(text, lambda item: (put("data.yes", "on")(item), put("l[1]", {"c": ["d"]})(item), put("x", [])(item)))
    data = {**data, "data": {"a": "b", "yes": "on"}, "l": [1, {"c": ["d"]}], "x": []}
    assert json.loads(out) == data
    if indent is None:
        assert out == json.dumps(data, separators=separators) + "\n"
    else:
        assert out.splitlines()[:8] == [*text.splitlines()[:7], '    "a": "b",']


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (
            "data: {k: &a 1, l: *a}\n",
            removed("data.k"),
            "data.k cannot be changed: the anchor &a is there, and an alias elsewhere",
        ),
        (
            "data: {? a : 1}\n",
            put("data.b", 1),
            "data cannot be written: what is in its brackets has an unusual form",
        ),
        ("l: [a, # A\n  b]\n", turned, "l cannot be written: entries change places, and one has the comment '# A'"),
        (
            "x: &x {a: 1}\ndata: {<<: *x, b: 1}\n",
            lambda item: item.manifest["data"].pop("a"),
            "data.a cannot be deleted: `<<` brings it",
        ),
        (
            "l: [\n  aaa, # A\n  b]\nd: {e: 1}\n",
            lambda item: item.manifest["d"].update(moved=item.manifest["l"].pop(0)),
            "d cannot be written: the comment '# A' would be lost in brackets",
        ),
    ],
)
def test_a_refusal_says_where_and_why(text: str, change: Change, message: str) -> None:
    with pytest.raises(KrmfnError, match=f"^ConfigMap a: {re.escape(message)}"):
        after(META + text, change)


@pytest.mark.parametrize("end", ["", ',\n  {"kind": B}'])
def test_an_item_of_a_list_in_brackets_is_edited_in_its_own(end: str) -> None:
    item = '{apiVersion: v1, kind: A, metadata: {name: a}, v: yes, "n": 1e3}'
    text = f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [{item}{end}]\n"
    resources = ResourceList.parse(text.encode())
    resources.items[0]["data.b"] = "1"
    assert resources.to_bytes().decode() == text.replace("1e3}", '1e3, data: {b: "1"}}')


@pytest.mark.parametrize("value", ["aaaa", "{a: xxxx}"])
def test_the_comment_of_a_value_in_brackets_goes_with_it_to_another_item(value: str) -> None:
    text = f"- kind: A\n  metadata: {{name: a}}\n  l: [\n    {value}, # A\n    bbbb]\n- kind: B\n  l: [c]\n"
    resources = ResourceList.parse((HEAD + text).encode())
    first, second = resources.items
    second.manifest["moved"] = first.manifest["l"].pop(0)
    out = resources.to_bytes().decode().removeprefix(HEAD)
    assert out == text.replace(f"\n    {value}, # A\n", "\n") + f"  moved: {value} # A\n"


@pytest.mark.parametrize("value", ["aaaa", "{a: xxxx}"])
def test_in_other_brackets_it_has_no_line(value: str) -> None:
    text = f"- kind: A\n  metadata: {{name: a}}\n  l: [\n    {value}, # A\n    bbbb]\n- kind: B\n  l: [c]\n"
    resources = ResourceList.parse((HEAD + text).encode())
    first, second = resources.items
    second.manifest["l"].append(first.manifest["l"].pop(0))
    with pytest.raises(KrmfnError, match=r"the comment '# A'.* would be lost"):
        resources.to_bytes()
