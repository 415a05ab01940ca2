"""The fields that the API server lets nobody change.

Source: Kubernetes 1.34, pkg/apis/apps/validation, pkg/apis/rbac/validation, pkg/apis/core/validation.
"""

from collections.abc import Sequence

from krmfn import Manifest

from ..differences import Part

_FIELDS = {
    **dict.fromkeys(("DaemonSet", "Deployment", "StatefulSet", "ReplicaSet"), (("spec", "selector"),)),
    "Job": (("spec", "selector"), ("spec", "template"), ("spec", "completionMode")),
    **dict.fromkeys(("RoleBinding", "ClusterRoleBinding"), (("roleRef",),)),
    "PriorityClass": (("value",), ("preemptionPolicy",)),
    "StorageClass": (("provisioner",), ("parameters",)),
    **dict.fromkeys(("ConfigMap", "Secret"), (("data",), ("binaryData",), ("stringData",), ("type",))),
}


def is_immutable(live: Manifest, kind: str, parts: Sequence[Part]) -> bool:
    """Return True for a field that cannot be changed; of a ConfigMap or Secret only where it is marked immutable."""
    if kind in ("ConfigMap", "Secret") and live.get("immutable") is not True:
        return False
    return any(tuple(parts[: len(field)]) == field for field in _FIELDS.get(kind, ()))
