"""What moves takes its lines along: to another list, under another key, wrapped, put back; and keys are renamed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from krmfn import KrmfnError, Refused, ResourceList
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = """\
- apiVersion: v1
  kind: A
  metadata:
    name: a
  spec:
    # above old
    old: # of old
      # in it
      cron: '0 3' # kpt-set: ${cron}
    first:
    # before all
    - name: fetch # slow
      image: "fetch:1" # kpt-set: ${tag}
    - name: write
    second:
    - name: wait
    flow: {a: b} # of flow
"""
FETCH = '    # before all\n    - name: fetch # slow\n      image: "fetch:1" # kpt-set: ${tag}\n'
OLD = "    # above old\n    old: # of old\n      # in it\n      cron: '0 3' # kpt-set: ${cron}\n"
WRAPPED = "    new:\n      # above old\n      in: # of old\n        # in it\n        cron: '0 3' # kpt-set: ${cron}\n"


def wrap(item: Any) -> None:
    spec = item.manifest["spec"]
    spec["new"] = {"in": spec.pop("old")}


def by_fields(item: Any) -> None:
    item["spec.second[1]"] = item["spec.first[0]"]
    del item["spec.first[0]"]


def by_manifest(item: Any) -> None:
    spec = item.manifest["spec"]
    spec["second"].append(spec["first"].pop(0))


def by_replacement(item: Any) -> None:
    manifest, spec = item.manifest, item.manifest["spec"]
    item.content.take(
        {**manifest, "spec": {**spec, "first": spec["first"][1:], "second": [*spec["second"], spec["first"][0]]}}
    )


@pytest.mark.parametrize("move", [by_fields, by_manifest, by_replacement])
def test_an_entry_goes_to_another_list(move: Any) -> None:
    expected = ITEM.replace(FETCH, "").replace("- name: wait\n", f"- name: wait\n{FETCH}")
    assert after(move) == expected


def test_a_value_is_wrapped() -> None:
    assert after(wrap) == ITEM.replace(OLD, "") + WRAPPED


def test_a_value_that_moved_is_edited_there() -> None:
    def moved_and_edited(item: Any) -> None:
        wrap(item)
        item["spec.new.in.cron"] = "0 4"

    assert after(moved_and_edited) == ITEM.replace(OLD, "") + WRAPPED.replace("0 3", "0 4")


def test_brackets_take_their_comment_along() -> None:
    def move(item: Any) -> None:
        spec = item.manifest["spec"]
        spec["second"].append(spec.pop("flow"))

    assert after(move) == ITEM.replace("    flow: {a: b} # of flow\n", "    - {a: b} # of flow\n")


def test_what_has_comments_does_not_move_into_brackets() -> None:
    def move(item: Any) -> None:
        spec = item.manifest["spec"]
        spec["flow"]["old"] = spec.pop("old")

    with pytest.raises(KrmfnError, match=r"^A a: spec.flow cannot be written: the comment '# .*' would be lost in br"):
        after(move)


@pytest.mark.parametrize("value", [None, True, 1, "x"])
def test_where_an_equal_value_comes_into_brackets_the_comment_is_cleared_first(value: Any) -> None:
    """By chance, perhaps: nothing says so, and the comment would go in silence."""
    item = "- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  spec:\n    m: {b: c}\n"
    for is_cleared in (False, True):
        resources = ResourceList.parse(f"{HEAD}{item}    a: {json.dumps(value)} # why\n".encode())
        if is_cleared:
            resources.items[0].at("spec.a").comment = ""
        del resources.items[0]["spec.a"]
        resources.items[0]["spec.m.k"] = value
        if is_cleared:
            assert load.read(resources.to_bytes())["items"][0]["spec"] == {"m": {"b": "c", "k": value}}
        else:
            with pytest.raises(Refused, match="the comment '# why' would be lost in brackets"):
                resources.to_bytes()


def test_what_takes_the_place_of_another_value_in_brackets_loses_no_comment_in_silence() -> None:
    text = ITEM.replace("{a: b} # of flow", "[x, {a: b}]")
    resources = ResourceList.parse((HEAD + text).encode())
    spec = resources.items[0].manifest["spec"]
    spec["moved"] = spec["flow"].pop(1)
    spec["flow"].append(spec.pop("old"))
    with pytest.raises(KrmfnError, match=r"^A a: spec.flow cannot be written: the comment '# .*' would be lost in br"):
        resources.to_bytes()


@pytest.mark.parametrize(
    ("path", "old", "new"), [("spec.old", "    old: #", "    new: #"), ("spec.old.cron", "cron:", "new:")]
)
def test_a_field_is_renamed_in_place(path: str, old: str, new: str) -> None:
    def rename(item: Any) -> None:
        field = item.at(path)
        field.rename("other")
        field.rename("new")
        assert field.path == path.rpartition(".")[0] + ".new"
        assert field.value == item[field.path]

    assert after(rename) == ITEM.replace(old, new)


def test_a_renamed_field_is_written() -> None:
    def rename(item: Any) -> None:
        field = item.at("spec.old.cron")
        field.rename("yes")
        field.value = "never"

    assert after(rename) == ITEM.replace("cron: '0 3'", "\"yes\": 'never'")


@pytest.mark.parametrize(
    ("path", "name", "message"),
    [
        ("spec.none", "x", "spec.none cannot be renamed: there is no such field"),
        ("spec.first[0]", "x", r"spec.first\[0\] cannot be renamed: it is an entry of a list"),
        ("spec.old", "first", "spec.old cannot be renamed: there is spec.first already"),
    ],
)
def test_what_cannot_be_renamed_is_refused(path: str, name: str, message: str) -> None:
    with pytest.raises(KrmfnError, match=f"^A a: {message}"):
        after(lambda item: item.at(path).rename(name))


def after(edit: Any) -> str:
    resources = ResourceList.parse((HEAD + ITEM).encode())
    edit(resources.items[0])
    return resources.to_bytes().decode().removeprefix(HEAD)


@pytest.mark.parametrize("first", ["{r: {b: c}}", "{er: {b: c}}", "[r]", "text"])
def test_of_a_key_that_stands_twice_the_last_one_moves(first: str) -> None:
    """Whoever reads the item sees the last one; what is known of the first is no part of it."""
    head = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n"
    items = ResourceList.parse(f"{HEAD}{head}  spec: {first}\n  spec:\n    er:\n      x: 1 # of x\n".encode())
    item, manifest = items.items[0], items.items[0].manifest
    manifest["other"] = manifest.pop("spec")
    items.replace(item, manifest)
    assert items.to_bytes().decode() == f"{HEAD}{head}  other:\n    er:\n      x: 1 # of x\n"


def test_the_first_key_below_a_comment_behind_the_dash_is_removed() -> None:
    text = "- kind: A\n  spec:\n  - # of the entry\n    a: 1\n    b: 2\n"
    resources = ResourceList.parse((HEAD + text).encode())
    del resources.items[0].manifest["spec"][0]["a"]
    assert resources.to_bytes().decode() == HEAD + text.replace("    a: 1\n", "")


def test_what_is_like_a_list_that_is_known_elsewhere_is_new() -> None:
    """The list moved, and what came out of it in a new list got its comment, too."""
    text = "- apiVersion: v1\n  kind: A\n  metadata: {name: a}\n  spec:\n    m:\n      c: 1\n"
    resources = ResourceList.parse((HEAD + text + "      l: # A\n      - first\n      - second\n").encode())
    spec = resources.items[0].manifest["spec"]
    spec["m"]["new"] = [spec["m"]["l"].pop()]
    spec["l"] = spec["m"].pop("l")
    assert resources.to_bytes().decode() == HEAD + text + "      new:\n      - second\n    l: # A\n    - first\n"
