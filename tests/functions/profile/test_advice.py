"""What a Profile gives to every config is said where it is checked alone; its own entries turn it off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from krmfn import Manifest
from tests.commands import process
from tests.functions.profile.vendor import CR, cr, options, profile

LATEST = "registry.example.com/amd/exporter:latest"
EVERY = "(in every config of this Profile)"
FIRMWARE = {"firmwarePath": "fw"}
"""A relative path: KRM208."""


def checked(tmp_path: Path, *manifests: Manifest) -> list[str]:
    """Return the findings of `check` about these, without the file and the line."""
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all(manifests))
    lines = process("krmfn", "check", str(path)).text.splitlines()
    return [line.partition(": ")[2] for line in lines if line.startswith(str(path))]


def product_with(config: dict[str, Any], **annotations: str) -> Manifest:
    """Return the Profile with more fields for every config."""
    product = profile()
    product["spec"]["config"] |= config
    product["metadata"]["annotations"] = annotations
    return product


def ignoring(product: Manifest, *rules: str) -> Manifest:
    entry = {"krmfn.dev/ignore": "; ".join(f"{rule}: ours" for rule in rules)}
    return {**product, "metadata": {**product["metadata"], "annotations": entry}}


def when(product: Manifest, condition: dict[str, Any], **fields: Any) -> Manifest:
    product["spec"]["when"].append({"if": condition, **fields})
    return product


def test_what_every_config_gets_is_said_of_the_profile_alone(tmp_path: Path) -> None:
    rules = {"serviceAccountName": "gpu", "serviceAccount": {"create": True, "clusterRules": [RIGHT]}}
    product = product_with({**FIRMWARE, **rules})
    product["spec"]["config"]["daemonSets"].append({"name": "other", "image": LATEST})
    alone, used = checked(tmp_path, product), checked(tmp_path, product, CR)
    warnings = [line for line in used if line.startswith("warning")]
    assert [line.replace(f" {EVERY}", "") for line in alone] == warnings
    assert [line[-8:-1] for line in alone] == ["KRM208]", "KRM175]", "KRM225]"] or len(alone) == 3
    assert all(EVERY in line for line in alone)


RIGHT = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]}


def test_what_only_some_configs_get_is_said_of_those(tmp_path: Path) -> None:
    product = when(product_with({}), {"spec.exporter.level": "bare"}, config=FIRMWARE)
    assert checked(tmp_path, product) == []
    (finding,) = checked(tmp_path, product, cr(exporter={"level": "bare"}))
    assert "[KRM208]" in finding and EVERY not in finding


def test_what_a_made_up_text_causes_is_not_said(tmp_path: Path) -> None:
    """The sample of an option that must be there is `x`, which is a relative path."""
    product = product_with({"firmwarePath": "${spec.driver.image}", "driverImage": "x/${spec.driver.image}"})
    product["spec"]["schema"]["properties"]["spec"]["required"] = ["driver"]
    assert checked(tmp_path, product) == []


@pytest.mark.parametrize("configs", [[], [CR]], ids=["alone", "used"])
def test_a_profile_turns_off_what_is_placed_in_it(tmp_path: Path, configs: list[Manifest]) -> None:
    product = ignoring(product_with(FIRMWARE), "KRM208")
    assert checked(tmp_path, product, *configs) == []


@pytest.mark.parametrize("configs", [[], [CR]], ids=["alone", "used"])
def test_an_entry_of_a_profile_may_be_for_few_configs(tmp_path: Path, configs: list[Manifest]) -> None:
    product = when(product_with({}), {"spec.exporter.level": "bare"}, config=FIRMWARE)
    assert checked(tmp_path, ignoring(product, "KRM208"), *configs) == []


def test_an_entry_of_a_profile_for_nothing_is_said_to_the_vendor(tmp_path: Path) -> None:
    product = ignoring(product_with({}), "KRM208")
    (finding,) = checked(tmp_path, product)
    assert "KRM208 is turned off, but nothing that was checked has such a finding" in finding
    assert checked(tmp_path, product, CR) == []  # a user cannot mend it


def test_an_entry_of_a_profile_turns_off_nothing_that_a_config_causes(tmp_path: Path) -> None:
    product = product_with({"firmwarePath": "${spec.firmware}"})
    options(product)["firmware"] = {"type": "string"}
    (finding,) = checked(tmp_path, ignoring(product, "KRM208"), cr(firmware="fw"))
    assert finding.startswith("warning: DeviceConfig kmm/gpu: spec.firmware: ")


def test_a_field_that_this_config_does_not_need_is_no_finding(tmp_path: Path) -> None:
    """It stood at the vendor's line: nothing is loaded, so there is no firmware."""
    in_tree = {"config": {"inTreeDriver": True}, "unset": ["moduleName"]}
    product = when(product_with({"firmwarePath": "/fw"}), {"spec.exporter.level": "in"}, **in_tree)
    config = {**CR, "spec": {"exporter": {"level": "in", "enable": True}}}
    assert checked(tmp_path, product, config) == []


CONSTANT = {"driverImage": "x/y:1-$KERNEL_FULL_VERSION"}


def test_a_field_that_no_config_needs_is_said_of_the_profile_alone(tmp_path: Path) -> None:
    product = product_with({**CONSTANT, "driverVersion": "1"})
    product["spec"]["ignored"] = {"spec.driver.image": "constant", "spec.driver.version": "constant"}
    (finding,) = checked(tmp_path, product)
    assert finding.startswith("warning: Profile amd-gpu: spec.config.driverVersion: has no effect: ")
    assert finding.endswith(f"{EVERY} [KRM142]")
    assert checked(tmp_path, product, CR) == []
    when(product, {"spec.exporter.level": "old"}, config={"driverImage": "x/y"})  # now one needs it
    assert checked(tmp_path, product) == []


def test_a_field_that_a_user_writes_for_nothing_is_said_to_him(tmp_path: Path) -> None:
    product = product_with(CONSTANT)
    product["spec"]["ignored"] = {"spec.driver.image": "constant"}
    (finding,) = checked(tmp_path, product, CR)
    assert finding.startswith("warning: DeviceConfig kmm/gpu: spec.driver.version: has no effect: ")
