"""Workloads of drivers in the final list: their images, and how their pods are replaced."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import SPEC, device_config, edited, list_text, manifest, module
from tests.commands import process

from .lists import judged, rows, workload

READY = {"kmm.node.kubernetes.io/kmm.dc.ready": ""}
MARK = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|dc apps|DaemonSet|kmm|user"}
PATH = "spec.template.spec"


def of(rule: str, manifest: Manifest) -> list[tuple[str, str, str]]:
    return [row for row in rows(judged(manifest, module())) if row[0] == rule]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"containers": [{"name": "c", "image": "r.example.com/C:1"}]}, "containers[0].image"),
        ({"initContainers": [{"name": "c", "image": "r.example.com/c:1:2"}]}, "initContainers[0].image"),
        ({"volumes": [{"name": "c", "image": {"reference": "c:1+b"}}]}, "volumes[0].image.reference"),
    ],
)
@pytest.mark.parametrize("kind", ["DaemonSet", "Deployment"])
def test_an_image_of_what_waits_for_a_driver(part: Manifest, path: str, kind: str) -> None:
    waiting = workload({"nodeSelector": READY, **part}, ("apps", kind))
    assert of("KRM715", waiting) == [("KRM715", "error", f"{PATH}.{path}")]
    generated = edited(workload(part, ("apps", kind)), ("metadata.annotations", MARK))
    assert of("KRM715", generated) == [("KRM715", "error", f"{PATH}.{path}")]
    assert of("KRM715", workload(part, ("apps", kind))) == [], "of somebody else"


@pytest.mark.parametrize("image", ["r.example.com:5000/team/g_x--y:1.0_b-2", "${IMAGE:-c}", "c:${TAG:-1.0}", "R/c:A"])
def test_an_image_that_is_fine_or_not_known_yet(image: str) -> None:
    waiting = workload({"nodeSelector": READY, "containers": [{"name": "c", "image": image}]})
    assert judged(waiting, module(name="dc")) == []


LEFT_OUT = {
    "spec.selector": None,
    "spec.template.spec.containers": None,
    f"{PATH}.containers[0].name": {"containers": [{"image": "r.example.com/c:1"}]},
    f"{PATH}.containers[0].image": {"containers": [{"name": "c"}]},
}
PARTS: list[tuple[str, Any]] = [
    ("metadata.annotations", {"kustomize.toolkit.fluxcd.io/ssa": "Merge"}),
    ("metadata.labels", {"kustomize.toolkit.fluxcd.io/ssa": "merge"}),
    ("spec.template.spec.volumes", [{"name": "gone", "$patch": "delete"}]),
]


def left_out(path: str) -> Manifest:
    """Return a DaemonSet that waits for a driver, in which a field is not written."""
    result: Any = workload({"nodeSelector": READY, **(LEFT_OUT[path] or {})})
    parent = result["spec"]["template"]["spec"] if path.endswith("containers") else result["spec"]
    parent.pop(path.rpartition(".")[2], None)
    return dict(result)


@pytest.mark.parametrize("path", LEFT_OUT)
def test_what_a_daemon_set_leaves_out_is_refused(path: str) -> None:
    assert of("KRM191", left_out(path)) == [("KRM191", "error", path)]


def test_a_daemon_set_without_a_spec_is_refused() -> None:
    generated = {**manifest("apps/v1", "DaemonSet", "user"), "spec": {}}
    assert of("KRM191", edited(generated, ("metadata.annotations", MARK))) == [("KRM191", "error", "spec")]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_an_object_that_is_there_may_leave_out_what_that_has(part: tuple[str, Any]) -> None:
    for path in LEFT_OUT:
        assert of("KRM191", edited(left_out(path), part)) == []
    mounting = {"name": "c", "image": "r.example.com/c:1", "volumeMounts": [{"name": "theirs", "mountPath": "/a"}]}
    waiting = workload({"nodeSelector": READY, "containers": [mounting]})
    assert of("KRM191", edited(waiting, part)) == []


@pytest.mark.parametrize("part", PARTS)
def test_what_a_part_writes_itself_is_judged(part: tuple[str, Any]) -> None:
    waiting = workload({"nodeSelector": READY, "containers": [{"name": "A"}]})
    assert of("KRM191", edited(waiting, part)) == [("KRM191", "error", f"{PATH}.containers[0].name")]


def test_a_rolling_update_that_replaces_no_pod() -> None:
    update = ("spec.updateStrategy.rollingUpdate", {"maxUnavailable": 0})
    waiting = edited(workload({"nodeSelector": READY}), update)
    assert of("KRM716", waiting) == [("KRM716", "error", "spec.updateStrategy.rollingUpdate.maxUnavailable")]
    assert of("KRM716", edited(workload({"nodeSelector": READY}), (update[0], {**update[1], "maxSurge": 1}))) == []
    assert of("KRM716", edited(workload({}), update)) == [], "of somebody else"


def test_a_rolling_update_of_a_config_is_refused_by_the_function_at_its_field() -> None:
    """kpt and kustomize judge no final list."""
    entry = {"name": "agent", "image": "r.example.com/a:1", "updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}}
    text = list_text(device_config({**SPEC, "daemonSets": [entry]})).decode()
    printed = process("krmfn", stdin=text).ended(1).err
    assert "spec.daemonSets[0].updateStrategy.rollingUpdate.maxUnavailable" in printed


_SECRET = {"secretKeyRef": {"name": "${OBJECT}", "key": "${KEY:=k}"}}
_OPEN: list[Any] = [
    {"tolerations": [{"key": "${KEY}", "value": "${VALUE}"}]},
    {"nodeSelector": {**READY, "${KEY}": "x", "pool": "${POOL:=a}"}},
    {"volumes": [{"name": "${VOLUME}", "emptyDir": {}}]},
    {"priorityClassName": "${CLASS}", "serviceAccountName": "a-${NAME}"},
    {"containers": [{"name": "c", "image": "r.example.com/c:1", "env": [{"name": "B", "valueFrom": _SECRET}]}]},
]


@pytest.mark.parametrize("part", _OPEN)
def test_a_text_that_flux_writes_in_is_not_known_yet(part: Manifest) -> None:
    waiting = workload({"nodeSelector": READY, **part})
    assert of("KRM191", waiting) == []
    kept = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}
    assert of("KRM191", edited(waiting, ("metadata.annotations", kept))), "nobody writes it in"


def test_a_number_of_pods_that_flux_writes_in_is_not_known_yet() -> None:
    update = ("spec.updateStrategy.rollingUpdate", {"maxUnavailable": "${MOST}"})
    assert of("KRM716", edited(workload({"nodeSelector": READY}), update)) == []
