"""Resources that wrap Modules: what is inside is not judged, and that is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from krmfn_functions.final.judge import judge
from krmfn_functions.run import note

from krmfn import Manifest, ResourceList
from tests.builders import manifest, module
from tests.commands import process
from tests.trees import plant

from .lists import judged

WRAPPERS: dict[str, tuple[str, str]] = {
    "ManifestWork": ("work.open-cluster-management.io/v1", "spec.workload.manifests"),
    "Policy": ("policy.open-cluster-management.io/v1", "spec.policy-templates"),
    "ConfigurationPolicy": ("policy.open-cluster-management.io/v1", "spec.object-templates"),
    "SyncSet": ("hive.openshift.io/v1", "spec.resources"),
    "SelectorSyncSet": ("hive.openshift.io/v1", "spec.resources"),
    "Object": ("kubernetes.crossplane.io/v1alpha2", "spec.forProvider.manifest"),
    "HelmRelease": ("helm.toolkit.fluxcd.io/v2", "spec.values"),
    "ResourceSet": ("fluxcd.controlplane.io/v1", "spec.resources"),
    "HelmChart": ("helm.cattle.io/v1", "spec.valuesContent"),
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


def test_each_kind_has_a_warning_of_its_own() -> None:
    findings = judged(*(wrapper(kind, module(name="m"), name) for kind in WRAPPERS for name in ("a", "b")))
    assert [finding.ref.kind for finding in findings if finding.ref] == [*WRAPPERS]
    assert all("(so does 1 other)" in finding.message for finding in findings)


@pytest.mark.parametrize("kind", WRAPPERS)
def test_it_is_told_at_its_file_and_line(kind: str, tmp_path: Path) -> None:
    plant(tmp_path, {".git/HEAD": "", "sites/oslo/work.yaml": json.dumps(wrapper(kind, module(name="m")))})
    done = process("krmfn", "check", ".", cwd=tmp_path)
    assert done.code == 0
    assert done.text.startswith(f"sites/oslo/work.yaml:1: warning: {kind} "), done.text
    assert "[KRM546]" in done.text


TEXTS = {
    "a text of YAML": "kind: Ptemplate\n",
    "a typed list": "apiVersion: v1\nkind: DeviceConfigList\n",
    "a kind of a Profile": "kind: FastNic\n",
    "an escape": 'kind: "Device\\x43onfig"\n',
    "below its key": "kind:\n  FastNic\n",
    "in small letters": "kind: fastnic\n",
    "behind an anchor": "kind: &a DeviceConfig\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_is_wrapped_as_a_text_is_told(text: str) -> None:
    values = json.dumps(text).replace("\\\\x43", "\\x43")
    item = (
        f"{{apiVersion: helm.cattle.io/v1, kind: HelmChart, metadata: {{name: a}}, spec: {{valuesContent: {values}}}}}"
    )
    head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
    resources = ResourceList.parse(f"{head}items:\n- {item}\n".encode())
    note(resources, driven=frozenset({("nic.example.org", "FastNic")}))
    assert [finding.rule for finding in judge(resources, resources.items)] == ["KRM546"]


@pytest.mark.parametrize("kind", ["<< inputs.kind >>", "{{ .kind }}", "{{hub fromConfigMap hub}}", "${KIND}"])
def test_a_kind_that_is_filled_in_may_be_any(kind: str) -> None:
    [finding] = judged(wrapper("ResourceSet", {"apiVersion": "v1", "kind": kind}))
    assert finding.message.startswith("may wrap Modules"), finding.message


@pytest.mark.parametrize("kind", ["", "pull-through", "Secret", {"type": "string"}, ["a"]])
def test_another_value_under_kind_is_silent(kind: object) -> None:
    assert judged(wrapper("HelmRelease", {"apiVersion": "v1", "kind": kind})) == []
