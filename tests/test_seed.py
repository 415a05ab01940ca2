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


def first_of(resources: ResourceList, kind: str) -> dict[str, Any]:
    assert not resources.failed, [str(result) for result in resources.results]
    return resources.where(kind=kind)[0].manifest


def test_he_sample_s_module_has_every_field_the_operator_sets() -> None:
    module = first_of(applied(deviceconfig, SEED, function_config=DEFAULTS), "Module")
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
    module = Module(first_of(applied(deviceconfig, SEED, function_config=DEFAULTS), "Module"))
    assert resolver(module)(kernel).mapping == mapping


def test_the_objects_of_a_ptemplate_have_every_default() -> None:
    resources = applied(ptemplate, PTEMPLATE)
    module, consumer = first_of(resources, "Module"), first_of(resources, "DaemonSet")
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


SECRET = {"name": "s"}
Look = Callable[[Any, Any, Any], Any]
PT_FIELDS: dict[str, tuple[Any, Look, Any]] = {
    "imagePullSecret": (SECRET, lambda m, c, d: (m["imageRepoSecret"], d["imagePullSecrets"]), (SECRET, [SECRET])),
    "defaultmsg": ("hi", lambda m, c, d: c["modprobe"]["parameters"][1], "default_msg=hi"),
    "maxdev": (7, lambda m, c, d: c["modprobe"]["parameters"][0], "max_dev=7"),
    "deviceplugin": ("x/p:1", lambda m, c, d: m["devicePlugin"]["container"]["image"], "x/p:1"),
    "selector": ({"gpu": "b"}, lambda m, c, d: (m["selector"], d["nodeSelector"]["gpu"]), ({"gpu": "b"}, "b")),
    "consumer": ("x/c:1", lambda m, c, d: d["containers"][0]["image"], "x/c:1"),
    "requiredDevices": (2, lambda m, c, d: d["containers"][0]["resources"]["limits"]["example.com/ptemplate"], 2),
}


@pytest.mark.parametrize("field", PT_FIELDS)
def test_a_field_of_a_ptemplate(field: str) -> None:
    value, look, expected = PT_FIELDS[field]
    resources = applied(ptemplate, PTEMPLATE | {"spec": PTEMPLATE["spec"] | {field: value}})
    module, pod = first_of(resources, "Module")["spec"], first_of(resources, "DaemonSet")["spec"]["template"]["spec"]
    assert look(module, module["moduleLoader"]["container"], pod) == expected


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("consumerimage", "spec.consumer"), ("imageRepoSecret", "spec.imagePullSecret")],
)
def test_the_guides_spellings_are_named(wrong: str, right: str) -> None:
    resources = applied(ptemplate, PTEMPLATE | {"spec": PTEMPLATE["spec"] | {wrong: "x"}})
    assert [result.text for result in resources.results] == [f"unknown field spec.{wrong}; did you mean {right}?"]


def test_the_guides_api_version_is_named() -> None:
    resources = applied(ptemplate, PTEMPLATE | {"apiVersion": "ptemplates.pt.example.com/v1alpha"})
    assert resources.failed
    assert "'pt.example.com/v1alpha1'" in resources.results[0].text


@pytest.mark.parametrize("function", [deviceconfig, ptemplate])
def test_a_deleted_config_takes_its_generated_objects_along(function: Function) -> None:
    item, config = (SEED, DEFAULTS) if function is deviceconfig else (PTEMPLATE, None)
    resources = applied(function, item, function_config=config)
    objects = [item.manifest for item in resources.items if item.kind not in ("DeviceConfig", "Ptemplate")]
    assert objects
    assert applied(function, *objects).failed, "whose owner is not there is not removed on a guess"
    assert applied(function, *objects, settings=Settings(flags={"prune": "always"})).items == []
