"""A ResourceList in memory: select, report, upsert; what is accepted and refused as input."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.ownership import OWNER, stamp
from krmfn.resource import Ref, same
from krmfn.resourcelist import ResourceList
from krmfn.results import error, info, warning
from krmfn.yamltext import load
from tests import builders

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
OWNED = """\
- apiVersion: krmfn.dev/v1alpha1
  kind: DeviceConfig
  metadata:
    name: gaudi
    namespace: kmm
# of the module
- apiVersion: kmm.sigs.x-k8s.io/v1beta1
  kind: Module # ours
  metadata:
    name: gaudi
    namespace: kmm
    annotations:
      krmfn.dev/owner: drv krmfn.dev|DeviceConfig|kmm|gaudi kmm.sigs.x-k8s.io|Module|kmm|gaudi # made by us
      theirs: x
  spec:
    version: "1" # now
# of the other
- apiVersion: v1
  kind: Module
  metadata:
    name: foreign
- apiVersion: apps/v1
  kind: DaemonSet
  metadata:
    name: stale
    annotations: {krmfn.dev/owner: drv krmfn.dev|DeviceConfig|kmm|gaudi apps|DaemonSet||stale}
# of the last
- apiVersion: apps/v1
  kind: DaemonSet
  metadata:
    name: of-another-function
    annotations:
      krmfn.dev/owner: other krmfn.dev|DeviceConfig|kmm|gaudi apps|DaemonSet||of-another-function
