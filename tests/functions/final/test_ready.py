"""Selectors and affinities on labels of KMM's: their Module is there, and sets them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.lookup import POD_KINDS
from krmfn_functions.kmm.module import plugin_ready_label, ready_label, version_label, version_ready_label
from krmfn_functions.run import Transformed

from krmfn import Manifest
from tests.builders import module

from .lists import judged, told, workload

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
LABELS = (ready_label, version_ready_label, plugin_ready_label, version_label)


def selecting(label: str, how: str) -> Manifest:
    """Return a pod that asks for a label in one of the ways."""
    expressions = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    if how == "selector":
        return {"nodeSelector": {label: ""}}
    if how == "required":
        return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [expressions]}}}}
    return {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": expressions}]}}}


@pytest.mark.parametrize("kind", POD_KINDS, ids=lambda kind: kind[1])
@pytest.mark.parametrize("how", ["selector", "required", "preferred"])
@pytest.mark.parametrize("label", LABELS)
def test_whoever_waits_for_a_module_that_is_not_there_is_found(kind: tuple[str, str], how: str, label: object) -> None:
    assert callable(label)
    pod = selecting(label("kmm", "gpu"), how)
    ready = {**module(name="gpu", version="1"), "metadata": {"name": "gpu", "namespace": "kmm"}}
    ready["spec"]["devicePlugin"] = {"container": {"image": "registry.example.com/plugin:1"}}
    assert judged(workload(pod, kind), ready) == []
    (found,) = judged(workload(pod, kind), module(name="other"))
    assert (found.rule, found.severity) == ("KRM701", "warning")
    (renamed,) = judged(workload(pod, kind), module(name="lab-gpu-v2"))
    assert (renamed.rule, renamed.severity) == ("KRM701", "warning" if how == "preferred" else "error")
    (moved,) = judged(workload(pod, kind), module(name="lab-gpu", namespace="lab"))
    assert (moved.rule, moved.severity) == ("KRM701", "warning" if how == "preferred" else "error")
    (elsewhere,) = judged(workload(pod, kind), module(name="gpu", namespace="other"))
    assert (elsewhere.rule, elsewhere.severity) == ("KRM701", "warning")


def test_a_module_may_wait_for_another() -> None:
    first = module(name="base")
    assert judged(first, module(name="top", selector={ready_label("kmm", "base"): ""})) == []
    found = judged(first, module(name="top", selector={ready_label("kmm", "bose"): ""}))
    assert told(found) == [("KRM701", "warning", "spec.selector[kmm.node.kubernetes.io/kmm.bose.ready]")]


def test_a_module_without_a_namespace_may_be_anywhere() -> None:
    assert judged(module(name="gpu", namespace=""), workload({"nodeSelector": {ready_label("kmm", "gpu"): ""}})) == []


def test_a_module_of_a_hub_is_on_its_clusters() -> None:
    of_hub = {
        "apiVersion": "hub.kmm.sigs.x-k8s.io/v1beta1",
        "kind": "ManagedClusterModule",
        "metadata": {"name": "gpu"},
        "spec": {"spokeNamespace": "kmm", "moduleSpec": module()["spec"]},
    }
    assert judged(of_hub, workload({"nodeSelector": {ready_label("kmm", "gpu"): ""}})) == []
    assert judged(of_hub, workload({"nodeSelector": {ready_label("other", "gpu"): ""}})) != []


@pytest.mark.parametrize(
    ("label", "value", "message"),
    [
        (ready_label, "true", "is 'true', but KMM sets it to '': no node is selected"),
        (plugin_ready_label, "", "Module kmm/gpu has no devicePlugin, so KMM never sets it"),
        (version_ready_label, "1", "Module kmm/gpu has no version, so KMM never sets it"),
    ],
)
def test_a_label_that_no_node_gets_is_an_error(label: object, value: str, message: str) -> None:
    assert callable(label)
    (found,) = judged(module(name="gpu"), workload({"nodeSelector": {label("kmm", "gpu"): value}}))
    assert (found.rule, found.severity, found.message) == ("KRM702", "error", message)


def test_without_a_loader_nothing_is_ready() -> None:
    plugin_only = module(name="gpu")
    plugin_only["spec"] = {"selector": {"a": "b"}, "devicePlugin": {"container": {"image": "r.example.com/p:1"}}}
    pod = {"nodeSelector": {ready_label("kmm", "gpu"): ""}}
    assert told(judged(plugin_only, workload(pod)))[0][:2] == ("KRM702", "error")
    assert judged(plugin_only, workload({"nodeSelector": {plugin_ready_label("kmm", "gpu"): ""}})) == []


NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
AFFIXES = st.lists(NAMES, max_size=3, unique=True)


@given(NAMES, AFFIXES, AFFIXES, st.booleans())
def test_every_renamed_module_is_recognised(name: str, before: list[str], behind: list[str], moves: bool) -> None:
    """A function in a base makes a DaemonSet for `name`; the overlays rename its Module and not the label."""
    prefixes, suffixes = tuple(f"{one}-" for one in before), tuple(f"-{one}" for one in behind)
    final_name = "".join(reversed(prefixes)) + name + "".join(suffixes)
    transformed = Transformed(prefixes, suffixes, ("lab",) if moves else ())
    there = module(name=final_name, namespace="lab" if moves else "kmm")
    found = judged(there, workload({"nodeSelector": {ready_label("kmm", name): ""}}), transformed=transformed)
    expected = [("KRM701", "error")] if moves or final_name != name else []
    assert [(one.rule, one.severity) for one in found] == expected
