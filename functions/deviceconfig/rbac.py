"""The RBAC objects of a config: its ServiceAccount, the rights of its pods, and what OpenShift needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from krmfn import Manifest

from ..rendering.metadata import metadata
from . import names
from .fields import ServiceAccount
from .model import DeviceConfig

_ORDER = {"argocd.argoproj.io/sync-wave": "-1", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
"""Unloading needs the account: Argo CD deletes the lowest wave last, and Flux, which knows no order, leaves it."""

_REVOCABLE = {"argocd.argoproj.io/sync-wave": "-1"}
"""The rights of pods: unloading does not need them, and Flux takes them back."""

_GROUP = "rbac.authorization.k8s.io"
_API = f"{_GROUP}/v1"
_PRIVILEGED = "system:openshift:scc:privileged"


def objects(config: DeviceConfig, account: ServiceAccount) -> list[Manifest]:
    """Return the ServiceAccount with serviceAccount.create, and what gives it rights."""
    name = config.spec.serviceAccountName
    objects: list[Manifest] = []
    if account.create:
        objects.append({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(config, name, _ORDER)})
    if account.openshift and name:
        own = _metadata(config, names.of_role_binding(config), _ORDER)
        objects.append(_binding(config, "RoleBinding", own, _PRIVILEGED))
    if account.rules and name:
        objects += _rights(config, "Role", names.of_role(config), account.rules)
    if account.clusterRules and name:
        objects += _rights(config, "ClusterRole", names.of_cluster_role(config), account.clusterRules)
    return objects


def _rights(config: DeviceConfig, kind: str, name: str, rules: Sequence[Any]) -> list[Manifest]:
    """Return a Role or ClusterRole and its binding to the config's account."""
    of_role, of_binding = (_metadata(config, name, _REVOCABLE) for _ in range(2))
    if kind == "ClusterRole":
        del of_role["namespace"], of_binding["namespace"]
    role = {"apiVersion": _API, "kind": kind, "metadata": of_role, "rules": rules}
    return [role, _binding(config, f"{kind}Binding", of_binding, name, kind)]


def _binding(
    config: DeviceConfig, kind: str, own: dict[str, Any], role: str, role_kind: str = "ClusterRole"
) -> Manifest:
    subject = {"kind": "ServiceAccount", "name": config.spec.serviceAccountName, "namespace": config.ref.namespace}
    return {
        "apiVersion": _API,
        "kind": kind,
        "metadata": own,
        "roleRef": {"apiGroup": _GROUP, "kind": role_kind, "name": role},
        "subjects": [subject],
    }


def _metadata(config: DeviceConfig, name: str, order: dict[str, str]) -> dict[str, Any]:
    return metadata(name, config.ref, "rbac", order, config.object_labels, config.object_annotations)
