"""Prefixes, suffixes and namespaces between two runs: the objects of the first are known under their new names."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.all_kinds import krmfn

from krmfn import ResourceList
from tests.builders import AGENT, SPEC, applied, device_config, manifest, resource_list

PREVIOUS = "internal.config.kubernetes.io/previous"
LOCAL = {"config.kubernetes.io/local-config": "true"}
STEPS = st.sampled_from([("lab-", "", ""), ("", "-v2", ""), ("", "", "lab"), ("a-", "-b", "other")])


def config(name: str, namespace: str, rack: str, agents: bool) -> dict[str, Any]:
    spec = SPEC | {"nodeSelector": {"rack": rack}, "daemonSets": [AGENT] if agents else None}
    return device_config(spec, name, namespace, annotations=LOCAL)


def ptemplate(name: str, namespace: str) -> dict[str, Any]:
    spec = {"selector": {"rack": "ptemplate"}, "consumer": "registry.example.com/c:1", "deviceplugin": "x/p:1"}
    return manifest("pt.example.com/v1alpha1", "Ptemplate", name, namespace, annotations=LOCAL) | {"spec": spec}


def rendered(*manifests: dict[str, Any]) -> ResourceList:
    resources = applied(krmfn, *manifests)
    assert not resources.failed, [str(result) for result in resources.results]
    return resources


def renamed(manifest: dict[str, Any], step: tuple[str, str, str], noted: bool = True) -> dict[str, Any]:
    """Return what kustomize makes of a resource, and notes about its former name."""
    prefix, suffix, namespace = step
    metadata = manifest["metadata"]
    notes = dict(metadata.get("annotations", {}))
    now = {"Kinds": manifest["kind"], "Names": metadata["name"], "Namespaces": metadata.get("namespace", "default")}
    for key, value in now.items() if noted else ():
        before = notes.get(PREVIOUS + key)
        notes[PREVIOUS + key] = f"{before},{value}" if before else value
    name = {"name": f"{prefix}{metadata['name']}{suffix}", "annotations": notes}
    return manifest | {"metadata": metadata | name | ({"namespace": namespace} if namespace else {})}


def objects(resources: ResourceList) -> list[dict[str, Any]]:
    """Return what was generated, without kustomize's notes, in the order of kinds and names."""
    manifests = [dict(item.manifest) for item in resources.items if item.kind in ("Module", "DaemonSet")]
    for item in manifests:
        notes = {key: value for key, value in item["metadata"]["annotations"].items() if not key.startswith(PREVIOUS)}
        item["metadata"] = item["metadata"] | {"annotations": notes}
    return sorted(manifests, key=lambda item: (item["kind"], item["metadata"]["namespace"], item["metadata"]["name"]))


@given(st.lists(STEPS, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_a_second_run_gives_what_a_first_one_would(
    steps: list[tuple[str, str, str]], agents: bool, again: bool
) -> None:
    inputs = [config("gpu", "kmm", "a", agents), config("nic", "kmm", "b", False), ptemplate("char", "kmm")]
    resources = rendered(*inputs)
    for step in steps:
        manifests = [renamed(item.manifest, step) for item in resources.items]
        inputs = [renamed(config, step) for config in inputs]
        resources = rendered(*manifests) if again else resource_list(*manifests)
    second, fresh = rendered(*(item.manifest for item in resources.items)), rendered(*inputs)
    assert objects(second) == objects(fresh)


@given(STEPS)
def test_without_kustomize_s_notes_nothing_is_taken_for_ours_that_is_not(step: tuple[str, str, str]) -> None:
    """Another tool's renaming leaves copies: they stay, and are said."""
    first = rendered(config("gpu", "kmm", "a", True))
    copies = [renamed(item.manifest, step, noted=False) for item in first.items if item.kind != "DeviceConfig"]
    resources = resource_list(*copies, config("other", "kmm", "b", False))
    krmfn(resources)
    assert "KRM117" in {result.rule for result in resources.results}
    kept = {(item.kind, item.ref.name) for item in resources.items}
    assert {(copy["kind"], copy["metadata"]["name"]) for copy in copies} <= kept
