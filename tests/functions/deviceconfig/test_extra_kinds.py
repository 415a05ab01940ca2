"""`extraKinds` of the functionConfig: more kinds for extra objects, since the platform says so."""

from __future__ import annotations

from typing import Any

import pytest
from krmfn_functions.deviceconfig import deviceconfig
from krmfn_functions.rendering import extra_kinds

from krmfn import Manifest, ResourceList
from tests.builders import SPEC, applied, device_config, function_config, generated

FLAVOR = {"kind": "kueue.x-k8s.io/ResourceFlavor", "scope": "Cluster"}
TUNED: dict[str, Any] = {
    "apiVersion": "tuned.openshift.io/v1",
    "kind": "Profile",
    "metadata": {"name": "t"},
    "spec": {"recommend": [{"priority": 20}]},
}
WIDE = {**TUNED, "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ResourceFlavor", "metadata": {"name": "dc-flavor"}}
USED = SPEC | {"profile": "gpu"}


def answer(kinds: list[Any], *objects: Any, items: tuple[Manifest, ...] = ()) -> ResourceList:
    extras = {"extraObjects": list(objects)} if objects else {}
    profile = {**extras, "firmwarePath": "/firmware"}
    settings = function_config(profiles={"gpu": profile}, extraKinds=kinds, prune="always")
    return applied(deviceconfig, device_config(USED), *items, function_config=settings)


def found(resources: ResourceList) -> list[tuple[str, str, str]]:
    return [(result.severity, result.rule, result.field.path if result.field else "") for result in resources.results]


def test_a_kind_that_the_platform_allows_is_made() -> None:
    resources = answer(["tuned.openshift.io/Profile", FLAVOR], TUNED, WIDE)
    assert found(resources) == []
    objects = {item["kind"]: item for item in generated(resources)}
    assert objects["Profile"]["metadata"]["namespace"] == "kmm" and objects["Profile"]["spec"] == TUNED["spec"]
    assert "namespace" not in objects["ResourceFlavor"]["metadata"]


def test_a_kind_that_it_does_not_allow_is_an_error() -> None:
    (finding,) = answer([FLAVOR], TUNED).results
    assert (finding.severity, finding.rule) == ("error", "KRM165")
    assert "`extraKinds: [tuned.openshift.io/Profile]`" in finding.text


def test_a_name_without_a_namespace_names_the_config() -> None:
    other = {**WIDE, "metadata": {"name": "flavor"}}
    assert found(answer([FLAVOR], other)) == [("error", "KRM166", "spec.profiles.gpu.extraObjects[0].metadata.name")]
    namespaced = {"kind": FLAVOR["kind"], "scope": "Namespaced"}
    assert found(answer([namespaced], other)) == []


def test_an_object_that_is_left_over_goes() -> None:
    first = generated(answer(["tuned.openshift.io/Profile"], TUNED))
    (left,) = [item for item in first if item["kind"] == "Profile"]
    assert [item["kind"] for item in generated(answer(["tuned.openshift.io/Profile"], items=(left,)))] == ["Module"]


@pytest.mark.parametrize(
    "kind",
    [
        *("Secret", "Pod", "Namespace", "apps/Deployment", "batch/CronJob", "rbac.authorization.k8s.io/ClusterRole"),
        *("argoproj.io/Application", "kustomize.toolkit.fluxcd.io/Kustomization", "kmm.sigs.x-k8s.io/Module"),
        *("apiextensions.k8s.io/CustomResourceDefinition", "security.openshift.io/SecurityContextConstraints"),
        *("krmfn.dev/DeviceConfig", "admissionregistration.k8s.io/MutatingWebhookConfiguration"),
        *("tuned.openshift.io/v1/Profile", "tuned.openshift.io", "profile"),
    ],
)
@pytest.mark.parametrize("is_record", [False, True])
def test_a_kind_that_nobody_may_allow(kind: str, is_record: bool) -> None:
    resources = answer([{"kind": kind} if is_record else kind])
    assert found(resources) == [("error", "KRM186", "spec.extraKinds[0]" + (".kind" if is_record else ""))]
    assert resources.failed


def test_a_kind_that_may_be_there_anyhow() -> None:
    entries = ["ConfigMap", "a.example.com/B", "a.example.com/B"]
    assert found(answer(entries)) == [
        ("warning", "KRM186", "spec.extraKinds[0]"),
        ("warning", "KRM186", "spec.extraKinds[2]"),
    ]


BANNED: list[Any] = [
    {"template": {"spec": {"containers": [{"name": "a", "image": "r.example.com/a:1"}]}}},
    {"groups": [{"workers": {"containers": [{"image": "r.example.com/a:1"}]}}]},
    {"grants": [{"verbs": ["get"], "resources": ["secrets"]}]},
    {"roleRef": {"kind": "ClusterRole", "name": "cluster-admin"}},
]


@pytest.mark.parametrize("spec", BANNED)
def test_pods_and_rights_are_banned_in_any_kind(spec: Any) -> None:
    resources = answer(["tuned.openshift.io/Profile"], {**TUNED, "spec": spec})
    assert ("error", "KRM165", "spec.profiles.gpu.extraObjects[0]") in found(resources)


@pytest.mark.parametrize("spec", [{"containers": ["a"]}, {"verbs": ["get"]}, {"rules": [{"alert": "x"}]}, None, 5])
def test_other_words_are_no_ban(spec: Any) -> None:
    assert extra_kinds.ban_in({"spec": spec}) == ""
