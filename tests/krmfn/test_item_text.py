"""An item as text and as a document: what the list would write of it, however it was changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from krmfn import Item, ResourceList, error, parse_all

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web} # of the pod
spec:
  args: [x]
  containers:
  - name: app
    image: shop:1 # ours
    env:
      a: b # why
"""
LISTED = "- " + POD.replace("\n", "\n  ").rstrip(" ")


def rename(item: Item) -> None:
    item.manifest["metadata"]["name"] = "other"


def append_to_a_list(item: Item) -> None:
    item.manifest["spec"]["args"].append("y")


def write_in_a_list(item: Item) -> None:
    item.manifest["spec"]["containers"][0]["image"] = "x"


def delete_in_a_list(item: Item) -> None:
    del item.manifest["spec"]["containers"][0]["env"]["a"]


def write_below(item: Item) -> None:
    item["spec"]["containers"][0]["env"]["c"] = "d"


def write_and_change(item: Item) -> None:
    item["spec.more"] = "z"
    item.manifest["spec"]["args"].clear()


CHANGES = [rename, append_to_a_list, write_in_a_list, delete_in_a_list, write_below, write_and_change]
changes = pytest.mark.parametrize("change", CHANGES)


def of_a_list(resources: ResourceList) -> Item:
    return resources.items[0]


def of_a_text(resources: ResourceList) -> Item:
    return resources.append(POD)[0]


def of_data(resources: ResourceList) -> Item:
    return resources.append(parse_all(POD.replace(" # ours", "").replace(" # why", ""))[0] | {"x": "y"})


def of_parsed_data(resources: ResourceList) -> Item:
    return resources.append(parse_all(POD)[0])


origins = pytest.mark.parametrize("origin", [of_a_list, of_a_text, of_data, of_parsed_data])


@changes
@origins
def test_the_text_of_an_item_is_what_the_list_writes(
    origin: Callable[[ResourceList], Item], change: Callable[[Item], None]
) -> None:
    resources = ResourceList.parse((HEAD + LISTED).encode())
    item = origin(resources)
    at, before, document = resources.items.index(item), item.text, item.document
    change(item)
    text, changed = item.text, item.document
    assert text != before and changed != document
    written = ResourceList.parse(resources.to_bytes()).items[at]
    assert written.document == changed
    if item.indent >= 0:
        assert written.text == text
    assert (item.text, item.document) == (text, changed)


@changes
def test_an_item_that_was_changed_in_place_is_edited(change: Callable[[Item], None]) -> None:
    item = ResourceList.parse((HEAD + LISTED).encode()).items[0]
    assert item.manifest and not item.is_edited
    change(item)
    assert item.is_edited


def test_a_text_is_read_by_nobody_who_asks_for_it() -> None:
    item = ResourceList.parse((HEAD + LISTED).encode()).items[0]
    assert item.text.decode() == LISTED and item.document.decode() == POD
    assert not item.is_read


def test_a_word_that_was_put_into_the_manifest_is_mentioned() -> None:
    resources = ResourceList.parse((HEAD + LISTED * 6).encode())
    assert not resources.items[1].mentions("new-word") and not resources.mentioning("new-word")
    resources.items[1].manifest["metadata"]["annotations"] = {"new-word": "x"}
    assert resources.items[1].mentions("new-word")
    assert resources.mentioning("new-word") == [resources.items[1]]


def test_a_finding_about_an_item_that_stays_as_it_came_has_its_old_name() -> None:
    resources = ResourceList.parse((HEAD + LISTED).encode())
    rename(resources.items[0])
    resources.report(error("must not be", at=resources.items[0]))
    assert [str(result.ref) for result in resources.results] == ["Pod web"]


def test_what_moves_to_another_item_keeps_its_comment_when_the_texts_were_asked_for_between() -> None:
    resources = ResourceList.parse((HEAD + LISTED + LISTED.replace("web", "two")).encode())
    first, second = resources.items
    second.manifest["spec"]["moved"] = first.manifest["spec"]["containers"][0].pop("image")
    second.manifest["spec"]["env"] = first.manifest["spec"]["containers"][0].pop("env")
    texts = [item.text for item in (first, second)]
    assert all(b"shop:1 # ours" not in text.partition(b"two")[0] for text in texts)
    assert b"  moved: shop:1 # ours\n" in resources.to_bytes() and b"      a: b # why\n" in resources.to_bytes()


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize(
    "look",
    [
        lambda item: item.text,
        lambda item: item.document,
        lambda item: item.at("spec").head_comment,
        lambda item: item.tentative().__enter__(),
    ],
)
def test_a_scalar_that_came_keeps_its_comment_whatever_was_looked_at_since(
    look: Callable[[Item], object], is_new: bool
) -> None:
    resources = ResourceList.parse((HEAD + LISTED + LISTED.replace("web", "two").replace("shop:1", "other")).encode())
    source, target = resources.items
    target = resources.append({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}) if is_new else target
    target["spec.moved"] = source.manifest["spec"]["containers"][0].pop("image")
    look(target)
    target["spec.more"] = "x"
    look(target)
    assert b"  moved: shop:1 # ours\n" in resources.to_bytes()


def test_an_item_whose_change_cannot_be_written_can_be_removed() -> None:
    resources = ResourceList.parse((HEAD + LISTED + "# of what follows\n" + LISTED).encode())
    resources.items[0].manifest["spec"]["args"].append({1})
    resources.remove(resources.items[0])
    assert resources.to_bytes().decode() == HEAD + "# of what follows\n" + LISTED


@pytest.mark.parametrize(
    "text", ["a string", "|\n  kind: Pod\n  - x", "- a", LISTED[2:].rstrip("\n"), "kind: &a A\n  b: *a"]
)
def test_a_document_is_the_same_when_the_item_has_been_read(text: str) -> None:
    items = [ResourceList.parse(f"{HEAD}- {text}\n".encode()).items[0] for _ in range(2)]
    assert items[0].manifest is not None and items[0].document == items[1].document
