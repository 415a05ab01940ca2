"""ptemplate: its field's names and defaults, and what it says about each that is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.ptemplate import ptemplate

from krmfn import ResourceList
from tests.builders import applied, generated, manifest

SELECTOR = {"node-role.kubernetes.io/worker": ""}


def answer(spec: dict[str, Any], group: str = "pt.example.com", namespace: str = "ns") -> ResourceList:
    return applied(ptemplate, {**manifest(f"{group}/v1alpha1", "Ptemplate", "pt", namespace), "spec": spec})


def specs(fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the specs of the Module and of the DaemonSet."""
    module, consumer = generated(answer({"selector": SELECTOR} | fields))
    return module["spec"], consumer["spec"]


def test_a_selector_alone_takes_the_operator_s_defaults() -> None:
    module, consumer = specs({})
    container = module["moduleLoader"]["container"]
    assert container["modprobe"]["moduleName"] == "ptemplate_char_dev"
    assert container["modprobe"]["parameters"] == ["max_dev=5", "default_msg="]
    assert container["kernelMappings"] == [
        {"regexp": "^.+$", "containerImage": "quay.io/chrisp262/pt-char-dev:$KERNEL_FULL_VERSION-sb"}
    ]
    assert module["selector"] == SELECTOR
    pod = consumer["template"]["spec"]
    assert pod["nodeSelector"] == SELECTOR | {"kmm.node.kubernetes.io/ns.pt.ready": ""}
    assert pod["containers"][0]["resources"] == {"limits": {"example.com/ptemplate": 1}}
    assert consumer["selector"] == {"matchLabels": {"app": "pt"}}


@pytest.mark.parametrize(
    ("field", "value", "where", "expected"),
    [
        ("maxdev", 3, "parameters", ["max_dev=3", "default_msg="]),
        ("maxdev", 0, "parameters", ["max_dev=5", "default_msg="]),
        ("defaultmsg", "hello", "parameters", ["max_dev=5", "default_msg=hello"]),
        ("deviceplugin", "a/b:1", "plugin", "a/b:1"),
        ("consumer", "a/c:1", "consumer", "a/c:1"),
        ("requiredDevices", 2, "devices", 2),
        ("requiredDevices", 0, "devices", 1),
        ("imagePullSecret", {"name": "s"}, "secret", ({"name": "s"}, [{"name": "s"}])),
    ],
)
def test_a_field_reaches_its_place(field: str, value: Any, where: str, expected: Any) -> None:
    module, consumer = specs({field: value})
    pod = consumer["template"]["spec"]
    container = pod["containers"][0]
    actual = {
        "parameters": module["moduleLoader"]["container"]["modprobe"]["parameters"],
        "plugin": module["devicePlugin"]["container"]["image"],
        "consumer": container["image"],
        "devices": container["resources"]["limits"]["example.com/ptemplate"],
        "secret": (module.get("imageRepoSecret"), pod.get("imagePullSecrets")),
    }
    assert actual[where] == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"consumerimage": "a"}, "did you mean spec.consumer?"),
        ({"imageRepoSecret": {"name": "a"}}, "did you mean spec.imagePullSecret?"),
        ({"maxDev": 1}, "did you mean 'maxdev'?"),
        ({"maxdev": "5"}, "is the string '5'; must be a whole number"),
        ({"maxdev": -1}, "is -1; must be at least 0"),
        ({"defaultmsg": "two words"}, "one word without spaces"),
        ({"defaultmsg": "a\n"}, "one word without spaces"),
        ({"defaultmsg": 5}, 'write it in quotes, "5"'),
        ({"imagePullSecret": {}}, "is required"),
        ({"imagePullSecret": "s"}, "is the string 's'; must be a mapping"),
        ({"selector": None}, "is empty; must be a mapping"),
        ({"selector": {"a b": "c"}}, "must be a label key"),
        ({"consumer": "$(id)"}, "must be an image reference"),
    ],
)
def test_what_is_wrong_is_one_error(spec: dict[str, Any], message: str) -> None:
    resources = answer({"selector": SELECTOR} | spec)
    (error,) = [finding.text for finding in resources.results if finding.severity == "error"]
    assert message in error
    assert len(resources.items) == 1


def test_the_group_of_the_guides_is_reported() -> None:
    (finding,) = answer({"selector": SELECTOR}, group="ptemplates.pt.example.com").results
    assert "must be 'pt.example.com/v1alpha1'" in finding.text


def test_more_devices_than_there_are_is_a_warning() -> None:
    resources = answer({"selector": SELECTOR, "maxdev": 1, "requiredDevices": 2, "deviceplugin": "a/b:1"})
    assert [finding.rule for finding in resources.results] == ["KRM141"]
    assert not resources.failed and len(resources.items) == 3
    for enough in ({"maxdev": 2, "requiredDevices": 2}, {"requiredDevices": 5}, {"maxdev": 3}):
        assert answer({"selector": SELECTOR, "deviceplugin": "a/b:1", **enough}).results == []
    assert len(answer({"selector": SELECTOR, "deviceplugin": "a/b:1", "requiredDevices": 6}).results) == 1
