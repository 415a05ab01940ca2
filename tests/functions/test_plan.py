"""What changes between two lists of manifests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from krmfn_functions.differences import ABSENT
from krmfn_functions.formats.comment import FORMATS
from krmfn_functions.plan import Comparison, Plan, plan

from krmfn import Manifest, Result


def thing(name: str = "a", kind: str = "ConfigMap", version: str = "v1", **fields: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "n"}, **fields}


def compared(planned: Plan, notes: Sequence[Result] = ()) -> list[Comparison]:
    """The comparison of two PATHs."""
    return [Comparison("", planned, notes)]


def fields(old: Any, new: Any) -> dict[str, tuple[Any, Any]]:
    """The changed fields below `spec`, by path."""
    planned = plan([thing(spec=old)], [thing(spec=new)])
    return {field.path.removeprefix("spec"): field[1:] for change in planned.changes for field in change.fields}


def test_created_then_changed_in_the_new_order_and_deleted_last() -> None:
    old = [thing("gone"), thing("same"), thing("other", data={"a": "1"})]
    new = [thing("fresh"), thing("other", data={"a": "2"}), thing("same")]
    planned = plan(old, new)
    changes = [(change.what, change.ref.name) for change in planned.changes]
    assert changes == [("created", "fresh"), ("changed", "other"), ("deleted", "gone")]
    assert planned.unchanged == 1


def test_the_same_list_is_no_change() -> None:
    manifests = [thing(), thing("b"), {}, {"kind": "List"}]
    assert plan(manifests, [*manifests]).changes == ()
    assert plan([], []).changes == ()
    assert plan(manifests, list(reversed(manifests))).changes == ()


def test_another_version_of_the_group_is_the_same_object() -> None:
    planned = plan([thing(kind="M", version="g.io/v1")], [thing(kind="M", version="g.io/v2")])
    assert [(change.what, change.fields[0].path) for change in planned.changes] == [("changed", "apiVersion")]


@pytest.mark.parametrize(
    "other",
    [thing(kind="Secret"), thing(version="g.io/v1"), thing("b"), {**thing(), "metadata": {"name": "a"}}],
    ids=["kind", "group", "name", "namespace"],
)
def test_another_kind_group_name_or_namespace_is_another_object(other: Manifest) -> None:
    assert [change.what for change in plan([thing()], [other]).changes] == ["created", "deleted"]


def test_objects_without_a_name_are_matched_in_their_order() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "x-"}}
    planned = plan([{**job, "spec": 1}, {**job, "spec": 2}], [{**job, "spec": 1}, {**job, "spec": 3}, job])
    assert [change.what for change in planned.changes] == ["changed", "created"]
    assert planned.changes[0].fields[0][1:] == (2, 3)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"a": 1.0}, {}),
        ({"a": 1}, {"a": True}, {".a": (1, True)}),
        ({"a": 0}, {"a": False}, {".a": (0, False)}),
        ({"a": "1"}, {"a": 1}, {".a": ("1", 1)}),
        ({"a": "x\n"}, {"a": "x"}, {".a": ("x\n", "x")}),
        ({"a": None}, {}, {".a": (None, ABSENT)}),
        ({"a": {}}, {"a": []}, {".a": ({}, [])}),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, {".a.c": (ABSENT, 1), ".a.b": (1, ABSENT)}),
        ({"x.y/z": 1}, {"x.y/z": 2}, {"[x.y/z]": (1, 2)}),
        ([1, 2, 3], [0, 1, 2, 3], {"[0]": (ABSENT, 0)}),
        ([1, 2, 3], [1, 3], {"[1]": (2, ABSENT)}),
        ([1, 2, 3], [1, 9, 3], {"[1]": (2, 9)}),
        ([1], [], {"[0]": (1, ABSENT)}),
        ([1, 1], [1], {"[1]": (1, ABSENT)}),
        ([[True]], [[1]], {"[0][0]": (True, 1)}),
        ([{"regexp": "a", "i": 1}], [{"regexp": "a", "i": 2}], {"[0].i": (1, 2)}),
        ([{"name": "a", "i": 1}, {"name": "b"}], [{"name": "a", "i": 2}, {"name": "b"}], {"[name=a].i": (1, 2)}),
        ([{"name": "b"}], [{"name": "a"}, {"name": "b"}], {"[name=a]": (ABSENT, {"name": "a"})}),
        ([{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}], {"": (["a", "b"], ["b", "a"])}),
        ([{"name": "a"}, {"name": "a"}], [{"name": "a"}], {"[1]": ({"name": "a"}, ABSENT)}),
        ([{"name": "a"}, 1], [{"name": "b"}, 1], {"[0].name": ("a", "b")}),
    ],
)
def test_a_field_that_changes_is_named_as_deep_as_can_be(old: Any, new: Any, changed: dict[str, Any]) -> None:
    assert fields(old, new) == changed


def test_a_deep_and_a_long_list_take_no_time() -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep, deep] if not isinstance(deep, list) else [deep]
    assert fields([deep, 1], [deep, 2])
    assert len(fields(list(range(20_000)), list(range(1, 20_001)))) == 20_000


def test_what_a_secret_holds_is_not_printed() -> None:
    applied = "kubectl.kubernetes.io/last-applied-configuration"
    old = thing(
        kind="Secret", data={"same": "s1", "a": "hidden1", "b": "hidden2"}, stringData={"c": "hidden3"}, type="x"
    )
    new = thing(kind="Secret", data={"same": "s1", "a": "hidden4"})
    old["immutable"], new["immutable"] = True, False
    new["metadata"] = {**new["metadata"], "annotations": {applied: "hidden5", "note": "seen"}}
    for before, after in (([old], [new]), ([], [new]), ([old], [])):
        planned = plan(before, after)
        printed = [repr(planned.changes), *(form(compared(planned), ()) for form in FORMATS.values())]
        assert "hidden" not in "".join(printed)
    changed = {field.path: field[1:] for field in plan([old], [new]).changes[0].fields}
    assert changed["data.a"] == ("*** (before)", "*** (after)")
    assert changed["immutable"] == (True, False)
    assert changed["metadata.annotations"][1] == {applied: "*** (after)", "note": "seen"}
    assert plan([old], [old]).changes == ()
