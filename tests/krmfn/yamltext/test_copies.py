"""Anchors and tags of what moves go along; those of a copy of it stay where it was."""

from __future__ import annotations

import pytest
import yaml

from krmfn import ResourceList

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = "- kind: A\n  metadata: {name: a}\n"


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        (" &x\n    a: 1\n", "\n    a: 1\n"),
        (" &x # of it\n    a: 1\n", " # of it\n    a: 1\n"),
        (" &x !foo\n    a: 1\n", " !foo\n    a: 1\n"),
        (" !foo &x\n    a: 1\n", " !foo\n    a: 1\n"),
        (" &x {a: 1}\n", " {a: 1}\n"),
        ("\n    a: &y\n      b: 1\n", "\n    a:\n      b: 1\n"),
        ("\n    a: &y 1 # of a\n    b: *y\n", "\n    a: 1 # of a\n    b: *y\n"),
        ("\n  - &y\n    a: 1\n", "\n  -\n    a: 1\n"),
    ],
)
def test_the_anchor_stays_with_the_first(value: str, copy: str) -> None:
    resources = ResourceList.parse(f"{HEAD}{ITEM}  s:{value}".encode())
    resources.items[0]["t"] = resources.items[0]["s"]
    out = resources.to_bytes().decode()
    assert out == f"{HEAD}{ITEM}  s:{value}  t:{copy}"
    yaml.compose(out)  # refuses an anchor that is there twice


def test_what_moves_takes_its_anchor_along() -> None:
    resources = ResourceList.parse(f"{HEAD}{ITEM}  s: &x\n    a: &y 1\n".encode())
    resources.items[0]["t"] = resources.items[0].manifest.pop("s")
    assert resources.to_bytes().decode() == f"{HEAD}{ITEM}  t: &x\n    a: &y 1\n"


@pytest.mark.parametrize(
    ("value", "entry"),
    [
        (" !foo\n    a: 1\n", " !foo\n    a: 1\n"),
        (" &x\n    a: 1 # of a\n", " &x\n    a: 1 # of a\n"),
        (" !foo # of it\n    a: 1\n", " !foo # of it\n    a: 1\n"),
        (" &x !foo\n  - 1\n", " &x !foo\n    - 1\n"),
        (" !foo {a: 1}\n", " !foo {a: 1}\n"),
        ("\n    a: 1\n", " a: 1\n"),
    ],
)
def test_an_anchor_and_a_tag_go_behind_a_dash(value: str, entry: str) -> None:
    resources = ResourceList.parse(f"{HEAD}{ITEM}  s:{value}  u:\n  - 1\n".encode())
    manifest = resources.items[0].manifest
    manifest["u"].append(manifest.pop("s"))
    assert resources.to_bytes().decode() == f"{HEAD}{ITEM}  u:\n  - 1\n  -{entry}"
