"""ManagedClusterModules that are written by hand are judged as Modules are, and by what a hub makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.envsubst import substitute, variables
from krmfn_functions.kmm.module import Module, module_of
from krmfn_functions.kmm.resolution import resolver
from krmfn_functions.rendering import module_checks

from krmfn import KrmfnError, Manifest
from krmfn.yamltext import emit
from tests.builders import DROP, edited, manifest, module
from tests.commands import process

C, M = "spec.moduleLoader.container", "spec.moduleLoader.container.kernelMappings[0]"


def hub(held: Manifest, name: str = "gpu", **selector: str) -> Manifest:
    spec = {"moduleSpec": held["spec"], "spokeNamespace": "kmm", "selector": selector or {"tier": "lab"}}
    return {**manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", name, ""), "spec": spec}


def found(*items: Manifest, kmm: str = "main") -> list[tuple[str, str, str]]:
    """The rule, the resource and the field of each finding of severity error or warning."""
    text = "---\n".join(map(emit.dump, items))
    done = process("krmfn", "check", "-", "--format", "json", "--kmm-version", kmm, stdin=text)
    findings = [finding for finding in json.loads(done.out)["findings"] if finding["severity"] != "info"]
    findings = [
        finding for finding in findings if finding["rule"] != "KMM060"
    ]  # it only says that others stand before it
    return [
        (finding["rule"], (finding.get("ref") or {}).get("kind", ""), finding.get("path", "")) for finding in findings
    ]


SOUND = module()


def test_one_that_a_hub_takes_has_no_finding() -> None:
    assert found(hub(SOUND)) == []


REFUSED: dict[str, tuple[list[tuple[str, Any]], list[tuple[str, str]]]] = {
    "a regexp": ([(f"{M}.regexp", "^6[")], [("KMM023", f"{M}.regexp")]),
    "an image without a tag": ([(f"{M}.containerImage", "r/x")], [("KMM025", f"{M}.containerImage")]),
    "a field that is misspelt": ([(f"{C}.buld", {})], [("KMM051", f"{C}.buld")]),
    "a boolean": ([("spec.selector", {"x": True})], [("KMM052", "spec.selector.x")]),
    "no loader": ([("spec.moduleLoader", DROP)], [("KMM086", "spec.moduleLoader")]),
    "the old in-tree field": ([(f"{C}.inTreeModuleToRemove", "old")], [("KMM087", f"{C}.inTreeModuleToRemove")]),
    "a host path": (
        [
            (
                "spec.devicePlugin",
                {"container": {"image": "i:1"}, "volumes": [{"name": "a", "hostPath": {"path": "/etc/x"}}]},
            )
        ],
        [("KMM018", "spec.devicePlugin.volumes[0].hostPath.path")],
    ),
    "registryTLS of a mapping": ([(f"{M}.registryTLS", {"insecure": True})], [("KMM088", f"{M}.registryTLS")]),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("beside", [[], [manifest("v1", "ConfigMap", "x")]], ids=["alone", "beside"])
def test_what_is_refused_of_a_module_is_refused_of_what_a_hub_brings(name: str, beside: list[Manifest]) -> None:
    edits, expected = REFUSED[name]
    on_hub = [(rule, "ManagedClusterModule", path.replace("spec", "spec.moduleSpec", 1)) for rule, path in expected]
    assert found(hub(edited(SOUND, *edits)), *beside) == on_hub


@pytest.mark.parametrize(
    "edits",
    [
        [(f"{C}.inTreeModulesToRemove", ["old"])],
        [(f"{M}.inTreeModuleToRemove", "old")],
        [(f"{C}.registryTLS", {"insecure": True})],
        [(f"{C}.registryTLS", {"insecure": True}), (f"{M}.registryTLS", {"insecureSkipTLSVerify": True})],
        [(f"{M}.registryTLS", {})],
    ],
)
def test_what_reaches_the_spokes_as_it_is_has_no_finding(edits: list[tuple[str, Any]]) -> None:
    assert found(hub(edited(SOUND, *edits))) == []


def test_its_own_fields_and_its_long_name_are_judged() -> None:
    bare = edited(hub(SOUND), ("spec.selector", DROP))
    assert [(rule, path) for rule, _, path in found(bare)] == [("KMM053", "spec.selector")]
    assert [(rule, path) for rule, _, path in found(edited(hub(SOUND), ("spec.spokes", 1)))] == [
        ("KMM051", "spec.spokes")
    ]
    named = hub(SOUND, name="n" * 39)
    assert [(rule, path) for rule, _, path in found(named)] == [("KMM003", "metadata.name")], "each spoke refuses it"
    first = [finding for finding in module_checks.of_hub(named, _brought(named), "main") if finding.tags]
    assert first == [], "the hub's webhook does not see the name"


def _brought(one: Manifest) -> Module:
    brought = module_of(one)
    assert brought
    return brought


def test_two_owners_of_a_kernel_module_on_one_spoke() -> None:
    two = edited(SOUND, (f"{M}.containerImage", "r/other:$KERNEL_FULL_VERSION"))
    assert [rule for rule, _, _ in found(hub(SOUND), hub(two, "other"))] == ["KRM304"]
    assert found(hub(SOUND), hub(two, "other", tier="prod")) == []
    assert found(hub(SOUND), hub(edited(two, (f"{C}.modprobe.moduleName", "else")), "other")) == []
    apart = [edited(one, ("spec.selector", {"gpu": value})) for one, value in ((SOUND, "a"), (two, "b"))]
    assert found(hub(apart[0]), hub(apart[1], "other")) == []
    local = edited(two, ("metadata.name", "other"))
    assert found(hub(SOUND), local) == [], "the hub's own nodes are no spoke's"


CONFIG = """\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: other, namespace: kmm}
spec:
  driverImage: r.example.com/x
  driverVersion: "5"
  moduleName: drv
  nodeSelector: {gpu: "true"}
  hub: {spokeNamespace: kmm, clusterSelector: {tier: lab}}
