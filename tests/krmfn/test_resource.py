"""References and field paths, and when two manifests are the same."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn.resource import Ref, annotations_of, join, moved, ref, same, split


@pytest.mark.parametrize(
    ("manifest", "about"),
    [
        ({}, Ref()),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}, Ref("v1", "Node", "", "n")),
        ({"apiVersion": 1, "kind": None, "metadata": ["name"]}, Ref()),
        ({"metadata": {"name": 5, "namespace": "a"}}, Ref("", "", "a", "")),
    ],
)
def test_ref(manifest: dict[str, Any], about: Ref) -> None:
    assert ref(manifest) == about


def test_the_version_is_no_part_of_the_id() -> None:
    assert Ref("apps/v1", "D", "a", "b").id == Ref("apps/v1beta1", "D", "a", "b").id == ("apps", "D", "a", "b")
    assert Ref("v1", "Node", "", "n").group == ""


@pytest.mark.parametrize(
    ("about", "text"),
    [
        (Ref("v1", "Node", "", "n"), "Node n"),
        (Ref("apps/v1", "Deployment", "a", "b"), "Deployment a/b"),
        (Ref(), "resource (no name)"),
    ],
)
def test_read_aloud(about: Ref, text: str) -> None:
    assert str(about) == text


@pytest.mark.parametrize(
    "manifest", [{}, {"metadata": None}, {"metadata": {"annotations": None}}, {"metadata": {"annotations": [1]}}]
)
def test_no_annotations(manifest: dict[str, Any]) -> None:
    assert annotations_of(manifest) == {}


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": [{"b": 0}]}, {"a": [{"b": False}]}, False),
        ([1.0], [1], False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, 2], [1], False),
        ("a", "a", True),
    ],
)
def test_same(first: Any, second: Any, equal: bool) -> None:
    assert same(first, second) is equal


PATHS: dict[str, list[str | int]] = {
    "": [],
    "spec": ["spec"],
    "spec.daemonSets[0].image": ["spec", "daemonSets", 0, "image"],
    "metadata.labels[example.com/team]": ["metadata", "labels", "example.com/team"],
    "[0][1].a": [0, 1, "a"],
    "a[b c][].$d": ["a", "b c", "", "$d"],
    "data[0a]": ["data", "0a"],
}


@pytest.mark.parametrize("path", PATHS)
def test_join(path: str) -> None:
    assert join(PATHS[path]) == path


@pytest.mark.parametrize("path", PATHS)
def test_split(path: str) -> None:
    assert [*split(path)] == [str(part) for part in PATHS[path]]


def test_a_path_moves_with_the_longest_parent_that_is_known() -> None:
    table = {"spec": "a", "spec.image": "b", "spec.images": "c"}
    assert moved("spec.image", table) == "b"
    assert moved("spec.image[0].x", table) == "b[0].x"
    assert moved("spec.imageless", table) == "a.imageless"
    assert moved("specs", table) is None
