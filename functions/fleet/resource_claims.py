"""ResourceClaims (Dynamic Resource Allocation): which pods have devices of which driver."""

from collections.abc import Iterator

from krmfn import Manifest

from ..kmm.lookup import table, tables, text


def claims_of(pod: Manifest) -> frozenset[str]:
    """Return the names of a pod's ResourceClaims: those that it names, and those that are made for it.

    Source: Kubernetes 1.34, core/v1 PodSpec.resourceClaims, PodStatus.resourceClaimStatuses and
    extendedResourceClaimStatus.
    """
    status = table(pod, "status")
    entries = [entry for _, entry in tables(table(pod, "spec"), "resourceClaims")]
    entries += [entry for _, entry in tables(status, "resourceClaimStatuses")]
    entries.append(table(status, "extendedResourceClaimStatus"))
    return frozenset(text(entry, "resourceClaimName") for entry in entries) - {""}


def drivers_of(claim: Manifest) -> frozenset[str]:
    """Return the names of the drivers whose devices are allocated to a ResourceClaim.

    Source: Kubernetes 1.34, resource.k8s.io/v1 AllocationResult; v1beta1 and v1beta2 have the same fields.
    """
    return frozenset(_drivers(claim)) - {""}


def _drivers(claim: Manifest) -> Iterator[str]:
    for _, result in tables(table(claim, "status", "allocation", "devices"), "results"):
        yield text(result, "driver")
