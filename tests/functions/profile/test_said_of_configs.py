"""What annotations, operators and options say of a config: each word counts where it is meant, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import Manifest
from tests.functions.profile.vendor import CR, profile, rendered

OURS: Manifest = {
    "apiVersion": "krmfn.dev/v1alpha1",
    "kind": "DeviceConfig",
    "metadata": {"name": "nic", "namespace": "kmm"},
    "spec": {"moduleName": "nic", "driverImage": "x/y:1", "nodeSelector": {"a": "b"}, "devicePlugin": {"image": "x:1"}},
}
MONITORING = "monitoring.coreos.com, versions: [v1], kind: ServiceMonitor"
AMD = {"group": "amd.com", "kind": "DeviceConfig"}


def named(name: str, config: Manifest = CR) -> Manifest:
    return {**config, "metadata": {**config["metadata"], "annotations": {"krmfn.dev/profile": name}}}


@pytest.mark.parametrize(
    ("config", "group", "words"),
    [
        (CR, "amd.com", "amd.com DeviceConfig: the Profile amd-gpu makes objects of DeviceConfig kmm/gpu, and its own"),
        (OURS, "krmfn.dev", "krmfn.dev DeviceConfig: krmfn makes objects of DeviceConfig kmm/nic, and its own"),
    ],
)
def test_an_operator_and_krmfn_do_not_both_act_on_a_config(config: Manifest, group: str, words: str) -> None:
    operators = [{"group": group, "kind": "DeviceConfig"}]
    _, findings, code = rendered(profile(), config, operators=operators)
    assert (code, f"error: RenderDeviceConfigs render: spec.operators: {words}" in "".join(findings)) == (1, True)


@pytest.mark.parametrize("config", [named("none"), {**CR, "apiVersion": "amd.com/v1"}])
def test_an_operator_may_act_on_a_config_that_a_profile_leaves_alone(config: Manifest) -> None:
    assert rendered(profile(), config, operators=[AMD])[1:] == ([], 0)


@pytest.mark.parametrize("mark", ["x", "deviceconfig krmfn.dev|DeviceConfig|kmm|gone amd.com|DeviceConfig|kmm|gpu"])
@pytest.mark.parametrize("profiles", [[], [profile("group: amd.com", "group: amd.org")]])
def test_no_mark_says_that_a_config_needs_no_profile(mark: str, profiles: list[Manifest]) -> None:
    config = {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/owner": mark}}}
    _, findings, code = rendered(*profiles, config, namespace="kmm")
    assert (code, any("nothing drives this DeviceConfig" in line for line in findings)) == (1, True)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "{name: amd-gpu",
            "{name: none",
            "metadata.name: is 'none', and the annotation krmfn.dev/profile with it names no",
        ),
        (
            "group: amd.com, versions: [v1alpha1], kind: DeviceConfig",
            f"group: {MONITORING}",
            "spec.for.group: is 'monitor",
        ),
    ],
)
def test_no_profile_is_called_none_or_for_what_is_made(old: str, new: str, words: str) -> None:
    _, findings, code = rendered(profile(old, new), CR)
    assert (code, any(words in line for line in findings)) == (1, True), findings


@pytest.mark.parametrize("config", [CR, OURS])
def test_an_empty_name_of_a_profile_is_said_to_be_empty(config: Manifest) -> None:
    objects, findings, code = rendered(profile(), named("", config))
    assert (code, len(objects) > 2) == (0, True)
    (finding,) = [line for line in findings if "metadata.annotations" in line]
    assert "metadata.annotations[krmfn.dev/profile]: is empty and says nothing; write the name of a Profile" in finding


def test_an_option_of_a_vendor_may_be_called_profile() -> None:
    own = profile("          selector:", "          profile: {type: string, default: slow}\n          selector:")
    own["spec"]["config"]["loadArgs"] = ["profile=${spec.profile}"]
    objects, findings, code = rendered(own, {**CR, "spec": {**CR["spec"], "profile": "fast"}})
    assert (findings, code) == ([], 0)
    assert "profile=fast" in str(objects["Module gpu"])


@pytest.mark.parametrize("value", [["amd-gpu"], {"name": "amd-gpu"}, 5])
def test_a_profile_that_is_no_text_is_an_error_at_its_place(value: Any) -> None:
    _, findings, code = rendered(profile(), {**OURS, "spec": {**OURS["spec"], "profile": value}})
    assert (code, any("spec.profile: is" in line and "must be a string" in line for line in findings)) == (1, True)


@pytest.mark.parametrize("text", ["${spec.image}", "x/y:${texts.tag}", "${metadata.name}"])
def test_an_expression_in_a_module_that_is_written_by_hand_is_an_error_at_its_field(text: str) -> None:
    mapping = {"regexp": "^.+$", "containerImage": text}
    loader = {"container": {"modprobe": {"moduleName": "m"}, "kernelMappings": [mapping]}}
    module = {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": {"name": "m", "namespace": "kmm"},
        "spec": {"selector": {"a": "b"}, "moduleLoader": loader},
    }
    _, findings, code = rendered(module)
    field = "spec.moduleLoader.container.kernelMappings[0].containerImage"
    assert code == 1
    assert f"error: Module kmm/m: {field}: only a Profile has expressions: write the value itself [KRM182]" in findings
