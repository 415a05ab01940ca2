"""krmfn's variables in DeviceConfigs: they reach every generated object, and what is wrong is said at its place."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from krmfn_functions.all_kinds import krmfn
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest, Result, run
from tests import builders
from tests.builders import AGENT, SPEC, applied, by_name, device_config, function_config, generated, list_text, places
from tests.tables import table

EVERY = "$KRMFN_DRIVER_VERSION ${KRMFN_DRIVER_IMAGE} $KRMFN_NAME $KRMFN_NAMESPACE $KRMFN_MODULE_NAME"
FILLED = "1.0 registry.example.com/driver dc kmm drv"


def findings(*configs: Manifest, **spec: Any) -> list[Result]:
    settings = function_config(**spec) if spec else None
    return applied(krmfn, *configs, function_config=settings, settings=Settings(CHECK)).results


def mistakes(*configs: Manifest, **spec: Any) -> dict[str, str]:
    """Return the texts about variables by field, without the configs that they affect."""
    results = [result for result in findings(*configs, **spec) if result.rule == "KRM146"]
    assert all(result.severity == "error" for result in results)
    return {result.field.path: re.sub(r" \(affects [^)]+\)", "", result.text) for result in results if result.field}


def config(**spec: Any) -> Manifest:
    return device_config(SPEC | spec)


def rendered(*configs: Manifest, **spec: Any) -> dict[str, Manifest]:
    """Return the generated objects by kind and name."""
    return by_name(generated(applied(krmfn, *configs, function_config=function_config(**spec) if spec else None)))


def test_variables_are_filled_in_wherever_the_design_says() -> None:
    container = {
        "image": "registry.example.com/$KRMFN_MODULE_NAME:$KRMFN_DRIVER_VERSION",
        "command": [EVERY],
        "args": [EVERY],
        "env": [{"name": "A", "value": EVERY}],
        "volumeMounts": [{"name": "v", "mountPath": "/$KRMFN_NAME", "subPath": "$KRMFN_NAMESPACE"}],
    }
    volumes = [{"name": "v", "hostPath": {"path": "/var/$KRMFN_NAME"}}]
    config_maps = [{"name": "c", "configMap": {"name": "$KRMFN_NAME-config"}}]
    agent = {
        **container,
        "name": "agent",
        "initContainers": [{"name": "init", **container}],
        "volumes": [*volumes, *config_maps],
        "hostDevices": ["/dev/$KRMFN_MODULE_NAME"],
        "labels": {"a": "$KRMFN_DRIVER_VERSION"},
        "podLabels": {"b": "$KRMFN_NAME"},
        "podAnnotations": {"c": EVERY},
        "livenessProbe": {"exec": {"command": [EVERY]}},
        "readinessProbe": {"httpGet": {"path": "/$KRMFN_NAME", "port": 80}},
    }
    image = "$KRMFN_DRIVER_IMAGE:x-$KERNEL_FULL_VERSION-$KRMFN_DRIVER_VERSION"
    full = config(
        kernelMappings=[{"regexp": "^.+$", "image": image}],
        build={
            "dockerfileConfigMap": {"name": "${KRMFN_NAME}-dockerfile"},
            "buildArgs": [{"name": "V", "value": "$KRMFN_DRIVER_VERSION"}],
        },
        parameters=["version=$KRMFN_DRIVER_VERSION"],
        loadArgs=["--$KRMFN_NAME"],
        firmwarePath="/firmware/$KRMFN_MODULE_NAME",
        dirName="/opt/$KRMFN_DRIVER_VERSION",
        annotations={"d": EVERY},
        labels={"e": "$KRMFN_NAME"},
        devicePlugin={**container, "volumes": volumes, "initContainer": container},
        daemonSets=[agent],
    )
    objects = rendered(full)
    assert "KRMFN_" not in str(objects)
    of_module = objects["Module dc"]
    loader = of_module["spec"]["moduleLoader"]["container"]
    assert loader["kernelMappings"][0]["containerImage"] == "registry.example.com/driver:x-$KERNEL_FULL_VERSION-1.0"
    assert loader["build"]["dockerfileConfigMap"] == {"name": "dc-dockerfile"}
    assert loader["build"]["buildArgs"] == [{"name": "V", "value": "1.0"}]
    assert loader["modprobe"]["parameters"] == ["version=1.0"]
    assert loader["modprobe"]["args"] == {"load": ["--dc"]}
    assert (loader["modprobe"]["firmwarePath"], loader["modprobe"]["dirName"]) == ("/firmware/drv", "/opt/1.0")
    assert of_module["metadata"]["annotations"]["d"] == FILLED
    pod = objects["DaemonSet dc-agent"]["spec"]["template"]["spec"]
    first, init = pod["containers"][0], pod["initContainers"][0]
    for filled in (of_module["spec"]["devicePlugin"]["container"], first, init):
        assert filled["image"] == "registry.example.com/drv:1.0"
        assert filled["args"] == filled["command"] == [FILLED]
        assert filled["env"] == [{"name": "A", "value": FILLED}]
        assert filled["volumeMounts"][0] == {"name": "v", "mountPath": "/dc", "subPath": "kmm"}
    assert pod["volumes"][1]["configMap"] == {"name": "dc-config"}
    assert [pod["volumes"][at]["hostPath"]["path"] for at in (0, 2)] == ["/var/dc", "/dev/drv"]
    assert first["livenessProbe"] == {"exec": {"command": [FILLED]}}
    assert first["readinessProbe"] == {"httpGet": {"path": "/dc", "port": 80}}
    assert findings(full) == []


@pytest.mark.parametrize("layer", ["profile", "defaults", "config", "pool"])
def test_every_layer_may_hold_them(layer: str) -> None:
    fields = {"devicePlugin": {"image": "registry.example.com/plugin:$KRMFN_DRIVER_VERSION", "args": [EVERY]}}
    at_layer: dict[str, dict[str, Any]] = {layer: fields}
    pool = {"name": "p", "nodeSelector": {"gpu": "a"}, **at_layer.get("pool", {})}
    spec = SPEC | {"nodeSelector": None, "nodePools": [pool], **at_layer.get("config", {})}
    profiles = {"p": at_layer.get("profile", {"dirName": "/x"})}
    settings = {"profiles": profiles, "defaults": at_layer.get("defaults", {})}
    [module] = rendered(device_config(spec | {"profile": "p"}), **settings).values()
    assert module["spec"]["devicePlugin"]["container"]["image"] == "registry.example.com/plugin:1.0"
    assert module["spec"]["devicePlugin"]["container"]["args"] == [FILLED]


def test_each_pool_and_each_retained_version_has_its_own_values() -> None:
    versions = {"a": "1.10", "b": "2"}
    pools = [{"name": name, "nodeSelector": {"gpu": name}, "driverVersion": versions[name]} for name in versions]
    agent = {"name": "agent", "image": "registry.example.com/agent:$KRMFN_DRIVER_VERSION"}
    spec = SPEC | {"driverVersion": None, "nodeSelector": None, "nodePools": pools, "daemonSets": [agent]}
    objects = rendered(device_config(spec | {"upgrade": {"ordered": True, "retain": ["0.9", "012"]}}))
    assert {
        name: item["spec"]["template"]["spec"]["containers"][0]["image"].rpartition(":")[2]
        for name, item in objects.items()
        if name.startswith("DaemonSet")
    } == {
        f"DaemonSet dc-{pool}-agent-{version.replace('.', '-')}": version
        for pool, current in versions.items()
        for version in (current, "0.9", "012")
    }


def test_what_is_filled_in_stays_a_string_in_yaml() -> None:
    for version in ("6.4", "1e3", "012", "0x1F", "true", "null", "1_0", "2026-01-01"):
        env = [{"name": "V", "value": "$KRMFN_DRIVER_VERSION"}]
        spec = SPEC | {"driverVersion": version, "daemonSets": [AGENT | {"env": env}]}
        out, code = run(krmfn, list_text(device_config(spec, name="on")))
        assert code == 0
        (agent,) = (item for item in yaml.safe_load(out)["items"] if item["kind"] == "DaemonSet")
        assert agent["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "V", "value": version}]


def test_a_plain_run_has_the_same_bytes_with_and_without_the_variable() -> None:
    with_variable = config(devicePlugin={"image": "registry.example.com/plugin:${KRMFN_DRIVER_VERSION}"})
    assert rendered(with_variable) == rendered(config(devicePlugin={"image": "registry.example.com/plugin:1.0"}))


MISTAKES = table(__file__, "mistakes.yaml")


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("layer", ["spec", "spec.profiles.p", "spec.defaults"])
def test_a_mistake_is_an_error_in_its_layer(mistake: str, layer: str) -> None:
    """Also in a profile that nobody names."""
    fields, path, message = MISTAKES[mistake].values()
    spec = {"spec.profiles.p": {"profiles": {"p": fields}}, "spec.defaults": {"defaults": fields}}.get(layer, {})
    rest = {name: value for name, value in SPEC.items() if name not in fields}
    named = device_config(rest | (fields if layer == "spec" else {"profile": "p"} if "profiles" in layer else {}))
    messages = mistakes(named, **spec)
    assert list(messages) == [f"{layer}.{path}"]
    assert messages[f"{layer}.{path}"].startswith(message)
    if layer != "spec":
        assert list(mistakes(**spec)) == [f"{layer}.{path}"]


@pytest.mark.parametrize(
    ("missing", "variable"),
    [
        ("driverVersion", "$KRMFN_DRIVER_VERSION"),
        ("driverImage", "$KRMFN_DRIVER_IMAGE"),
        ("moduleName", "${KRMFN_MODULE_NAME}"),
    ],
)
def test_a_variable_without_a_value_is_an_error(missing: str, variable: str) -> None:
    fields: Any = {missing: None, "kernelMappings": [{"regexp": "^.+$", "image": "x:1-$KERNEL_FULL_VERSION"}]}
    if missing == "moduleName":
        fields |= {"rawLoadArgs": ["drv"], "rawUnloadArgs": ["-r", "drv"]}
    message = f"{variable} has no value: {missing} is missing; write {missing}"
    for argument, messages in ((variable, {"spec.devicePlugin.args[0]": message}), ("x", {})):
        assert mistakes(config(**fields, devicePlugin={"image": "p:1", "args": [argument]})) == messages


def test_names_and_selectors_are_refused_by_the_schema_with_the_reason() -> None:
    for field, value in (
        ("moduleName", "$KRMFN_NAME"),
        ("driverVersion", "$KRMFN_NAME"),
        ("nodeSelector", {"a": "$KRMFN_NAME"}),
        ("nodeSelector", {"$KRMFN_NAME": "a"}),
        ("serviceAccountName", "$KRMFN_NAME"),
        ("daemonSets", [{"name": "$KRMFN_NAME", "image": "x:1"}]),
        ("imageRegistry", "$KRMFN_NAME"),
    ):
        for settings in ({}, {"defaults": {field: value}}):
            [finding] = findings(config(**({} if settings else {field: value})), **settings)
            assert finding.rule == ("KRM110" if settings else "KRM101")
            assert finding.text.endswith("(variables of krmfn are not filled in here)"), finding.text


def test_a_field_that_a_variable_takes_its_value_from_has_an_effect() -> None:
    mappings = [{"regexp": "^.+$", "image": "$KRMFN_DRIVER_IMAGE:x-$KERNEL_FULL_VERSION-$KRMFN_DRIVER_VERSION"}]
    assert findings(config(kernelMappings=mappings)) == []
    in_tree = {"inTreeDriver": True, "nodeSelector": {"gpu": "a"}, "driverVersion": "1"}
    assert findings(device_config(in_tree | {"devicePlugin": {"image": "x:$KRMFN_DRIVER_VERSION"}})) == []


def test_other_kinds_have_no_variables() -> None:
    """A Ptemplate's are an error; a hand-written Module's are KMM's, which knows none of that name."""
    pt = {**builders.manifest("pt.example.com/v1alpha1", "Ptemplate", "pt"), "spec": {"selector": {"a": "b"}}}
    pt["spec"]["consumer"] = "registry.example.com/consumer:$KRMFN_NAME"
    message = "$KRMFN_NAME is not filled in here: only a DeviceConfig has variables; write the value itself"
    assert mistakes(pt) == {"spec.consumer": message}
    by_hand = builders.module({"regexp": "^.+$", "containerImage": "x:v$KRMFN_NAME-$KERNEL_FULL_VERSION"})
    assert [result.rule for result in findings(by_hand)] == ["KRM222"]


