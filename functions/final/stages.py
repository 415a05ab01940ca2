"""The stages in which Flux applies a cluster's objects: what Modules need, the Modules, and what waits for them."""

from __future__ import annotations

from krmfn import Item

from ..kmm.module import LABELS, MODULE_KINDS
from . import pods
from .order import DEPENDS, WAVE, wave

_NEEDED = frozenset(
    {
        ("", "Namespace"),
        ("", "ServiceAccount"),
        ("", "Secret"),
        ("", "ConfigMap"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("scheduling.k8s.io", "PriorityClass"),
        *(("rbac.authorization.k8s.io", kind) for kind in ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")),
    }
)
"""What a Module may need; whatever its wave is, behind the Modules it would keep them from ever being ready."""


def stage_of(item: Item) -> str:
    """Return the stage of an object: before, modules or consumers.

    It follows from the object alone: nothing moves when others come or go.
    """
    if (item.group, item.kind) in MODULE_KINDS:
        return "modules"
    if (item.group, item.kind) in _NEEDED:
        return "before"
    if item.mentions(WAVE) and wave(item) > 0:
        return "consumers"
    return "consumers" if _depends(item) or _waits(item) else "before"


def _depends(item: Item) -> bool:
    """Return True for an object that names a Module in config.kubernetes.io/depends-on."""
    text = item.annotations.get(DEPENDS, "") if item.mentions(DEPENDS) else ""
    return any(one.strip().startswith(tuple(f"{group}/" for group, _ in MODULE_KINDS)) for one in text.split(","))


def _waits(item: Item) -> bool:
    """Return True for a workload whose pods select nodes by a label of KMM's."""
    if not item.mentions(LABELS):
        return False
    path, pod = pods.pod_of(item.group, item.kind, item.manifest)
    return any(one.key.startswith(LABELS) for one in pods.node_labels(pod, path))
