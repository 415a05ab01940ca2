"""Workloads of drivers in the final list: their images, and how their pods are replaced."""

from __future__ import annotations

import pytest

from krmfn import Manifest
from tests.builders import SPEC, device_config, edited, list_text, module
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
