"""A ResourceList in memory: select, report, upsert, prune; what is accepted and refused as input."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from krmfn.errors import KrmfnError
from krmfn.ownership import OWNER, PASSED_ON, stamp
from krmfn.resource import Ref
from krmfn.resourcelist import ResourceList
from krmfn.results import error, info, warning
from krmfn.yamltext import load

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
      krmfn.dev/owner: krmfn.dev|DeviceConfig|kmm|gaudi # made by us
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
    annotations: {krmfn.dev/owner: krmfn.dev|DeviceConfig|kmm|gone}
# of the last
- apiVersion: apps/v1
  kind: DaemonSet
  metadata:
    name: of-another-function
    annotations:
      krmfn.dev/owner: pt.example.com|Ptemplate|kmm|gone
"""
CONFIG = Ref("krmfn.dev/v1alpha1", "DeviceConfig", "kmm", "gaudi")


def parsed(items: str = OWNED) -> ResourceList:
    return ResourceList.parse(f"{HEAD}items:\n{items}".encode())


def module(version: str = "1", **metadata: Any) -> dict[str, Any]:
    named = {"name": "gaudi", "namespace": "kmm", **metadata}
    manifest = {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": named,
        "spec": {"version": version},
    }
    return stamp(manifest, CONFIG)


def refs(resources: ResourceList) -> list[str]:
    return [f"{item.kind}/{item.name}" for item in resources.items]


def test_select() -> None:
    resources = parsed()
    assert [item.name for item in resources.select("Module")] == ["gaudi", "foreign"]
    assert [item.name for item in resources.select("Module", "")] == ["foreign"]
    assert [item.name for item in resources.select("Module", "kmm.sigs.x-k8s.io")] == ["gaudi"]
    assert resources.select("Pod") == []


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


def test_upsert_changes_the_first_of_two_with_one_name() -> None:
    twice = "".join(f"- kind: A\n  metadata:\n    name: a\n  x: {x}\n" for x in (1, 2))
    other = "- kind: B\n  metadata:\n    name: a\n  x: 3\n"
    resources = parsed(other + twice + other)
    resources.upsert([{"kind": "A", "metadata": {"name": "a"}, "x": 5}])
    assert [item["x"] for item in load.read(resources.to_bytes())["items"]] == [3, 5, 2, 3]


def test_upsert_reads_no_item_of_another_kind() -> None:
    resources = parsed("- kind: B\n  metadata: *nothing\n- kind: A\n  x: 1\n")
    resources.upsert([{"kind": "A", "x": 2}])
    assert resources.to_bytes().endswith(b"- kind: B\n  metadata: *nothing\n- kind: A\n  x: 2\n")


def test_upsert_sees_a_manifest_that_was_changed_in_place() -> None:
    resources = parsed()
    manifest = resources.items[1].manifest
    manifest["spec"]["version"] = "2"
    resources.upsert([manifest])
    assert load.read(resources.to_bytes())["items"][1]["spec"] == {"version": "2"}


def test_upsert_tells_true_from_one() -> None:
    resources = parsed("- kind: A\n  x: 1\n")
    resources.upsert([{"kind": "A", "x": True}])
    assert load.read(resources.to_bytes())["items"] == [{"kind": "A", "x": True}]


def test_upsert_ignores_the_version_of_the_api() -> None:
    resources = parsed("- apiVersion: apps/v1beta1\n  kind: A\n")
    resources.upsert([{"apiVersion": "apps/v1", "kind": "A"}])
    assert load.read(resources.to_bytes())["items"] == [{"apiVersion": "apps/v1", "kind": "A"}]


def test_upsert_owned_keeps_what_others_put_there() -> None:
    resources = parsed()
    resources.upsert_owned([module()])
    assert resources.changes == []
    resources.upsert_owned([module("2")])
    out = resources.to_bytes().decode()
    assert out == f"{HEAD}items:\n" + OWNED.replace('version: "1"', 'version: "2"')


def test_upsert_owned_takes_back_what_was_passed_on() -> None:
    resources = parsed()
    passed = module(labels={"team": "a"})
    passed["metadata"]["annotations"][PASSED_ON] = "labels/team"
    resources.upsert_owned([passed])
    assert resources.items[1].labels == {"team": "a"}
    resources.upsert_owned([module()])
    assert resources.to_bytes() == parsed().to_bytes()


def test_prune() -> None:
    resources = parsed()
    resources.prune([("krmfn.dev", "DeviceConfig")], [module()])
    assert refs(resources) == ["DeviceConfig/gaudi", "Module/gaudi", "Module/foreign", "DaemonSet/of-another-function"]
    assert resources.changes == [("removed", Ref("apps/v1", "DaemonSet", "", "stale"))]
    stale = OWNED[OWNED.index("- apiVersion: apps/v1") : OWNED.index("# of the last")]
    assert resources.to_bytes().decode() == f"{HEAD}items:\n" + OWNED.replace(stale, "")


def test_prune_touches_no_other_functions_objects_and_nothing_without_an_owner() -> None:
    resources = parsed()
    resources.prune([("pt.example.com", "Ptemplate"), ("krmfn.dev", "DeviceConfig")], [])
    assert refs(resources) == ["DeviceConfig/gaudi", "Module/foreign"]
    resources = parsed("- kind: A\n  data: {krmfn.dev/owner: krmfn.dev|DeviceConfig|kmm|gaudi}\n")
    resources.prune([("krmfn.dev", "DeviceConfig")], [])
    assert refs(resources) == ["A/"]


def test_report() -> None:
    resources = parsed()
    assert resources.report([info("a"), warning("b"), info("a")])
    assert not resources.failed
    assert not resources.report([error("c"), error("c", rule="X")])
    assert resources.failed
    assert [result.message for result in resources.results] == ["a", "b", "c", "c"]


def test_after_an_error_the_items_leave_as_they_came() -> None:
    resources = parsed()
    resources.upsert([module("2"), {"kind": "New"}])
    resources.prune([("krmfn.dev", "DeviceConfig")], [])
    resources.report([error("no")])
    assert resources.to_bytes().decode() == f'{HEAD}items:\n{OWNED}results:\n- message: "no"\n  severity: error\n'


REFUSED = {
    "": "it is no mapping",
    "kind: List\napiVersion: v1\nitems: []\n": "expected a ResourceList (config.kubernetes.io/v1), found",
    "a: b\n": "expected a ResourceList (config.kubernetes.io/v1), found apiVersion None, kind None",
    f"{HEAD}items: text\n": "`items` of the ResourceList is no list",
    f"{HEAD}items:\n  a: b\n": "`items` of the ResourceList is no list",
    f"{HEAD}items: []\n---\na: b\n": "line 4: another document begins",
    f"{HEAD}items: [\n": "line 4: did not find expected node content",
    f"{HEAD}items:\n- a: '\0'\n": "line 4: a NUL byte",
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
    resources.upsert([module()])
    assert OWNER in resources.items[0].annotations
    assert refs(resources) == ["Module/gaudi"]
