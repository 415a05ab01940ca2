"""Field paths, there and back."""

from __future__ import annotations

import pytest

from krmfn.fieldpath import join, moved, split

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
