"""Each vendor profile of examples/vendor-profiles gives the Module that the vendor's operator makes.

The expected meaning is written from the operators' sources (habana-ai-operator 035fc42, ROCm/gpu-operator 6df13c1,
awslabs/operator-for-ai-chips-on-aws 5ca9ebf, intel-technology-enabling-for-openshift fa88fcb); the differences that we
accept are in the example's README.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig

from krmfn.cli import manifests

EXAMPLE = Path(__file__).parent.parent / "examples" / "vendor-profiles"

MEANING: dict[str, dict[str, Any]] = {
    "gaudi": {
        "modprobe": {"moduleName": "habanalabs", "firmwarePath": "/opt/lib/firmware"},
        "images": ["registry.example.com/habana/driver:1.16.2-$KERNEL_FULL_VERSION"],
        "account": "driver-habana",
        "selector": {"feature.node.kubernetes.io/pci-1da3.present": "true"},
        "plugin": ["habanalabs-device-plugin", "--dev_type", "gaudi"],
        "consumers": ["gaudi-node-labeler", "gaudi-node-metrics"],
        "services": ["gaudi-node-metrics"],
    },
    "instinct": {
        "modprobe": {
            "moduleName": "amdgpu",
            "firmwarePath": "/firmwareDir/updates",
            "modulesLoadingOrder": ["amdgpu", "amdttm", "amdkcl"],
        },
        "images": [
            "registry.example.com/amd/driver:ubuntu-22.04-$KERNEL_FULL_VERSION-6.3.1",
            "registry.example.com/amd/driver:rhel-9-$KERNEL_FULL_VERSION-6.3.1",
        ],
        "account": "amd-gpu-operator-kmm-module-loader",
        "selector": {"feature.node.kubernetes.io/amd-gpu": "true"},
        "plugin": [],
        "consumers": ["instinct-node-labeller", "instinct-metrics-exporter"],
        "services": ["instinct-metrics-exporter"],
    },
    "neuron": {
        "modprobe": {"moduleName": "neuron"},
        "images": ["registry.example.com/neuron/driver:2.26.0-$KERNEL_FULL_VERSION"],
        "account": "driver-sample",
        "selector": {"feature.node.kubernetes.io/pci-1d0f.present": "true"},
        "plugin": [],
        "consumers": ["neuron-node-metrics-2-26-0"],
        "services": [],
        "version": "2.26.0",
        "removed": ["neuron"],
    },
    "flex": {
        "modprobe": {"moduleName": "i915", "firmwarePath": "/firmware", "modulesLoadingOrder": ["i915", "intel_vsec"]},
        "images": ["registry.example.com/intel/driver:2.2.0-$KERNEL_FULL_VERSION"],
        "account": "driver-sample",
        "selector": {"intel.feature.node.kubernetes.io/gpu": "true"},
        "plugin": None,
        "consumers": [],
        "services": [],
        "removed": ["i915", "intel_vsec", "mei_gsc", "mei_me"],
    },
}


@pytest.fixture(scope="module")
def rendered() -> list[dict[str, Any]]:
    """All objects of the four vendors, from one run with one functionConfig."""
    resources = manifests.read(str(EXAMPLE))
    resources.function_config = resources.select("RenderDeviceConfigs")[0].manifest
    deviceconfig(resources)
    assert resources.results == []
    return [item.manifest for item in resources.items]


@pytest.mark.parametrize("vendor", MEANING)
def test_a_profile_means_what_the_operator_makes(vendor: str, rendered: list[dict[str, Any]]) -> None:
    expected = MEANING[vendor]
    owner = f"|DeviceConfig|kmm|{vendor} "
    made = [one for one in rendered if owner in one["metadata"].get("annotations", {}).get("krmfn.dev/owner", "")]
    spec = next(one["spec"] for one in made if one["kind"] == "Module")
    container, plugin = spec["moduleLoader"]["container"], spec.get("devicePlugin", {}).get("container")
    found = {
        "modprobe": {key: value for key, value in container["modprobe"].items() if key != "dirName"},
        "images": [mapping["containerImage"] for mapping in container["kernelMappings"]],
        "account": spec["moduleLoader"]["serviceAccountName"],
        "selector": spec["selector"],
        "plugin": [*plugin.get("command", []), *plugin.get("args", [])] if plugin else None,
        "consumers": [one["metadata"]["name"] for one in made if one["kind"] == "DaemonSet"],
        "services": [one["metadata"]["name"] for one in made if one["kind"] == "Service"],
    }
    found |= {"version": container["version"]} if "version" in container else {}
    found |= {"removed": container["inTreeModulesToRemove"]} if "inTreeModulesToRemove" in container else {}
    assert found == expected


def test_users_write_the_seed_s_three_fields_or_only_a_profile() -> None:
    for item in manifests.read(str(EXAMPLE)).select("DeviceConfig"):
        fields = {"driverImage", "driverVersion", "nodeSelector"} if item.group == "example.com" else {"profile"}
        assert item.manifest["spec"].keys() <= fields
