"""Fields of an item by path: what is written is seen at once, and stands in the output with all else as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from krmfn import Item, ResourceList, field_spec, run
from krmfn.annotations import PATH
from krmfn.errors import KrmfnError
from krmfn.resource import Ref
from krmfn.results import Field
from krmfn.yamltext import load

HEAD = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
WEB = """\
- apiVersion: apps/v1
  kind: Deployment
  metadata: # who
    name: web # its name
    labels:
      team: shop # theirs
  spec:
    replicas: 3 # three
    template:
      spec:
        containers:
        - name: app
          image: app:1 # kpt-set: app
        initContainers:
        - name: init
          image: init:1
    nothing:
"""
OTHER = "- {apiVersion: v1, kind: ConfigMap, metadata: {name: other}} # untouched\n"


def parsed(text: str = WEB + OTHER) -> ResourceList:
    return ResourceList.parse((HEAD + text).encode())


def body(resources: ResourceList) -> str:
    return resources.to_bytes().decode().removeprefix(HEAD)


def write(path: str, value: Any) -> Callable[[Item], None]:
    return lambda item: item.__setitem__(path, value)


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (lambda item: setattr(item, "name", "shop"), "name: web # its", "name: shop # its"),
        (lambda item: item.labels.__setitem__("team", "yes"), "team: shop # theirs", 'team: "yes" # theirs'),
        (lambda item: item.labels.update(team="a", tier="b"), "team: shop # theirs", "team: a # theirs\n      tier: b"),
        (
            lambda item: setattr(item.each("spec.**.containers[*].image")[0], "value", "app:2"),
            "image: app:1 #",
            "image: app:2 #",
        ),
        (write("spec.replicas", 4), "replicas: 3 #", "replicas: 4 #"),
        (
            write("spec.strategy.type", "Recreate"),
            "    nothing:\n",
            "    nothing:\n    strategy:\n      type: Recreate\n",
        ),
        (
            lambda item: setattr(item, "namespace", "kmm"),
            "team: shop # theirs",
            "team: shop # theirs\n    namespace: kmm",
        ),
    ],
    ids=["name", "label", "labels", "image", "replicas", "field that is made", "namespace"],
)
@pytest.mark.parametrize("is_read", [False, True])
def test_a_write_changes_its_bytes_and_no_other(
    change: Callable[[Item], None], old: str, new: str, is_read: bool
) -> None:
    resources = parsed()
    if is_read:
        assert resources.items[0].manifest
        assert resources.items[0].labels
        assert resources.items[0].ref
    change(resources.items[0])
    assert body(resources) == (WEB + OTHER).replace(old, new)


def test_every_reader_sees_a_write_at_once() -> None:
    resources = parsed()
    item = resources.items[0]
    before = (Ref("apps/v1", "Deployment", "", "web"), {"team": "shop"}, "Deployment")
    assert (item.ref, item.labels, item.kind) == before
    item.name, item.namespace, item["kind"], item.path = "shop", "kmm", "DaemonSet", "a.yaml"
    item.annotations["config.kubernetes.io/local-config"] = "true"
    item.labels.pop("team")
    assert item.labels.pop("team", "none") == "none"
    assert item.ref == Ref("apps/v1", "DaemonSet", "kmm", "shop")
    assert (item.name, item.namespace, item.kind, item.path) == ("shop", "kmm", "DaemonSet", "a.yaml")
    assert item.annotations[PATH] == "a.yaml"
    assert item.is_local
    assert (item.labels, item.manifest["metadata"]["labels"]) == ({}, {})
    assert resources.where(kind="DaemonSet") == [item]
    assert item in resources.mentioning("local-config")


@pytest.mark.parametrize(
    "change",
    [
        lambda item: setattr(item, "name", "new"),
        lambda item: item.manifest["metadata"].update(name="new"),
        lambda item: item["metadata"].update(name="new"),
    ],
)
def test_an_upsert_finds_a_renamed_item_by_its_new_name(change: Callable[[Item], None]) -> None:
    resources = parsed()
    assert resources.get("v1", "ConfigMap", "other") is resources.items[1]
    change(resources.items[1])
    resources.upsert([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "b"}}])
    assert len(resources.items) == 2
    assert resources.items[1]["data.a"] == "b"


def test_the_same_value_is_no_change() -> None:
    resources = parsed()
    resources.items[0]["spec.replicas"] = 3
    resources.items[0].labels["team"] = "shop"
    assert not resources.items[0].is_edited
    assert body(resources) == WEB + OTHER


def test_a_written_value_is_a_copy() -> None:
    item = parsed().items[0]
    value = {"a": 1}
    item["spec.one"] = item["spec.other"] = value
    item["spec.one.a"] = 2
    assert (value, item["spec.other"]) == ({"a": 1}, {"a": 1})


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("spec.replicas", ["spec.replicas"]),
        ("spec.template.spec.containers[*].image", ["spec.template.spec.containers[0].image"]),
        (
            "**.image",
            ["spec.template.spec.containers[0].image", "spec.template.spec.initContainers[0].image"],
        ),
        ("metadata.*", ["metadata.name", "metadata.labels"]),
        ("spec.**.spec.*[*].name", [f"spec.template.spec.{kind}[0].name" for kind in ("containers", "initContainers")]),
        ("spec.nothing.at.all", []),
        ("spec.*.spec.containers[1]", []),
        ("**.metadata.**.team", ["metadata.labels.team"]),
    ],
)
def test_a_pattern_gives_fields_in_the_order_of_the_text(pattern: str, paths: list[str]) -> None:
    assert [field.path for field in parsed().items[0].each(pattern)] == paths


def test_a_field() -> None:
    item = parsed().items[0]
    field = item.at("spec.template.spec.containers[0].image")
    assert (field.value, field.exists, field.named) == ("app:1", True, Field(field.path, "app:1"))
    assert not item.at("spec.template.spec.containers[1]").exists
    assert item.at("spec.nothing").exists
    assert item["metadata.annotations[a/b.c]"] is None
    item["metadata.annotations[a/b.c]"] = "d"
    assert item.annotations == {"a/b.c": "d"}
    assert item.get("spec.replicas", int) == 3
    assert item.get("spec.none", str, default="x") == "x"
    assert (item.get("spec.replicas"), item.get("spec.none")) == (3, None)
    assert item.get("spec.none", int, 1) < 2, "with a default the type of what comes has no None"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (write("spec.replicas.a", 1), "web: spec.replicas.a cannot be written: spec.replicas is no mapping"),
        (write("spec.template.spec.containers[2].image", 1), r"containers\[2\].image cannot be written: \[2\] is no"),
        (write("spec.template.spec.containers.a", 1), r"\[a\] is no entry of a list of 1"),
        (write("spec.a", {1, 2}), "Deployment web: spec.a cannot be written: .* Python set"),
        (write("spec.a", float("nan")), "spec.a cannot be written"),
        (write("spec..a", 1), "'spec..a' is no field path"),
        (write("", 1), "'' is no field path"),
        (lambda item: item.__delitem__("spec.none"), "spec.none cannot be deleted: there is no such field"),
        (lambda item: item.each("spec.replicas[*].a"), "spec.replicas is no mapping and no list"),
        (lambda item: item.each("spec.template.spec.containers[*].name.a"), r"spec.*\[0\].name is no mapping"),
        (lambda item: item.get("spec.replicas", str), "spec.replicas must be a string, not 3"),
        (lambda item: item.get("spec.replicas", bool), "spec.replicas must be true or false, not 3"),
    ],
)
def test_what_cannot_be_done_names_item_and_path_and_changes_nothing(
    change: Callable[[Item], object], message: str
) -> None:
    resources = parsed()
    with pytest.raises(KrmfnError, match=message) as caught:
        change(resources.items[0])
    assert str(caught.value).startswith("Deployment web: ")
    assert body(resources) == WEB + OTHER


@pytest.mark.parametrize("path", ["a.one.x", "b.x", "c.x.y"])
def test_what_an_anchor_and_its_aliases_share_is_not_changed(path: str) -> None:
    text = "- kind: A\n  metadata: {name: new}\n  a:\n    one: &x {x: {y: 1}}\n  b: *x\n  c: {<<: *x}\n  d: {x: 1}\n"
    resources = parsed(text)
    with pytest.raises(KrmfnError, match=r"A new: .*is shared by an anchor and its aliases"):
        resources.items[0][path] = 2
    assert body(resources) == text
    resources.items[0]["d.x"] = 2
    assert body(resources) == text.replace("{x: 1}", "{x: 2}")


@pytest.mark.parametrize("pattern", ["**.initContainers[*].image", "spec.**.initContainers[*].image", "**.yes"])
def test_an_item_without_the_words_of_a_pattern_is_not_parsed(pattern: str) -> None:
    text = WEB.replace("initContainers", "others")
    item = parsed(text).items[0]
    assert item.each(pattern) == []
    assert not item.is_read
    item.manifest["spec"]["initContainers"] = [{"image": "new:1"}]
    item.manifest["yes"] = 1
    assert [field.value for field in item.each(pattern)] == [1 if "yes" in pattern else "new:1"]
    spelled = text.replace("others", '"init\\x43ontainers"').replace("nothing:", '"y\\x65s":')
    assert len(parsed(spelled).items[0].each(pattern)) == 1


def test_a_pattern_that_goes_on_below_a_scalar_is_an_error_whatever_else_is_there() -> None:
    with pytest.raises(KrmfnError, match=r"Deployment web: spec\.replicas is no mapping and no list"):
        parsed().items[0].each("spec.replicas.more.**.absent")


def test_labels_are_written_as_a_whole_and_what_does_not_write_raises() -> None:
    resources = parsed()
    item = resources.items[0]
    item.labels |= {"tier": "web"}
    item.annotations = {"a": "b"}
    assert item["metadata.labels"] == {"team": "shop", "tier": "web"}
    assert "      team: shop # theirs\n      tier: web\n    annotations:\n      a: b\n" in body(resources)
    for name in ("ref", "place", "kind", "api_version", "group", "manifest", "text", "mark"):
        with pytest.raises(AttributeError):
            setattr(item, name, None)


SPECS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("spec/template/spec/containers[]/image", {}, ["spec.template.spec.containers[0].image"]),
    ("spec/template/spec/containers/image", {"kind": "Deployment"}, ["spec.template.spec.containers[0].image"]),
    ("spec/template/spec/containers/image", {"group": "batch"}, []),
    ("spec/absent/x", {}, []),
    ("spec/absent/x", {"create": True}, ["spec.absent.x"]),
    ("spec/nothing/x", {"create": True}, ["spec.nothing.x"]),
    ("metadata/annotations/example.com\\/team", {"create": True}, ["metadata.annotations[example.com/team]"]),
]


@pytest.mark.parametrize(("path", "options", "paths"), SPECS)
def test_a_field_spec_of_kustomize_means_fields(path: str, options: dict[str, Any], paths: list[str]) -> None:
    assert [field.path for field in field_spec(parsed().items[0], path, **options)] == paths


FOUR = "- kind: Pod\n  metadata: {name: p, finalizers: [a, b, a, c]}\n  spec:\n    containers:\n" + "".join(
    f"    - name: {name} # {name}\n      ports: [{{p: 1}}, {{p: 2}}]\n" for name in "abcd"
)


def four() -> Item:
    return parsed(FOUR).items[0]


def test_fields_that_were_collected_are_those_that_they_were() -> None:
    item = four()
    entries, names = item.each("spec.containers[*]"), item.each("spec.containers[*].name")
    gone, port = item.at("spec.containers[0].name"), item.at("spec.containers[3].ports[1].p")
    for entry in entries:
        if entry.value["name"] in "ab":
            entry.delete()
    assert [container["name"] for container in item["spec.containers"]] == ["c", "d"]
    assert (names[2].value, names[2].path, names[2].comment) == ("c", "spec.containers[0].name", "c")
    assert (entries[0].exists, entries[0].value, gone.exists, gone.comment) == (False, None, False, "")
    port.value = 3
    assert item["spec.containers[1].ports[1].p"] == 3
    for stale in (entries[0], entries[1], gone):
        with pytest.raises(KrmfnError, match="cannot be written: its entry is not in the list any more"):
            stale.value = {"name": "x"}
        with pytest.raises(KrmfnError, match="cannot be deleted: its entry is not in the list any more"):
            stale.delete()
    item.manifest["spec"]["containers"].reverse()
    assert (names[2].path, names[3].path) == ("spec.containers[1].name", "spec.containers[0].name")
    item["spec.containers"] = [{"name": "new"}]
    assert not any(name.exists for name in names)


def test_texts_of_a_list_are_those_that_they_were_or_none() -> None:
    item = four()
    fields = item.each("metadata.finalizers[*]")
    fields[0].value = "z"
    fields[1].delete()
    fields[3].value = "y"
    assert item["metadata.finalizers"] == ["z", "a", "y"]
    item["metadata.finalizers"] = ["a", "a", "a", "b"]
    for field in item.each("metadata.finalizers[*]"):
        if field.value == "a":
            field.delete()
    assert item["metadata.finalizers"] == ["b"]
    item["metadata.finalizers"] = ["z", "a", "y"]
    fields = item.each("metadata.finalizers[*]")
    for field in fields:
        field.delete()
    assert item["metadata.finalizers"] == []
    assert [item.at("metadata.finalizers[0]").exists, fields[0].exists] == [False, False]


def test_a_list_that_is_not_there_is_made_and_numbers_are_keys_where_keys_are() -> None:
    item = four()
    item["spec.x[0].name"] = 1
    item["spec.y"] = None
    item["spec.y[0][0]"] = 1
    item.labels["0"] = "zero"
    item["data[1]"] = "one"
    assert (item["spec.x"], item["spec.y"]) == ([{"name": 1}], [[1]])
    assert (item["metadata.labels"], item["data"]) == ({"0": "zero"}, {"1": "one"})
    with pytest.raises(KrmfnError, match=r"spec.z\[1\].name cannot be written: there is no list for \[1\] yet"):
        item["spec.z[1].name"] = 1
    assert item["spec.z"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda item: setattr(item, "name", 5), "metadata.name must be a string, not 5"),
        (lambda item: setattr(item, "namespace", None), "metadata.namespace must be a string, not None"),
        (lambda item: item.labels.update(a=True), r"metadata.labels\[a\] must be a string, not True"),
        (lambda item: setattr(item, "labels", {"a": 1}), r"metadata.labels\[a\] must be a string, not 1"),
        (lambda item: setattr(item, "annotations", {"a/b": []}), r"metadata.annotations\[a/b\] must be a string"),
    ],
)
def test_what_must_be_a_text_is_one(change: Callable[[Item], object], words: str) -> None:
    resources = parsed()
    with pytest.raises(TypeError, match=f"Deployment web: {words}"):
        change(resources.items[0])
    assert body(resources) == WEB + OTHER


def test_a_default_in_the_place_of_a_type_and_a_key_without_brackets_are_said() -> None:
    item: Any = parsed().items[0]
    wrongs: list[Any] = ["x", list[str], []]
    for wrong in wrongs:
        with pytest.raises(TypeError, match=rf"^{re.escape(repr(wrong))} is no type .*get\('spec.a', str, def"):
            item.get("spec.a", wrong)
    for use in (item.at, item.each, item.__getitem__, lambda path: item.__setitem__(path, "x")):
        with pytest.raises(KrmfnError, match=r"goes into brackets: metadata.annotations\[example.com/team\]"):
            use("metadata.annotations.example.com/team")


ODD_KEYS = """\
- kind: A
  metadata: {name: a}
  data:
    x: 'a'
    y: "2" # c
    0x10: hex # h
    plot: y # p
    m: {n: 1, o: 'x'} # m
