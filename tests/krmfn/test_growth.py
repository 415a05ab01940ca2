"""Edits of long lists: twice the entries are at most twice the work, told by counting the functions that are called."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krmfn import Item, KrmfnError, ResourceList
from krmfn.yamltext import align
from tests.call_counts import call_count

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- kind: A\n  apiVersion: v1\n"
HEAD += "  metadata: {name: a}\n  spec:\n    old:\n"
Edit = Callable[[Item, Any], None]


def turned(item: Item, old: Any) -> None:
    item["spec.old"] = [{**entry, "b": f"{entry['b']}!"} for entry in reversed(old)]


def renamed(item: Item, old: Any) -> None:
    item["spec"] = {"new": old}


def moved(item: Item, old: Any) -> None:
    item["spec"] = {"new": {f"new-{name}": value for name, value in old.items()}}


def rotated(item: Item, old: Any) -> None:
    names = [*old]
    for name, other in zip(names, [*names[1:], names[0]], strict=True):
        item["spec.old"][name] = old[other]


EDITS: dict[str, tuple[Callable[[int], str], Edit]] = {
    "all share a part": (lambda at: f"    - k: x # {at}\n      b: {at}\n", turned),
    "all share a list": (lambda at: f"    - k: [x, y] # {at}\n      b: {at}\n", turned),
    "none shares a part": (lambda at: f"    - k{at}: x{at} # {at}\n      b: {at}\n", turned),
    "equal booleans": (lambda at: f"    - true # {at}\n", renamed),
    "equal texts": (lambda at: f"    - same # {at}\n", renamed),
    "equal mappings": (lambda at: f"    - a: b # {at}\n      c: d\n", renamed),
    "equal values with names": (lambda at: f"      k{at}: same # {at}\n", moved),
    "values that move onto others": (lambda at: f"      k{at}: value{at} # {at}\n", rotated),
    "equal pairs that move onto others": (lambda at: f"      k{at}: value{at // 2} # {at}\n", rotated),
}


def calls(work: Callable[[], object]) -> int:
    """How many functions are called."""
    return call_count(work)[1]


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_of_twice_the_entries_is_twice_the_work(name: str) -> None:
    entry, edit = EDITS[name]

    def work(number: int) -> int:
        resources = ResourceList.parse((HEAD + "".join(map(entry, range(number)))).encode())
        (item,) = resources.items
        old = item["spec.old"]
        edit(item, [*old] if isinstance(old, list) else {**old})
        return calls(resources.to_bytes)

    work(2)  # what is imported once
    once, twice = work(150), work(300)
    assert twice < 2.3 * once, (once, twice)


def out_of_brackets(item: Item, old: Any) -> None:
    item["spec"] = {"new": {f"k{at}": value for at, value in enumerate(old)}}


def onto_entries(item: Item, old: Any) -> None:
    spec = item.manifest["spec"]
    spec["other"] = [*reversed(old)]
    old.clear()


FORMS = {"brackets": ("    old: [\n{}      ]\n", "      {},{}\n"), "lines": ("    old:\n{}", "    - {}{}\n")}


@pytest.mark.parametrize("comments", [("", " # {}"), ("    # {}\n", "")], ids=["behind", "above"])
@pytest.mark.parametrize("value", ["value{}", "{{a: value{}}}", "yes"])
@pytest.mark.parametrize("edit", [out_of_brackets, onto_entries])
@pytest.mark.parametrize("form", FORMS)
def test_twice_the_entries_that_move_with_comments_are_twice_the_work(
    form: str, edit: Edit, value: str, comments: tuple[str, str]
) -> None:
    def work(number: int) -> int:
        around, entry = FORMS[form]
        rows = (comments[0].format(at) + entry.format(value.format(at), comments[1].format(at)) for at in range(number))
        others = "".join(f"    - other{at} # of {at}\n" for at in range(number))
        text = HEAD.removesuffix("    old:\n") + around.format("".join(rows)) + "    other:\n" + others
        resources = ResourceList.parse(text.encode())
        (item,) = resources.items
        edit(item, item.manifest["spec"]["old"])
        return calls(lambda: refused_or_written(resources))

    work(2)
    once, twice = work(100), work(200)
    assert twice < 2.3 * once, (once, twice)


def refused_or_written(resources: ResourceList) -> None:
    """Write the list; of equal values nobody may know which is which."""
    with suppress(KrmfnError):
        resources.to_bytes()


def children(number: int) -> list[dict[str, Any]]:
    return [{"apiVersion": "v1", "kind": "C", "metadata": {"name": f"c{at}"}} for at in range(number)]


@pytest.mark.parametrize("adopts", [False, True], ids=["removed", "taken over"])
def test_twice_the_children_are_twice_the_work(adopts: bool) -> None:
    owners = [{"apiVersion": "v1", "kind": "O", "metadata": {"name": name}} for name in ("a", "b")]

    def work(number: int) -> int:
        resources = ResourceList()
        first, second = (resources.append(owner) for owner in owners)
        resources.own(owner=first, manifests=children(number))
        again = ResourceList.parse(resources.to_bytes())
        first, second = again.where(kind="O")
        manifests = children(number) if adopts else []
        if adopts:
            again.remove(first)
        count = calls(lambda: again.own(owner=second if adopts else first, manifests=manifests, adopt=lambda _: True))
        assert len(again.where(kind="C")) == len(manifests)
        return count

    work(2)
    once, twice = work(50), work(100)
    assert twice < 2.2 * once, (once, twice)


WORDS = st.sampled_from(["a", "b", "name", "key"])
ENTRIES = st.lists(st.dictionaries(WORDS, st.sampled_from([1, 2, "x"]), max_size=4) | st.lists(WORDS, max_size=3))


def nearest(entry: Any, old: list[Any], gone: set[int]) -> int | None:
    """The old entry that shares most, when each is compared."""
    best = max(sorted(gone), key=lambda at: align.share(old[at], entry), default=None)
    return best if best is not None and align.share(old[best], entry) else None


@given(old=ENTRIES, new=ENTRIES, chosen=st.randoms(use_true_random=False))
def test_the_nearest_is_that_of_comparing_each(old: list[Any], new: list[Any], chosen: Any) -> None:
    gone = {at for at in range(len(old)) if chosen.random() < 0.7}
    holders = align._holders(old, gone)
    for entry in new:
        match = align._nearest(entry, old, gone, holders)
        assert match == nearest(entry, old, gone)
        gone.discard(-1 if match is None else match)
