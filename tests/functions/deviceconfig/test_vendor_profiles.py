"""Each vendor profile of examples/inline-profiles gives what the vendor's operator makes; a release is one line.

The expected meaning is written from the operators' sources (habana-ai-operator 035fc42, ROCm/gpu-operator 6df13c1,
awslabs/operator-for-ai-chips-on-aws 5ca9ebf, intel-technology-enabling-for-openshift fa88fcb and
intel-device-plugins-for-kubernetes 94a91bc); the differences that we accept are in the example's README.
"""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.paths import manifests
from krmfn_functions.run import note
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest
from tests.builders import DROP, applied, by_name, device_config, edited, generated, leaves
from tests.commands import cached, example
from tests.tables import table

EXAMPLE = example("inline-profiles")
FUNCTION_CONFIG: Manifest = yaml.safe_load((EXAMPLE / "profiles.yaml").read_text())
VENDORS = {"gaudi": "habana-like", "instinct": "amd-like", "neuron": "neuron-like", "flex": "intel-like"}
"""The config of each vendor, and its profile."""


MEANING: dict[str, dict[str, Any]] = table(__file__, "vendor_meaning.yaml")


def config(vendor: str) -> Manifest:
    """Return the config that a user of the vendor writes."""
    return dict(yaml.safe_load((EXAMPLE / f"{vendor}.yaml").read_text()))


def rendered(*configs: Manifest, settings: Manifest = FUNCTION_CONFIG) -> dict[str, Manifest]:
    """Return the objects by kind and name."""
    return by_name(generated(applied(deviceconfig, *configs, function_config=settings)))


def in_our_kind(vendor: str, **spec: Any) -> Manifest:
    """Return a config of the vendor in our own kind, which has all fields."""
    fields = {**config(vendor)["spec"], "profile": VENDORS[vendor], **spec}
    if vendor == "gaudi":
        fields.setdefault("nodeSelector", {"feature.node.kubernetes.io/pci-1da3.present": "true"})
    return device_config(fields, vendor)


def test_the_example_has_no_finding() -> None:
    resources = manifests.read(str(EXAMPLE))
    resources.function_config = resources.where(kind="RenderDeviceConfigs")[0].manifest
    note(resources, settings=Settings(CHECK))
    deviceconfig(resources)
    assert resources.results == []


@pytest.mark.parametrize("vendor", MEANING)
def test_a_profile_means_what_the_operator_makes(vendor: str) -> None:
    objects = rendered(config(vendor))
    spec = next(item["spec"] for item in objects.values() if item["kind"] == "Module")
    container, plugin = spec["moduleLoader"]["container"], spec.get("devicePlugin", {}).get("container")
    actual = {
        "modprobe": {key: value for key, value in container["modprobe"].items() if key != "dirName"},
        "images": [mapping["containerImage"] for mapping in container["kernelMappings"]],
        "account": spec["moduleLoader"].get("serviceAccountName", ""),
        "selector": spec["selector"],
        "plugin": [*plugin.get("command", []), *plugin.get("args", [])] if plugin else None,
        "consumers": [item["metadata"]["name"] for item in objects.values() if item["kind"] == "DaemonSet"],
        "services": [item["metadata"]["name"] for item in objects.values() if item["kind"] == "Service"],
        "others": sorted(name for name in objects if name.split(" ")[0] not in ("Module", "DaemonSet", "Service")),
    }
    fields = {"version": "version", "removed": "inTreeModulesToRemove", "build": "build"}
    actual |= {name: container[field] for name, field in fields.items() if field in container}
    assert actual == MEANING[vendor]


def test_users_write_the_seed_s_three_fields_or_a_profile_and_a_version() -> None:
    items = manifests.read(str(EXAMPLE)).where(kind="DeviceConfig")
    assert {item.name for item in items} == set(MEANING)
    for item in items:
        fields = {"driverImage", "driverVersion"} if item.group == "example.com" else {"profile", "driverVersion"}
        assert item.manifest["spec"].keys() == fields


