"""Values move after other edits of the items: each takes its own comment along, not that of its place."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from tests.examples import EXAMPLES

from . import documents
from .test_moves_anywhere import HEAD, LOST, comments, move, places, remarked

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


BETWEEN: dict[str, Any] = {
    "nothing": lambda item: None,
    "the text is read": lambda item: item.text,
    "another comment is written": lambda item: setattr(item.at("spec.l[1]"), "comment", "D"),
    "a field is written": lambda item: item.__setitem__("spec.k", "sixth"),
}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("words", ["E", ""])
def test_a_comment_that_was_written_goes_along(words: str, between: str) -> None:
    """After the text had been read once, the old one went instead, or came back."""
    resources = ResourceList.parse((HEAD + GIVER + LINES + TAKER).encode())
    giver, taker = resources.items
    entries = giver.manifest["spec"]["l"]
    giver.at("spec.l[0]").comment = words
    BETWEEN[between](giver)
    entries.reverse()
    taker.manifest["spec"]["x"] = entries.pop()
    assert resources.to_bytes().decode().endswith(f"    x: third{words and f' # {words}'}\n")


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("is_back", [True, False])
def test_a_value_that_went_before_the_text_was_read_has_its_comment_still(is_back: bool, between: str) -> None:
    resources = ResourceList.parse((HEAD + GIVER + LINES + "    q: u\n" + TAKER).encode())
    giver, taker = resources.items
    value = giver.manifest["spec"]["l"].pop(0)
    giver["spec.l[1]"] = "v"
    BETWEEN[between](giver)
    (giver if is_back else taker)["spec.x"] = value
    assert "    x: third # B\n" in resources.to_bytes().decode()


@pytest.mark.parametrize("between", BETWEEN)
def test_a_value_that_only_passes_through_an_item_has_its_comment_in_the_end(between: str) -> None:
    """What it left there had no comment, and was taken for what had moved."""
    passed = TAKER.replace("b\n", "c\n") + "    l:\n    - u\n    - v\n"
    resources = ResourceList.parse((HEAD + GIVER + LINES + passed + TAKER).encode())
    giver, by_the_way, taker = (item.manifest["spec"] for item in resources)
    by_the_way["y"] = giver["l"].pop(0)
    BETWEEN[between](resources.items[1])
    taker["x"] = by_the_way.pop("y")
    assert resources.to_bytes().decode().endswith("    x: third # B\n")


@pytest.mark.parametrize("is_read", [True, False])
def test_a_new_value_takes_the_comment_along_that_was_given_to_it(is_read: bool) -> None:
    resources = ResourceList.parse((HEAD + GIVER + "    k: first\n" + TAKER).encode())
    giver, taker = resources.items
    giver["spec.n"] = "new"
    giver.at("spec.n").comment = "N"
    assert not is_read or giver.text
    taker["spec.x"] = giver.manifest["spec"].pop("n")
    assert resources.to_bytes().decode().endswith("    x: new # N\n")


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("value", ["[]", "[u]", "{}", "{u: v}", "u", "|\n      u\n"])
def test_what_was_in_another_item_is_back_within_a_part_of_that(value: str, is_read: bool) -> None:
    """The writer looked for it in the other item's text only."""
    style, _, lines = value.partition("\n")
    resources = ResourceList.parse((HEAD + GIVER + ENTRIES + TAKER + f"    d: {style} # D\n{lines}").encode())
    first, last = resources.items
    entry = first.manifest["spec"]["l"][0]
    entry["d"] = last.manifest["spec"].pop("d")
    assert not is_read or (first.text and last.text)
    last.manifest["spec"]["entry"] = first.manifest["spec"]["l"].pop(0)
    out = resources.to_bytes().decode()
    assert f"      d: {style} # D\n" in out, out
    assert "      a: first # A\n" in out


