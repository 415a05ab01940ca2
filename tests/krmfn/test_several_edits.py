"""Values move after other edits of the items: each takes its own comment along, not that of its place."""

from __future__ import annotations

import random
from typing import Any

import pytest

from krmfn import ResourceList
from tests.examples import EXAMPLES

from . import documents
from .test_moves_anywhere import HEAD, check, move, places

GIVER = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n  spec:\n"
TAKER = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: b\n  spec:\n    c: 1\n"
ENTRIES = "    l:\n    - a: first # A\n      b: second\n    - a: third # B\n      b: fourth\n"


def remove_first(entries: Any) -> Any:
    del entries[0]
    return entries[0]


def turn(entries: Any) -> Any:
    entries.reverse()
    return entries[0]


def put_before(entries: Any) -> Any:
    entries.insert(0, {"n": 1})
    return entries[2]


@pytest.mark.parametrize("edit", [remove_first, turn, put_before])
def test_a_value_of_an_entry_that_moved_takes_its_own_comment_along(edit: Any) -> None:
    """It got the one of the entry that had been at its place."""
    resources = ResourceList.parse((HEAD + GIVER + ENTRIES + TAKER).encode())
    giver, taker = (item.manifest["spec"] for item in resources)
    taker["d"] = edit(giver["l"]).pop("a")
    assert resources.to_bytes().decode().endswith("    c: 1\n    d: third # B\n")


def several(rng: random.Random, giver: Any, taker: Any) -> bool:
    """Turn lists, put entries before others, and move values, each with the same chance; False where none moves."""
    has_moved = False
    for _ in range(rng.randint(2, 4)):
        lists = [data[name] for data, name in places(giver) if isinstance(data[name], list)]
        way = rng.choice(["turn", "add", "move"] if lists else ["move"])
        if way == "move":
            has_moved = move(rng, giver, taker) or has_moved
        elif way == "turn":
            rng.choice(lists).reverse()
        else:
            rng.choice(lists).insert(0, {"new": rng.random()})
    return has_moved


@pytest.mark.parametrize("way", ["in place", "other item"])
def test_values_that_move_after_other_edits_keep_their_comments(way: str) -> None:
    for seed in range(EXAMPLES * 5):
        rng = random.Random(seed)
        check(HEAD + documents.item(rng, "a") + documents.item(rng, "b"), way, rng, several)


LINES = "    k: first # A\n    l:\n    - third # B\n    - fourth\n"
COMMENTED = TAKER + "    e: fifth # C\n"


def give_and_take(resources: ResourceList, place: str, target: Any) -> str:
    """Put the commented value of the second item at a place of the first, and what was there somewhere else."""
    giver, taker = (item.manifest["spec"] for item in resources)
    holder, name = (giver, "k") if place == "k" else (giver["l"], 0)
    value = str(holder[name])
    target(giver, taker)["x"] = value
    holder[name] = taker.pop("e")
    return value


TARGETS = {
    "in the other item": lambda giver, taker: taker,
    "in the same item": lambda giver, taker: giver,
    "in a new mapping": lambda giver, taker: taker.setdefault("m", {}),
    "in a new mapping of the same item": lambda giver, taker: giver["l"].append({}) or giver["l"][-1],
}


@pytest.mark.parametrize("place", ["k", "l[0]"])
@pytest.mark.parametrize("target", TARGETS)
def test_whoever_makes_room_for_a_commented_value_takes_its_comment_along(place: str, target: str) -> None:
    """It was lost: the newcomer's stood in its place."""
    resources = ResourceList.parse((HEAD + GIVER + LINES + COMMENTED).encode())
    value = give_and_take(resources, place, TARGETS[target])
    out = resources.to_bytes().decode()
    assert f"x: {value} # {'A' if place == 'k' else 'B'}\n" in out, out
    assert "fifth # C\n" in out
    assert out.count("#") == 3


@pytest.mark.parametrize("target", ["m", "other", "l"])
def test_so_it_is_within_an_item(target: str) -> None:
    resources = ResourceList.parse((HEAD + GIVER + LINES + "    e: fifth # C\n").encode())
    spec = resources.items[0].manifest["spec"]
    value, spec["l"][0] = spec["l"][0], spec.pop("e")
    if target == "l":
        spec["l"].insert(0, {"x": value})
    else:
        spec.update({"m": {"x": value}} if target == "m" else {"x": value})
    out = resources.to_bytes().decode()
    assert "x: third # B\n" in out
    assert "- fifth # C\n" in out
    assert "k: first # A\n" in out
