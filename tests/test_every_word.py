"""Every word counts: another value in any field changes the output or a finding, or a finding says that it does not.

The fields are those of the schemas (the samples have every one, see test_schemas.py), each in situations where it
applies and in those where it does not.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.ptemplate import ptemplate
from krmfn_functions.rendering.schemas import schema as published
from schema_corpus import samples

from krmfn import Manifest, ResourceList, Result, schema
from krmfn.fieldpath import join, split

Path = tuple[str | int, ...]

AGENT = {"name": "agent", "image": "registry.example.com/agent:1"}
PLUGIN = {"image": "registry.example.com/plugin:1"}
BASE: dict[str, Any] = {
    "driverImage": "registry.example.com/driver",
    "driverVersion": "1.0",
    "moduleName": "drv",
    "nodeSelector": {"gpu": "a"},
    "daemonSets": [AGENT],
}
IN_TREE = {"inTreeDriver": True, "nodeSelector": {"gpu": "a"}, "devicePlugin": PLUGIN}
RAW = {key: value for key, value in BASE.items() if key != "moduleName"}
SITUATIONS: dict[str, dict[str, Any]] = {
    "the usual": BASE,
    "an image with a tag": BASE | {"driverImage": "registry.example.com/driver:1-$KERNEL_FULL_VERSION"},
    "images in mappings": BASE | {"kernelMappings": [{"regexp": "^.+$", "image": "x:1-$KERNEL_FULL_VERSION"}]},
    "mappings that say all": BASE
    | {"kernelMappings": [{"regexp": "^.+$", "registryTLS": {"insecure": True}, "inTreeModulesToRemove": ["old"]}]},
    "raw arguments": RAW | {"rawLoadArgs": ["drv"], "rawUnloadArgs": ["-r", "drv"]},
    "nothing loaded": IN_TREE,
    "nothing loaded, DaemonSets of their own": IN_TREE | {"daemonSets": [AGENT | {"serviceAccountName": "own"}]},
    "a hub": {key: value for key, value in BASE.items() if key != "daemonSets"}
    | {"hub": {"spokeNamespace": "kmm", "clusterSelector": {"region": "eu"}}},
    "an ordered upgrade": BASE | {"upgrade": {"ordered": True}},
    "no DaemonSets": {key: value for key, value in BASE.items() if key != "daemonSets"},
    "pools that say it all": {"nodePools": [BASE | {"name": "p", "daemonSets": None}]},
}
"""Configs that are right: fields are added to each of them, or take the place of what is there."""

SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "filesToSign": ["/opt/a.ko", "/opt/b.ko"]}
POOLS = [
    {
        "name": "one",
        "nodeSelector": {"gpu": "1"},
        "driverImage": "registry.example.com/driver",
        "driverVersion": "1",
        "moduleName": "one",
        "parameters": ["a=b"],
        "modulesLoadingOrder": ["one", "two"],
        "dirName": "/opt",
        "firmwarePath": "/firmware",
        "loadArgs": ["-v"],
        "unloadArgs": ["-v"],
        "inTreeModulesToRemove": ["three"],
        "kernelMappings": [{"regexp": "^.+$"}],
        "build": {"dockerfileConfigMap": {"name": "build"}},
        "sign": SIGN,
        "registryTLS": {"insecure": True},
        "imagePullPolicy": "Always",
        "imagePullSecret": "registry",
        "tolerations": [{"operator": "Exists"}],
        "devicePlugin": {"image": "registry.example.com/plugin:1", "imagePullPolicy": "Always"},
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
    },
    {
        "name": "two",
        "nodeSelector": {"gpu": "2"},
        "driverImageParts": {"repository": "driver", "tag": "1"},
        "rawLoadArgs": ["-v", "two"],
        "rawUnloadArgs": ["-r", "two"],
    },
    {"name": "three", "nodeSelector": {}, "allNodes": True, "driverImage": "driver:1", "moduleName": "three"},
]
VALUES: dict[str, list[Any]] = {
    "sign": [SIGN | {"unsignedImage": "x:1", "unsignedImageRegistryTLS": {"insecure": True}}],
    "modulesLoadingOrder": [["drv", "dep"]],
    "nodeSelector": [{"gpu": "b"}],
    "driverImageParts": [{"registry": "registry.example.com", "repository": "a", "tag": "1"}],
    "upgrade": [{"ordered": True, "retain": ["0.9"]}, {"ordered": False}],
    "profile": ["vendor"],
    "allNodes": [True],
    "nodePools": [POOLS],
    "rawLoadArgs": [["-v", "one"]],
    "rawUnloadArgs": [["-r", "one"]],
}
"""Values that fit the situations better than the samples'."""

