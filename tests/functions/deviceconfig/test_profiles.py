"""Fields of a profile or of the defaults: the same findings as in a config, at the functionConfig's own field, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig, reading
from krmfn_functions.paths import manifests
from krmfn_functions.rendering.function_config import FunctionConfig, Source
from krmfn_functions.run import note
from krmfn_functions.settings import CHECK, FUNCTION, Intent, Settings

from krmfn import Item, Ref, ResourceList, Result
from tests.builders import AGENT, SPEC, applied, device_config, edited, function_config, places
from tests.functions.profile import vendor

HERE = Ref("krmfn.dev/v1alpha1", "RenderDeviceConfigs", "", "vendors")


def run(spec: dict[str, Any], *configs: dict[str, Any], intent: Intent = FUNCTION) -> list[Result]:
    """Return the findings of a run with a functionConfig of this spec."""
    functions = edited(function_config(**spec), ("metadata.name", "vendors"))
    return applied(deviceconfig, *configs, function_config=functions, settings=Settings(intent)).results


def config(name: str = "dc", **spec: Any) -> dict[str, Any]:
    return device_config(spec, name)


SIGN = {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}}
MISTAKES: dict[str, dict[str, Any]] = {
    "KRM124": {"kernelMappings": [{"image": "x:1"}]},
    "KRM126": {"daemonSets": [AGENT | {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}]},
    "KRM127": {"devicePlugin": {"image": "x:1", "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}},
    "KRM128": {"driverImageParts": {"repository": "x", "tag": "$KERNEL_FULL_VERSION"}},
    "KRM131": {"upgrade": {"retain": ["1"]}},
    "KRM133": {"daemonSets": [{"name": "agent"}]},
    "KRM134": {"daemonSets": [AGENT | {"envFrom": [{"prefix": "A"}]}]},
    "KRM135": {"daemonSets": [AGENT | {"initContainers": [AGENT]}]},
    "KMM004": {"tolerations": [{"key": "a b", "operator": "Exists"}]},
    "KMM023": {"kernelMappings": [{"regexp": "^.+$"}, {"regexp": "a["}]},
    "KMM032": {"modulesLoadingOrder": ["other", "drv"]},
    "KMM034": {"sign": SIGN},
    "KMM037": {"kernelMappings": [{"regexp": "^.+$", "sign": SIGN | {"filesToSign": ["/a.ko"]}}]},
    "KRM202": {"nodeSelector": {"node-role.kubernetes.io/worker": "true"}},
    "KRM205": {"parameters": ["a=b\u2003c"]},
    "KRM212": {"kernelMappings": [{"regexp": "^.+$"}, {"regexp": "^6.*$"}]},
    "KRM213": {"kernelMappings": [{"regexp": "6"}]},
    "KRM221": {"driverImage": "x:${A"},
    "KRM222": {"kernelMappings": [{"regexp": "^.+$", "image": "x:$A-1"}]},
    "KRM223": {"devicePlugin": {"image": "x:$KERNEL_VERSION"}},
    "KRM224": {"driverImage": "x:$A"},
    "KRM225": {"devicePlugin": {"imageParts": {"repository": "x", "tag": "latest"}}},
    "KRM226": {"driverImage": "x-$KERNEL_FULL_VERSION@sha256:" + "a" * 64},
}
"""A mistake in a config that is sound otherwise, by the rule that finds it."""


def sound(**spec: Any) -> dict[str, Any]:
    base = {"driverImage": "registry.example.com/driver:$KERNEL_FULL_VERSION", "moduleName": "drv"}
    fields = base | {"nodeSelector": {"gpu": "a"}} | spec
    return {key: value for key, value in fields.items() if value is not None}


def is_of_use(result: Result) -> bool:
    """True for what is said about fields that nobody uses."""
    return result.rule in ("KRM142", "KRM143", "KRM144")


def tails(results: list[Result]) -> set[tuple[str, str]]:
    """(rule, field below the spec, the profile or the defaults) of the findings about mistakes in fields."""
    prefixes = ("spec.profiles.p.", "spec.defaults.", "spec.")
    paths = places(result for result in results if result.field and not is_of_use(result))
    return {(rule, path.removeprefix(next(filter(path.startswith, prefixes)))) for rule, path in paths}


@pytest.mark.parametrize("rule", MISTAKES)
def test_a_mistake_in_a_profile_is_reported_as_in_a_config(rule: str) -> None:
    """Under a config that names the profile, in the defaults, and without any config: the same rules and fields."""
    spec = sound(**MISTAKES[rule])
    mine = tails(run({}, config(**spec)))
    assert rule in {reported for reported, _ in mine}
    for functions, user in (({"profiles": {"p": spec}}, config(profile="p")), ({"defaults": spec}, config())):
        named = [result for result in run(functions, user) if result.ref == HERE]
        assert tails(named) == mine
        assert all(result.message.endswith(" (affects DeviceConfig kmm/dc)") for result in named if tails([result]))
        alone = run(functions, intent=CHECK)
        assert tails(alone) == mine
        assert all(result.ref == HERE for result in alone)


@pytest.mark.parametrize("hides", [False, True])
def test_a_mistake_in_a_profile_is_reported_beside_what_overrides_it(hides: bool) -> None:
    spec = sound(**MISTAKES["KRM213"])
    above = {"kernelMappings": [{"regexp": "^.+$"}]} if hides else {"imagePullPolicy": "Always"}
    results = run({"profiles": {"p": spec}, "overrides": {"p": above}}, intent=CHECK)
    assert any(rule == "KRM213" and path.startswith("spec.profiles.p.") for rule, path in places(results))


def test_a_field_of_a_profile_that_nobody_takes_is_named_beside_what_overrides_it() -> None:
    profile = {"p": sound(firmwarePath="/a", dirName="/b")}
    results = run({"profiles": profile, "overrides": {"p": {"dirName": "/c"}}}, config(profile="p", firmwarePath="/d"))
    paths = [path for rule, path in places(results) if rule == "KRM144"]
    assert paths == ["spec.profiles.p.firmwarePath"]  # an override is meant to hide


def test_a_field_s_path_is_that_of_the_layer_that_gave_it() -> None:
    source = Source(HERE)
    defaults = {"dirName": "/a", "firmwarePath": "/a", "parameters": ["a=1"]}
    profile = {"firmwarePath": "/b", "parameters": ["b=1"]}
    config_of_run = FunctionConfig(defaults, {"p.q": profile}, source=source)
    pools = [{"name": "one", "moduleName": "d"}, {"name": "another", "moduleName": "d"}]
    manifest = config(profile="p.q", parameters=["c=1"], nodePools=pools)
    text = json.dumps(manifest).encode()
    first, second = reading.from_item(Item(text, 0, len(text), -2), config_of_run)
    assert (first.pool, second.pool) == ("another", "one")
    assert (first.spec.dirName, first.spec.firmwarePath, first.spec.parameters) == ("/a", "/b", ["c=1"])
    assert (first.spec.moduleName, first.spec.profile) == ("d", "p.q")
    assert first.at("dirName") == "spec.defaults.dirName"
    assert first.at("firmwarePath") == "spec.profiles[p.q].firmwarePath"
    assert first.at("parameters[0]") == "spec.parameters[0]"
    assert first.at("moduleName") == "spec.nodePools[1].moduleName"
    assert first.at("nobody") == "spec.nobody"
    assert second.at("moduleName") == "spec.nodePools[0].moduleName"


def test_many_configs_are_counted_and_the_order_does_not_matter() -> None:
    profiles = {"profiles": {"p": {"moduleName": "drv", "kernelMappings": [{"regexp": "a["}]}}}
    configs = [
        config(name, profile="p", nodeSelector={"pool": name}, driverImage="x:$KERNEL_FULL_VERSION")
        for name in ("a", "b", "c", "d", "e")
    ]
    (finding,) = [result for result in run(profiles, *configs) if result.rule == "KMM023"]
    assert finding.message.endswith(" (affects DeviceConfig kmm/a, kmm/b and 3 more)")
    assert run(profiles, *configs[::-1]) == run(profiles, *configs)


def test_a_profile_that_is_not_there_is_an_error_also_beside_one_that_is() -> None:
    named = config(**SPEC | {"profile": "absent"})
    for others in ([], [vendor.profile()]):
        findings = applied(deviceconfig, named, *others).results
        assert [rule for rule, _ in places(findings, "error")] == ["KRM111"]


def test_what_one_config_turns_off_reaches_the_others() -> None:
    profiles = {"profiles": {"p": {"moduleName": "drv", "devicePlugin": {"image": "plugin:latest"}}}}
    configs = [
        config(name, profile="p", nodeSelector={"pool": name}, driverImage="x:$KERNEL_FULL_VERSION")
        for name in ("a", "b")
    ]
    configs[0]["metadata"]["annotations"] = {"krmfn.dev/ignore": "KRM225: a lab"}
    (finding,) = run(profiles, *configs)
    assert finding.message.endswith(" (affects DeviceConfig kmm/b)")


def test_a_contradiction_is_reported_at_the_stronger_layer() -> None:
    user = config(profile="p", rawLoadArgs=["a"], driverImage="x:$KERNEL_FULL_VERSION")
    findings = run({"profiles": {"p": {"moduleName": "drv"}}}, user)
    (finding,) = [result for result in findings if result.rule == "KRM128"]
    assert finding.field
    assert finding.field.path == "spec.rawLoadArgs"
    assert "(moduleName is in spec.profiles.p.moduleName)" in finding.message


_IMAGE = "$KRMFN_DRIVER_IMAGE:el9-$KRMFN_DRIVER_VERSION-$KERNEL_FULL_VERSION"
_IN_MAPPINGS = {
    "moduleName": "drv",
    "kernelMappings": [{"regexp": r, "image": _IMAGE} for r in (r"^.+\.el8$", r"^.+\.el9$")],
}


def test_a_profile_with_the_driver_image_s_variable_is_checked_by_itself() -> None:
    """A config that is wrong elsewhere brings no errors of the profile either."""
    wrong = config(profile="p", driverImage="x", driverVersion="1", nodeSelector={"a": "b"}, parameters=["a b"])
    for configs in ((), (wrong,)):
        results = run({"profiles": {"p": _IN_MAPPINGS}}, *configs, intent=CHECK)
        rules = [rule for rule, _ in places(results, "error", "warning")]
        assert (rules, places(results, "warning")) == (["KRM101"] if configs else [], [])


@pytest.mark.parametrize(("field", "variable"), [("driverImage", "IMAGE"), ("driverVersion", "VERSION")])
def test_a_variable_of_the_profile_without_a_value_is_one_error_in_the_config(field: str, variable: str) -> None:
    spec: dict[str, Any] = {"driverImage": "x", "driverVersion": "1", "nodeSelector": {"a": "b"}, "profile": "p"}
    results = run({"profiles": {"p": _IN_MAPPINGS}}, config(**spec | {field: None}))
    (finding,) = [result for result in results if result.severity == "error"]
    assert finding.rule == "KRM146" and finding.field and finding.field.path == f"spec.{field}"
    places = ", ".join(f"spec.profiles.p.kernelMappings[{at}].image" for at in (0, 1))
    assert finding.message == f"{field} is missing: $KRMFN_DRIVER_{variable} has no value in {places}"


def test_a_function_config_in_a_file_has_lines(tmp_path: Path) -> None:
    """Also one that is a ConfigMap, by its own keys."""
    file = tmp_path / "settings.yaml"
    file.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n"
        "  adopt: 'false'\n  defaults.nodeSelector: all\n"
    )
    resources = ResourceList()
    (item,) = manifests.read(str(file)).items
    note(resources, config_item=item)
    resources.function_config = item.manifest
    note(resources, settings=Settings(CHECK))
    deviceconfig(resources)
    (finding,) = resources.results
    assert finding.place
    assert (finding.place.path, finding.place.line, finding.place.column) == (str(file), 7, 3)
