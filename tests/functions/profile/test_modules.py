"""`modules` of a Profile: one config, several Modules, DaemonSets of all and of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from krmfn import Manifest
from tests import builders
from tests.commands import process
from tests.functions.profile.test_changes import folder
from tests.functions.profile.vendor import (
    CR,
    PROFILE,
    children,
    container,
    cr,
    modprobe,
    profile,
    refused,
    rendered,
    sound,
)

_MODULES = """\
  modules:
    onload: {config: {moduleName: onload}}
    sfc:
      config:
        moduleName: sfc
        inTreeModulesToRemove: [sfc]
        daemonSets: [{name: plugin, image: "registry.example.com/plugin:1"}]
      when:
      - if: {spec.exporter.level: debug}
        config: {parameters: ["debug=${spec.exporter.level}"]}
"""
SEVERAL = PROFILE.replace("  config:\n    moduleName: amd_gpu\n", f"{_MODULES}  config:\n")
_READY = "kmm.node.kubernetes.io/kmm.gpu-{}.ready"


def several(old: str = "", new: str = "") -> Manifest:
    """Return the Profile with several Modules, with a part of its text replaced."""
    return profile(old, new, SEVERAL)


def waits(daemon_set: Manifest) -> set[str]:
    """Return the labels of nodes that a DaemonSet waits for."""
    selector = daemon_set["spec"]["template"]["spec"]["nodeSelector"]
    return {label for label in selector if label.startswith("kmm.node")}


def test_one_config_has_several_modules_and_daemon_sets_of_all_and_of_one() -> None:
    objects = sound(several(), cr(exporter={"level": "debug"}))
    names = {"Module gpu-onload", "Module gpu-sfc", "DaemonSet gpu-metrics", "DaemonSet gpu-sfc-plugin"}
    assert objects.keys() - {"DeviceConfig gpu", "Profile amd-gpu"} == names
    loads = [modprobe(objects, f"gpu-{name}") for name in ("onload", "sfc")]
    assert [load["moduleName"] for load in loads] == ["onload", "sfc"]
    assert [load.get("parameters") for load in loads] == [None, ["debug=debug"]]
    assert waits(objects["DaemonSet gpu-metrics"]) == {_READY.format("onload"), _READY.format("sfc")}
    assert waits(objects["DaemonSet gpu-sfc-plugin"]) == {_READY.format("sfc")}
    needs = objects["DaemonSet gpu-metrics"]["metadata"]["annotations"]["config.kubernetes.io/depends-on"]
    assert [path.rpartition("/")[2] for path in needs.split(",")] == ["gpu-onload", "gpu-sfc"]
    assert sound(*objects.values()) == objects  # again: nothing changes


def test_a_module_that_a_profile_no_longer_has_is_pruned() -> None:
    product = several()
    del product["spec"]["modules"]["sfc"]
    generated = children(several(), CR)
    objects = sound(product, CR, *generated)
    names = {f"{child['kind']} {child['metadata']['name']}" for child in generated}
    assert names - objects.keys() == {"Module gpu-sfc", "DaemonSet gpu-sfc-plugin"}
    assert waits(objects["DaemonSet gpu-metrics"]) == {_READY.format("onload")}


def test_modules_of_two_configs_conflict_and_those_of_one_do_not() -> None:
    findings = refused(several(), CR, cr("other"))
    assert any("DeviceConfig kmm/gpu" in line and "DeviceConfig kmm/other" in line for line in findings), findings
    sound(several(), CR, cr("other", selector={"example.com/gpu": "other"}))


def test_an_ordered_upgrade_goes_by_the_labels_of_every_module() -> None:
    product = several()
    product["spec"]["config"]["upgrade"] = {"ordered": True, "retain": ["30.10"]}
    objects, _, code = rendered(product, CR)
    assert code == 0
    for version, suffix in (("30.20.1", "30-20-1"), ("30.10", "30-10")):
        selector = objects[f"DaemonSet gpu-metrics-{suffix}"]["spec"]["template"]["spec"]["nodeSelector"]
        assert list(selector.values()).count(version) == 4  # for each Module KMM's label and the administrator's


def test_overrides_reach_a_modules_own_daemon_set_once() -> None:
    mine = "registry.example.com/mine:2"
    override = {"daemonSets": [{"name": "plugin", "image": mine}]}
    objects, _, code = rendered(several(), CR, overrides={"amd-gpu": override})
    assert (code, container(objects, "gpu-sfc-plugin")["image"], str(objects).count(mine)) == (0, mine, 1)


@pytest.mark.parametrize(
    ("field", "words"),
    [
        (
            "modules",
            "by its name in `daemonSets` here (in the functionConfig); for other fields of one module, "
            "patch spec.modules.KEY.config of the Profile itself",
        ),
        (
            "config",
            "an override has the fields of `config` themselves (in the functionConfig); write them here, without it",
        ),
        ("when", "only a Profile itself has it (in the functionConfig); patch it there"),
    ],
)
def test_what_only_a_profile_has_is_said_where_an_override_has_it(field: str, words: str) -> None:
    (finding,) = refused(several(), CR, overrides={"amd-gpu": {field: {"sfc": {}}}})
    start = f"error: RenderDeviceConfigs render: spec.overrides.amd-gpu.{field}: unknown field '{field}': "
    assert finding.startswith(start) and words in finding


POOLS = "nodePools: [{name: a, nodeSelector: {a: b}}]"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("moduleName: sfc", "nodeSelector: {a: b}", "config.nodeSelector: nodeSelector is for all Modules of a config"),
        ("moduleName: sfc", "driverVersion: '1'", "config.driverVersion: driverVersion is for all Modules of a config"),
        ("moduleName: sfc", "moduleName: onload", "Modules gpu-onload and gpu-sfc have one moduleName"),
        ("name: plugin", "name: metrics", "is the name of a DaemonSet for all Modules"),
        ("    driverImage:", f"    {POOLS}\n    driverImage:", "exclude each other"),
        ("    driverImage:", "    devicePlugin: {image: 'x/y:1'}\n    driverImage:", "have one devicePlugin"),
        ("    sfc:\n", "    S_F:\n", "spec.modules.S_F"),
        ("debug=${spec.exporter.level}", "debug=${spec.exporter.lvel}", "did you mean 'level'?"),
        ("moduleName: sfc", "modulName: sfc", "spec.modules.sfc.config.modulName"),
    ],
)
def test_what_is_wrong_with_modules_is_said_at_its_field(old: str, new: str, words: str) -> None:
    findings = refused(several(old, new), CR)
    assert any(words in line for line in findings), findings


def test_the_commands_know_each_module(tmp_path: Path) -> None:
    node: dict[str, Any] = builders.node("node-1", **{"example.com/gpu": "true"})
    node["status"] = {"nodeInfo": {"kernelVersion": "5.14.0-1.el9.x86_64"}}
    place = folder(tmp_path / "new", profile=SEVERAL, gpu=CR, node=node)
    rows = json.loads(process("krmfn", "nodes", str(place), "--format", "json").text)
    assert [row["module"]["name"] for row in rows["clusters"][0]["modules"]] == ["gpu-onload", "gpu-sfc"]
    product = several()
    del product["spec"]["modules"]["sfc"]
    old = folder(tmp_path / "old", profile=product, gpu=CR)
    text = process("krmfn", "diff", str(old), str(place)).text
    assert "+ Module kmm/gpu-sfc" in text and "~ DaemonSet kmm/gpu-metrics: 2 fields" in text, text
    assert "2 created, 1 changed, 1 unchanged, 1 node affected" in text
