"""What came meanwhile moves, too: values of items that were appended, and data that JSON made anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from krmfn import ResourceList, function
from krmfn.testing import run_folder

from .test_moves_anywhere import HEAD

ITEM = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n  spec:\n    c: 1\n"
FIELDS = "  k: first # A\n  # above\n  l: [second] # B\n"
TEXT = "apiVersion: v1\nkind: A\nmetadata:\n  name: b\nspec:\n" + FIELDS
GIVEN = "- " + TEXT.replace("\n", "\n  ").rstrip(" ")
NEW = {"apiVersion": "v1", "kind": "B", "metadata": {"name": "c"}}


def anew(item: Any) -> Any:
    """Return the data of an item as JSON makes it."""
    return json.loads(json.dumps(item.manifest))


@pytest.mark.parametrize("is_removed", [True, False])
@pytest.mark.parametrize("target", ["an item", "a new item"])
def test_a_value_of_an_item_that_was_appended_takes_its_comment_along(target: str, is_removed: bool) -> None:
    """It was lost where the item was removed, and where no item of the list had been read."""
    resources = ResourceList.parse((HEAD + ITEM).encode())
    (giver,) = resources.append(TEXT)
    spec = giver.manifest["spec"]
    values = {"k": spec["k"], "l": spec["l"]} if is_removed else {"k": spec.pop("k"), "l": spec.pop("l")}
    if target == "an item":
        resources.items[0].manifest["spec"].update(values)
    else:
        resources.append({**NEW, "spec": values})
    if is_removed:
        resources.remove(giver)
    assert FIELDS.replace("  ", "    ") in resources.to_bytes().decode()


@pytest.mark.parametrize("quote", ["'", '"'])
@pytest.mark.parametrize("is_removed", [True, False])
def test_quotes_of_both_kinds_go_along(quote: str, is_removed: bool) -> None:
    """Double ones did only out of an item with a comment."""
    text = HEAD + ITEM + ITEM.replace("a\n", "b\n").replace("1", f"{quote}first{quote}")
    resources = ResourceList.parse(text.encode())
    taker, giver = resources.items
    taker.manifest["spec"]["d"] = giver.manifest["spec"].pop("c")
    if is_removed:
        resources.remove(giver)
    assert f"    d: {quote}first{quote}\n" in resources.to_bytes().decode()


@pytest.mark.parametrize("tail", ["", "  m: &m {n: third}\n"])
@pytest.mark.parametrize("is_replaced", ["giver", "taker"])
def test_what_json_made_anew_moves_with_its_comments(is_replaced: str, tail: str) -> None:
    """Where it came from, or went to another item, it was plain data."""
    resources = ResourceList.parse((HEAD + ITEM + GIVEN + tail.replace("  ", "    ")).encode())
    taker, giver = resources.items
    if is_replaced == "giver":
        resources.replace(giver, {**anew(giver), "more": 1})
    values = giver.manifest["spec"]
    taker.manifest["spec"].update({"k": values.pop("k"), "l": values.pop("l")})
    if is_replaced == "taker":
        resources.replace(taker, {**anew(taker), "more": 1})
    assert FIELDS.replace("  ", "    ") in resources.to_bytes().decode()


@function
def append_and_take(resources: ResourceList) -> None:
    """Give a value of a text to an item."""
    (giver,) = resources.append(TEXT)
    resources.items[0]["spec.k"] = giver["spec.k"]
    resources.remove(giver)


def test_so_it_is_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(ITEM.replace("- ", "").replace("\n  ", "\n"))
    assert "  k: first # A\n" in run_folder(append_and_take, tmp_path).output.decode()


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("is_moved_on", [True, False])
def test_a_new_item_that_was_read_has_got_what_is_in_it(quote: str, is_moved_on: bool) -> None:
    """What had been put in was taken for what it had before, and where it moved on, for what had moved within it."""
    resources = ResourceList.parse((HEAD + GIVEN).encode())
    values = resources.items[0].manifest["spec"]
    new = resources.append({**NEW, "n": f"{quote}x", "spec": {"k": values.pop("k")}})
    spec = new.manifest["spec"]
    if is_moved_on:
        spec["m"] = spec.pop("k")
    assert f"    {'m' if is_moved_on else 'k'}: first # A\n" in resources.to_bytes().decode()


@pytest.mark.parametrize("quote", ["", "'", '"'])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_value_that_passes_through_a_new_item_has_its_comment_in_the_end(quote: str, is_read: bool) -> None:
    """It was taken for that item's own where this had a quote."""
    resources = ResourceList.parse((HEAD + ITEM + GIVEN).encode())
    taker, giver = (item.manifest["spec"] for item in resources)
    new = resources.append({**NEW, "n": quote, "spec": {"k": giver.pop("k")}})
    assert not is_read or new.text
    taker["d"] = new.manifest["spec"].pop("k")
    assert "    d: first # A\n" in resources.to_bytes().decode()
