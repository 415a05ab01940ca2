"""An edit row by row is the edit that the node trees make, or none."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList, settling
from krmfn.yamltext import align, changes, edit, lent, nodewise, oddlines, rowwise, simple
from tests.examples import EXAMPLES
from tests.krmfn import documents
from tests.krmfn.yamltext.test_inplace import HEAD, edited, edited_document
from tests.krmfn.yamltext.test_oddlines import odd_item


def rows(text: str, data: Any, written: list[changes.Change] | None) -> str | None:
    return None if written is None else rowwise.patched(text, data[0], written, 2)


@pytest.mark.parametrize("seed", range(EXAMPLES * 10))
def test_it_makes_the_same_edit(seed: int) -> None:
    text, data, source = edited_document(seed)
    answer = rows(text, data, changes.of_data(data[0], source.lists))
    if answer is not None:
        assert answer == nodewise.patched(text, data, source.lists)


def test_it_makes_the_same_edit_beside_odd_lines() -> None:
    """These stay as they stand; what an anchor shares is no edit of rows alone."""
    seen = Counter[str]()
    for seed in range(EXAMPLES * 300):
        rng = random.Random(seed)
        text = odd_item(rng)
        data = oddlines.read(text)
        if simple.read(text) is not None or data is None or len(data) != 1:
            continue
        source = lent.Source(text.encode(), 0, data[0])
        for _ in range(rng.randint(1, 3)):
            edited(rng, data[0])
        answer = rows(text, data, changes.of_data(data[0], source.lists))
        seen["read"] += 1
        if answer is not None:
            seen["sure"] += 1
            assert answer == nodewise.patched(text, data, source.lists), text
    assert seen["sure"] > EXAMPLES, seen


def test_it_is_sure_of_many() -> None:
    answers = []
    for seed in range(300):
        rng = random.Random(seed)
        text = documents.item(rng, "a")
        data = edit.parse(text)
        source = lent.Source(text.encode(), 0, data[0])
        edited(rng, data[0])
        answers.append(rows(text, data, changes.of_data(data[0], source.lists)) is not None)
    assert sum(answers) > 60


def outcome(text: str, seed: int, way: str) -> bytes | str:
    """The list after an edit of one of its items, or why it is refused."""
    rng = random.Random(seed)
    try:
        resources = ResourceList.parse(HEAD + text.encode())
        item = resources.items[0]
        lent_data = item.manifest if seed % 2 else {}
        data = copy.deepcopy(item.content.manifest)
    except (KrmfnError, IndexError) as failure:  # no YAML, or no item
        return str(failure)
    if way == "in place":
        data = item.manifest
    for _ in range(rng.randint(1, 3)):
        edited(rng, data)
    if rng.random() < 0.3 and "spec" in lent_data:  # something that was lent comes along
        data[rng.choice(["status", "spec"])] = lent_data["spec"]
    try:
        if way == "upsert":
            resources.upsert([data])
        elif way == "replace":
            resources.replace(item, data)
        return resources.to_bytes()
    except KrmfnError as failure:
        return str(failure)


@pytest.mark.parametrize("way", ["in place", "upsert", "replace"])
@pytest.mark.parametrize("seed", range(EXAMPLES * 5))
def test_what_takes_the_place_of_data_is_written_as_the_node_trees_do(
    seed: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    text = (odd_item(rng) if seed % 2 else documents.item(rng, "a")) + documents.item(rng, "b")
    quick = outcome(text, seed, way)
    monkeypatch.setattr(settling, "_changes", lambda content: None)
    assert quick == outcome(text, seed, way)


TEXT = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n"
TEXT += "  a: # of a\n    b: 1 # of b\n  c: # of c\n    d: [] # of d\n"


@pytest.mark.parametrize("way", ["remove", "move", "lent", "changed before", "renamed", "list", "kind"])
def test_it_is_not_sure_of_data(way: str) -> None:
    resources = ResourceList.parse(HEAD + TEXT.encode())
    item = resources.items[0]
    old = item.manifest
    new = copy.deepcopy(old)
    new["a"]["x"] = 1
    if way == "remove":
        del new["c"]["d"]
    elif way == "move":
        new["e"] = new.pop("c")
    elif way == "lent":
        new["e"] = old["c"]
    elif way == "changed before":
        old["c"]["d"] = 7
    elif way == "renamed":
        new["c"] = {"f": new["c"]["d"]}
    elif way == "list":
        new["c"]["d"] = [1]
    else:
        new["c"] = "x"
    item.content.take(new)
    source = item.content._lent
    assert source is not None
    assert changes.of_other_data(source, item.content.manifest) is None


def test_what_was_emptied_in_place_is_seen() -> None:
    """Only the lines of what was written are read back, so nothing else may be passed over."""
    text = "- a:\n  - b\n  c: {d: e}\n  f:\n    g: 1\n"
    for key in ("a", "c"):
        data = edit.parse(text)
        source = lent.Source(text.encode(), 0, data[0])
        data[0][key].clear()
        data[0]["f"]["h"] = 2
        assert changes.of_data(data[0], source.lists) is None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("  m:\n    a: 1 # one\n    # below\n\n  n: 2\n", "  m:\n    a: w # one\n    z: w\n    # below\n\n  n: 2\n"),
        ("  m:\n    a: 'b'\n  n: |+\n    t\n\n", "  m:\n    a: 'w'\n    z: w\n  n: |+\n    t\n\n"),
        ("  m:\n    a:\n    - a: 1\n    b: 2\n", "  m:\n    a:\n    - a: 1\n    b: 2\n    z: w\n"),
        ("  m:\n    b: x\n    a: |\n      t\n", None),
        ("  m:\n    a: &a 1\n", None),
        ("  m: {a: 1}\n", None),
        ("  m:\n    a: 1", None),
    ],
)
def test_rows(text: str, after: str | None) -> None:
    """A scalar is written where it stands, a key behind the last line of its mapping; comments below stay behind it."""
    head = "- kind: A\n"
    data = edit.parse(head + text)
    new = data[0]["m"]
    old = copy.deepcopy(new)
    new |= {"z": "w"} if isinstance(old["a"], list) else {"a": "w", "z": "w"}
    answer = rowwise.patched(head + text, data[0], [(("m",), align.Known(new, old, new))], 2)
    assert answer == (None if after is None else head + after)