"""


def test_a_config_for_a_hub_and_a_hand_written_one() -> None:
    loaded = edited(SOUND, (f"{C}.modprobe.moduleName", "drv"), ("spec.selector", {"gpu": "true"}))
    done = process("krmfn", "check", "-", stdin=f"{CONFIG}---\n{emit.dump(hub(loaded))}")
    assert done.code == 1
    assert "KRM304" in done.text
    rendered = process("krmfn", "render", "-", stdin=CONFIG).ended(0).out.decode()
    settled = process("krmfn", "check", "-", stdin=rendered)
    assert (settled.code, "KRM3" in settled.text) == (0, False), "what is rendered is no conflict with itself"
    package = process("krmfn", "check", "-", stdin=f"{CONFIG}---\n{rendered}")
    assert "KRM3" not in package.text


KERNELS = st.sampled_from(["6.1.0-28-amd64", "6.1.0-28-amd64+", "6.8", "abc", "5.14.0-1.el9.x86_64"])
IMAGES = st.sampled_from(["r/x:$KERNEL_FULL_VERSION", "r/x:$$KERNEL_X", "r/x:${KERNEL_X", "r/x:1", "r/$$MOD_NAME:1"])


@given(KERNELS, IMAGES, st.sampled_from(["^6", "."]))
def test_an_image_is_filled_in_on_the_hub_and_on_the_spoke(kernel: str, image: str, regexp: str) -> None:
    """A kernel that the hub fails on gets no mapping; KMM does not fail on a spoke for it."""
    held = Module(module({"regexp": regexp, "containerImage": image}, name="drv"))
    on_hub, on_spoke = resolver(held), resolver(held, through_hub=True)
    try:
        first = on_hub(kernel)
    except KrmfnError:
        assert on_spoke(kernel).mapping is None
        return
    assert on_spoke(kernel).mapping == first.mapping
    if first.image and "$" in first.image:
        values = variables(kernel.removesuffix("+")) | {"MOD_NAME": "drv", "MOD_NAMESPACE": "kmm"}
        assert on_spoke(kernel).image == substitute(first.image, values)
