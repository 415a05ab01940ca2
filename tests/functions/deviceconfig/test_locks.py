"""Fields that a profile locks: who writes one anyway is told the vendor's reason, at the field."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.settings import CHECK, Settings

from krmfn import Manifest
from tests.builders import AGENT, PLUGIN, SPEC, applied, device_config, function_config

OTHER = {"name": "other", "image": "registry.example.com/other:1"}
WHY = "it goes with the driver"
PROFILE: dict[str, Any] = {"moduleName": "drv", "daemonSets": [AGENT], "devicePlugin": PLUGIN}
CONFIG = SPEC | {"moduleName": None, "profile": "p"}
PARTS = {"repository": "x", "tag": "1"}


def errors(locked: dict[str, str], *configs: Manifest, **spec: Any) -> dict[str, str]:
    """Return the messages of rule KRM148 by field; there are no other errors."""
    settings = function_config(profiles={"p": {**PROFILE, "locked": locked}}, **spec)
    results = applied(deviceconfig, *configs, function_config=settings, settings=Settings(CHECK)).results
    locks = [result for result in results if result.severity == "error"]
    assert {result.rule for result in locks} <= {"KRM148"}
    return {result.field.path: result.text for result in locks if result.field}


# The locked field, what a config writes, and where.
WRITTEN: dict[str, tuple[str, dict[str, Any], str]] = {
    "a field": ("parameters", {"parameters": ["a=b"]}, "parameters"),
    "what the profile has": ("moduleName", {"moduleName": "drv"}, "moduleName"),
    "a nested one": ("devicePlugin.image", {"devicePlugin": {"image": "x:1"}}, "devicePlugin.image"),
    "the other form": ("devicePlugin.image", {"devicePlugin": {"imageParts": PARTS}}, "devicePlugin.imageParts"),
    "a field below it": ("devicePlugin", {"devicePlugin": PLUGIN}, "devicePlugin"),
    "switched off": ("devicePlugin", {"devicePlugin": {"enabled": False}}, "devicePlugin"),
    "of an entry": ("daemonSets.agent.image", {"daemonSets": [OTHER, AGENT]}, "daemonSets[1].image"),
    "unset": ("parameters", {"unset": ["parameters"]}, "unset[0]"),
    "an entry": ("daemonSets.agent", {"daemonSets": [{"name": "agent", "enabled": False}]}, "daemonSets[0]"),
    "a label": ("labels[example.com/a]", {"labels": {"example.com/a": "b"}}, "labels[example.com/a]"),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_a_locked_field_that_a_config_writes_is_an_error(case: str) -> None:
    name, fields, path = WRITTEN[case]
    message = f"{name} is locked by the profile p: {WHY}; remove the field"
    assert errors({name: WHY}, device_config(CONFIG | fields)) == {f"spec.{path}": message}
    assert errors({name: WHY}, device_config(CONFIG)) == {}
    assert errors({name: WHY}, device_config(CONFIG), defaults=fields) == {f"spec.defaults.{path}": message}
    assert errors({name: WHY}, defaults=fields) == {f"spec.defaults.{path}": message}


@pytest.mark.parametrize("layer", ["spec", "spec.defaults"])
def test_a_pool_writes_one_too(layer: str) -> None:
    pools = [{"name": "a", "nodeSelector": {"a": "a"}}, {"name": "b", "nodeSelector": {"a": "b"}, "moduleName": "x"}]
    fields = {"nodePools": pools}
    config = device_config(CONFIG | {"nodeSelector": None} | (fields if layer == "spec" else {}))
    messages = errors({"moduleName": WHY}, config, **({} if layer == "spec" else {"defaults": fields}))
    assert list(messages) == [f"{layer}.nodePools[1].moduleName"]


def test_the_profile_s_own_pools_and_versions_write_what_they_like() -> None:
    profile = {
        "nodePools": [{"name": "a", "nodeSelector": {"a": "a"}, "moduleName": "x"}],
        "locked": {"moduleName": WHY, "parameters": WHY},
        "versions": [{"version": "1.0", "parameters": ["a=b"]}],
    }
    config = device_config(CONFIG | {"nodeSelector": None})
    assert applied(deviceconfig, config, function_config=function_config(profiles={"p": profile})).results == []


def test_another_profile_s_configs_are_free() -> None:
    settings = function_config(profiles={"p": {**PROFILE, "locked": {"moduleName": WHY}}, "q": {}})
    for spec in (SPEC | {"profile": "q"}, SPEC):
        assert not applied(deviceconfig, device_config(spec), function_config=settings).failed


UNKNOWN = {
    "moduleNam": "unknown field 'moduleNam'; did you mean 'moduleName'?",
    "devicePlugin.imag": "unknown field 'devicePlugin.imag'; did you mean 'devicePlugin.image'?",
    "devicePlugn.image": "unknown field 'devicePlugn.image'; did you mean 'devicePlugin.image'?",
    "versions": "unknown field 'versions'",
    "profile": "unknown field 'profile'",
    "nodeSelector.gpu": "nodeSelector is replaced as a whole; lock nodeSelector",
    "tolerations[0]": "tolerations is replaced as a whole; lock tolerations",
    "daemonSets.agent.volumes.v.nothing": "unknown field 'daemonSets.agent.volumes.v.nothing'; known in ",
    "moduleName.x": "unknown field 'moduleName.x'",
    "": "unknown field ''",
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("configs", [(), (device_config(CONFIG),)])
def test_a_lock_on_no_field_is_an_error(name: str, configs: tuple[Manifest, ...]) -> None:
    [(_, message)] = errors({name: WHY}, *configs).items()
    assert message.startswith(UNKNOWN[name])


def test_a_lock_has_a_reason() -> None:
    settings = function_config(profiles={"p": {"locked": {"moduleName": " "}}})
    [finding] = applied(deviceconfig, device_config(CONFIG), function_config=settings).results
    assert finding.rule == "KRM110"
    assert "must be a sentence that says why" in finding.message
