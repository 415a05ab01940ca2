"""Every field counts: another value in any field changes the output or a finding, or a finding says that it does not.

The fields are those of the schemas (the samples have every one, see tests/schemas/test_json_schemas.py), each in
situations where it applies and in those where it does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.ptemplate import ptemplate
from krmfn_functions.rendering.kinds import schema as json_schema

from krmfn import Function, Manifest, Result, schema
from krmfn.resource import join, split
from tests.builders import (
    AGENT,
    DROP,
    PLUGIN,
    SPEC,
    Path,
    applied,
    device_config,
    edited,
    function_config,
    leaves,
    module,
)
from tests.examples import IS_EACH
from tests.schema_corpus import samples

BASE: dict[str, Any] = SPEC | {"daemonSets": [AGENT]}
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
        "modprobedDir": "/etc/modprobe.d",
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

PLAIN_SPEC = {"kmm": {"version": "main"}}
CONFIG_SPEC = PLAIN_SPEC | {"profiles": {"vendor": {"labels": {"team": "x"}}, "other": {"labels": {"team": "y"}}}}
"""With the profiles that a config may name; where none does, trying them would be a sixth of the work."""
OTHERS = ["other", "b", "1.5", "/srv", "/srv/lib", "other.example.com", "a=c", "Never", "20%", 7, 8, 1025]


def run(spec: dict[str, Any], config: dict[str, Any] | None = None) -> tuple[bytes, list[Result]]:
    """The objects and findings for a DeviceConfig with this spec."""
    config = config or (CONFIG_SPEC if "profile" in spec else PLAIN_SPEC)
    return outcome(deviceconfig, [device_config(without_none(spec))], config)


def outcome(function: Function, items: list[Manifest], config: dict[str, Any]) -> tuple[bytes, list[Result]]:
    resources = applied(function, *items, function_config=function_config(**config))
    objects = [item for item in resources.items if not resources.failed and item.group not in INPUTS]
    return b"".join(item.text for item in objects), resources.results


INPUTS = ("krmfn.dev", "example.com", "pt.example.com")


def without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_none(child) for key, child in value.items() if child is not None}
    return [without_none(child) for child in value] if isinstance(value, list) else value


def scalars(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every scalar; a null is none."""
    return (at for at, leaf in leaves(value, path) if leaf not in (None, [], {}) or leaf is False or leaf == 0)


def subschema(path: Path, file: str) -> dict[str, Any]:
    """The schema of the value at a path of the spec; {} where anything is allowed."""
    root = json_schema(file)
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
    candidates = [*node.get("enum", []), *node.get("examples", []), not value if isinstance(value, bool) else None]
    candidates += ["sha256:" + "1" * 64] if str(value).startswith("sha256:") else []
    candidates += [f"{value}x", f"{value}:2", *OTHERS] if isinstance(value, str) else [*OTHERS, 0]
    rules = schema.Schema({"$defs": json_schema(file)["$defs"], **node})
    others = (candidate for candidate in candidates if candidate is not None and candidate != value)
    return next((other for other in others if type(other) is type(value) and rules.fits(other)), None)


def is_said(results: list[Result], path: Path) -> bool:
    """True when a finding says that the field, or one that holds it, has no effect, or that it excludes another."""
    mine = [str(part) for part in path]
    for result in results:
        place = list(split(result.field.path)) if result.field else []
        above = bool(place) and mine[: len(place)] == place
        if above and result.rule in ("KRM142", "KRM129", "KRM131"):
            return True
        if result.rule == "KRM111" and mine[1] == "options" and place == ["spec", "options"]:  # it has no Profile
            return True
        if result.rule in ("KRM123", "KRM128") and mine[1] in re.findall(r"\w+", result.message):
            return True
        if result.rule == "KMM031" and mine[1] == "modulesLoadingOrder":
            return True
    return False


def fields() -> list[tuple[str, Any]]:
    """Every field of a DeviceConfig's spec with the values of the samples."""
    values: dict[str, list[Any]] = {}
    for sample in samples():
        if sample["kind"] == "DeviceConfig" and sample["apiVersion"].startswith("krmfn.dev"):
            for name, value in sample["spec"].items():
                values.setdefault(name, []).append(value)
    values |= VALUES
    return [(name, value) for name in sorted(values) for value in values[name]]


FIELDS = fields()


def test_the_fields_are_all() -> None:
    names = set(json_schema("deviceconfig")["properties"]["spec"]["properties"])
    assert {name for name, _ in FIELDS} == names, "tests/schema_samples/deviceconfig.yaml has each once"


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
def test_what_reaches_the_module_and_kmm_ignores_is_reported(situation: str, field: str, value: Any) -> None:
    assert run(SITUATIONS["the usual"] | {field: value})[1] == run(SITUATIONS["the usual"])[1]
    findings = [result for result in run(SITUATIONS[situation] | {field: value})[1] if result.rule == "KRM142"]
    assert f"spec.{field}" in [result.field.path for result in findings if result.field]