RAW_ARGS = {"moduleName": None, "rawLoadArgs": ["one"], "rawUnloadArgs": ["one"]}
BESIDE: dict[str, dict[str, Any]] = {
    "allNodes": {"nodeSelector": {}},
    "devicePlugin": {"dra": None},
    "dra": {"devicePlugin": None},
    "driverImageParts": {"driverImage": None},
    "driverImage": {"driverImageParts": None},
    "hub": {"daemonSets": None},
    "nodePools": dict.fromkeys(("nodeSelector", "moduleName", "rawLoadArgs", "rawUnloadArgs", "inTreeDriver")),
    "rawLoadArgs": RAW_ARGS,
    "rawUnloadArgs": RAW_ARGS,
    "moduleName": {"rawLoadArgs": None, "rawUnloadArgs": None},
    "serviceAccount": {"serviceAccountName": "sa"},
    "upgrade": {"driverVersion": "1.0"},
}
"""What has to stand beside a field for it to be right."""

SETTINGS = {
    "kmm": {"version": "main"},
    "profiles": {"vendor": {"labels": {"team": "x"}}, "other": {"labels": {"team": "y"}}},
}
OTHERS = ["other", "b", "1.5", "/srv", "/srv/lib", "other.example.com", "a=c", "Never", "20%", 7, 8, 1025]


def run(spec: dict[str, Any], settings: dict[str, Any] | None = None) -> tuple[bytes, list[Result]]:
    """The objects and findings for a DeviceConfig with this spec."""
    config = {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "DeviceConfig",
        "metadata": {"name": "dc", "namespace": "kmm"},
    }
    return outcome(deviceconfig, [config | {"spec": without_none(spec)}], settings or SETTINGS)


def outcome(function: Any, items: list[Manifest], settings: dict[str, Any]) -> tuple[bytes, list[Result]]:
    functions = {
        "apiVersion": "krmfn.dev/v1alpha1",
        "kind": "RenderDeviceConfigs",
        "metadata": {"name": "r"},
        "spec": settings,
    }
    whole = {
        "apiVersion": "config.kubernetes.io/v1",
        "kind": "ResourceList",
        "functionConfig": functions,
        "items": items,
    }
    resources = ResourceList.parse(json.dumps(whole).encode())
    function(resources)
    made = [item.manifest for item in resources.items if not resources.failed and item.group not in INPUTS]
    return json.dumps(made, sort_keys=True).encode(), resources.results


INPUTS = ("krmfn.dev", "example.com", "pt.example.com")


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_none(child) for key, child in value.items() if child is not None}
    return [without_none(child) for child in value] if isinstance(value, list) else value


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every scalar; a null is none."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if value is not None and not isinstance(value, (dict, list)):
        yield path
    for key, child in pairs:
        yield from leaves(child, (*path, key))


def subschema(path: Path, file: str) -> dict[str, Any]:
    """The schema of the value at a path of the spec; {} where anything is allowed."""
    root = published(file)
    node: dict[str, Any] = root["properties"]["spec"]
    for part in (*path, None):
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
        if part is None:
            return node
        fields = node.get("properties", {})
        node = (
            node.get("items", {}) if isinstance(part, int) else fields.get(part, node.get("additionalProperties", {}))
        )
    return node


def another(value: Any, path: Path, file: str) -> Any:
    """Another value that fits; None when there is none."""
    node = subschema(path, file)
    candidates = [*node.get("enum", []), not value if isinstance(value, bool) else None]
    candidates += ["sha256:" + "1" * 64] if str(value).startswith("sha256:") else []
    candidates += [f"{value}x", f"{value}:2", *OTHERS] if isinstance(value, str) else [*OTHERS, 0]
    fitting = (one for one in candidates if one is not None and one != value and type(one) is type(value))
    return next((one for one in fitting if schema.fits(one, node, published(file))), None)


def changed(value: Any, path: Path, new: Any) -> Any:
    whole = copy.deepcopy(value)
    holder = whole
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = new
    return whole


