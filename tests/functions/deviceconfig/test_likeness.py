"""Configs that are alike are judged and read once: what is said of them and made of them is as if each were alone."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import pytest
import yaml
from krmfn_functions.deviceconfig import deviceconfig, effects, reading, rules
from krmfn_functions.deviceconfig.model import DeviceConfig
from krmfn_functions.rendering import module_checks
from krmfn_functions.rule import Rule

from krmfn import Manifest
from tests.builders import SPEC, applied, device_config
from tests.functions.deviceconfig.test_pipeline import SPECS
from tests.rule_examples import documents

RULES = (*rules.RULES, *effects.RULES)
EXAMPLES = [(rule, example) for rule in RULES for example in (rule.good, rule.bad)]
SOUND = (("gpu-2", "kmm", "b"), ("gpu-3", "drivers", "enabled"))
LONG = "a-name-that-is-as-long-as-a-name-can-be-so-that-no-label-has-a-place-for-it"
ODD = ((LONG, "kmm", "b"), ("gpu.3", "", "c"), ("4", "drivers", "$KRMFN_NAME"))
"""The names, namespaces and labels of further configs, without a finding and with one."""


def outcome(configs: list[Manifest], function_config: Manifest | None) -> bytes:
    return applied(deviceconfig, *copy.deepcopy(configs), function_config=function_config).to_bytes()


def with_twins(config: Manifest, twins: Sequence[tuple[str, str, str]] = SOUND) -> list[Manifest]:
    """Return a config and others that are like it: of other names, and with other labels to select."""
    configs = []
    for name, namespace, label in (("gpu", "kmm", "a"), *twins):
        configs.append(twin := copy.deepcopy(config))
        twin["metadata"] |= {"name": name, "namespace": namespace}
        if not namespace:
            del twin["metadata"]["namespace"]
        if twin["spec"].get("nodeSelector"):
            twin["spec"]["nodeSelector"] = {"twin": label}
    return configs


def agree(monkeypatch: pytest.MonkeyPatch, configs: list[Manifest], function_config: Manifest | None = None) -> None:
    known = outcome(configs, function_config)
    for room, name in ((reading, "_fingerprint"), (module_checks, "fingerprint")):
        monkeypatch.setattr(room, name, lambda manifest: b"")
    assert known == outcome(configs, function_config)


@pytest.mark.parametrize("field", SPECS)
def test_configs_with_a_field(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = device_config(SPECS[field][0], "gpu")
    agree(monkeypatch, with_twins(config))
    monkeypatch.undo()
    agree(monkeypatch, with_twins(config, ODD))


@pytest.mark.parametrize(("rule", "example"), EXAMPLES, ids=lambda value: value.id if isinstance(value, Rule) else "")
def test_configs_with_and_without_a_finding(rule: Rule, example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    manifests = [yaml.safe_load(document.text) for document in documents(example, rule.id)]
    settings = next((manifest for manifest in manifests if manifest["kind"] == "RenderDeviceConfigs"), None)
    configs = [manifest for manifest in manifests if manifest["kind"] == "DeviceConfig"]
    for alone in configs:
        for twins in (SOUND, ODD):
            agree(monkeypatch, with_twins(alone, twins), settings)
            monkeypatch.undo()


def test_a_label_that_is_ours_in_one_of_them_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    configs = with_twins(device_config(SPEC | {"labels": {"app.kubernetes.io/name": "gpu"}}))
    assert b"krmfn sets this key" in outcome(configs, None)
    agree(monkeypatch, configs)


def test_modules_that_are_alike_are_judged_by_name_and_selector(monkeypatch: pytest.MonkeyPatch) -> None:
    odd: dict[str, tuple[str, dict[str, str]]] = {
        "": ("gpu", {"pool": "a"}),
        "KMM003": ("gpu-of-the-third-generation-of-accelerators", {"pool": "b"}),
        "KRM204": ("gpu.version", {"pool": "c"}),
        "KRM202": ("gpu-2", {"pool": "d", "node-role.kubernetes.io/worker": "true"}),
    }
    configs = [device_config(SPEC | {"nodeSelector": selector}, name) for name, selector in odd.values()]
    assert {result.rule for result in applied(deviceconfig, *configs).results} == odd.keys() - {""}
    agree(monkeypatch, configs)


def test_alike_configs_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[str] = []
    rules_for = rules.rules_for

    def noted(config: DeviceConfig) -> list[Rule]:
        judged.append(config.ref.name)
        return rules_for(config)

    monkeypatch.setattr(rules, "rules_for", noted)
    configs = [device_config(SPEC | {"nodeSelector": {"pool": str(at)}}, f"gpu-{at}") for at in range(3)]
    other = device_config(SPEC | {"nodeSelector": {"pool": "x"}, "moduleName": "other"}, "other")
    assert not applied(deviceconfig, *configs, other).failed
    assert judged == ["gpu-0", "other"]


def test_what_has_no_effect_is_said_of_each_that_writes_it() -> None:
    idle = {"unset": ["dirName"], "daemonSets": [{"name": "agent", "enabled": False}]}
    configs = [device_config(SPEC | idle | {"nodeSelector": {"pool": str(at)}}, f"gpu-{at}") for at in range(3)]
    names = [str(result.ref and result.ref.name) for result in applied(deviceconfig, *configs).results]
    assert names == [f"gpu-{at}" for at in range(3) for _ in idle]
