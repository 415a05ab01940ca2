"""The RBAC objects of a config: its ServiceAccount and, on OpenShift, the RoleBinding to the privileged SCC."""

from __future__ import annotations

from typing import Any

from krmfn import Manifest

from ..rendering.metadata import metadata
from . import names
from .model import DeviceConfig

_ORDER = {"argocd.argoproj.io/sync-wave": "-1", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
"""Unloading needs the account: Argo CD deletes the lowest wave last, and Flux, which knows no order, leaves it."""

_PRIVILEGED = "system:openshift:scc:privileged"


def objects(config: DeviceConfig) -> list[Manifest]:
    """Return the ServiceAccount with serviceAccount.create, and the RoleBinding with serviceAccount.openshift."""
    account = config.spec.get("serviceAccount", {})
    name = config.spec.get("serviceAccountName", "")
    objects: list[Manifest] = []
    if account.get("create"):
        objects.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(config, name)})
    if account.get("openshift") and name:
        objects.append(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": _metadata(config, names.of_role_binding(config)),
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _PRIVILEGED},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": config.ref.namespace}],
            }
        )
    return objects


def _metadata(config: DeviceConfig, name: str) -> dict[str, Any]:
    return metadata(name, config.ref, "rights", _ORDER, config.object_labels, config.object_annotations)