def is_said(results: list[Result], path: Path) -> bool:
    """True when a finding says that the field, or one that holds it, has no effect, or that it excludes another."""
    mine = [str(part) for part in path]
    for result in results:
        there = split(result.field.path) if result.field else []
        above = bool(there) and mine[: len(there)] == there
        if above and result.rule in ("KRM142", "KRM129", "KRM131"):
            return True
        if result.rule in ("KRM123", "KRM128") and mine[1] in re.findall(r"\w+", result.message):
            return True
        if result.rule == "KMM031" and mine[1] == "modulesLoadingOrder":
            return True
    return False


def fields() -> list[tuple[str, Any]]:
    """Every field of a DeviceConfig's spec with the values of the samples."""
    found: dict[str, list[Any]] = {}
    for sample in samples():
        if sample["kind"] == "DeviceConfig" and sample["apiVersion"].startswith("krmfn.dev"):
            for name, value in sample["spec"].items():
                found.setdefault(name, []).append(value)
    found |= VALUES
    return [(name, value) for name in sorted(found) for value in found[name]]


FIELDS = fields()


def test_the_fields_are_all() -> None:
    assert {name for name, _ in FIELDS} == set(published("deviceconfig")["properties"]["spec"]["properties"])


@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_situation_is_right(situation: str) -> None:
    _, results = run(SITUATIONS[situation], {"kmm": {"version": "main"}})
    assert [result for result in results if result.severity == "error"] == []


@pytest.mark.parametrize(
    ("situation", "field", "value"),
    [
        *(("raw arguments", field, ["a=1"]) for field in ("parameters", "loadArgs", "unloadArgs")),
        ("mappings that say all", "registryTLS", {"insecure": True}),
        ("mappings that say all", "inTreeModulesToRemove", ["old"]),
    ],
)
def test_what_reaches_the_module_and_kmm_ignores_is_said(situation: str, field: str, value: Any) -> None:
    assert run(SITUATIONS["the usual"] | {field: value})[1] == run(SITUATIONS["the usual"])[1]
    said = [result for result in run(SITUATIONS[situation] | {field: value})[1] if result.rule == "KRM142"]
    assert f"spec.{field}" in [result.field.path for result in said if result.field]


ACTS_BESIDE_ANOTHER = {"moduleName", "modulesLoadingOrder"}
"""Where nothing is loaded these name the driver still: no other config may load it on the same node."""


@pytest.mark.parametrize("situation", SITUATIONS)
def test_another_value_changes_something_or_is_said_to_change_nothing(situation: str) -> None:
    silent = []
    for name, value in FIELDS:
        spec = SITUATIONS[situation] | BESIDE.get(name, {}) | {name: value}
        before = run(spec)
        for path in leaves(value, (name,)):
            new = another(at(spec, path), path, "deviceconfig")
            assert new is not None, path
            other = changed(spec, path, new)
            if before != run(other) or is_said(before[1], ("spec", *path)):
                continue
            if name in ACTS_BESIDE_ANOTHER and meets(spec, at(spec, path)) != meets(other, at(spec, path)):
                continue
            silent.append(join(path))
    assert silent == []


def meets(spec: dict[str, Any], module: str) -> tuple[bytes, list[Result]]:
    """The outcome beside a config of another profile that loads `module` on the same nodes."""
    neighbour = BASE | {"moduleName": module, "profile": "other"}
    return outcome(deviceconfig, [config("dc", without_none(spec)), config("neighbour", neighbour)], SETTINGS)


def at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


# The other kinds.


@pytest.mark.parametrize("kind", ["DeviceConfig", "Ptemplate"])
def test_every_field_of_the_operators_kinds(kind: str) -> None:
    """The he-sample operator's DeviceConfig, and the Ptemplate."""
    (sample,) = [one for one in samples() if one["kind"] == kind and "example.com" in one["apiVersion"]]
    function, file = {
        "DeviceConfig": (deviceconfig, "deviceconfig-example.com"),
        "Ptemplate": (ptemplate, "ptemplate"),
    }[kind]
    settings = {"defaults": {"moduleName": "drv"}} if kind == "DeviceConfig" else {}
    assert set(sample["spec"]) == set(published(file)["properties"]["spec"]["properties"])
    before = outcome(function, [sample], settings)
    for path in leaves(sample["spec"]):
        new = another(at(sample["spec"], path), path, file)
        other = sample | {"spec": changed(sample["spec"], path, new)}
        assert outcome(function, [other], settings) != before, path


