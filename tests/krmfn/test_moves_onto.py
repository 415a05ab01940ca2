"""A value that moves onto a field or an entry that is there takes its comments along, or the edit is refused."""

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
from tests.krmfn import documents
from tests.krmfn.test_moves_anywhere import FORMS, HEAD, LOST, NAMED, SEED, comments, drawn

REFUSED = rf"{LOST}|one of them would be lost|in quotes first"


def paths(value: Any, path: tuple[str, ...] = ("spec",)) -> Iterator[tuple[Any, Any, tuple[str, ...]]]:
    """Each mapping and list in a value with each of its keys and indexes, and the path of that."""
    names = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield value, name, (*path, str(name))
        yield from paths(value[name], (*path, str(name)))


def remarks_at(text: str, at: int, path: tuple[str, ...]) -> Counter[str]:
    """The comments of a field and all below it."""
    item = ResourceList.parse(text.encode()).items[at]
    fields = [item.at(path), *(field for field in item.each("spec.**") if field.parts[: len(path)] == path)]
    words = {(field.parts, *pair) for field in fields for pair in ((0, field.comment), (1, field.head_comment))}
    return Counter(f"# {row}".rstrip() for _, _, rows in words for row in rows.split("\n") if rows)


def move_onto(rng: random.Random, giver: Any, taker: Any) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Move a value onto another one; return where both stood before. None: nothing moves."""
    movable = [place for place in paths(giver) if isinstance(place[0], list) or len(place[0]) > 1]
    if not movable:
        return None
    homes = {id(data): path[:-1] for data, _, path in paths(taker)}
    data, name, source = rng.choice(movable)
    value = data.pop(name)
    targets = [*paths(taker)]
    if not targets:
        return None
    target, key, _ = rng.choice(targets)
    texts = [*map(json.dumps, target)] if isinstance(target, list) else []
    if target[key] == value or len({*texts}) < len(texts):
        return None  # as if it was removed; and which of equal entries is left nobody knows
    target[key] = value
    is_behind = target is data and isinstance(data, list) and key >= name
    return source, (*homes[id(target)], str(key + 1 if is_behind else key))


def check(text: str, way: str, rng: random.Random) -> str:
    """Assert that a random move onto another value keeps each comment but those of that value, or is refused."""
    resources = ResourceList.parse(text.encode())
    first, last = resources.items[0], resources.items[-1]
    manifest = json.loads(json.dumps(first.manifest)) if way == "replace" else first.manifest
    is_other = way == "other item" and last is not first
    taker = last.manifest if is_other else manifest
    change = move_onto(rng, manifest.get("spec"), taker.get("spec"))
    if change is None:
        return "none"
    if way == "replace":
        resources.replace(first, manifest)
    wanted = json.loads(json.dumps([item.manifest for item in resources]))
    try:
        out = resources.to_bytes().decode()
    except KrmfnError as failure:
        assert re.search(REFUSED, str(failure)), failure
        assert re.match(NAMED, str(failure)), failure
        return "refused"
    assert [item.manifest for item in ResourceList.parse(out.encode())] == wanted
    if change[0][: len(change[1])] == change[1]:  # out of what it replaces: a comment behind a dash was the entry's
        return "kept"
    moved, gone = remarks_at(text, 0, change[0]), remarks_at(text, -1 if is_other else 0, change[1])
    lost = each(text) - each(out) - (gone - moved)
    assert not lost, f"{change}: {lost}\n{text}\n{out}"
    return "kept"


def each(text: str) -> Counter[str]:
    """The comments of a text; those of a value that moved and of its key may stand on one line."""
    return Counter(f"# {words}" for row in comments(text) for words in row.removeprefix("# ").split(" # "))


SPEC = "- apiVersion: v1\n  kind: A\n  metadata: {{name: a}}\n  spec:\n{}    z: last\n"


def put_b_onto_a(spec: Any) -> None:
    spec["a"] = spec.pop("b")


def put_b_onto_the_entry(spec: Any) -> None:
    spec["a"][0] = spec.pop("b")


def shift(spec: Any) -> None:
    spec["c"] = spec.pop("b")
    spec["b"] = spec.pop("a")


EDITS: dict[str, tuple[Any, str, str]] = {
    "a number": (put_b_onto_a, "a: 1\nb: 2 # why", "a: 2 # why"),
    "a text": (put_b_onto_a, "# head\na: old # of a\n# more\nb: 'new' # why", "# head\n# more\na: 'new' # why"),
    "a block": (put_b_onto_a, "a: old # of a\nb: | # why\n  one\n  two", "a: | # why\n  one\n  two"),
    "a mapping": (put_b_onto_a, "a: # of a\n  x: 1 # x\nb: # why\n  x: 2 # y", "a: # why\n  x: 2 # y"),
    "a list": (put_b_onto_a, "a:\n- x # x\nb: # why\n- new # y", "a: # why\n- new # y"),
    "an entry": (put_b_onto_the_entry, "a:\n- old # of it\n- other\nb: new # why", "a:\n- new # why\n- other"),
    "one after the other": (shift, "a: one # 1\nb: two # 2\nc: three # 3", "b: one # 1\nc: two # 2"),
}


def lines(fields: str) -> str:
    return HEAD + SPEC.format("".join(f"    {row}\n" for row in fields.split("\n")))


@pytest.mark.parametrize("is_rebuilt", [True, False], ids=["replace", "in place"])
@pytest.mark.parametrize("name", EDITS)
def test_its_comments_take_the_place_of_those_that_were_there(name: str, is_rebuilt: bool) -> None:
    edit, before, after = EDITS[name]
    resources = ResourceList.parse(lines(before).encode())
    item = resources.items[0]
    manifest = json.loads(json.dumps(item.manifest)) if is_rebuilt else item.manifest
    edit(manifest["spec"])
    if is_rebuilt:
        resources.replace(item, manifest)
    assert resources.to_bytes().decode() == lines(after)


REFUSALS: dict[str, tuple[Any, str, str]] = {
    "two comments, and a number": (
        put_b_onto_a,
        "a: 1 # of a\nb: 2 # why",
        r"spec\.a cannot be written: the comment '# why' moves with its value onto '# of a', or one",
    ),
    "brackets": (
        put_b_onto_the_entry,
        "a: [1, 2]\nb: 3 # why",
        r"spec\.a\[0\] cannot be written: the comment '# why' would be lost in brackets",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_where_a_comment_has_no_sure_place_the_edit_is_refused(name: str) -> None:
    edit, before, words = REFUSALS[name]
    resources = ResourceList.parse(lines(before).encode())
    edit(resources.items[0].manifest["spec"])
    with pytest.raises(KrmfnError, match=f"^A a: {words}"):
        resources.to_bytes()


def test_of_two_that_went_where_one_is_overwritten_nobody_guesses() -> None:
    resources = ResourceList.parse(lines("a: 1\nb: 2 # of b\nc: 2").encode())
    spec = resources.items[0].manifest["spec"]
    put_b_onto_a(spec)
    del spec["c"]
    with pytest.raises(KrmfnError, match=r"^A a: spec\.a cannot be written: 2 equal values went, .* '# of b'"):
        resources.to_bytes()


@pytest.mark.parametrize("way", ["in place", "replace", "other item"])
@pytest.mark.parametrize("is_small", [False, True])
def test_generated_documents(way: str, is_small: bool) -> None:
    for seed in range(EXAMPLES * 5):
        rng = random.Random(seed)
        text = documents.item(rng, "a") + documents.item(rng, "b")
        check(HEAD + (documents.with_small(rng, text) if is_small else text), way, rng)


@pytest.mark.parametrize("way", ["in place", "replace", "other item"])
@pytest.mark.parametrize("form", sorted(FORMS.keys() - {"comments behind brackets"}))
def test_documents_with_words_and_brackets_over_lines(form: str, way: str) -> None:
    for seed in range(EXAMPLES * 5):
        rng = random.Random(f"{SEED} {seed}")
        check(drawn(rng, form), way, rng)


SIZES: dict[str, tuple[str, str, str]] = {
    "a number": ("2", "a: 1", "a: 2 # why"),
    "a text": ("'new'", "# head\na: old # of a", "# head\n# more\na: 'new' # why"),
    "a mapping": ("\n  x: 1 # x", "a: # of a\n  x: 2 # y", "a: # why\n  x: 1 # x"),
    "a list": ("\n- one # x", "a: [two]", "a: # why\n- one # x"),
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_value_of_another_item_brings_its_comments(name: str, is_first: bool) -> None:
    value, before, after = SIZES[name]
    head = "# more\n" if after.startswith("#") else ""
    first, _, below = value.partition("\n")
    giver = head + (f"b: {first} # why" if first else f"b: # why\n{below}")
    items = [SPEC.format("".join(f"    {row}\n" for row in fields.split("\n"))) for fields in (giver, before)]
    resources = ResourceList.parse((HEAD + "".join(items if is_first else items[::-1])).encode())
    source, target = resources.items if is_first else list(resources.items)[::-1]
    target.manifest["spec"]["a"] = source.manifest["spec"].pop("b")
    wanted = [SPEC.format(""), SPEC.format("".join(f"    {row}\n" for row in after.split("\n")))]
    out = HEAD + "".join(wanted if is_first else wanted[::-1])
    assert resources.to_bytes().decode() == out
    assert resources.to_bytes().decode() == out


def test_a_number_of_another_item_is_refused_where_two_comments_would_be() -> None:
    items = [SPEC.format(f"    {row}\n") for row in ("b: 2 # why", "a: 1 # of a")]
    resources = ResourceList.parse((HEAD + "".join(items)).encode())
    source, target = resources.items
    target.manifest["spec"]["a"] = source.manifest["spec"].pop("b")
    words = "the comment '# why' moves with its value onto '# of a', or one of them would be lost"
    with pytest.raises(KrmfnError, match=rf"spec\.a cannot be written: {words}"):
        resources.to_bytes()


def test_what_is_copied_onto_a_mapping_leaves_the_comments_there() -> None:
    items = [SPEC.format(f"    {row}:\n      x: {at} # of {row}\n") for at, row in enumerate("ba")]
    resources = ResourceList.parse((HEAD + "".join(items)).encode())
    source, target = resources.items
    target["spec.a"] = source["spec.b"]
    assert resources.to_bytes().decode() == HEAD + "".join(items).replace("x: 1", "x: 0")


def test_of_equal_entries_the_one_in_its_place_keeps_its_comment() -> None:
    resources = ResourceList.parse(lines("a:\n- 80\n- 80 # b").encode())
    resources.items[0].manifest["spec"]["a"][0] = 81
    assert resources.to_bytes().decode() == lines("a:\n- 81\n- 80 # b")


BESIDE = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: {}\n  spec:\n    c: 1\n"
COLLECTIONS = ["[first]", "{x: first}", "\n    - first", "\n      x: first"]


@pytest.mark.parametrize("value", COLLECTIONS)
@pytest.mark.parametrize("is_entry", [True, False])
def test_a_comment_of_a_collection_that_moves_on_is_not_written_over(value: str, is_entry: bool) -> None:
    """The one of the scalar of another item, which came to its place, took the place of it."""
    style, _, below = value.partition("\n")
    key = "k:\n    - z: third\n    - l" if is_entry else "l"
    lines = f"    {key}: {style} # A\n{below and ('  ' if is_entry else '') + below + chr(10)}"
    text = HEAD + BESIDE.format("a") + lines + BESIDE.format("b") + "    d: second # B\n"
    resources = ResourceList.parse(text.encode())
    spec, other = (item.manifest["spec"] for item in resources)
    holder = spec["k"][1] if is_entry else spec
    spec["new"], holder["l"] = holder["l"], other.pop("d")
    with pytest.raises(KrmfnError, match="'# B' moves with its value onto '# A'"):
        resources.to_bytes()


@pytest.mark.parametrize("value", COLLECTIONS)
@pytest.mark.parametrize("comment", [" # B", ""])
def test_a_scalar_takes_its_comment_along_where_a_collection_with_one_came(value: str, comment: str) -> None:
    """It was lost where the collection was one of another item, with a comment."""
    style, _, below = value.partition("\n")
    lines = f"    d: {style}{comment}\n{below and below + chr(10)}"
    text = HEAD + BESIDE.format("a") + "    l: third # A\n" + BESIDE.format("b") + lines
    resources = ResourceList.parse(text.encode())
    spec, other = (item.manifest["spec"] for item in resources)
    other["new"], spec["l"] = spec["l"], other.pop("d")
    out = resources.to_bytes().decode()
    assert out.count("# A") == 1
    assert ("new: third # A\n" in out) is bool(comment)
    assert out.count("# B") == bool(comment)


@pytest.mark.parametrize("value", ["&m {n: first}", "&m [first]", "&m\n      n: first", "&m\n    - first"])
def test_a_collection_with_an_anchor_comes_to_the_place_of_one_with_a_comment(value: str) -> None:
    """It was an AttributeError."""
    text = HEAD + BESIDE.format("a") + "    l: # A\n    - third\n" + BESIDE.format("b") + f"    d: {value}\n"
    resources = ResourceList.parse(text.encode())
    spec, other = (item.manifest["spec"] for item in resources)
    spec["l"] = other.pop("d")
    assert ResourceList.parse(resources.to_bytes()).items[0].manifest["spec"] == spec
