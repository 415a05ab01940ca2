"""One value goes, and equal ones come at several places: its comments go along, or the edit is refused.

`true`, `false`, `null` and numbers are the same objects everywhere, so nothing but their keys tells them apart.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList
from tests.krmfn import documents
from tests.krmfn.test_moves_anywhere import HEAD, LOST, NAMED, comments, places
from tests.krmfn.test_moves_onto import each

REFUSED = rf"{LOST}|one of them would be lost"
VALUES = ["true", "false", "null", "3", '"x"', "8080"]
Edit = Callable[..., None]


def item(name: str, fields: str) -> str:
    rows = "".join(f"    {row}\n" for row in fields.split("\n"))
    return f"- apiVersion: v1\n  kind: K\n  metadata: {{name: {name}}}\n  spec:\n{rows}"


def after(texts: list[str], edit: Edit) -> str:
    """The specs of some items after an edit of them."""
    resources = ResourceList.parse((HEAD + "".join(map(item, "abcd", texts))).encode())
    edit(*(entry.manifest["spec"] for entry in resources))
    return resources.to_bytes().decode().removeprefix(HEAD)


def is_scalar(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def scatter(rng: random.Random, value: Any, specs: list[Any], is_onto: bool) -> None:
    """Put a value into several mappings, under new keys or onto scalars that are there."""
    mappings = [*specs, *(data[key] for spec in specs for data, key in places(spec) if isinstance(data[key], dict))]
    for number in range(rng.randint(2, 4)):
        target = rng.choice(mappings)
        names = [key for key in target if is_scalar(target[key]) and target[key] != value]
        name = rng.choice(names) if is_onto and names and rng.random() < 0.7 else f"new{number}"
        target[name] = json.loads(json.dumps(value)) if number else value


@pytest.mark.parametrize("is_onto", [True, False], ids=["onto others", "new"])
@pytest.mark.parametrize("number", [1, 3], ids=["same item", "several items"])
def test_no_comment_of_a_scalar_goes_in_silence(number: int, is_onto: bool) -> None:
    for seed in range(300):
        rng = random.Random(seed)
        texts = [documents.with_small(rng, documents.item(rng, name)) for name in "abc"[:number]]
        resources = ResourceList.parse((HEAD + "".join(texts)).encode())
        specs = [part.manifest["spec"] for part in resources]
        paths = [field for field in resources.items[0].each("spec.**") if field.comment and is_scalar(field.value)]
        movable = [field for field in paths if not field.parts[-1].isdecimal()]
        if not movable:
            continue
        field = rng.choice(movable)
        words, owner = f"# {field.comment}", specs[0]
        for part in field.parts[1:-1]:
            owner = owner[int(part) if isinstance(owner, list) else part]
        if len(owner) < 2:
            continue
        scatter(rng, owner.pop(field.parts[-1]), specs, is_onto)
        try:
            out = resources.to_bytes().decode()
        except KrmfnError as failure:
            assert re.search(REFUSED, str(failure)), failure
            assert re.match(NAMED, str(failure)), failure
            continue
        assert words in each(out), f"{seed}: {words}\n{''.join(texts)}\n{out}"


@pytest.mark.parametrize("seed", range(100))
def test_what_is_written_at_its_place_is_never_refused(seed: int) -> None:
    """Booleans are set, nulls replaced, and each mapping of each item gets a label: no key goes."""
    rng = random.Random(seed)
    text = HEAD + "".join(documents.with_small(rng, documents.item(rng, name)) for name in "abc")
    resources = ResourceList.parse(text.encode())
    for part in resources:
        for data, name in [*places(part.manifest["spec"])]:
            if isinstance(data, dict) and is_scalar(data[name]):  # equal entries of a list are known by their values
                data[name] = rng.choice([True, False, None, 1, 80, "", data[name]])
            elif isinstance(data[name], dict):
                data[name]["label"] = rng.choice([True, 80, "shop"])
    assert comments(resources.to_bytes().decode()) == comments(text)


def to_two(spec: Any) -> None:
    spec["b"] = spec["c"] = spec.pop("a")


def onto_two(spec: Any) -> None:
    spec["q"] = spec["z"] = spec.pop("a")


def to_two_items(spec: Any, second: Any, third: Any) -> None:
    second["b"] = third["c"] = spec.pop("a")


def onto_two_items(spec: Any, second: Any, third: Any) -> None:
    second["z"] = third["z"] = spec.pop("a")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("edit", [to_two, onto_two, to_two_items, onto_two_items])
def test_where_nothing_says_which_it_is_the_edit_is_refused(edit: Edit, value: str) -> None:
    texts = [f"a: {value} # why\nq: 5\nz: 6", "z: 6", "z: 6"][: edit.__code__.co_argcount]
    cause = r"cannot be written: a value went, 2 equal ones have come, and nothing says which has the comment '# why'"
    with pytest.raises(KrmfnError, match=rf"^K [ab]: spec\.\w {cause}"):
        after(texts, edit)


def under_its_key(spec: Any) -> None:
    spec["new"] = {"b": spec["a"], "a": spec.pop("a")}


def under_its_key_in_another(spec: Any, second: Any, third: Any) -> None:
    third["b"] = second["a"] = spec.pop("a")


def onto_its_key(spec: Any) -> None:
    spec["q"] = spec["in"]["a"] = spec.pop("a")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("edit", [under_its_key, under_its_key_in_another, onto_its_key])
def test_of_equal_ones_it_is_the_one_under_its_old_key(edit: Edit, value: str) -> None:
    texts = [f"a: {value} # why\nq: 5\nin:\n  a: 6", "z: 6", "z: 6"][: edit.__code__.co_argcount]
    out = after(texts, edit)
    assert re.findall(r"\w+: [^:]+ # why", out) == [f"a: {value} # why"]


@pytest.mark.parametrize("value", ["true", "null", "80"])
def test_what_is_in_a_mapping_that_goes_goes_with_it(value: str) -> None:
    """Others that are set in several items have nothing to do with it."""

    def remove_and_set(spec: Any, *others: Any) -> None:
        value = spec.pop("old")["in"]
        for other in others:
            other["b"] = other["z"] = value

    out = after([f"old: # of old\n  in: {value} # of in\nq: 5", "z: 6 # of z", "z: 7"], remove_and_set)
    assert [*comments(out)] == ["# of z"]


def test_a_scalar_that_becomes_a_mapping_keeps_its_comment_and_gives_it_to_nobody() -> None:
    def wrap_and_set(spec: Any, *others: Any) -> None:
        spec["a"] = {"x": 5}
        for other in others:
            other["b"] = True

    out = after(["a: true # why\nq: 5", "z: 6", "z: 7"], wrap_and_set)
    assert out.count("# why") == 1
    assert "    a: # why\n      x: 5\n" in out


def test_an_item_that_is_removed_takes_its_comments_along() -> None:
    resources = ResourceList.parse(
        (HEAD + item("a", "on: true # why") + item("b", "z: 6") + item("c", "z: 7")).encode()
    )
    resources.remove(resources.items[0])
    for part in resources:
        part["spec.ready"] = True
    assert b"#" not in resources.to_bytes()