"""
CONFIG = Ref("krmfn.dev/v1alpha1", "DeviceConfig", "kmm", "gaudi")


def parsed(items: str = OWNED) -> ResourceList:
    return ResourceList.parse(f"{HEAD}items:\n{items}".encode())


def module(version: str = "1", **metadata: Any) -> dict[str, Any]:
    manifest = builders.manifest("kmm.sigs.x-k8s.io/v1beta1", "Module", "gaudi", **metadata)
    return stamp({**manifest, "spec": {"version": version}}, "drv", CONFIG)


def refs(resources: ResourceList) -> list[str]:
    return [f"{item.kind}/{item.name}" for item in resources.items]


def test_select() -> None:
    resources = parsed()
    assert [item.name for item in resources.where(kind="Module")] == ["gaudi", "foreign"]
    assert [item.name for item in resources.where(kind="Module", group="")] == ["foreign"]
    assert [item.name for item in resources.where(kind="Module", group="kmm.sigs.x-k8s.io")] == ["gaudi"]
    assert resources.where(kind="Pod") == []


def test_upsert_of_what_is_there_changes_nothing() -> None:
    resources = parsed()
    before = resources.to_bytes()
    resources.upsert([copy.deepcopy(item.manifest) for item in resources.items])
    assert resources.changes == []
    assert resources.to_bytes() == before


def test_upsert_changes_in_place_and_adds_at_the_end() -> None:
    resources = parsed()
    new = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}}
    changed = copy.deepcopy(resources.items[1].manifest)
    changed["spec"]["version"] = "2"
    resources.upsert([changed, new])
    assert resources.changes == [("updated", Ref("kmm.sigs.x-k8s.io/v1beta1", "Module", "kmm", "gaudi")),
                                 ("created", Ref("v1", "ServiceAccount", "", "sa"))]  # fmt: skip
    text = OWNED.replace('version: "1"', 'version: "2"')
    added = "- apiVersion: v1\n  kind: ServiceAccount\n  metadata:\n    name: sa\n"
    assert resources.to_bytes().decode() == f"{HEAD}items:\n{text}{added}"


def test_upsert_twice() -> None:
    resources = parsed()
    resources.upsert([module("2")])
    resources.upsert([module("3")])
    fresh = parsed()
    fresh.upsert([module("3")])
    assert resources.to_bytes() == fresh.to_bytes()


def test_upsert_refuses_what_is_there_twice_and_names_both_places() -> None:
    head = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n"
    path = "    annotations:\n      internal.config.kubernetes.io/path: {}.yaml\n  x: {}\n"
    twice = "".join(head + path.format(*place) for place in (("a", 1), ("b", 2)))
    other = "- apiVersion: v1\n  kind: B\n  metadata:\n    name: a\n  x: 3\n"
    resources = parsed(other + twice + other)
    before = resources.to_bytes()
    for put in (
        resources.upsert,
        lambda manifest: resources.get(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"]),
    ):
        with pytest.raises(KrmfnError, match=r"A a is there 2 times, in a\.yaml and in b\.yaml: say which"):
            put({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "x": 5})
    assert resources.to_bytes() == before
    resources.items[2]["x"] = 5
    assert [item["x"] for item in load.read(resources.to_bytes())["items"]] == [3, 1, 5, 3]


def test_upsert_reads_no_item_of_another_kind() -> None:
    named = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n  x: "
    resources = parsed("- kind: B\n  metadata: *nothing\n" + named + "1\n")
    resources.upsert([{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "x": 2}])
    assert resources.to_bytes().decode().endswith("- kind: B\n  metadata: *nothing\n" + named + "2\n")


def test_an_item_of_which_a_field_was_read_keeps_the_name_it_was_found_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """To make its name from its data for each question took sixteen times as long."""
    resources = parsed()
    assert resources.items[1]["spec"] == {"version": "1"}
    monkeypatch.setattr("krmfn.item.ref_of", None)
    assert resources.get("kmm.sigs.x-k8s.io/v1", "Module", "gaudi", "kmm") is resources.items[1]
    assert resources.get("v1", "Module", "none") is None


@pytest.mark.parametrize(
    ("fields", "manifest"),
    [
        ("  x: 1\n", {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "x": True}),
        ("", {"apiVersion": "v2", "kind": "A", "metadata": {"name": "a"}}),
    ],
    ids=["true is not one", "another version is the same object"],
)
def test_upsert_writes_what_python_or_the_id_takes_for_equal(fields: str, manifest: dict[str, Any]) -> None:
    resources = parsed(f"- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n{fields}")
    resources.upsert([manifest])
    assert repr(load.read(resources.to_bytes())["items"]) == repr([manifest])


def test_report() -> None:
    resources = parsed()
    assert resources.report([info("a"), warning("b"), info("a")])
    assert not resources.failed
    assert not resources.report([error("c"), error("c", rule="X")])
    assert resources.failed
    assert [result.message for result in resources.results] == ["a", "b", "c", "c"]


def test_after_an_error_the_items_leave_as_they_came() -> None:
    resources = parsed()
    resources.upsert([module("2"), {"apiVersion": "v1", "kind": "New", "metadata": {"name": "new"}}])
    resources.remove(resources.items[3])
    resources.items[0].manifest["spec"] = 1
    resources.report([error("no")])
    assert resources.to_bytes().decode() == f'{HEAD}items:\n{OWNED}results:\n- message: "no"\n  severity: error\n'


@pytest.mark.parametrize(
    "layout",
    [f"{HEAD}items: [%s]\n", '{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": [%s]}'],
)
@pytest.mark.parametrize(("text", "path"), [('{"kind": "A", "a": 1}', "a"), ('{"kind": "A", "a": 1, "a": 2}', "b")])
def test_after_an_error_items_in_brackets_leave_as_they_came(layout: str, text: str, path: str) -> None:
    resources = ResourceList.parse((layout % text).encode())
    resources.items[0][path] = 3
    resources.report([error("no")])
    assert f"[{text}]" in resources.to_bytes().decode()


@pytest.mark.parametrize("before", ["", "- kind: A\n"])
def test_a_finding_does_not_end_up_in_the_comment_behind_the_item_that_was_removed(before: str) -> None:
    resources = parsed(f"{before}- kind: B\n# end")
    resources.remove(resources.items[-1])
    resources.report([warning("w")])
    assert resources.to_bytes().decode().endswith("\n# end\nresults:\n- message: w\n  severity: warning\n")


REFUSED = {
    "": "expected a mapping",
    "kind: List\napiVersion: v1\nitems: []\n": "expected a ResourceList (config.kubernetes.io/v1), found",
    "a: b\n": "expected a ResourceList (config.kubernetes.io/v1), found apiVersion None, kind None",
    f"{HEAD}items: text\n": "`items` of the ResourceList is not a list",
    f"{HEAD}items:\n  a: b\n": "`items` of the ResourceList is not a list",
    f"{HEAD}items: []\n---\na: b\n": "line 4: another document begins",
    f"{HEAD}items: [\n": "line 4: did not find expected node content",
    f"{HEAD}items:\n- a: '\0'\n": "line 4: a NUL byte",
    HEAD: "the ResourceList has no `items`; write `items: []` for an empty one",
    f"{HEAD}results: []\n": "the ResourceList has no `items`",
    "{apiVersion: config.kubernetes.io/v1, kind: ResourceList}": "the ResourceList has no `items`",
    "apiVersion: config.kubernetes.io/v2\nkind: ResourceList\n": "expected a ResourceList",
    "apiVersion: [a]\nkind: {b: c}\n": "expected a ResourceList",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    with pytest.raises(KrmfnError) as refused:
        ResourceList.parse(text.encode())
    assert str(refused.value).startswith(REFUSED[text])


@pytest.mark.parametrize("before", [0, 10, 3_000_000])
def test_the_line_of_what_is_no_utf_8(before: int) -> None:
    data = f"{HEAD}items:\n- a: 'é{'x' * before}'\n- b: '".encode() + b"\xe9'\n"
    with pytest.raises(KrmfnError, match=r"^line 5: not UTF-8 \(invalid continuation byte\)"):
        ResourceList.parse(data)


@pytest.mark.parametrize("step", range(4))
def test_characters_across_the_steps_of_the_check(step: int) -> None:
    fill = "x" * ((1 << 20) - len(f"{HEAD}items:\n- a: '") - step)
    resources = ResourceList.parse(f"{HEAD}items:\n- a: '{fill}\U0001f600'\n".encode())
    assert len(resources.items) == 1


def test_a_list_that_was_not_parsed() -> None:
    resources = ResourceList()
    assert ResourceList.parse(resources.to_bytes()).items == []
    resources.upsert([module()])
    assert OWNER in resources.items[0].annotations
    assert refs(resources) == ["Module/gaudi"]


NAMED = {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}
HOLDING_ITSELF: dict[str, Any] = {**NAMED, "spec": {}}
HOLDING_ITSELF["spec"]["self"] = HOLDING_ITSELF
NOT_JSON: list[tuple[Any, str]] = [
    ({"kind": "A", "metadata": {"name": "a"}}, "A a cannot be put into the list: it has no apiVersion"),
    ({"apiVersion": "v1", "metadata": {"name": "a"}}, "resource a cannot be put into the list: it has no kind"),
    ({"apiVersion": "v1", "kind": "A"}, "A (no name) cannot be put into the list: it has no metadata.name"),
    (
        {**NAMED, "metadata": {"name": 1}},
        "A (no name) cannot be put into the list: it has no metadata.name, or one that",
    ),
    (
        {**NAMED, "spec": {"a": {"x"}}},
        "A a cannot be put into the list: spec.a is a Python set; a manifest may contain",
    ),
    ({**NAMED, "spec": [(1,)]}, "A a cannot be put into the list: spec[0] is a Python tuple"),
    ({**NAMED, "spec": object()}, "A a cannot be put into the list: spec is a Python object"),
    ({**NAMED, "spec": b"x"}, "A a cannot be put into the list: spec is a Python bytes"),
    ({**NAMED, "spec": float("nan")}, "A a cannot be put into the list: spec is nan"),
    ({**NAMED, "spec": float("-inf")}, "A a cannot be put into the list: spec is -inf"),
    ({**NAMED, "spec": {1: 2}}, "A a cannot be put into the list: spec has the key 1, which is not a string"),
    ({**NAMED, None: 2}, "A a cannot be put into the list: the key None is not a string"),
    ({**NAMED, "spec": "\ud83d"}, "A a cannot be put into the list: spec contains half a surrogate pair"),
    (HOLDING_ITSELF, "spec.self.spec is nested deeper than 200 levels, or contains itself"),
    ("x", "a str cannot be put into the list; a manifest is a dict"),
]


@pytest.mark.parametrize(("manifest", "sentence"), NOT_JSON, ids=[sentence for _, sentence in NOT_JSON])
@pytest.mark.parametrize("present", [True, False])
def test_what_is_no_manifest_is_refused_whole(manifest: Any, sentence: str, present: bool) -> None:
    text = "- apiVersion: v1\n  kind: A\n  metadata:\n    name: a\n" if present else OWNED
    resources = parsed(text)
    with pytest.raises(KrmfnError, match=re.escape(sentence)):
        resources.upsert([module("2"), manifest])
    assert resources.to_bytes() == parsed(text).to_bytes()


def test_a_manifest_given_to_upsert_is_the_callers_again() -> None:
    resources = parsed("")
    manifest = copy.deepcopy(NAMED)
    for name in "ab":
        manifest["metadata"]["name"] = name  # type: ignore[index]
        resources.upsert([manifest])
    assert [item.name for item in resources.items] == ["a", "b"]
    assert [item["metadata"]["name"] for item in load.read(resources.to_bytes())["items"]] == ["a", "b"]


def change(manifest: Any, path: str) -> None:
    *parents, last = path.split(".")
    for part in parents:
        manifest = manifest[part]
    manifest[last] = "changed"


@pytest.mark.parametrize("path", ["spec.version", "metadata.name", "added"])
@pytest.mark.parametrize("is_new", [False, True])
def test_a_change_in_place_counts_and_every_reader_sees_it(path: str, is_new: bool) -> None:
    resources = parsed("" if is_new else OWNED)
    if is_new:
        resources.upsert([module()])
    item = next(item for item in resources.items if item.kind == "Module")
    before = item.name, item.ref
    assert item.manifest is item.manifest
    change(item.manifest, path)
    assert (item.name, item.ref) == (before if path != "metadata.name" else ("changed", Ref(*item.ref[:3], "changed")))
    again = ResourceList.parse(resources.to_bytes())
    assert [entry.manifest for entry in again.items] == [entry.manifest for entry in resources.items]


@pytest.mark.parametrize("filling", [0, 2 << 20])
@pytest.mark.parametrize(
    ("old", "new"),
    [(-1, -2), ({}, []), (1, True), (1, 1.0), (1, "1"), (None, ""), ([1], [2]), ([1], (1, 2)), ("a", {})],
)
def test_a_change_of_any_type_is_seen_in_items_of_any_size(old: Any, new: Any, filling: int) -> None:
    resources = parsed(f"- kind: A\n  fills: {'x' * filling}\n  a: {json.dumps(old)}\n")
    for value in (old, new):
        assert resources.to_bytes()
        resources.items[0].manifest["a"] = value
    assert resources.items[0].content.is_changed
    if isinstance(new, tuple):
        with pytest.raises(KrmfnError, match="A \\(no name\\): a is a Python tuple"):
            resources.to_bytes()
    else:
        assert same(load.read(resources.to_bytes())["items"][0]["a"], new)


@pytest.mark.parametrize("filling", [0, 2 << 20])
def test_a_value_that_holds_itself_is_a_change_too(filling: int) -> None:
    resources = parsed(f"- kind: A\n  fills: {'x' * filling}\n  a: {{}}\n")
    value = resources.items[0].manifest["a"]
    value["itself"] = value
    with pytest.raises(KrmfnError, match=r"a\.itself\.itself is nested deeper than 200 levels, or contains itself"):
        resources.to_bytes()


def test_a_change_in_place_counts_when_it_is_upserted() -> None:
    resources = parsed()
    manifest = resources.items[1].manifest
    manifest["spec"]["version"] = "3"
    manifest["spec"].setdefault("selector", {})["a"] = "b"
    resources.upsert([manifest])
    assert load.read(resources.to_bytes())["items"][1]["spec"] == {"version": "3", "selector": {"a": "b"}}
    assert b'version: "3" # now' in resources.to_bytes()


def test_a_look_is_no_change() -> None:
    text = "- kind: A\n  a: .nan\n  b: 2001-01-01\n  c: [1, 1.5, null]\n- kind: B\n  a: {b: .inf}\n"
    text += text.replace("- kind: A\n", f"- kind: A\n  fills: {'x' * (2 << 20)}\n")
    resources = parsed(text)
    assert all(item.manifest for item in resources.items)
    assert resources.to_bytes() == parsed(text).to_bytes()


@pytest.mark.parametrize("config", [None, {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "yes"}}])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_items_of_files_make_a_list(count: int, config: dict[str, Any] | None) -> None:
    kept = b"# a\napiVersion: v1\nkind: A\na: |+\n  x\n\n"
    texts = [kept, b'{"apiVersion": "v1", "kind": "B"}', b"kind: C\na: |\n  x"]
    items = [Item(text, 0, len(text), -2) for text in texts[:count]]
    resources = ResourceList(items, config)
    resources.upsert([NAMED])
    resources.report([info("m")])
    again = ResourceList.parse(resources.to_bytes())
    assert [item.manifest for item in again.items] == [*(load.read(text) for text in texts[:count]), NAMED]
    assert again.function_config == config
    assert load.read(again.to_bytes())["results"] == [{"message": "m", "severity": "info"}]


@pytest.mark.parametrize("order", [["krmfn.dev/owner", "krmfn.dev"], ["krmfn.dev", "krmfn.dev/owner", "dev/owner"]])
def test_mentioning_finds_what_each_item_says_whatever_was_asked_before(order: list[str]) -> None:
    spelled = ('"krmfn\\u002edev/owner"', '"k\\x72mfn.dev"')
    values = ("krmfn.dev/owner", "krmfn.dev", *spelled, "other", "dev/owner", "!x a")
    items = "".join(f"- kind: A\n  metadata:\n    name: a{n}\n  at: {value}\n" for n, value in enumerate(values))
    resources = parsed(items)
    for word in (*order, *order):
        assert resources.mentioning(word) == [item for item in resources.items if item.mentions(word)]
        few = ResourceList(resources.items[2:5])  # these are searched one by one
        assert few.mentioning(word) == [item for item in few.items if item in resources.mentioning(word)]
    assert {"a0", "a2"} <= {item.name for item in resources.mentioning("krmfn.dev/owner")}
