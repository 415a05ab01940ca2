"""Selectors and affinities on labels of KMM's: their Module is there, and sets them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kmm.lookup import POD_KINDS
from krmfn_functions.kmm.module import plugin_ready_label, ready_label, version_label, version_ready_label
from krmfn_functions.run import Transformed

from krmfn import Manifest
from tests.builders import manifest, module

from .lists import judged, levels, rows, workload

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
LABELS = (ready_label, version_ready_label, plugin_ready_label, version_label)


def waiting(label: str, value: str = "") -> Manifest:
    """Return a DaemonSet whose pods select nodes by a label."""
    return workload({"nodeSelector": {label: value}})


def selecting(label: str, form: str) -> Manifest:
    """Return a pod that asks for a label in one of the ways."""
    expressions = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    if form == "selector":
        return {"nodeSelector": {label: ""}}
    if form == "required":
        return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [expressions]}}}}
    return {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": expressions}]}}}


@pytest.mark.parametrize("kind", POD_KINDS, ids=lambda kind: kind[1])
@pytest.mark.parametrize("form", ["selector", "required", "preferred"])
@pytest.mark.parametrize("label", LABELS)
def test_whoever_waits_for_a_module_that_is_not_there_is_found(
    kind: tuple[str, str], form: str, label: Callable[[str, str], str]
) -> None:
    user = workload(selecting(label("kmm", "gpu"), form), kind)
    ready = module(name="gpu", version="1")
    ready["spec"]["devicePlugin"] = {"container": {"image": "registry.example.com/plugin:1"}}
    assert judged(user, ready) == []
    for stranger in (module(name="other"), module(name="gpu", namespace="other")):
        assert levels(judged(user, stranger)) == [("KRM701", "warning")]
    severity = "warning" if form == "preferred" else "error"
    for renamed in (module(name="lab-gpu-v2"), module(name="lab-gpu", namespace="lab")):
        assert levels(judged(user, renamed)) == [("KRM701", severity)]


def test_a_module_may_wait_for_another() -> None:
    first = module(name="base")
    assert judged(first, module(name="top", selector={ready_label("kmm", "base"): ""})) == []
    results = judged(first, module(name="top", selector={ready_label("kmm", "bose"): ""}))
    assert rows(results) == [("KRM701", "warning", "spec.selector[kmm.node.kubernetes.io/kmm.bose.ready]")]


def test_a_module_without_a_namespace_may_be_anywhere() -> None:
    assert judged(module(name="gpu", namespace=""), waiting(ready_label("kmm", "gpu"))) == []


def test_a_module_of_a_hub_is_on_its_clusters() -> None:
    hub_module = {
        **manifest("hub.kmm.sigs.x-k8s.io/v1beta1", "ManagedClusterModule", "gpu", ""),
        "spec": {"spokeNamespace": "kmm", "moduleSpec": module()["spec"]},
    }
    assert judged(hub_module, waiting(ready_label("kmm", "gpu"))) == []
    assert judged(hub_module, waiting(ready_label("other", "gpu"))) != []


@pytest.mark.parametrize(
    ("label", "value", "message"),
    [
        (ready_label, "true", "is 'true', but KMM sets it to '': no node is selected"),
        (plugin_ready_label, "", "Module kmm/gpu has no devicePlugin, so KMM never sets it"),
        (version_ready_label, "1", "Module kmm/gpu has no version, so KMM never sets it"),
    ],
)
def test_a_label_that_no_node_gets_is_an_error(label: Callable[[str, str], str], value: str, message: str) -> None:
    (finding,) = judged(module(name="gpu"), waiting(label("kmm", "gpu"), value))
    assert (finding.rule, finding.severity, finding.message) == ("KRM702", "error", message)


def test_without_a_loader_nothing_is_ready() -> None:
    plugin_only = module(name="gpu")
    plugin_only["spec"] = {"selector": {"a": "b"}, "devicePlugin": {"container": {"image": "r.example.com/p:1"}}}
    assert levels(judged(plugin_only, waiting(ready_label("kmm", "gpu"))))[0] == ("KRM702", "error")
    assert judged(plugin_only, waiting(plugin_ready_label("kmm", "gpu"))) == []


NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
AFFIXES = st.lists(NAMES, max_size=3, unique=True)


@given(NAMES, AFFIXES, AFFIXES, st.booleans())
def test_every_renamed_module_is_recognised(name: str, before: list[str], behind: list[str], moves: bool) -> None:
    """A function in a base makes a DaemonSet for `name`; the overlays rename its Module and not the label."""
    prefixes, suffixes = tuple(f"{part}-" for part in before), tuple(f"-{part}" for part in behind)
    final_name = "".join(reversed(prefixes)) + name + "".join(suffixes)
    transformed = Transformed(prefixes, suffixes, ("lab",) if moves else ())
    renamed = module(name=final_name, namespace="lab" if moves else "kmm")
    results = judged(renamed, waiting(ready_label("kmm", name)), transformed=transformed)
    assert levels(results) == ([("KRM701", "error")] if moves or final_name != name else [])
