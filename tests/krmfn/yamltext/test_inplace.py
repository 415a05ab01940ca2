"""The quick way of writing scalars makes the edit that the exact one makes, or says that it is not sure."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from krmfn.yamltext import changes, edit, inplace, lent, nodewise
from tests.examples import EXAMPLES
from tests.krmfn import documents

HEAD = b"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
VALUES: tuple[Any, ...] = ("new", "it's", "two\nlines", "yes", 7, True, None, {"a": ["b"]}, [{"c": 1}], {}, "")


def mappings(value: Any) -> Iterator[dict[str, Any]]:
    for part in lent.parts(value):
        if isinstance(part, dict):
            yield part


def quick(text: str, data: Any, source: lent.Source) -> str | None:
    """The answer of the quick way for an item's data, which was lent from a text."""
    written = changes.of_data(data[0], source.lists)
    return None if written is None else inplace.patched(text, data, written)


def edited(rng: random.Random, item: Any) -> str:
    """Change one thing in an item's data; return what was done."""
    mapping = rng.choice([*mappings(item)])
    scalars = [key for key, value in mapping.items() if not isinstance(value, (dict, list))]
    if rng.random() < 0.5 or not scalars:
        mapping[f"new{rng.random()}"] = copy.deepcopy(rng.choice(VALUES))
        return "added"
    mapping[rng.choice(scalars)] = rng.choice(VALUES[:7])
    return "written"


def edited_document(seed: int) -> tuple[str, Any, lent.Source]:
    """A text, its data after some edits, and what was lent of it; a third of the texts have an anchor."""
    rng = random.Random(seed)
    text = documents.item(rng, "a")
    if seed % 3 == 0:
        text = text.replace("  spec:", "  note: &note x # of note\n  again: *note\n  spec:")
    data = edit.parse(text)
    source = lent.Source(text.encode(), 0, data[0])
    for _ in range(rng.randint(1, 3)):
        edited(rng, data[0])
    return text, data, source


@pytest.mark.parametrize("seed", range(EXAMPLES * 5))
def test_it_makes_the_same_edit(seed: int) -> None:
    text, data, source = edited_document(seed)
    answer = quick(text, data, source)
    if answer is not None:
        assert answer == nodewise.patched(text, data, source.lists)


def test_it_is_sure_of_most() -> None:
    answers = []
    for seed in range(300):
        rng = random.Random(seed)
        text = documents.item(rng, "a")
        data = edit.parse(text)
        source = lent.Source(text.encode(), 0, data[0])
        edited(rng, data[0])
        answers.append(quick(text, data, source) is not None)
    assert sum(answers) > 150


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
    assert quick(TEXT, data, source) is None


def test_what_is_added_at_the_end_of_two_mappings_stands_in_each() -> None:
    text = "- a:\n    b: 1\n"
    data = edit.parse(text)
    source = lent.Source(text.encode(), 0, data[0])
    data[0]["a"]["c"], data[0]["d"] = 2, 3
    assert quick(text, data, source) == "- a:\n    b: 1\n    c: 2\n  d: 3\n"


@pytest.mark.parametrize("seed", range(100))
def test_scalars_that_are_written_by_path_make_the_edit_that_data_in_place_makes(seed: int) -> None:
    """By path only the mappings that are written to are noted; where the manifest was lent first, all of them."""
    rng = random.Random(seed)
    items = documents.item(rng, "a") + documents.item(rng, "b")
    outs = []
    for is_lent in (False, True):
        rng, resources = random.Random(seed), ResourceList.parse(HEAD + items.encode())
        for item in resources if is_lent else ():
            assert item.manifest
        for _ in range(rng.randint(1, 6)):
            item = rng.choice(resources.items)
            scalars = [field for field in item.each("spec.**") if not isinstance(field.value, (dict, list))]
            if not scalars:  # an empty mapping was written in place of the last one
                continue
            field = rng.choice(scalars)
            parts = (*field.parts[:-1], f"new{rng.random()}") if rng.random() < 0.5 else field.parts
            if not (parts is not field.parts and field.parts[-1].isdecimal()):
                item.at(parts).value = rng.choice(VALUES)
        outs.append(answer(resources))
    assert outs[0] == outs[1]


def answer(resources: ResourceList) -> bytes | str:
    try:
        return resources.to_bytes()
    except KrmfnError as failure:
        return str(failure)


def test_what_was_written_before_all_is_lent_is_no_part_of_what_the_text_holds() -> None:
    """A value that moves after a scalar beside it was written, in the same mapping and in another item."""
    resources = ResourceList.parse(
        HEAD + b"- kind: A\n  spec:\n    a: 1 # of a\n    b: # of b\n      c: 2 # of c\n- kind: B\n"
    )
    first, second = resources.items
    first["spec.a"] = 3
    first["spec.new"] = "x"
    second["kind"] = "C"
    second.manifest["spec"] = first.manifest["spec"].pop("b")
    assert resources.to_bytes().decode().partition("items:\n")[2] == (
        "- kind: A\n  spec:\n    a: 3 # of a\n    new: x\n- kind: C\n  spec: # of b\n    c: 2 # of c\n"
    )


def test_a_list_that_is_written_twice_has_what_was_written_in_between() -> None:
    resources = ResourceList.parse(HEAD + b"- kind: A\n  spec:\n    a: 1 # of a\n")
    resources.items[0]["spec.a"] = 2
    assert b"a: 2 # of a\n" in resources.to_bytes()
    resources.items[0]["spec.b"] = 3
    assert b"a: 2 # of a\n    b: 3\n" in resources.to_bytes()
    assert resources.items[0].document == b"kind: A\nspec:\n  a: 2 # of a\n  b: 3\n"