"""


def test_keys_that_are_other_words_to_kubernetes_keep_their_lines() -> None:
    resources = parsed(ODD_KEYS)
    data = resources.items[0]
    data["data.x"], data["data.more"], data["data.m.o"], data["data.m.p"] = "e", "b", "z", 1
    out = ODD_KEYS.replace("x: 'a'", "x: 'e'").replace("'x'", "'z', p: 1")
    assert body(resources) == out + "    more: b\n"
    data["data.true"], data["data.16"] = "4", "dec"
    assert body(resources) == out.replace('"2"', '"4"').replace("hex", "dec") + "    more: b\n"


NO_MAPPING = "cannot be written: line 4: an item must be a mapping; mend or remove it"
SHARED = "- kind: A\n  metadata: {name: a}\n  ns: &ns old\n  labels: {ns: *ns} # L\n  mode: 0644\n"


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (SHARED, "ns", "A a: ns cannot be changed: the anchor &ns is there, and an alias elsewhere needs it; write"),
        ("- kind: A\n  metadata: {name: a}\n  ? k # K\n  : {a: b}\n", "k", "A a: k cannot be written: comments or sp"),
        ("- {kind: A, metadata: {name: a},\n  ? b : 1}\n", "x", "A a: x cannot be written: what is in its brackets"),
        (SHARED + "  b: 1\n  b: 2\n", "mode", "A a: mode cannot be written: line 4: b stands twice in this item;"),
        ("- null\n", "metadata.namespace", NO_MAPPING),
        ("- foo # c\n", "metadata.namespace", NO_MAPPING),
        ("- [1]\n", "metadata.namespace", NO_MAPPING),
    ],
)
def test_what_would_lose_text_is_refused_with_the_field(text: str, path: str, message: str) -> None:
    resources = parsed(text)
    resources.items[0][path] = "new"
    with pytest.raises(KrmfnError, match=re.escape(message)):
        resources.to_bytes()
    output, code = run(lambda resources: resources.items[0].__setitem__(path, "new"), (HEAD + text).encode())
    assert (code, output.startswith((HEAD + text).encode())) == (1, True)


def test_an_item_that_is_emptied_is_refused_and_one_that_is_replaced_is_written() -> None:
    resources = parsed(SHARED.replace("*ns", "x"))
    resources.items[0].manifest.clear()
    with pytest.raises(KrmfnError, match="an item must be a mapping"):
        resources.to_bytes()
    resources.replace(resources.items[0], {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "ns": "new"})
    assert "ns: &ns new\n" in body(resources)


@pytest.mark.parametrize("dash", ["- ", ""])
def test_json_over_several_lines_is_written_with_more_keys(dash: str) -> None:
    item = '{"kind": "A",\n   "metadata": {"name": "a #b"}}'
    head = HEAD.replace("items:\n", "")
    text = f"{HEAD}- {item}\n" if dash else json.dumps({**load.read(head.encode()), "items": [0]}).replace("0", item)
    resources = ResourceList.parse(text.encode())
    resources.items[0]["spec.a"] = 1
    assert load.read(resources.to_bytes())["items"][0] == {"kind": "A", "metadata": {"name": "a #b"}, "spec": {"a": 1}}


@pytest.mark.parametrize("number", [1 << 64, -(1 << 63) - 1, 10**4000])
def test_an_integer_that_kubernetes_does_not_have_is_not_written(number: int) -> None:
    resources = parsed()
    with pytest.raises(KrmfnError, match=r"spec.replicas cannot be written: it is an integer of more than 64 bits"):
        resources.items[0]["spec.replicas"] = number
    with pytest.raises(KrmfnError, match=r"spec is an integer of more"):
        resources.append({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": number})
    assert body(resources) == WEB + OTHER


@pytest.mark.parametrize("way", ["item", "manifest", "replace"])
def test_an_edit_that_cannot_be_written_is_a_result_about_its_field(way: str) -> None:
    """With the path; the value that was to be written is not the one that leaves, so it is not shown as that."""

    def edit(resources: ResourceList) -> None:
        (item,) = resources.items
        if way == "item":
            item["spec.port"] = 81
        elif way == "manifest":
            item.manifest["spec"]["port"] = 81
        else:
            resources.replace(item, {**item.manifest, "spec": {"port": 81, "other": 80}})

    text = f"{HEAD}- apiVersion: v1\n  kind: A\n  metadata: {{name: a}}\n  spec:\n    port: &p 80 # c\n    other: *p\n"
    output, code = run(edit, text.encode())
    assert (code, output.startswith(text.encode())) == (1, True)
    (result,) = load.read(output[len(text) :])["results"]
    assert result["message"].startswith("cannot be changed: the anchor &p is there")
    assert result["field"] == {"path": "spec.port"}
