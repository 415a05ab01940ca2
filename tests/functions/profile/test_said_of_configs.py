"""What annotations, operators and options say of a config: each word counts where it is meant, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import EVERY_KERNEL, module
from tests.functions.profile.vendor import CR, OURS, naming, profile, refused, rendered, sound

MONITORING = "monitoring.coreos.com, versions: [v1], kind: ServiceMonitor"
NONE = "metadata.name: is 'none', and the annotation krmfn.dev/profile with it names no"
AMD = {"group": "amd.com", "kind": "DeviceConfig"}


@pytest.mark.parametrize(
    ("config", "group", "words"),
    [
        (CR, "amd.com", "amd.com DeviceConfig: the Profile amd-gpu makes objects of DeviceConfig kmm/gpu, and its own"),
        (OURS, "krmfn.dev", "krmfn.dev DeviceConfig: krmfn makes objects of DeviceConfig kmm/nic, and its own"),
    ],
)
def test_an_operator_and_krmfn_do_not_both_act_on_a_config(config: Manifest, group: str, words: str) -> None:
    findings = refused(profile(), config, operators=[{"group": group, "kind": "DeviceConfig"}])
    assert any(line.startswith(f"error: RenderDeviceConfigs render: spec.operators: {words}") for line in findings)


@pytest.mark.parametrize("config", [naming("none"), {**CR, "apiVersion": "amd.com/v1"}], ids=["none", "version"])
def test_an_operator_may_act_on_a_config_that_a_profile_leaves_alone(config: Manifest) -> None:
    sound(profile(), config, operators=[AMD])


@pytest.mark.parametrize("mark", ["x", "deviceconfig krmfn.dev|DeviceConfig|kmm|gone amd.com|DeviceConfig|kmm|gpu"])
@pytest.mark.parametrize("profiles", [[], [profile("group: amd.com", "group: amd.org")]])
def test_no_mark_says_that_a_config_needs_no_profile(mark: str, profiles: list[Manifest]) -> None:
    config = {**CR, "metadata": {**CR["metadata"], "annotations": {"krmfn.dev/owner": mark}}}
    findings = refused(*profiles, config, namespace="kmm")
    assert any("nothing drives this DeviceConfig" in line for line in findings)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("{name: amd-gpu", "{name: none", NONE),
        ("amd.com, versions: [v1alpha1], kind: DeviceConfig", MONITORING, "spec.for.group: is 'monitor"),
    ],
)
def test_no_profile_is_called_none_or_for_what_is_made(old: str, new: str, words: str) -> None:
    findings = refused(profile(old, new), CR)
    assert any(words in line for line in findings), findings


@pytest.mark.parametrize("config", [CR, OURS])
def test_an_empty_name_of_a_profile_is_said_to_be_empty(config: Manifest) -> None:
    objects, findings, code = rendered(profile(), naming("", config))
    assert (code, len(objects) > 2) == (0, True)
    (finding,) = [line for line in findings if "metadata.annotations" in line]
    assert "metadata.annotations[krmfn.dev/profile]: is empty and says nothing; write the name of a Profile" in finding


def test_an_option_of_a_vendor_may_be_called_profile() -> None:
    product = profile("          selector:", "          profile: {type: string, default: slow}\n          selector:")
    product["spec"]["config"]["loadArgs"] = ["profile=${spec.profile}"]
    objects = sound(product, {**CR, "spec": {**CR["spec"], "profile": "fast"}})
    assert "profile=fast" in str(objects["Module gpu"])


@pytest.mark.parametrize("value", [["amd-gpu"], {"name": "amd-gpu"}, 5])
def test_a_profile_that_is_no_text_is_an_error_at_its_place(value: Any) -> None:
    findings = refused(profile(), {**OURS, "spec": {**OURS["spec"], "profile": value}})
    assert any("spec.profile: is" in line and "must be a string" in line for line in findings)


@pytest.mark.parametrize("text", ["${spec.image}", "x/y:${texts.tag}", "${metadata.name}"])
def test_an_expression_in_a_module_that_is_written_by_hand_is_an_error_at_its_field(text: str) -> None:
    findings = refused(module({**EVERY_KERNEL, "containerImage": text}))
    field = "spec.moduleLoader.container.kernelMappings[0].containerImage"
    line = f"error: Module kmm/simple: {field}: only a Profile has expressions: write the value itself [KRM182]"
    assert line in findings
