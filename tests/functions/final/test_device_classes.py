"""DeviceClasses: each is made once in a cluster, by one Module or as an object of its own."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.cluster_dump import is_dumped
from krmfn_functions.final.judge import judge
from krmfn_functions.finding import fact
from krmfn_functions.run import note

from krmfn import Manifest
from tests.builders import SPEC, device_config, edited, function_config, manifest, module, node, resource_list
from tests.commands import process
from tests.trees import plant

from .lists import judged

MAIN = function_config(kmm={"version": "main"})


def dra(*names: str) -> dict[str, Any]:
    classes = [{"name": name} for name in names]
    return {"driverName": "gpu.example.com", "container": {"image": "r.example.com/d:1"}, "deviceClasses": classes}


def makes(name: str, *names: str) -> Manifest:
    return edited(module(name=name, modprobe={"moduleName": name}), ("spec.dra", dra(*names)))


def on_hub(name: str, clusters: dict[str, str], *names: str) -> Manifest:
    spec = {"moduleSpec": makes(name, *names)["spec"], "spokeNamespace": "kmm", "selector": clusters}
    return {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", name, ""), "spec": spec}


def by_hand(name: str, /, **labels: str) -> Manifest:
    keys = {f"kmm.node.kubernetes.io/module.{key}": value for key, value in labels.items()}
    return manifest("resource.k8s.io/v1", "DeviceClass", name, "", **({"labels": keys} if keys else {}))


def told(*manifests: Manifest, external: tuple[Manifest, ...] = ()) -> list[tuple[str, str, str]]:
    """Return rule, severity and message of each finding about DeviceClasses."""
    resources = resource_list(*manifests)
    note(resources, external=resource_list(*external) if external else None)
    found = [finding for finding in judge(resources, resources.items) if finding.rule in ("KMM081", "KMM082")]
    return [(finding.rule, finding.severity, f"{finding.ref} {finding.text}") for finding in found]


def test_two_modules_that_make_one_class() -> None:
    ((rule, severity, message),) = told(makes("gpu", "fast"), makes("nic", "slow", "fast"))
    assert (rule, severity) == ("KMM081", "error")
    assert message.startswith(
        "Module kmm/gpu makes the DeviceClass fast, as does Module kmm/nic: KMM labels it by turns"
    )
    ((rule, _, message),) = told(makes("gpu", "fast"), external=(makes("nic", "fast"),))
    assert "as does Module kmm/nic from --against" in message
    assert len(told(*(makes(name, "fast", "slow") for name in "abc"))) == 2, "one per class"


@pytest.mark.parametrize(
    "others",
    [
        [makes("nic", "slow")],
        [module(name="nic")],
        [on_hub("nic", {}, "fast")],
        [by_hand("slow")],
        [manifest("example.com/v1", "DeviceClass", "fast", "")],
        [],
    ],
    ids=["another name", "no class", "on other clusters", "another object", "another kind", "alone"],
)
def test_classes_that_are_made_once(others: list[Manifest]) -> None:
    assert told(makes("gpu", "fast"), *others) == []


def test_modules_that_a_hub_brings_to_one_cluster() -> None:
    one, two = on_hub("gpu", {"site": "oslo"}, "fast"), on_hub("nic", {"tier": "edge"}, "fast")
    ((rule, _, message),) = told(one, two)
    assert rule == "KMM081"
    assert "ManagedClusterModule nic" in message
    assert told(one, on_hub("nic", {"site": "bergen"}, "fast"), by_hand("fast")) == [], (
        "a hub's own class is not theirs"
    )


def test_an_object_of_the_name() -> None:
    ((rule, severity, message),) = told(makes("gpu", "fast"), by_hand("fast"))
    assert (rule, severity) == ("KMM082", "error")
    assert message.startswith("DeviceClass fast Module kmm/gpu makes it, too: KMM overwrites it")
    ((_, severity, message),) = told(module(), by_hand("fast"), external=(makes("gpu", "fast"),))
    assert severity == "error"
    assert "Module kmm/gpu from --against makes it" in message
    assert told(makes("gpu", "fast"), by_hand("fast", name="gpu", namespace="kmm")), "labels alone make nothing KMM's"
    dumped = ("metadata.uid", "1"), ("metadata.resourceVersion", "1")
    made = edited(by_hand("fast", name="gpu", namespace="kmm"), *dumped)
    assert told(makes("gpu", "fast"), made) == [], "a dump that is checked holds what KMM has made"


def test_an_object_in_a_dump() -> None:
    def dumped(**labels: str) -> tuple[Manifest, ...]:
        live = edited(by_hand("fast", **labels), ("metadata.uid", "1"), ("metadata.resourceVersion", "1"))
        assert is_dumped(live)
        return (live,)

    gpu = makes("gpu", "fast")
    assert told(gpu, external=dumped(name="gpu", namespace="kmm")) == [], "KMM has made it for this Module"
    assert told(gpu, module(name="old"), external=dumped(name="old", namespace="kmm")) == [], "it moves"
    ((_, _, message),) = told(gpu, external=dumped(name="gpu", namespace="other"))
    assert "for Module other/gpu (--against)" in message
    ((_, _, message),) = told(gpu, external=dumped())
    assert "already there, and not of KMM (--against)" in message


MADE = st.lists(st.lists(st.sampled_from("abc"), unique=True, max_size=3), max_size=4)


@given(MADE)
def test_as_brute_force_finds_them(rows: list[list[str]]) -> None:
    expected = {name for one, two in combinations(rows, 2) for name in set(one) & set(two)}
    modules = [makes(f"m{at}", *names) for at, names in enumerate(rows)]
    found = [finding for finding in judged(*modules) if finding.rule == "KMM081"]
    assert sorted(str(fact(finding, "deviceClass")) for finding in found) == sorted(expected)


@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize("hub", [{}, {"hub": {"spokeNamespace": "kmm", "clusterSelector": {"a": "b"}}}])
def test_the_pools_of_one_config_make_a_class_once(number: int, hub: dict[str, Any], tmp_path: Path) -> None:
    pools = [{"name": f"p{at}", "nodeSelector": {"use": f"p{at}"}} for at in range(number)]
    plugin = {"driverName": "gpu.example.com", "image": "r.example.com/d:1", "deviceClasses": [{"name": "fast"}]}
    config = device_config({**SPEC, "nodeSelector": None, "nodePools": pools, "dra": plugin, **hub})
    plant(tmp_path, {"a.yaml": "---\n".join(yaml.safe_dump(part) for part in (MAIN, config, node("n1", use="p0")))})
    done = process("krmfn", "render", ".", "--root", ".", cwd=tmp_path).ended(0)
    specs = [rendered["spec"] for rendered in yaml.safe_load_all(done.text)]
    sections = [spec.get("moduleSpec", spec)["dra"] for spec in specs]
    assert ["deviceClasses" in section for section in sections] == [True] + [False] * (number - 1)
    assert all(section["driverName"] == "gpu.example.com" for section in sections), "each pool has the driver"


def test_two_configs_of_one_class_at_its_line(tmp_path: Path) -> None:
    plugin = {"driverName": "gpu.example.com", "image": "r.example.com/d:1", "deviceClasses": [{"name": "fast"}]}
    configs = [
        device_config({**SPEC, "dra": plugin, "nodeSelector": {"use": name}, "moduleName": name}, name=name)
        for name in ("a", "b")
    ]
    plant(tmp_path, {"a.yaml": "---\n".join(yaml.safe_dump(part) for part in (MAIN, *configs))})
    lines = process("krmfn", "check", ".", "--root", ".", cwd=tmp_path).ended(1).text.splitlines()
    (line,) = [line for line in lines if "[KMM081]" in line]
    assert line.startswith("a.yaml:") and "Module kmm/b" in line
