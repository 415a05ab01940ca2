"""Pods that have devices of a DRA driver hold a kernel module, as those with a device plugin's resources do."""

from __future__ import annotations

from typing import Any

import pytest

from krmfn import Manifest
from tests.builders import manifest
from tests.functions.chain.clusters import Objects, drop, find, healthy, planned, seen, worker
from tests.functions.chain.nights import IN_USE, user

DRIVER = "gpu.example.com"
DRA = {"container": {"image": "example.com/dra:1"}, "driverName": DRIVER}
TEMPLATED = user("train", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpus"}])
TEMPLATED["status"] |= {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "claim-x7"}]}
NAMED = user("train", resourceClaims=[{"name": "gpu", "resourceClaimName": "claim-x7"}])
EXTENDED = user("train")
EXTENDED["status"] |= {"extendedResourceClaimStatus": {"resourceClaimName": "claim-x7", "requestMappings": []}}


def claim(*drivers: str, namespace: str = "team") -> Manifest:
    made = manifest("resource.k8s.io/v1", "ResourceClaim", "claim-x7", namespace)
    results = [{"driver": name, "device": "d0", "pool": "n1", "request": "gpu"} for name in drivers]
    return {**made, "spec": {}, "status": {"allocation": {"devices": {"results": results}}}}


def cluster(*more: Manifest) -> tuple[Objects, Manifest]:
    """Return a cluster with an unloader that finds the kernel module in use, and the Module that Git renders."""
    wanted = planned()
    del wanted["spec"]["devicePlugin"]
    wanted["spec"]["dra"] = DRA
    objects = healthy()
    objects[0] = wanted
    find(objects, "Pod", "plugin-1")["metadata"]["labels"]["kmm.node.kubernetes.io/role"] = "dra"
    return [*objects, worker("Unload", **IN_USE), *more], wanted


@pytest.mark.parametrize("pod", [TEMPLATED, NAMED, EXTENDED])
@pytest.mark.parametrize("phase", ["Running", "Pending"])
def test_a_pod_with_a_device_of_the_driver_holds_the_kernel_module(pod: Manifest, phase: str) -> None:
    pod = {**pod, "status": {**pod["status"], "phase": phase}}
    objects, wanted = cluster(pod, claim(DRIVER))
    links, first, is_fine = seen(objects, wanted=wanted)
    assert (first, is_fine) == ("unload", False)
    assert "team/train holds the kernel module" in links[first].reason
    assert links[first].command == "kubectl get pod -n team train -o wide"


@pytest.mark.parametrize("other", [claim("nic.example.com"), claim(), claim(DRIVER, namespace="other")])
def test_a_claim_of_another_driver_or_another_namespace_holds_nothing(other: Manifest) -> None:
    objects, wanted = cluster(NAMED, other)
    assert "holds" not in seen(objects, wanted=wanted)[0]["unload"].reason


def test_without_claims_in_the_dump_each_pod_that_has_one_may_hold_it_and_without_dra_none() -> None:
    objects, wanted = cluster(NAMED)
    assert "team/train holds the kernel module" in seen(objects, wanted=wanted)[0]["unload"].reason
    plain: list[Any] = [*healthy(), worker("Unload", **IN_USE), NAMED, claim(DRIVER)]
    assert "holds" not in seen(plain)[0]["unload"].reason
    drop(plain, "ResourceClaim")
    assert "holds" not in seen(plain)[0]["unload"].reason