ACTS_BESIDE_ANOTHER = {"moduleName", "modulesLoadingOrder"}
"""Where nothing is loaded these name the driver still: no other config may load it on the same node."""


ONE_OBJECT = {"objectName", "matchLabels"}
"""Fields of a DaemonSet that is made once: one for each version or pool cannot have them (KRM150)."""
MADE_SEVERAL_TIMES = {"an ordered upgrade", "pools that say it all"}


MAKES_PODS = {"daemonSets", "devicePlugin", "dra"}
PODS_DIFFER = (
    "the usual",
    "nothing loaded",
    "nothing loaded, DaemonSets of their own",
    "a hub",
    "an ordered upgrade",
    "pools that say it all",
)
"""Situations that say how often pods are made, and with what account; the others say what a Module's loader does."""
IN_A_POD = 4
"""How many parts the path of a field of a pod has at least."""


def is_tried(situation: str, name: str, path: Path) -> bool:
    """Whether a field is tried: with the examples of CI wherever it may differ, else in the usual situation and more.

    That is one more for a field of a pod, and a third of the others for any other field.
    """
    is_of_pod, number = name in MAKES_PODS and len(path) >= IN_A_POD, crc32(join(path).encode())
    if IS_EACH or situation == "the usual":
        return not is_of_pod or situation in PODS_DIFFER
    if is_of_pod:
        return situation == PODS_DIFFER[1 + number % (len(PODS_DIFFER) - 1)]
    return (number + [*SITUATIONS].index(situation)) % 3 == 0


@pytest.mark.parametrize("situation", SITUATIONS)
def test_another_value_changes_something_or_is_reported_to_change_nothing(situation: str) -> None:
    silent = []
    for name, sample in FIELDS:
        value = sample
        if name == "daemonSets" and situation in MADE_SEVERAL_TIMES:
            value = [{key: entry[key] for key in entry if key not in ONE_OBJECT} for entry in sample]
        if name in ("devicePlugin", "dra") and situation == "a hub":  # whose accounts are made on the spokes (KRM138)
            value = {key: part for key, part in sample.items() if key != "serviceAccount"}
        spec = SITUATIONS[situation] | BESIDE.get(name, {}) | {name: value}
        before = run(spec)
        for path in scalars(value, (name,)):
            if not is_tried(situation, name, path):
                continue
            new = another(at(spec, path), path, "deviceconfig")
            assert new is not None, path
            other = edited(spec, (path, new))
            if before != run(other) or is_said(before[1], ("spec", *path)):
                continue
            if name in ACTS_BESIDE_ANOTHER and meets(spec, at(spec, path)) != meets(other, at(spec, path)):
                continue
            silent.append(join(path))
    assert silent == [], "say when they change nothing: `unused` of deviceconfig/effects.py"


def meets(spec: dict[str, Any], module: str) -> tuple[bytes, list[Result]]:
    """The outcome beside a config of another profile that loads `module` on the same nodes."""
    neighbour = BASE | {"moduleName": module, "profile": "other"}
    return outcome(
        deviceconfig, [device_config(without_none(spec)), device_config(neighbour, "neighbour")], CONFIG_SPEC
    )


def at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


# The other kinds.


@pytest.mark.parametrize("kind", ["DeviceConfig", "Ptemplate"])
def test_every_field_of_the_operators_kinds(kind: str) -> None:
    """The he-sample operator's DeviceConfig, and the Ptemplate."""
    (sample,) = [item for item in samples() if item["kind"] == kind and "example.com" in item["apiVersion"]]
    function, file = {
        "DeviceConfig": (deviceconfig, "deviceconfig-example.com"),
        "Ptemplate": (ptemplate, "ptemplate"),
    }[kind]
    config = {"defaults": {"moduleName": "drv"}} if kind == "DeviceConfig" else {}
    assert set(sample["spec"]) == set(json_schema(file)["properties"]["spec"]["properties"])
    before = outcome(function, [sample], config)
    for path in scalars(sample["spec"]):
        new = another(at(sample["spec"], path), path, file)
        other = edited(sample, (("spec", *path), new))
        assert outcome(function, [other], config) != before, path


