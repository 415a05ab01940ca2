"""`modules` of a Profile: one config, several Modules, DaemonSets of all and of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import Manifest
from tests.commands import process
from tests.functions.profile.test_changes import folder
from tests.functions.profile.vendor import CR, PROFILE, cr, profile, rendered

_MODULES = """\
  modules:
    onload: {config: {moduleName: onload}}
    sfc:
      config:
        moduleName: sfc
        daemonSets: [{name: plugin, image: "registry.example.com/plugin:1"}]
      when:
      - if: {spec.exporter.level: debug}
        config: {parameters: ["debug=${spec.exporter.level}"]}
"""
SEVERAL = PROFILE.replace("  config:\n    moduleName: amdgpu\n", f"{_MODULES}  config:\n")
_READY = "kmm.node.kubernetes.io/kmm.gpu-{}.ready"


def waits(daemon_set: Manifest) -> set[str]:
    """Return the labels of nodes that a DaemonSet waits for."""
    selector = daemon_set["spec"]["template"]["spec"]["nodeSelector"]
    return {label for label in selector if label.startswith("kmm.node")}


def test_one_config_has_several_modules_and_daemon_sets_of_all_and_of_one() -> None:
    objects, findings, code = rendered(profile(text=SEVERAL), cr(exporter={"level": "debug"}))
    made = {"Module gpu-onload", "Module gpu-sfc", "DaemonSet gpu-metrics", "DaemonSet gpu-sfc-plugin"}
    assert (objects.keys() - {"DeviceConfig gpu", "Profile amd-gpu"}, findings, code) == (made, [], 0)
    loaded = {name: objects[f"Module gpu-{name}"]["spec"]["moduleLoader"]["container"] for name in ("onload", "sfc")}
    assert {name: one["modprobe"]["moduleName"] for name, one in loaded.items()} == {"onload": "onload", "sfc": "sfc"}
    assert [one["modprobe"].get("parameters") for one in loaded.values()] == [None, ["debug=debug"]]
    both = {_READY.format("onload"), _READY.format("sfc")}
    assert waits(objects["DaemonSet gpu-metrics"]) == both
    assert waits(objects["DaemonSet gpu-sfc-plugin"]) == {_READY.format("sfc")}
    needs = objects["DaemonSet gpu-metrics"]["metadata"]["annotations"]["config.kubernetes.io/depends-on"]
    assert [one.rpartition("/")[2] for one in needs.split(",")] == ["gpu-onload", "gpu-sfc"]
    assert rendered(*objects.values()) == (objects, [], 0)  # again: nothing changes


def test_a_module_that_a_profile_no_longer_has_is_pruned() -> None:
    objects, _, _ = rendered(profile(text=SEVERAL), CR)
    product = profile(text=SEVERAL)
    del product["spec"]["modules"]["sfc"]
    left, findings, code = rendered(product, *(one for one in objects.values() if one["kind"] != "Profile"))
    gone = {"Module gpu-sfc", "DaemonSet gpu-sfc-plugin"}
    assert (objects.keys() - left.keys(), findings, code) == (gone, [], 0)
    assert waits(left["DaemonSet gpu-metrics"]) == {_READY.format("onload")}


def test_modules_of_two_configs_conflict_and_those_of_one_do_not() -> None:
    _, findings, code = rendered(profile(text=SEVERAL), CR, cr("other"))
    assert code == 1
    assert any("DeviceConfig kmm/gpu" in line and "DeviceConfig kmm/other" in line for line in findings), findings
    apart = cr("other", selector={"example.com/gpu": "other"})
    assert rendered(profile(text=SEVERAL), CR, apart)[1:] == ([], 0)


def test_an_ordered_upgrade_goes_by_the_labels_of_every_module() -> None:
    product = profile(text=SEVERAL)
    product["spec"]["config"]["upgrade"] = {"ordered": True, "retain": ["30.10"]}
    objects, _, code = rendered(product, CR)
    assert code == 0
    for version, shown in (("30.20.1", "30-20-1"), ("30.10", "30-10")):
        selector = objects[f"DaemonSet gpu-metrics-{shown}"]["spec"]["template"]["spec"]["nodeSelector"]
        assert list(selector.values()).count(version) == 4  # for each Module KMM's label and the administrator's


def test_overrides_reach_a_modules_own_daemon_set_once() -> None:
    over = {"amd-gpu": {"daemonSets": [{"name": "plugin", "image": "registry.example.com/mine:2"}]}}
    objects, _, code = rendered(profile(text=SEVERAL), CR, overrides=over)
    images = {
        name: one["spec"]["template"]["spec"]["containers"][0]["image"]
        for name, one in objects.items()
        if one["kind"] == "DaemonSet"
    }
    assert code == 0
    assert [name for name, image in images.items() if image == "registry.example.com/mine:2"] == [
        "DaemonSet gpu-sfc-plugin"
    ]


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("modules", "by its name in `daemonSets` here; for other fields of one module, patch spec.modules.KEY.config"),
        ("config", "an override has the fields of `config` themselves; write them here, without it"),
        ("when", "only a Profile itself has it; patch it there"),
    ],
)
def test_what_only_a_profile_has_is_said_where_an_override_has_it(field: str, words: str) -> None:
    _, (finding,), code = rendered(profile(text=SEVERAL), CR, overrides={"amd-gpu": {field: {"sfc": {}}}})
    start = f"error: RenderDeviceConfigs render: spec.overrides.amd-gpu.{field}: unknown field '{field}': "
    assert (code, finding.startswith(start), words in finding) == (1, True, True), finding


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("moduleName: sfc", "nodeSelector: {a: b}", "config.nodeSelector: nodeSelector is for all Modules of a config"),
        ("moduleName: sfc", "driverVersion: '1'", "config.driverVersion: driverVersion is for all Modules of a config"),
        ("moduleName: sfc", "moduleName: onload", "Modules gpu-onload and gpu-sfc have one moduleName"),
        ("name: plugin", "name: metrics", "is the name of a DaemonSet for all Modules"),
        (
            "    driverImage:",
            "    nodePools: [{name: a, nodeSelector: {a: b}}]\n    driverImage:",
            "exclude each other",
        ),
        ("    driverImage:", "    devicePlugin: {image: 'x/y:1'}\n    driverImage:", "have one devicePlugin"),
        ("    sfc:\n", "    S_F:\n", "spec.modules.S_F"),
        ("debug=${spec.exporter.level}", "debug=${spec.exporter.lvel}", "did you mean 'level'?"),
        ("moduleName: sfc", "modulName: sfc", "spec.modules.sfc.config.modulName"),
    ],
)
def test_what_is_wrong_with_modules_is_said_at_its_field(old: str, new: str, words: str) -> None:
    objects, findings, code = rendered(profile(old, new, SEVERAL), CR)
    assert (code, [name for name in objects if name.startswith("Module")]) == (1, [])
    assert any(words in line for line in findings), findings


def test_the_commands_know_each_module(tmp_path: Path) -> None:
    node: dict[str, Any] = {"metadata": {"name": "node-1", "labels": {"example.com/gpu": "true"}}}
    node |= {"apiVersion": "v1", "kind": "Node", "status": {"nodeInfo": {"kernelVersion": "5.14.0-1.el9.x86_64"}}}
    place = folder(tmp_path / "new", profile=SEVERAL, gpu=CR, node=node)
    rows = json.loads(process("krmfn", "nodes", str(place), "--format", "json").text)
    assert [one["module"]["name"] for one in rows["clusters"][0]["modules"]] == ["gpu-onload", "gpu-sfc"]
    product = yaml.safe_load(SEVERAL)
    del product["spec"]["modules"]["sfc"]
    old = folder(tmp_path / "old", profile=yaml.safe_dump(product), gpu=CR)
    text = process("krmfn", "diff", str(old), str(place)).text
    assert "+ Module kmm/gpu-sfc" in text and "~ DaemonSet kmm/gpu-metrics: 2 fields" in text, text
    assert "2 created, 1 changed, 1 unchanged, 1 node affected" in text
