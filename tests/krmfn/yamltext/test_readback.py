"""What comes of an edit is read back as kustomize (go-yaml v3) reads it, too: nothing is another word there."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from krmfn.yamltext import edit, load, readback


@pytest.mark.parametrize(
    ("before", "after", "word", "path"),
    [
        ("a: {n: 1}\n", 'a: {"false": 1}\n', "n", ("a", "n")),
        ("a: {b: yes}\nc: 1\n", "a: {b: true}\nc: 2\n", "yes", ("a", "b")),
        ("a: [yes, on]\n", "a: [yes, true]\n", "on", ("a", "1")),
        ("a: [on, b, true]\n", "a: [true, on]\n", "on", ("a", "0")),
        ("a: on\nb: true\n", "a: true\nb: on\n", "on", ("a",)),
        ("a: 2001-01-01\nb: 1\n", 'a: 2001-01-01\nb: "on"\nc: on\n', "on", ()),
        ("a: &x {b: off}\nc: *x\n", "a: {b: off}\nc: {b: false}\n", "off", ("c", "b")),
        ("x: &x {b: no}\na: {<<: *x, c: 1}\n", "x: {b: no}\na: {b: false, c: 2}\n", "no", ("a", "b")),
    ],
)
def test_what_nobody_edited_and_kustomize_reads_otherwise_is_found(
    before: str, after: str, word: str, path: tuple[str, ...]
) -> None:
    data = load.read(after.encode())
    problem = readback.misread(after, data, before)
    assert problem
    assert f"to kustomize the word {word} there would become another one" in str(problem)
    assert problem.parts == path
    assert not readback.holds(after, data, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: {n: yes, b: 1}\n", "a: {n: yes, b: 2}\n"),
        ("a: {n: yes, b: 1}\n", "a: {b: 1}\n"),
        ("a: yes\nb: 1\n", "b: 1\nc: yes\n"),
        ("a: yes\nb: 1\n", 'a: "yes"\nb: 1\n'),
        ("a: [yes, b, c]\n", "a: [b, yes]\n"),
        ("a: {y: 1, y: 2, b: yes}\n", "a: {y: 2, b: true}\n"),
        ("a: the word no\n", "a: the word no\nb: 2\n"),
        ("a: yes\n", "a: yes\nb: 2001-01-01\n"),
        ("a: {b: yes}\n", "a: {b: yes}\nc: {b: yes}\n"),
    ],
)
def test_what_an_edit_says_or_what_moved_is_nothing(before: str, after: str) -> None:
    assert readback.misread(after, load.read(after.encode()), before) is None


@pytest.mark.parametrize("lent", ["yes", "2001-01-01"])
def test_a_value_of_another_item_keeps_its_words(lent: str) -> None:
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
    rows = (f"  s:\n    a: {lent}\n", "  u: yes\n")
    items = [f"- apiVersion: v1\n  kind: A\n  metadata: {{name: a{at}}}\n{row}" for at, row in enumerate(rows)]
    resources = ResourceList.parse("".join([head, *items]).encode())
    first, second = resources.items
    second["t"] = first.manifest.pop("s")
    assert resources.to_bytes().decode().endswith(f"  u: yes\n  t:\n    a: {lent}\n")


@pytest.mark.parametrize(
    "fields", ["  s:\n    a: yes # Y\n  t: {a: on, b: 1}\n", "  s:\n  - x\n  - yes # Y\n  t: [on, y]\n"]
)
def test_what_comes_to_the_place_of_another_has_its_own_words(fields: str) -> None:
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- kind: A\n  metadata: {name: a}\n"
    resources = ResourceList.parse(f"{head}{fields}".encode())
    manifest = resources.items[0].manifest
    manifest["t"] = manifest.pop("s")
    assert b"yes # Y" in resources.to_bytes()


@pytest.mark.parametrize("text", ["data: {n: 1,\n  v: yes}\n", 'l: [0o17, yes, "q",\n 1.10]\n', "# c\n{a: {y: on}}\n"])
@pytest.mark.parametrize("way", ["add", "remove", "append"])
def test_an_edit_leaves_every_other_word_or_is_refused(text: str, way: str) -> None:
    before = load.read(text.encode())
    data = copy.deepcopy(before)
    change(next(iter(data.values())), way)
    try:
        after = edit.updated(text.encode(), data, -2)
    except KrmfnError:
        return
    kept = words(text.encode())
    assert words(after).keys() <= kept.keys() | {"new", "data.b", "data.added", "a.added", "l.4"}
    assert all(value == kept.get(path, value) for path, value in words(after).items())


def change(value: Any, way: str) -> None:
    if isinstance(value, list):
        value.append("new")
    elif way == "remove":
        value.popitem()
    else:
        value["added"] = "new"


def words(text: bytes) -> dict[str, str]:
    """The scalars of a text as they are spelled, by their paths."""
    found: dict[str, str] = {}

    def visit(node: Any, path: str) -> None:
        if node.id == "scalar":
            found[path] = node.value
        for at, entry in enumerate(() if node.id == "scalar" else node.value):
            key, value = entry if isinstance(entry, tuple) else (None, entry)
            visit(value, f"{path}.{key.value if key else at}".lstrip("."))

    visit(load.compose(text), "")
    return found