@pytest.mark.parametrize("layer", ["defaults", "a profile"])
def test_a_field_of_a_profile_acts_as_in_a_config(layer: str) -> None:
    """Each field that is right in the usual config gives the same objects from a profile or the defaults."""
    for name, value in FIELDS:
        if name == "profile":
            continue
        spec = without_none(BASE | BESIDE.get(name, {}) | {name: value})
        shared = {"kmm": {"version": "main"}}
        shared |= {"defaults": spec} if layer == "defaults" else {"profiles": {"vendor": spec}}
        own = {} if layer == "defaults" else {"profile": "vendor"}
        objects, results = run(spec, {"kmm": {"version": "main"}})
        assert run(own, shared)[0] == objects, name
        assert {result.rule for result in run(own, shared)[1]} == {result.rule for result in results}, name


def test_the_words_of_the_function_config_act() -> None:
    """Each setting with an input in which another value changes the outcome."""
    sound, rival = config("a", BASE), config("b", BASE | {"moduleName": "other", "profile": "vendor"})
    module = {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": {"name": "a", "namespace": "kmm"},
        "spec": {
            "selector": {"gpu": "a"},
            "moduleLoader": {
                "container": {
                    "modprobe": {"moduleName": "drv"},
                    "kernelMappings": [{"regexp": "^.+$", "containerImage": "x:1"}],
                }
            },
        },
    }
    left_over = copy.deepcopy(module)
    left_over["metadata"] |= {"name": "old", "annotations": {"krmfn.dev/owner": "krmfn.dev|DeviceConfig|kmm|old"}}
    hidden = copy.deepcopy(sound)
    hidden["metadata"]["annotations"] = {"internal.config.k8s.io/kpt-resource-id": "1"}
    homeless = copy.deepcopy(sound)
    del homeless["metadata"]["namespace"]
    dra = config("a", BASE | {"dra": {"driverName": "gpu.example.com", "image": "registry.example.com/dra:1"}})
    movable = config("a", BASE | {"devicePlugin": {"image": "plugin:latest"}})
    acts: dict[str, tuple[list[Manifest], Any, Any]] = {
        "namespace": ([homeless], "one", "two"),
        "defaults": ([config("a", BASE)], {"dirName": "/a"}, {"dirName": "/b"}),
        "profiles": ([rival], {"vendor": {"dirName": "/a"}}, {"vendor": {"dirName": "/b"}}),
        "kmm": ([dra], {"version": "2.6"}, {"version": "main"}),
        "exclusivity": ([sound, config("b", BASE)], {"mode": "off"}, {"mode": "selectors"}),
        "adopt": ([sound, module], True, False),
        "prune": ([sound, left_over], "never" if PRUNE_IS_A_WORD else False, "always" if PRUNE_IS_A_WORD else True),
        "partialView": ([hidden], "allow", "refuse"),
        "ignore": ([movable], {"KRM225": "a lab"}, {"KRM226": "a lab"}),
        "annotations": ([sound], {"a": "b"}, {"a": "c"}),
    }
    assert acts.keys() == published("renderdeviceconfigs")["properties"]["spec"]["properties"].keys()
    for name, (items, one, other) in acts.items():
        assert outcome(deviceconfig, items, {name: one}) != outcome(deviceconfig, items, {name: other}), name


def test_the_words_of_the_function_config_act_on_ptemplates() -> None:
    """What is for DeviceConfigs only is said, unless there are some that the other function renders."""
    (sample,) = [one for one in samples() if one["kind"] == "Ptemplate"]
    plain = outcome(ptemplate, [sample], {})
    assert outcome(ptemplate, [sample], {"annotations": {"a": "b"}})[0] != plain[0]
    for name in ("defaults", "profiles"):
        (finding,) = outcome(ptemplate, [sample], {name: {"vendor": {}} if name == "profiles" else {"dirName": "/a"}})[
            1
        ]
        assert (finding.rule, finding.severity) == ("KRM142", "info")
    assert outcome(ptemplate, [sample, config("a", BASE)], {"defaults": {"dirName": "/a"}})[1] == []


PRUNE_IS_A_WORD = "enum" in published("renderdeviceconfigs")["properties"]["spec"]["properties"]["prune"]


def config(name: str, spec: dict[str, Any]) -> Manifest:
    metadata = {"name": name, "namespace": "kmm"}
    return {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig", "metadata": metadata, "spec": spec}