@pytest.mark.parametrize("layer", ["defaults", "a profile"])
def test_a_field_of_a_profile_acts_as_in_a_config(layer: str) -> None:
    """Each field that is right in the usual config gives the same objects from a profile or the defaults."""
    for name, value in FIELDS:
        if name in ("profile", "options"):  # which a config alone has
            continue
        spec = without_none(BASE | BESIDE.get(name, {}) | {name: value})
        shared = {"kmm": {"version": "main"}}
        shared |= {"defaults": spec} if layer == "defaults" else {"profiles": {"vendor": spec}}
        spec_of_config = {} if layer == "defaults" else {"profile": "vendor"}
        objects, results = run(spec, {"kmm": {"version": "main"}})
        assert run(spec_of_config, shared)[0] == objects, name
        # What every pool replaces is a field without effect in a config, and one that reaches no config elsewhere.
        rules = {"KRM142" if result.rule == "KRM144" else result.rule for result in run(spec_of_config, shared)[1]}
        assert rules == {result.rule for result in results}, name


def test_every_field_of_the_function_config_has_an_effect() -> None:
    """Each setting with an input in which another value changes the outcome."""
    sound, rival = device_config(BASE, "a"), device_config(BASE | {"moduleName": "other", "profile": "vendor"}, "b")
    written = module(name="a", selector={"gpu": "a"}, modprobe={"moduleName": "drv"})
    mark = {"krmfn.dev/owner": "deviceconfig krmfn.dev|DeviceConfig|kmm|old kmm.sigs.x-k8s.io|Module|kmm|old"}
    left_over = edited(written, ("metadata.name", "old"), ("metadata.annotations", mark))
    hidden = edited(sound, ("metadata.annotations", {"internal.config.k8s.io/kpt-resource-id": "1"}))
    homeless = edited(sound, ("metadata.namespace", DROP))
    dra = device_config(BASE | {"dra": {"driverName": "gpu.example.com", "image": "registry.example.com/dra:1"}}, "a")
    movable = device_config(BASE | {"devicePlugin": {"image": "plugin:latest"}}, "a")
    foreign = edited(sound, ("apiVersion", "amd.com/v1alpha1"), ("metadata.name", "theirs"))
    offer = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "Profile", "metadata": {"name": "gpu"}, "spec": {"config": {}}}
    driven = device_config(BASE | {"profile": "gpu"}, "a")
    tuned = {"apiVersion": "tuned.openshift.io/v1", "kind": "Profile", "metadata": {"name": "t"}, "spec": {"a": 1}}
    tuning = edited(offer, ("spec.config", {"extraObjects": [tuned]}))
    acts: dict[str, tuple[list[Manifest], Any, Any]] = {
        "namespace": ([homeless], "one", "two"),
        "defaults": ([device_config(BASE, "a")], {"dirName": "/a"}, {"dirName": "/b"}),
        "profiles": ([rival], {"vendor": {"dirName": "/a"}}, {"vendor": {"dirName": "/b"}}),
        "kmm": ([dra], {"version": "2.6"}, {"version": "main"}),
        "exclusivity": ([sound, device_config(BASE, "b")], {"mode": "off"}, {"mode": "selectors"}),
        "adopt": ([sound, written], True, False),
        "prune": ([sound, left_over], "never", "always"),
        "partialView": ([hidden], "allow", "refuse"),
        "ignore": ([movable], {"KRM225": "a lab"}, {"KRM226": "a lab"}),
        "annotations": ([sound], {"a": "b"}, {"a": "c"}),
        "operators": ([sound, foreign], [{"group": "amd.com", "kind": "DeviceConfig"}], []),
        "extraKinds": ([tuning, driven], ["tuned.openshift.io/Profile"], []),
        "overrides": ([offer, driven], {"gpu": {"dirName": "/a"}}, {"gpu": {"dirName": "/b"}}),
    }
    assert acts.keys() == json_schema("renderdeviceconfigs")["properties"]["spec"]["properties"].keys()
    for name, (items, value, other) in acts.items():
        assert outcome(deviceconfig, items, {name: value}) != outcome(deviceconfig, items, {name: other}), name


def test_the_fields_of_the_function_config_on_ptemplates() -> None:
    """What is for DeviceConfigs only is said, unless there are some that the other function renders."""
    (sample,) = [item for item in samples() if item["kind"] == "Ptemplate"]
    plain = outcome(ptemplate, [sample], {})
    assert outcome(ptemplate, [sample], {"annotations": {"a": "b"}})[0] != plain[0]
    for name, value in (("defaults", {"dirName": "/a"}), ("profiles", {"vendor": {}})):
        _, (finding,) = outcome(ptemplate, [sample], {name: value})
        assert (finding.rule, finding.severity) == ("KRM142", "info")
    assert outcome(ptemplate, [sample, device_config(BASE, "a")], {"defaults": {"dirName": "/a"}})[1] == []