def test_a_comment_that_was_changed_in_the_other_item_stays_changed() -> None:
    resources = ResourceList.parse((HEAD + GIVER + LINES + TAKER).encode())
    giver, taker = resources.items
    taker.manifest["spec"]["m"] = giver.manifest["spec"].pop("l")
    taker.at("spec.m[0]").comment = "E"
    giver.manifest["spec"]["p"] = taker.manifest["spec"].pop("m")
    assert "    p:\n    - third # E\n    - fourth\n" in resources.to_bytes().decode()


@pytest.mark.parametrize("comment", ["- # behind\n      ", "-\n      # below\n      "])
@pytest.mark.parametrize("entry", [{"new": 1}, "new", ["new"]])
def test_a_comment_behind_a_dash_is_not_lost_in_brackets(comment: str, entry: Any) -> None:
    """Where another entry came to its place it went in silence."""
    lines = f"    l:\n    {comment}a: first\n    - x: {{y: second}}\n"
    resources = ResourceList.parse((HEAD + GIVER + lines).encode())
    entries = resources.items[0].manifest["spec"]["l"]
    moved = entries.pop(0)
    entries[0]["x"]["z"] = moved
    entries.insert(0, entry)
    with pytest.raises(KrmfnError, match="would be lost in brackets"):
        resources.to_bytes()


def edit(rng: random.Random, items: list[Any]) -> tuple[str, str] | None:
    """Edit one of two items, or both, at random; return the comment that went, and the one that is there instead.

    Comments that came from the other item are not changed.
    """
    giver, taker = rng.choice(items), rng.choice(items)
    spec = giver.manifest["spec"]
    lists = [data[name] for data, name in places(spec) if isinstance(data[name], list)]
    way = rng.choice(("move", "move", "read", "comment", *(("turn", "add") if lists else ())))
    if way == "move":
        move(rng, spec, taker.manifest["spec"])
    elif way == "read":
        assert giver.text
    elif way == "turn":
        rng.choice(lists).reverse()
    elif way == "add":
        rng.choice(lists).insert(0, {"new": rng.random()})
    elif fields := [field for field in giver.each("spec.**") if giver.name in field.comment]:
        field, words = rng.choice(fields), f"other {rng.random()}"
        old, field.comment = field.comment, words
        return old, words
    return None


@pytest.mark.parametrize("form", [None, documents.with_small, documents.with_words])
def test_several_random_edits_keep_each_comment(form: Any) -> None:
    for seed in range(EXAMPLES * 10):
        rng = random.Random(seed)
        text = HEAD + documents.item(rng, "a") + documents.item(rng, "b")
        several(rng, form(rng, text) if form else text)


def with_comment(lines: Counter[str], old: str, new: str) -> Counter[str]:
    """Return lines with another comment in place of an old one."""
    return Counter(re.sub(rf"# {re.escape(old)}$", f"# {new}", line) for line in lines.elements())


def several(rng: random.Random, text: str) -> None:
    """Assert that some random edits keep data and comments, or are refused.

    An entry of a list that goes where another one comes was written over, perhaps: its comment may be beside that.
    """
    resources, wanted = ResourceList.parse(text.encode()), comments(text)
    entries = {field.comment for item in resources for field in item.each("spec.**") if field.path.endswith("]")}
    values = Counter(words for words in remarked(text).elements() if words.partition(" # ")[2] not in entries)
    try:
        for _ in range(rng.randint(2, 6)):
            if change := edit(rng, resources.items):
                wanted, values = with_comment(wanted, *change), with_comment(values, *change)
        data = json.loads(json.dumps([item.manifest for item in resources]))
        out = resources.to_bytes().decode()
    except KrmfnError as failure:
        assert re.search(LOST, str(failure)), failure
        return
    assert [item.manifest for item in ResourceList.parse(out.encode())] == data
    there = Counter(f"# {words}" for line in comments(out).elements() for words in line[2:].split(" # "))
    assert not wanted - there, out
    assert not values - Counter(pairs(out)), out


def pairs(text: str) -> Iterator[str]:
    """Yield each scalar with each comment on its line."""
    for line in remarked(text):
        value, *words = line.split(" # ")
        yield from (f"{value} # {comment}" for comment in words)
