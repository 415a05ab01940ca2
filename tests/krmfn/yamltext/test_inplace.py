"""The quick way of writing scalars makes the edit that the exact one makes, or says that it is not sure."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from krmfn.yamltext import edit, inplace, lent, nodewise
from tests.krmfn import documents

VALUES: tuple[Any, ...] = ("new", "it's", "two\nlines", "yes", 7, True, None, {"a": ["b"]}, [{"c": 1}], {}, "")


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    for part in lent.parts(value):
        if isinstance(part, dict):
            yield part


def edited(rng: random.Random, item: Any) -> str:
    """Change one thing in an item's data; return what was done."""
    mapping = rng.choice([*mappings(item)])
    scalars = [key for key, value in mapping.items() if not isinstance(value, (dict, list))]
    if rng.random() < 0.5 or not scalars:
        mapping[f"new{rng.random()}"] = rng.choice(VALUES)
        return "added"
    mapping[rng.choice(scalars)] = rng.choice(VALUES[:7])
    return "written"


@pytest.mark.parametrize("seed", range(300))
def test_it_makes_the_same_edit(seed: int) -> None:
    rng = random.Random(seed)
    text = documents.item(rng, "a")
    if seed % 3 == 0:
        text = text.replace("  spec:", "  note: &note x # of note\n  again: *note\n  spec:")
    data = edit.parse(text)
    source = lent.Source(text.encode(), 0, data[0])
    for _ in range(rng.randint(1, 3)):
        edited(rng, data[0])
    quick = inplace.patched(text, data, source.lists)
    if quick is not None:
        assert quick == nodewise.patched(text, data, source.lists)


def test_it_is_sure_of_most() -> None:
    answers = []
    for seed in range(300):
        rng = random.Random(seed)
        text = documents.item(rng, "a")
        data = edit.parse(text)
        source = lent.Source(text.encode(), 0, data[0])
        edited(rng, data[0])
        answers.append(inplace.patched(text, data, source.lists) is not None)
    assert sum(answers) > 200


TEXT = "- a: 1 # one\n  b: {c: d}\n  e: # of e\n    f: g\n  h:\n  - i\n  - j: k\n"


@pytest.mark.parametrize("way", ["remove", "rename", "move", "swap", "append", "take", "brackets", "entry", "kind"])
def test_it_is_not_sure(way: str) -> None:
    """What moves, goes, or stands in brackets is for the exact one."""
    data = edit.parse(TEXT)
    source = lent.Source(TEXT.encode(), 0, data[0])
    item = data[0]
    if way == "remove":
        del item["a"]
    elif way == "rename":
        item["z"] = item.pop("e")
    elif way == "move":
        item["e"]["moved"] = item["b"]
    elif way == "swap":
        item["h"].reverse()
    elif way == "append":
        item["h"].append("l")
    elif way == "take":
        item["e"] = {"f": "x"}
    elif way == "brackets":
        item["b"]["c"] = "x"
    elif way == "entry":
        item["h"][0] = "x"
    else:
        item["e"] = "x"
    assert inplace.patched(TEXT, data, source.lists) is None


def test_what_is_added_at_the_end_of_two_mappings_stands_in_each() -> None:
    text = "- a:\n    b: 1\n"
    data = edit.parse(text)
    source = lent.Source(text.encode(), 0, data[0])
    data[0]["a"]["c"], data[0]["d"] = 2, 3
    assert inplace.patched(text, data, source.lists) == "- a:\n    b: 1\n    c: 2\n  d: 3\n"
