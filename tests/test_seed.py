"""The seed operators' own resources render to what the operators meant to make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.kmm.module import Module
from krmfn_functions.kmm.resolution import resolver
from krmfn_functions.ptemplate import ptemplate
from krmfn_functions.settings import Settings

from krmfn import Function, ResourceList
from tests.builders import applied, function_config, manifest

SEED = {
    **manifest("example.com/v1alpha1", "DeviceConfig", "dc", "ns"),
    "spec": {"driverImage": "registry.example.com/driver", "driverVersion": "test"},
}
DEFAULTS = function_config(defaults={"moduleName": "drv"})
PTEMPLATE = {**manifest("pt.example.com/v1alpha1", "Ptemplate", "pt", "ns"), "spec": {"selector": {"gpu": "a"}}}


def made(resources: ResourceList, kind: str) -> dict[str, Any]:
    assert not resources.failed, [str(result) for result in resources.results]
    return resources.select(kind)[0].manifest


def test_he_sample_s_module_has_every_field_the_operator_sets() -> None:
    module = made(applied(deviceconfig, SEED, function_config=DEFAULTS), "Module")
    assert (module["metadata"]["name"], module["metadata"]["namespace"]) == ("dc-module", "ns")
    assert module["spec"] == {
        "moduleLoader": {
            "container": {
                "modprobe": {"moduleName": "drv", "dirName": "/opt"},
                "imagePullPolicy": "Always",
                "kernelMappings": [
                    {
                        "regexp": r"^.*\.el\d+(_\d+)?\..*$",
                        "containerImage": "registry.example.com/driver:test-$KERNEL_FULL_VERSION",
                    }
                ],
            },
            "serviceAccountName": "driver-sample",
        },
        "selector": {"feature.node.kubernetes.io/pci-1da3.present": "true"},
    }


@pytest.mark.parametrize(
    ("kernel", "mapping"),
    [
        ("4.18.0-553.el8_10.x86_64", 0),
        ("5.14.0-427.13.1.el9_4.x86_64", 0),
        ("6.12.0-55.el10_0.x86_64", 0),
        ("6.12.0-55.el10.x86_64", 0),
        ("5.15.0-100.96.32.el9uek.x86_64", None),
        ("6.8.0-45-generic", None),
    ],
)
def test_he_sample_s_regexp_is_mended(kernel: str, mapping: int | None) -> None:
    module = Module(made(applied(deviceconfig, SEED, function_config=DEFAULTS), "Module"))
    assert resolver(module)(kernel).mapping == mapping


def test_the_objects_of_a_ptemplate_have_every_default() -> None:
    resources = applied(ptemplate, PTEMPLATE)
    module, consumer = made(resources, "Module"), made(resources, "DaemonSet")
    assert module["metadata"]["name"] == "pt"
    assert module["spec"] == {
        "moduleLoader": {
            "container": {
                "modprobe": {
                    "moduleName": "ptemplate_char_dev",
                    "dirName": "/opt",
                    "parameters": ["max_dev=5", "default_msg="],
                },
                "imagePullPolicy": "Always",
                "kernelMappings": [
                    {"regexp": "^.+$", "containerImage": "quay.io/chrisp262/pt-char-dev:$KERNEL_FULL_VERSION-sb"}
                ],
            }
        },
        "devicePlugin": {"container": {"image": "quay.io/chrisp262/pt-device-plugin:latest"}},
        "selector": {"gpu": "a"},
    }
    assert consumer["metadata"]["name"] == "pt-consumer"
    assert consumer["spec"]["selector"] == {"matchLabels": {"app": "pt"}}
    pod = consumer["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"gpu": "a", "kmm.node.kubernetes.io/ns.pt.ready": ""}
    assert pod["containers"] == [
        {
            "name": "consumer",
            "image": "quay.io/chrisp262/pt-device-plugin:consumer-latest",
            "imagePullPolicy": "Always",
            "resources": {"limits": {"example.com/ptemplate": 1}},
            "securityContext": {"privileged": True},
            "volumeMounts": [{"name": "host-dev", "mountPath": "/hostdev"}],
        }
    ]
    assert pod["volumes"] == [{"name": "host-dev", "hostPath": {"path": "/dev"}}]


PT_FIELDS: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "imagePullSecret": ({"name": "s"}, lambda m, d: (m["imageRepoSecret"], d["imagePullSecrets"][0])),
    "defaultmsg": ("hi", lambda m, d: m["moduleLoader"]["container"]["modprobe"]["parameters"][1]),
    "maxdev": (7, lambda m, d: m["moduleLoader"]["container"]["modprobe"]["parameters"][0]),
    "deviceplugin": ("x/p:1", lambda m, d: m["devicePlugin"]["container"]["image"]),
    "selector": ({"gpu": "b"}, lambda m, d: (m["selector"], d["nodeSelector"]["gpu"])),
    "consumer": ("x/c:1", lambda m, d: d["containers"][0]["image"]),
    "requiredDevices": (2, lambda m, d: d["containers"][0]["resources"]["limits"]["example.com/ptemplate"]),
}
PT_EXPECTED = {
    "imagePullSecret": ({"name": "s"}, {"name": "s"}),
    "defaultmsg": "default_msg=hi",
    "maxdev": "max_dev=7",
    "deviceplugin": "x/p:1",
    "selector": ({"gpu": "b"}, "b"),
    "consumer": "x/c:1",
    "requiredDevices": 2,
}


@pytest.mark.parametrize("field", PT_FIELDS)
def test_a_field_of_a_ptemplate(field: str) -> None:
    value, look = PT_FIELDS[field]
    resources = applied(ptemplate, PTEMPLATE | {"spec": PTEMPLATE["spec"] | {field: value}})
    pod = made(resources, "DaemonSet")["spec"]["template"]["spec"]
    assert look(made(resources, "Module")["spec"], pod) == PT_EXPECTED[field]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("consumerimage", "spec.consumer"), ("imageRepoSecret", "spec.imagePullSecret")],
)
def test_the_guides_spellings_are_named(wrong: str, right: str) -> None:
    resources = applied(ptemplate, PTEMPLATE | {"spec": PTEMPLATE["spec"] | {wrong: "x"}})
    assert [result.message for result in resources.results] == [f"unknown field spec.{wrong}; did you mean {right}?"]


def test_the_guides_api_version_is_named() -> None:
    resources = applied(ptemplate, PTEMPLATE | {"apiVersion": "ptemplates.pt.example.com/v1alpha"})
    assert resources.failed
    assert "'pt.example.com/v1alpha1'" in resources.results[0].message


@pytest.mark.parametrize("function", [deviceconfig, ptemplate])
def test_a_deleted_config_takes_its_generated_objects_along(function: Function) -> None:
    item, config = (SEED, DEFAULTS) if function is deviceconfig else (PTEMPLATE, None)
    resources = applied(function, item, function_config=config)
    made = [one.manifest for one in resources.items if one.kind not in ("DeviceConfig", "Ptemplate")]
    assert made
    assert applied(function, *made).failed, "whose owner is not there is not removed on a guess"
    assert applied(function, *made, settings=Settings(flags={"prune": "always"})).items == []