# A release is one line. Per vendor: the next version, and per object all that it changes (an ordered upgrade's
# DaemonSets have the version in their names, so that the new ones are others).

RELEASES: dict[str, dict[str, Any]] = table(__file__, "vendor_releases.yaml")


def current(vendor: str) -> str:
    return str(config(vendor)["spec"]["driverVersion"])


def released(vendor: str) -> Manifest:
    """The vendor's config after the change of one line of its text."""
    text = (EXAMPLE / f"{vendor}.yaml").read_text()
    version, after = RELEASES[vendor]["version"], text.replace(current(vendor), RELEASES[vendor]["version"])
    changed = [pair for pair in zip(text.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    assert changed == [(f'  driverVersion: "{current(vendor)}"', f'  driverVersion: "{version}"')]
    return dict(yaml.safe_load(after))


def differences(old: Manifest, new: Manifest) -> set[str]:
    """Return the paths below `spec` at which two objects differ."""
    before, after = (dict(leaves(manifest)) for manifest in (old, new))
    paths = {path for path in {*before, *after} if before.get(path, DROP) != after.get(path, DROP)}
    assert all(path[0] == "spec" for path in paths)
    return {".".join(map(str, path[1:])) for path in paths}


@pytest.mark.parametrize("vendor", RELEASES)
def test_a_release_is_one_line_and_changes_what_belongs_to_it(vendor: str) -> None:
    version, expected = RELEASES[vendor].values()
    before, after = rendered(config(vendor)), rendered(released(vendor))
    changed = {name: sorted(differences(before[name], after[name])) for name in before if name in after}
    assert {name: paths for name, paths in changed.items() if paths} == expected
    gone, new = before.keys() - after.keys(), after.keys() - before.keys()
    slug, old = version.replace(".", "-"), current(vendor).replace(".", "-")
    assert {name.removesuffix(slug) for name in new} == {name.removesuffix(old) for name in gone}
    assert bool(new) == (vendor in ("instinct", "neuron"))  # whose upgrades are ordered
    if vendor != "instinct":  # 6.4 is in the names of the mappings' regexps, too
        values = [str(value) for item in after.values() for _, value in leaves(item)]
        assert not [value for value in values if current(vendor) in value]


@pytest.mark.parametrize("vendor", RELEASES)
def test_a_release_beside_a_retained_version_leaves_its_objects_alone(vendor: str) -> None:
    """The DaemonSets of the version that nodes still run are the same, byte for byte; the new ones stand beside."""
    version, old = RELEASES[vendor]["version"], current(vendor)
    before = rendered(in_our_kind(vendor, upgrade={"ordered": True}))
    after = rendered(in_our_kind(vendor, driverVersion=version, upgrade={"ordered": True, "retain": [old]}))
    kept = {name: item for name, item in before.items() if name.startswith("DaemonSet")}
    assert kept
    assert kept.items() <= after.items()
    new = {name for name in after if name.startswith("DaemonSet")} - kept.keys()
    assert new == {name.replace(old.replace(".", "-"), version.replace(".", "-")) for name in kept}
    alone = rendered(in_our_kind(vendor, driverVersion=version, upgrade={"ordered": True}))
    assert {name: item for name, item in after.items() if name not in kept} == alone


def test_what_a_release_changes_beside_its_version_is_one_entry_of_the_profile() -> None:
    """AMD's exporter has versions of its own; those of other versions of the driver stay."""
    entry = {"version": "6.5", "daemonSets": [{"name": "metrics-exporter", "image": "registry.example.com/exporter:2"}]}
    profile = FUNCTION_CONFIG["spec"]["profiles"]["amd-like"]
    settings = edited(FUNCTION_CONFIG, ("spec.profiles.amd-like.versions", [*profile["versions"], entry]))
    upgrade = {"ordered": True, "retain": ["6.4", "6.3"]}
    objects = rendered(in_our_kind("instinct", driverVersion="6.5", upgrade=upgrade), settings=settings)
    images = {"6-5": "exporter:2", "6-4": "amd/metrics-exporter:1.4.0", "6-3": "amd/metrics-exporter:1.3.0"}
    for version, image in images.items():
        template = objects[f"DaemonSet instinct-metrics-exporter-{version}"]["spec"]["template"]
        assert template["spec"]["containers"][0]["image"] == f"registry.example.com/{image}"


# Switches. Per vendor and switch: what a user writes, and what comes and goes.

OFF, ON = {"enabled": False}, {"enabled": True}
SWITCHES: dict[str, dict[str, Any]] = table(__file__, "vendor_switches.yaml")


def parts(objects: dict[str, Manifest]) -> set[str]:
    """Return the objects by name, and what is in the Module."""
    (spec,) = (item["spec"] for item in objects.values() if item["kind"] == "Module")
    inside = {"loader": "moduleLoader", "plugin": "devicePlugin", "dra": "dra"}
    return {*objects, *(name for name, field in inside.items() if field in spec)}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch(name: str) -> None:
    fields, come, go = SWITCHES[name].values()
    vendor = name.split(" / ")[0]
    settings = edited(FUNCTION_CONFIG, ("spec.kmm", {"version": "main"}))
    configs = (in_our_kind(vendor), in_our_kind(vendor, **fields))
    before, after = (parts(rendered(manifest, settings=settings)) for manifest in configs)
    assert (sorted(after - before), sorted(before - after)) == (come, go)


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_driver_of_the_nodes_own_kernels(vendor: str) -> None:
    """`inTreeDriver: true` is a switch, too: no loader, and nothing of a loader's but the plugin and the pods."""
    manifest = in_our_kind(vendor, inTreeDriver=True)
    if vendor == "gaudi":
        del manifest["spec"]["driverImage"]
    objects = rendered(manifest)
    module = objects[f"Module {vendor}"]["spec"]
    assert "moduleLoader" not in module
    assert module["devicePlugin"] == rendered(in_our_kind(vendor))[f"Module {vendor}"]["spec"]["devicePlugin"]
    assert "kmm.node.kubernetes.io" not in str(objects)


def test_a_field_that_the_vendor_locks() -> None:
    manifest = in_our_kind("gaudi", moduleName="other")
    resources = applied(deviceconfig, manifest, function_config=FUNCTION_CONFIG)
    [finding] = [result for result in resources.results if result.severity == "error"]
    assert (finding.rule, finding.field and finding.field.path) == ("KRM148", "spec.moduleName")
    assert finding.message.endswith("node labeler and metrics read what habanalabs shows, and no other module")


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_pods_and_the_module_name_is_there(vendor: str) -> None:
    """Accounts and ConfigMaps of the operator are generated with it; what a user brings is said here."""
    on = {"daemonSets": [{"name": "config-manager", **ON}]} if vendor == "instinct" else {}
    objects = rendered(in_our_kind(vendor, **on))
    ends = [(path, value) for item in objects.values() for path, value in leaves(item)]
    holders = ("configMap", "dockerfileConfigMap")
    config_maps = {value for path, value in ends if path[-1] == "name" and path[-2] in holders}
    accounts = {value for path, value in ends if path[-1] == "serviceAccountName"}
    missing = {name for name in config_maps if f"ConfigMap {name}" not in objects}
    assert missing == ({"instinct-partitions"} if vendor == "instinct" else set())
    assert {f"ServiceAccount {name}" for name in accounts} <= objects.keys()


def test_other_commands_see_what_is_filled_in() -> None:
    kernel = "5.14.0-427.el9_4.x86_64"
    done = cached("krmfn", "resolve", str(EXAMPLE), "--kernel", kernel)
    assert f"registry.example.com/amd/driver:rhel-9.4-{kernel}-6.4," in done.text
    assert f"registry.example.com/intel/driver:2.2.0-rhel_9.4-{kernel}," in done.text
    images = cached("krmfn", "images", str(EXAMPLE), "--kernel", kernel)
    assert "KRMFN_" not in images.text
    assert "registry.example.com/neuron/monitor:2.26.0" in images.text
