"""Edits that may turn out to be none: what cannot be written leaves the item as it was."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from krmfn import Item, KrmfnError, Refused, ResourceList, error

TEXT = b"""\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: example.com/v1
  kind: Example
  metadata:
    name: a # of the example
    labels: {app: a}
  # what everybody sees
  spec:
    port: &port 8080 # open in the firewall
    probe: *port
    list:
    # about one
    - name: one # first
    - name: two
    tag: "1.2" # pinned
- apiVersion: v1
  kind: Other
  metadata: {name: b}
"""


def replace(resources: ResourceList, item: Item) -> None:
    manifest = copy.deepcopy(item.manifest)
    manifest["spec"]["port"] = 1
    resources.replace(item, manifest)


def in_place(_: ResourceList, item: Item) -> None:
    spec = item.manifest["spec"]
    spec["list"].reverse()
    spec["more"] = {"kept": spec.pop("list")}
    spec["port"] = 1


def merged(_: ResourceList, item: Item) -> None:
    item.merge({"spec": {"list": None, "port": 1, "new": [{"a": "b"}]}})


def by_fields(_: ResourceList, item: Item) -> None:
    item.name, item.labels["x"], item.path = "c", "y", "c.yaml"
    item.at("spec.tag").comment = "other"
    item.at("spec.tag").head_comment = "above"
    item.at("spec.tag").rename("version")
    del item["spec.list[0]"]
    item["spec.port"] = 1


EDITS = (replace, in_place, merged, by_fields)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("is_edited", [False, True], ids=["as it came", "edited before"])
def test_what_cannot_be_written_leaves_the_item_as_it_was(
    edit: Callable[[ResourceList, Item], None], is_edited: bool
) -> None:
    resources = ResourceList.parse(TEXT)
    item = resources.items[0]
    field, entry = item.at("spec.tag"), item.at("spec.list[1].name")
    if is_edited:
        field.value = "1.3"
        item.at("spec.list[0].name").comment = "the first"
    before, manifest = copy.deepcopy(item.manifest), item.manifest
    with pytest.raises(Refused, match="the anchor &port is there"), item.tentative():
        edit(resources, item)
    assert item.manifest is manifest
    assert (item.manifest, item.name, item.path, dict(item.labels)) == (before, "a", "", {"app": "a"})
    assert (field.value, field.comment, field.head_comment) == ("1.3" if is_edited else "1.2", "pinned", "")
    after = TEXT.replace(b'"1.2"', b'"1.3"').replace(b"# first", b"# the first") if is_edited else TEXT
    assert resources.to_bytes() == after
    entry.value = "2"
    assert resources.to_bytes() == after.replace(b"name: two", b'name: "2"'), "what was looked up counts still"


def test_what_can_be_written_is_an_edit_like_any_other() -> None:
    resources = ResourceList.parse(TEXT)
    item = resources.items[0]
    with item.tentative():
        item["spec.tag"] = "1.3"
        item["spec.list[1].name"] = "three"
    assert resources.to_bytes() == TEXT.replace(b'"1.2"', b'"1.3"').replace(b"two", b"three")


def test_an_exception_leaves_the_item_as_it_was_and_comes_through() -> None:
    resources = ResourceList.parse(TEXT)
    with pytest.raises(ZeroDivisionError), resources.items[0].tentative():
        resources.items[0]["spec.tag"] = str(1 / 0)
    with pytest.raises(KeyError), resources.items[0].tentative():
        resources.items[0]["spec.tag"] = "1.3"
        raise KeyError
    assert resources.to_bytes() == TEXT


def test_what_was_refused_before_is_no_part_of_it() -> None:
    resources = ResourceList.parse(TEXT)
    item = resources.items[0]
    item["spec.port"] = 1
    with pytest.raises(KrmfnError, match="&port"), item.tentative():
        raise AssertionError("the block does not begin")


def test_a_finding_proposes_a_value() -> None:
    item = ResourceList.parse(TEXT).items[0]
    finding = error("must be newer", at=item.at("spec.tag"), proposed="1.3")
    assert str(finding).endswith("spec.tag: must be newer; proposed: 1.3")
    assert str(error("must be on", at=item.at("spec.tag"), proposed=True)).endswith("must be on; proposed: true")
    assert str(error("must be 2", at=item.at("spec.tag"), proposed=2, remedy="write 2")).endswith("must be 2; write 2")
    assert finding.to_manifest()["field"] == {"path": "spec.tag", "currentValue": "1.2", "proposedValue": "1.3"}
    assert finding.place == item.at("spec.tag").place
    with pytest.raises(ValueError, match="is proposed for no field; pass at=field"):
        error("must be newer", at=item, proposed="1.3")