def test_annotations_for_every_object_have_no_variables() -> None:
    [finding] = findings(config(), annotations={"a": "$KRMFN_NAME"})
    assert (finding.rule, finding.field and finding.field.path) == ("KRM146", "spec.annotations.a")
    assert "write the annotation in spec.defaults.annotations" in finding.text


def test_a_finding_about_a_filled_in_value_shows_what_is_written() -> None:
    [finding] = findings(config(devicePlugin={"image": "x-$KRMFN_NAME:latest"}))
    assert (finding.rule, finding.field and finding.field.current) == ("KRM225", "x-$KRMFN_NAME:latest")


def test_a_repository_that_is_none_with_the_value_filled_in() -> None:
    parts = {"registry": "registry.example.com", "repository": "team/${KRMFN_MODULE_NAME}", "tag": "1"}
    wrong = config(driverImage=None, driverImageParts=parts, moduleName="My_Mod", labels={"repository": "$KRMFN_NAME"})
    message = "becomes 'team/My_Mod'; a repository has lower case letters, digits, -, _, . and /"
    assert mistakes(wrong) == {"spec.driverImageParts.repository": message}
    assert mistakes(config(driverImage=None, driverImageParts=parts, moduleName="my_mod")) == {}


def test_a_daemon_set_s_name_and_selector_take_variables_and_are_checked() -> None:
    entry = AGENT | {
        "objectName": "$KRMFN_NAME-x",
        "matchLabels": {"app": "$KRMFN_NAME"},
        "podLabels": {"a": "$KRMFN_NAME"},
    }
    daemon_set = rendered(config(daemonSets=[entry]))["DaemonSet dc-x"]
    assert daemon_set["spec"]["selector"] == {"matchLabels": {"app": "dc"}}
    assert daemon_set["spec"]["template"]["metadata"]["labels"].items() >= {"app": "dc", "a": "dc"}.items()
    wrong = AGENT | {"objectName": "$KRMFN_DRIVER_VERSION", "matchLabels": {"app": "$KRMFN_NAMESPACE"}}
    results = applied(krmfn, config(driverVersion="1.0_A", daemonSets=[wrong])).results
    assert places(results) == [("KRM146", "spec.daemonSets[0].objectName")]
    assert "becomes '1.0_A'; a DaemonSet's name has lower case letters" in results[0].text


@pytest.mark.parametrize("variable", ["$KRMFN_DRIVER_VERSION", "${KRMFN_MODULE_NAME}-x"])
def test_a_selector_has_no_variable_that_changes(variable: str) -> None:
    """A new version would change it, and the API server refuses that."""
    entry = AGENT | {"matchLabels": {"app": variable}}
    results = applied(krmfn, config(daemonSets=[entry])).results
    assert places(results) == [("KRM146", "spec.daemonSets[0].matchLabels.app")]
    assert "a DaemonSet's selector never can; use $KRMFN_NAME" in results[0].text
