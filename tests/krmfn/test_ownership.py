"""Who made an object, and what an update may replace."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn.ownership import OWNER, PASSED_ON, Mark, known_as, mark_of, stamp, updated
from krmfn.resource import Ref

CONFIG = Ref("krmfn.dev/v1alpha1", "DeviceConfig", "kmm", "gaudi")
PREVIOUS = "internal.config.kubernetes.io/previous"


def manifest(labels: Any = None, notes: Any = None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "m", "namespace": "kmm"}
    metadata |= {"labels": labels} if labels is not None else {}
    metadata |= {"annotations": notes} if notes is not None else {}
    return {"apiVersion": "v1", "kind": "Module", "metadata": metadata, **fields}


MADE = ("", "Module", "kmm", "m")


def test_a_stamp_is_read_back() -> None:
    stamped = stamp(manifest(), "drv", CONFIG, ["labels/team", "annotations/b"])
    notes = stamped["metadata"]["annotations"]
    assert notes == {
        OWNER: "drv krmfn.dev|DeviceConfig|kmm|gaudi |Module|kmm|m",
        PASSED_ON: "annotations/b labels/team",
    }
    assert mark_of(notes) == Mark("drv", CONFIG.id, MADE)
    assert PASSED_ON not in stamp(manifest(), "drv", CONFIG)["metadata"]["annotations"]


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "a|b|c",
        "a|b|c|d|e",
        "krmfn.dev|DeviceConfig|kmm|gaudi",
        "|||",
        "drv a|b|c|d",
        "drv  a|b|c|d a|b|c|d",
        " a|b|c|d a|b|c|d",
        "drv a|b|c|d a|b|c|d ",
        "drv a|b|c|d a|b|c|d|e",
        "drv a|b|c|d a|b|c|d a|b|c|d",
        "drv a|b|c|d a||c|d",
        "a|b|c|d a|b|c|d",
    ],
)
def test_what_is_no_mark(value: str) -> None:
    assert mark_of({OWNER: value}) is None
    assert mark_of({}) is None


@pytest.mark.parametrize("owner", [CONFIG._replace(name="a b"), CONFIG._replace(namespace="a|b"), CONFIG])
def test_a_mark_that_could_not_be_read_back_is_not_written(owner: Ref) -> None:
    function = "drv" if owner != CONFIG else "my function"
    with pytest.raises(ValueError, match="cannot be part of the mark of Module kmm/m"):
        stamp(manifest(), function, owner)


@pytest.mark.parametrize("odd", [{"kind": "Module", "metadata": {}}, {"metadata": {"name": "m"}}])
def test_what_has_no_name_or_kind_is_not_marked(odd: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="it needs a kind and a name"):
        stamp(odd, "drv", CONFIG)


@pytest.mark.parametrize(
    ("spaces", "names", "former"),
    [
        ("", "", []),
        ("kmm", "gaudi", [("kmm", "gaudi")]),
        ("kmm,base", "gaudi,x-gaudi", [("kmm", "gaudi"), ("base", "x-gaudi")]),
        ("default,base", "gaudi,gaudi", [("default", "gaudi"), ("", "gaudi"), ("base", "gaudi")]),
    ],
)
def test_an_owner_is_known_by_the_names_it_had_before_kustomize(spaces: str, names: str, former: Any) -> None:
    now = Ref("krmfn.dev/v1", "DeviceConfig", "prod", "x-gaudi-y")
    notes = {f"{PREVIOUS}Namespaces": spaces, f"{PREVIOUS}Names": names} if names else {}
    expected = {("krmfn.dev", "DeviceConfig", space, name) for space, name in former}
    assert known_as(now, notes) == expected | {now.id}


def test_an_update_keeps_what_others_put_there() -> None:
    existing = manifest({"ours": "1", "theirs": "2"}, {OWNER: "x", "note": "n"}, spec={"a": 1, "b": 2}, status={"c": 3})
    ours = manifest({"ours": "3"}, {OWNER: "y"}, spec={"a": 4})
    assert updated(existing, ours) == manifest(
        {"ours": "3", "theirs": "2"}, {OWNER: "y", "note": "n"}, spec={"a": 4}, status={"c": 3}
    )


def test_what_the_owner_passed_on_and_has_no_more_is_taken_back() -> None:
    existing = manifest(
        {"team": "a", "theirs": "b"}, {OWNER: "x", PASSED_ON: "annotations/contact labels/team", "contact": "c"}
    )
    assert updated(existing, manifest(None, {OWNER: "x"})) == manifest({"theirs": "b"}, {OWNER: "x"})


def test_nothing_left_is_nothing_written() -> None:
    existing = manifest({"team": "a"}, {PASSED_ON: "labels/team"})
    assert updated(existing, manifest()) == manifest()


@pytest.mark.parametrize("metadata", [None, [], {"labels": ["a"], "annotations": "b"}, {"annotations": {PASSED_ON: 5}}])
def test_odd_metadata_gives_way(metadata: Any) -> None:
    ours = manifest({"a": "b"}, {OWNER: "x"})
    assert updated({"kind": "Module", "metadata": metadata}, ours) == ours


def test_neither_manifest_is_changed() -> None:
    existing, ours = manifest({"a": "b"}, {OWNER: "x"}), manifest({"c": "d"})
    updated(existing, ours)
    assert existing == manifest({"a": "b"}, {OWNER: "x"})
    assert ours == manifest({"c": "d"})
