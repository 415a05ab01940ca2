"""What must be there before a Module and after it: its ServiceAccount and, on OpenShift, the right to be privileged."""

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
    """The ServiceAccount with serviceAccount.create; with openshift the RoleBinding to the privileged SCC."""
    account = config.spec.get("serviceAccount", {})
    name = config.spec.get("serviceAccountName", "")
    found: list[Manifest] = []
    if account.get("create"):
        found.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(config, name)})
    if account.get("openshift") and name:
        found.append(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": _metadata(config, names.of_role_binding(config)),
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _PRIVILEGED},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": config.ref.namespace}],
            }
        )
    return found


def _metadata(config: DeviceConfig, name: str) -> dict[str, Any]:
    return metadata(name, config.ref, "rights", _ORDER, config.child_labels, config.child_annotations)
