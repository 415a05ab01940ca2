"""What a function takes for its own: updated, removed, or left over, by the marks of the objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from krmfn_functions.rendering import settling
from krmfn_functions.rendering.function_config import FunctionConfig
from krmfn_functions.rendering.kinds import Scope
from krmfn_functions.rendering.leftovers import generated_by, orphans

from krmfn import Manifest, Ref, ResourceList
from krmfn.ownership import OWNER, PASSED_ON, mark_of
from tests.krmfn.test_resourcelist import CONFIG, HEAD, OWNED, module, parsed, refs

LEFT_OVER = """\
- apiVersion: apps/v1
  kind: DaemonSet
  metadata:
    name: left-over
    annotations:
      krmfn.dev/owner: drv krmfn.dev|DeviceConfig|kmm|gone apps|DaemonSet||left-over
"""
SCOPE = Scope(
    "drv",
    frozenset({("krmfn.dev", "DeviceConfig")}),
    frozenset({("kmm.sigs.x-k8s.io", "Module"), ("apps", "DaemonSet")}),
)
OWN = Scope("drv", frozenset({("krmfn.dev", "DeviceConfig")}), frozenset({("", "Module"), ("krmfn.dev", "Odd")}))

PREVIOUS = "internal.config.kubernetes.io/previous"


def left_over(resources: ResourceList, namespace: str = "") -> list[str]:
    return [item.name for item in orphans(resources.items, generated_by(SCOPE, resources.marked()), SCOPE, namespace)]


def prune(resources: ResourceList, keep: Sequence[Manifest], scope: Scope = SCOPE) -> None:
    settling.settle(resources, [scope], keep, (), FunctionConfig())


def test_prune() -> None:
    resources = parsed()
    prune(resources, [module()])
    assert refs(resources) == ["DeviceConfig/gaudi", "Module/gaudi", "Module/foreign", "DaemonSet/of-another-function"]
    assert resources.changes == [("removed", Ref("apps/v1", "DaemonSet", "", "stale"))]
    stale = OWNED[OWNED.index("- apiVersion: apps/v1") : OWNED.index("# of the last")]
    assert resources.to_bytes().decode() == f"{HEAD}items:\n" + OWNED.replace(stale, "")


def test_prune_touches_no_other_functions_objects_and_nothing_without_an_owner() -> None:
    resources = parsed()
    prune(resources, [])
    assert refs(resources) == ["DeviceConfig/gaudi", "Module/foreign", "DaemonSet/of-another-function"]
    resources = parsed("- kind: A\n  data: {krmfn.dev/owner: krmfn.dev|DeviceConfig|kmm|gaudi}\n")
    prune(resources, [], SCOPE._replace(kinds=frozenset({("", "A")})))
    assert refs(resources) == ["A/"]


REPEATED = {
    "": True,
    "  kind: ConfigMap": False,
    "  metadata: {name: written-by-hand}": False,
    "    annotations: {team: a}": False,
    "    name: written-by-hand": False,
    "      krmfn.dev/owner: somebody": False,
}


@pytest.mark.parametrize("flow", [False, True])
@pytest.mark.parametrize("line", REPEATED)
def test_an_object_with_a_key_twice_is_nobody_s(line: str, flow: bool) -> None:
    """kustomize and kpt read the first one: to them another object, or one without the mark."""
    mark = "      krmfn.dev/owner: drv krmfn.dev|DeviceConfig|kmm|gaudi apps|DaemonSet||old\n"
    lines = ["  kind: DaemonSet\n", "  metadata:\n", "    name: old\n", "    annotations:\n", mark]
    key = line.strip().partition(":")[0]
    first = next((at for at, text in enumerate(lines) if line and text.strip().startswith(key)), 0)
    lines.insert(first, f"{line}\n" if line else "")
    lines.append("  a: {b: [c,\n    d]}\n" if flow else "")
    resources = parsed("- apiVersion: apps/v1\n" + "".join(lines))
    prune(resources, [])
    assert (resources.items == []) is REPEATED[line]


def test_an_owner_without_a_namespace_stands_in_the_one_that_is_given() -> None:
    config = "- apiVersion: krmfn.dev/v1alpha1\n  kind: DeviceConfig\n  metadata:\n    name: gone\n"
    resources = parsed(LEFT_OVER + config)
    assert left_over(resources) == ["left-over"]
    assert left_over(resources, "other") == ["left-over"]
    assert left_over(resources, "kmm") == []


@pytest.mark.parametrize(
    "key", ['"krmfn.dev\\/owner"', '"krmfn.dev\\x2fowner"', '"\\u006brmfn.dev/owner"', "!!binary a3JtZm4uZGV2L293bmVy"]
)
def test_no_escape_hides_the_owner(key: str) -> None:
    owner = "drv krmfn.dev|DeviceConfig|kmm|gone |A||a"
    text = f"- {{apiVersion: v1, kind: A, metadata: {{name: a, annotations: {{{key}: '{owner}'}}}}}}\n"
    resources = parsed(text)
    assert OWNER.encode() not in resources.items[0].text
    assert resources.items[0].mentions(OWNER)
    prune(resources, [], SCOPE._replace(kinds=frozenset({("", "A")})))
    assert resources.items == []


@pytest.mark.parametrize(
    ("value", "is_named", "is_generated"),
    [
        ("drv krmfn.dev|DeviceConfig|kmm|gaudi |Module|kmm|m", True, True),
        ("drv krmfn.dev|DeviceConfig|kmm|gaudi |Module|kmm|before", True, True),  # kustomize has renamed it
        ("krmfn.dev|DeviceConfig|kmm|gaudi", False, False),
        ("drv krmfn.dev|DeviceConfig|kmm|gaudi |Module|kmm|other", True, False),  # a copy
        ("drv krmfn.dev|DeviceConfig|kmm|gaudi |Module|other|m", True, False),
        ("other krmfn.dev|DeviceConfig|kmm|gaudi |Module|kmm|m", False, False),
        ("drv krmfn.dev|Other|kmm|gaudi |Module|kmm|m", False, False),
        ("drv amd.com|DeviceConfig|kmm|gaudi |Module|kmm|m", False, False),
        ("amd.com|DeviceConfig|kmm|gaudi", False, False),
        ("a|b|c|d|e", False, False),
    ],
)
def test_the_objects_that_a_function_made(value: str, is_named: bool, is_generated: bool) -> None:
    notes = {OWNER: value, f"{PREVIOUS}Names": "before", f"{PREVIOUS}Namespaces": "kmm"}
    assert OWN.names(mark_of(notes)) is is_named
    assert OWN.has_generated(Ref("v1", "Module", "kmm", "m"), notes) is is_generated


def test_what_a_function_cannot_make_is_not_its_own() -> None:
    notes = {OWNER: "drv krmfn.dev|DeviceConfig|kmm|gaudi |Namespace||kmm"}
    assert not OWN.has_generated(Ref("v1", "Namespace", "", "kmm"), notes)
    of_itself = {OWNER: "drv krmfn.dev|DeviceConfig|kmm|gaudi krmfn.dev|DeviceConfig|kmm|gaudi"}
    everything = OWN._replace(kinds=OWN.kinds | OWN.owners)
    assert not everything.has_generated(CONFIG, of_itself), "an input is never an output"


def test_an_update_keeps_what_others_put_on_an_object() -> None:
    resources = parsed()
    settling.put(resources, [module()])
    assert resources.changes == []
    settling.put(resources, [module("2")])
    out = resources.to_bytes().decode()
    assert out == f"{HEAD}items:\n" + OWNED.replace('version: "1"', 'version: "2"')


def test_an_update_takes_back_what_was_passed_on() -> None:
    resources = parsed()
    passed = module(labels={"team": "a"})
    passed["metadata"]["annotations"][PASSED_ON] = "labels/team"
    settling.put(resources, [passed])
    assert resources.items[1].labels == {"team": "a"}
    settling.put(resources, [module()])
    assert resources.to_bytes() == parsed().to_bytes()


@pytest.mark.parametrize("owner", [None, "drv krmfn.dev|DeviceConfig|kmm|gaudi apps|DaemonSet||other", "x"])
def test_an_object_without_its_own_mark_is_not_taken_as_owned(owner: str | None) -> None:
    manifest: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "a"}}
    if owner:
        manifest["metadata"]["annotations"] = {OWNER: owner}
    with pytest.raises(ValueError, match="DaemonSet a has no mark of its own"):
        settling.put(parsed(), [manifest])
