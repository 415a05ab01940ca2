"""The shipped Profiles have the defaults of the vendors' CRDs and code alone; AMD's takes its driver by system.

`crd_defaults.yaml` holds the facts. What is empty (false, {}, []) is what Go reads in an option that is absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from krmfn_functions.kmm.regexps import matches

from krmfn import Manifest
from tests.functions.profile.recorded import EXAMPLES, holds_page
from tests.functions.profile.vendor import refused, sound

FACTS: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("crd_defaults.yaml").read_text())
NOTES = {"config.kubernetes.io/local-config": "true"}


def profile_of(operator: str) -> Manifest:
    product: Manifest = yaml.safe_load((EXAMPLES / operator / "profile.yaml").read_text())
    product["metadata"].setdefault("annotations", {}).update(NOTES)
    return product


def defaults(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield each default of a schema, by the path of its option below `spec`."""
    if "default" in node:
        yield ".".join(path), node["default"]
    for name, child in node.get("properties", {}).items():
        yield from defaults(child, (*path, name))


@pytest.mark.parametrize("operator", sorted(FACTS))
def test_a_profile_has_the_defaults_of_the_vendor_s_crd_and_code_and_no_others(operator: str) -> None:
    schema = profile_of(operator)["spec"]["schema"]["properties"]["spec"]
    known = {**FACTS[operator]["crd"], **FACTS[operator]["code"]}
    assert {path: value for path, value in defaults(schema) if value or path in known} == known


AMD: Manifest = {
    "apiVersion": "amd.com/v1alpha1",
    "kind": "DeviceConfig",
    "metadata": {"name": "gpu", "namespace": "amd", "annotations": NOTES},
}
SYSTEMS = [
    ("5.4.0-216-generic", "ubuntu-20.04", "6.1.3"),
    ("5.15.0-76-generic", "ubuntu-22.04", "6.1.3"),
    ("6.5.0-45-generic", "ubuntu-22.04", "6.1.3"),
    ("6.8.0-31-generic", "ubuntu-24.04", "6.3.3"),
    ("6.14.0-27-generic", "ubuntu-24.04", "6.3.3"),
    ("6.4.0-150700.53.6-default", "sles-15.7", "31.30"),
    ("6.12.0-160000.5-default", "sles-16.0", "31.30"),
    ("5.14.0-427.28.1.el9_4.x86_64", "coreos-9.4", "6.2.2"),
    ("5.14.0-570.45.1.el9_6.x86_64", "coreos-9.6", "6.2.2"),
]
"""A kernel of each system that AMD's operator knows, and the version that it takes for it where a config has none."""


def amd(**driver: Any) -> Manifest:
    return {**AMD, "spec": {"driver": {"image": "registry.example.com/amdgpu", **driver}}}


def mapping_of(module: Manifest, kernel: str) -> dict[str, Any]:
    """Return the kernel mapping that KMM takes for a kernel: the first that matches."""
    mappings = module["spec"]["moduleLoader"]["container"]["kernelMappings"]
    mapping: dict[str, Any] = next(entry for entry in mappings if matches(entry["regexp"], kernel))
    return mapping


@pytest.mark.parametrize("version", ["", "30.20.1"])
def test_amd_s_driver_is_that_of_the_node_s_system(version: str) -> None:
    objects = sound(profile_of("amd-gpu"), amd(version=version) if version else amd())
    module = objects["Module gpu"]
    for kernel, system, default in SYSTEMS:
        mapping, driver = mapping_of(module, kernel), version or default
        assert mapping["containerImage"].endswith(f":{system}-$KERNEL_FULL_VERSION-{driver}"), kernel
        arguments = {argument["name"]: argument["value"] for argument in mapping["build"]["buildArgs"]}
        assert arguments["DRIVERS_VERSION"] == driver
        assert mapping["build"]["dockerfileConfigMap"]["name"] == f"{system}-gpu-amd"
        if system.startswith("sles"):
            repository = "registry.suse.com/third-party/amd/amdgpu-driver"
            assert arguments["SUSE_PREBUILT_DRIVER_IMG"].startswith(f"{repository}:{system}-")
            assert arguments["SUSE_PREBUILT_DRIVER_IMG"].endswith(f"-default-{driver}")
    assert module["spec"]["moduleLoader"]["container"].get("version", "") == version


def test_amd_s_refusals() -> None:
    product = profile_of("amd-gpu")
    both = {"devicePlugin": {"enableDevicePlugin": True}, "draDriver": {"enable": True}}
    (line,) = refused(product, {**AMD, "spec": {**amd()["spec"], **both}})
    assert "the device plugin and the DRA driver exclude each other" in line
    (line,) = refused(product, amd(driverType="vf-passthrough"))
    assert "write spec.driver.version" in line
    (line,) = refused(product, {**AMD, "spec": {"driver": {"version": "30.20.1"}}})
    assert "write spec.driver.image" in line


def table() -> str:
    """Return the table of docs/internals/superset.md."""
    columns = "defaults of its CRD | of its code | by the node's system | refused configs"
    lines = [f"| operator | {columns} | options that become a file as JSON or YAML |", "|---|---|---|---|---|---|"]
    for operator, facts in FACTS.items():
        spec = profile_of(operator)["spec"]
        files = sum(bool({"json", "yaml"} & text.keys()) for text in spec.get("texts", {}).values())
        systems = len({system for _, system, _ in SYSTEMS}) if operator == "amd-gpu" else 0
        numbers = (len(facts["crd"]), len(facts["code"]), systems, len(spec.get("refuse", ())), files)
        lines.append(f"| {operator} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines) + "\n"


def test_superset_md_has_the_table() -> None:
    holds_page("| operator | defaults of its CRD |", table())
