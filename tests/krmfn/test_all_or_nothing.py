"""A call that raises has changed nothing, and takes no item that is not in its list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from krmfn import Item, KrmfnError, ResourceList
from krmfn.resource import Place

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
ITEM = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n    labels: {a: b}\n  spec:\n    l: [x]\n"
NEW = {"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}
HALF = {**NEW, "metadata": [{"name": "new"}]}


def parsed() -> ResourceList:
    return ResourceList.parse((HEAD + ITEM).encode())


CALLS: dict[str, Callable[[ResourceList, Item], object]] = {
    "append with a path": lambda resources, _: resources.append(NEW, path=5),  # type: ignore[call-overload]
    "append a text with a path": lambda resources, _: resources.append("apiVersion: v1\nkind: B\n", path=5),  # type: ignore[call-overload]
    "append odd metadata with a path": lambda resources, _: resources.append(HALF, path="a.yaml"),
    "labels": lambda _, item: item.labels.update({"c": "d", "e": 5}),  # type: ignore[dict-item]
    "labels in place": lambda _, item: item.annotations.__ior__({"c": "d", "e": 5}),  # type: ignore[dict-item]
    "a field": lambda _, item: item.__setitem__("spec.l[3]", "x"),
    "a field below a text": lambda _, item: item.__setitem__("kind.x", "x"),
    "a path": lambda _, item: setattr(item, "path", 5),
    "upsert": lambda resources, _: resources.upsert([NEW, {}]),
    "a merge": lambda _, item: item.merge({"data": {"a": "b"}, "spec": {"$odd": 1}}),
    "operations": lambda _, item: item.patch_json6902(
        [{"op": "remove", "path": "/spec"}, {"op": "remove", "path": "/x"}]
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_raises_changes_nothing(call: Callable[[ResourceList, Item], object]) -> None:
    resources = parsed()
    [item] = resources.items
    with pytest.raises((KrmfnError, TypeError, ValueError)):
        call(resources, item)
    assert not (resources.changes or resources.results or resources.failed or item.is_edited)
    assert resources.items == [item] and resources.to_bytes().decode() == HEAD + ITEM


def test_the_path_of_a_file_must_be_a_text() -> None:
    item = Item(b"kind: A\n", 0, 8, -2, file=Place("a.yaml", 0, 1))
    with pytest.raises(TypeError, match=r"^A \(no name\): path must be a string, not 5$"):
        item.path = 5  # type: ignore[assignment]
    assert item.path == "a.yaml"


FOREIGN: dict[str, tuple[Callable[[ResourceList, Item], object], str]] = {
    "remove": (lambda resources, item: resources.remove(item), "be removed: it is not in the list"),
    "replace": (lambda resources, item: resources.replace(item, NEW), "be replaced: it is not in the list"),
    "own": (lambda resources, item: resources.own(owner=item, manifests=NEW), "be an owner here, since it is not in"),
    "own_all": (lambda resources, item: resources.own_all({item: NEW}, kind="A", group=""), "be an owner here, since"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("is_gone", [True, False])
def test_an_item_that_is_not_in_the_list_is_refused(name: str, is_gone: bool) -> None:
    resources, other = parsed(), parsed()
    item: Any = (resources if is_gone else other).items[0]
    if is_gone:
        resources.remove(item)
    before = [*resources.changes], resources.to_bytes()
    call, message = FOREIGN[name]
    with pytest.raises(KrmfnError, match=f"^A a cannot {message}"):
        call(resources, item)
    assert ([*resources.changes], resources.to_bytes()) == before
    assert not item.is_edited and item not in resources


def test_an_item_of_a_long_list_is_known_without_a_look_at_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call compared all items before it: to replace 40,000 took nine times as long as before."""
    lines = "".join(f"- apiVersion: v1\n  kind: A\n  metadata: {{name: a{at}}}\n" for at in range(200))
    resources = ResourceList.parse(f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{lines}".encode())
    compared: list[object] = []

    def compare(item: Item, other: object) -> bool:
        compared.append(other)
        return item is other

    monkeypatch.setattr(Item, "__eq__", compare)
    monkeypatch.setattr(Item, "__hash__", object.__hash__)
    for item in resources:
        resources.replace(item, {**item.manifest, "data": {}})
    assert not compared


def test_an_item_is_of_the_list_wherever_it_stands_in_it() -> None:
    lines = "".join(f"- apiVersion: v1\n  kind: A\n  metadata: {{name: {name}}}\n" for name in "abc")
    resources = ResourceList.parse(f"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{lines}".encode())
    first, second, third = resources.items
    resources.replace(first, {**first.manifest, "data": {}})
    resources.items[:] = [third, first]
    resources.replace(third, {**third.manifest, "data": {}})
    resources.replace(first, {**first.manifest, "data": {"k": "v"}})
    with pytest.raises(KrmfnError, match="it is not in the list"):
        resources.replace(second, second.manifest)
    assert third["data"] == {} and first["data"] == {"k": "v"}
