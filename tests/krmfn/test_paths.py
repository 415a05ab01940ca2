"""Paths of fields: entries by a name or from the end, parts one by one, and what is no path."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import KrmfnError, ResourceList

TEXT = """\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: v1
  kind: Service
  metadata:
    name: shop
    labels: {example.com/part-of: shop, "[x]": y}
  spec:
    ports:
    - name: web # public
      port: 80
    - name: metrics
      port: 9090 # inside
    - {name: more, port: 90, named: true}
    - {name: more, port: 91}
- apiVersion: v1
  kind: Pod
  metadata: {name: pod, labels: {a: b, c: d}, annotations: {e: f}}
"""


def resources() -> ResourceList:
    return ResourceList.parse(TEXT.encode())


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("spec.ports[name=web].port", 80, "spec.ports[0].port"),
        ("spec.ports[port=9090].name", "metrics", "spec.ports[1].name"),
        ("spec.ports[named=true].port", 90, "spec.ports[2].port"),
        ("spec.ports[-1].port", 91, "spec.ports[3].port"),
        ("spec.ports[-4].name", "web", "spec.ports[0].name"),
        ("spec.ports[-5].name", None, "spec.ports[-5].name"),
        ("spec.ports[name=no].port", None, "spec.ports[name=no].port"),
        ("spec.none[-1]", None, "spec.none[-1]"),
        ("metadata.labels[example.com/part-of]", "shop", "metadata.labels[example.com/part-of]"),
        (("metadata", "labels", "example.com/part-of"), "shop", "metadata.labels[example.com/part-of]"),
        (("spec", "ports", 1, "name"), "metrics", "spec.ports[1].name"),
    ],
)
def test_a_path_names_a_field(path: Any, value: Any, place: str) -> None:
    field = resources().items[0].at(path)
    assert (field.value, field.exists, field.path) == (value, value is not None, place)


@pytest.mark.parametrize(
    "path",
    ["a[?(@.name=='web')]", 'a["name"]', "a['name']", "a[0:1]", "a[:-1]", "a[-x]", "a[=b]", "a[b =c]", "a[x*]", "a[*]"],
)
def test_other_brackets_are_refused(path: str) -> None:
    item = resources().items[0]
    with pytest.raises(KrmfnError, match=r"^Service shop: .* is no field path: .*take \[0\], \[-1\], \[name=web\]"):
        item.at(path)
    if not path.endswith("[*]"):
        with pytest.raises(KrmfnError, match=r"is no field path"):
            item.each(path)


def test_each_chooses_every_entry_of_a_name() -> None:
    item = resources().items[0]
    assert [field.path for field in item.each("spec.ports[name=more].port")] == [
        "spec.ports[2].port",
        "spec.ports[3].port",
    ]
    assert [field.path for field in item.each("**[-1].name")] == ["spec.ports[3].name"]
    assert item.each("spec.ports[name=no].*") == []


def test_a_name_of_several_entries_is_no_place_and_one_of_none_is_not_made() -> None:
    item = resources().items[0]
    with pytest.raises(KrmfnError, match=r"^Service shop: spec.ports\[name=more\] is the name of 2 entries"):
        item.at("spec.ports[name=more].port")
    for path in ("spec.ports[name=no].port", "spec.none[-1].port"):
        with pytest.raises(KrmfnError, match=r"cannot be written: there is no entry \["):
            item[path] = 1


def test_a_chosen_field_is_written_with_its_comment() -> None:
    listed = resources()
    for field in listed.items[0].each("spec.ports[name=web].port"):
        field.value = 8080
    listed.items[0]["spec.ports[name=metrics].port"] = 9091
    expected = TEXT.replace("port: 80\n", "port: 8080\n").replace("9090 # inside", "9091 # inside")
    assert listed.to_bytes().decode() == expected


def test_a_list_is_a_collection_of_its_items() -> None:
    listed = resources()
    service, pod = listed
    assert (len(listed), service in listed, bool(ResourceList())) == (2, True, True)
    for item in listed:
        listed.remove(item)
    assert (len(listed), pod in listed) == (0, False)


def test_where_chooses_by_name_labels_and_annotations() -> None:
    listed = resources()
    service, pod = listed
    assert listed.where(name="shop") == [service]
    assert listed.where(labels={"a": "b"}) == listed.where(labels={"a": "b", "c": "d"}, annotations={"e": "f"}) == [pod]
    assert listed.where(labels={"a": "c"}) == listed.where(kind="Service", name="pod") == []
