"""What a cluster gives back: how it is known, and what is left of it without what servers write."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from krmfn_functions.cluster_dump import cleaned, is_dumped

from krmfn import Manifest
from tests.builders import manifest

LIVE = {"uid": "1-2", "resourceVersion": "7", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 2}


def service() -> Manifest:
    return {**manifest("v1", "Service"), "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}


def live(written: Manifest, **metadata: Any) -> Manifest:
    """The object as a cluster gives it back."""
    return {**copy.deepcopy(written), "metadata": {**written["metadata"], **LIVE, **metadata}, "status": {"a": 1}}


def test_what_the_server_adds_to_all_objects_is_taken_off() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "argocd.argoproj.io/tracking-id": "x"}
    dumped = live(service(), annotations=annotations, managedFields=[{}], finalizers=["x"], ownerReferences=[{}])
    before = copy.deepcopy(dumped)
    assert cleaned(dumped) == service()
    assert dumped == before, "it belongs to the caller"
    kept = cleaned(live(service(), annotations={**annotations, "mine": "x"}, labels={"mine": "x", "job-name": "y"}))
    assert kept["metadata"]["annotations"] == kept["metadata"]["labels"] == {"mine": "x"}


def test_what_it_writes_into_a_pod_template_is_taken_off() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": []}}
    written = {**manifest("apps/v1", "DaemonSet"), "spec": {"template": template}}
    dumped = live(written)
    dumped["spec"]["template"]["metadata"] |= {
        "creationTimestamp": None,
        "annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"},
    }
    assert cleaned(dumped) == written


def test_only_a_cluster_gives_a_uid_and_a_version() -> None:
    assert is_dumped(live(service()))
    others: list[Manifest] = [service(), live(service(), uid=""), live(service(), resourceVersion=None)]
    assert not any(map(is_dumped, [*others, {"metadata": []}, {}]))


@pytest.mark.parametrize(
    "odd",
    [
        {"labels": [], "annotations": "x"},
        {"labels": None, "ownerReferences": None},
        {"finalizers": 1, "managedFields": {}},
    ],
)
def test_odd_metadata_is_no_crash(odd: dict[str, Any]) -> None:
    assert is_dumped(live(service(), **odd))
    assert cleaned(live(service(), **odd))["spec"] == service()["spec"]
