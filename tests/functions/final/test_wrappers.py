"""Resources that wrap Modules: what is inside is not judged, and that is said."""

from __future__ import annotations

import pytest

from krmfn import Manifest
from tests.builders import manifest, module

from .lists import judged

WRAPPERS: dict[str, tuple[str, str]] = {
    "ManifestWork": ("work.open-cluster-management.io/v1", "spec.workload.manifests"),
    "Policy": ("policy.open-cluster-management.io/v1", "spec.policy-templates"),
    "ConfigurationPolicy": ("policy.open-cluster-management.io/v1", "spec.object-templates"),
    "SyncSet": ("hive.openshift.io/v1", "spec.resources"),
    "SelectorSyncSet": ("hive.openshift.io/v1", "spec.resources"),
    "Object": ("kubernetes.crossplane.io/v1alpha2", "spec.forProvider.manifest"),
    "HelmRelease": ("helm.toolkit.fluxcd.io/v2", "spec.values"),
}
CONSUMER: Manifest = {"kind": "DaemonSet", "nodeSelector": {"kmm.node.kubernetes.io/kmm.m.ready": ""}}
CONFIG: Manifest = {"apiVersion": "krmfn.dev/v1alpha1", "kind": "DeviceConfig"}


def wrapper(kind: str, content: Manifest, name: str = "site") -> Manifest:
    version, path = WRAPPERS[kind]
    value: Manifest | list[Manifest] = content if kind in ("Object", "HelmRelease") else [content]
    for key in reversed(path.split(".")):
        value = {key: value}
    assert isinstance(value, dict)
    return {**manifest(version, kind, name), **value}


@pytest.mark.parametrize("content", [module(name="m"), CONSUMER, CONFIG], ids=["Module", "consumer", "config"])
@pytest.mark.parametrize("kind", WRAPPERS)
def test_what_is_wrapped_is_told(kind: str, content: Manifest) -> None:
    assert [finding.rule for finding in judged(wrapper(kind, content))] == ["KRM546"]


@pytest.mark.parametrize("kind", WRAPPERS)
def test_what_others_wrap_is_silent(kind: str) -> None:
    assert judged(wrapper(kind, manifest("v1", "ConfigMap"))) == []


def test_several_are_one_warning_with_a_count() -> None:
    works = [wrapper("ManifestWork", module(name="m"), name) for name in ("a", "b", "c")]
    [finding] = judged(*works)
    assert "(so do 2 others)" in finding.message
    assert finding.ref
    assert finding.ref.name == "a"
