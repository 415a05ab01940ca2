"""The kinds that our functions read and make."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from krmfn import Item
from krmfn.ownership import Scope

from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND

OURS, SEED = "krmfn.dev", "example.com"
"""The groups whose DeviceConfigs are ours, and the he-sample operator's."""
PTEMPLATE_GROUP = "pt.example.com"
PROFILE = (OURS, "Profile")
"""A vendor's product; those among the resources are read and not deployed."""
PROFILE_MARK = f"{OURS}/profile"
"""Annotation: on a config the name of its profile, on what a Profile has made NAME@VERSION."""
CONFIG = (OURS, "RenderDeviceConfigs")
"""The functionConfig; one among the resources in a PATH is taken as such."""

_RBAC = "rbac.authorization.k8s.io"
_MONITORING = "monitoring.coreos.com"
_ADMISSION = "admissionregistration.k8s.io"
CLUSTER_WIDE = frozenset(
    {
        *(("scheduling.k8s.io", "PriorityClass"), ("resource.k8s.io", "DeviceClass")),
        *((_ADMISSION, "ValidatingAdmissionPolicy"), (_ADMISSION, "ValidatingAdmissionPolicyBinding")),
        ("nfd.k8s-sigs.io", "NodeFeatureRule"),  # OpenShift's has a namespace
    }
)
"""Kinds without namespaces among EXTRA."""
EXTRA = CLUSTER_WIDE | {
    *(("", "ConfigMap"), ("", "Service"), ("", "ServiceAccount"), (_RBAC, "Role"), (_RBAC, "RoleBinding")),
    *(("policy", "PodDisruptionBudget"), ("networking.k8s.io", "NetworkPolicy")),
    *(("nfd.openshift.io", "NodeFeatureRule"), ("resource.k8s.io", "ResourceClaimTemplate")),
    *((_MONITORING, "ServiceMonitor"), (_MONITORING, "PodMonitor"), (_MONITORING, "PrometheusRule")),
}
"""Kinds that a profile may add to each config: nothing that holds secrets, runs pods or gives rights in the cluster."""

DEVICECONFIG = Scope(
    "deviceconfig",
    frozenset({(OURS, "DeviceConfig"), (SEED, "DeviceConfig")}),
    frozenset(
        {
            (MODULE_GROUP, MODULE_KIND),
            (HUB_GROUP, HUB_KIND),
            ("apps", "DaemonSet"),
            ("", "Service"),
            *((_RBAC, "ClusterRole"), (_RBAC, "ClusterRoleBinding")),
            *EXTRA,
        }
    ),
)
PTEMPLATE = Scope(
    "ptemplate",
    frozenset({(PTEMPLATE_GROUP, "Ptemplate")}),
    frozenset({(MODULE_GROUP, MODULE_KIND), ("apps", "DaemonSet")}),
)
OWNERS = DEVICECONFIG.owners | PTEMPLATE.owners
"""What objects are generated from."""
NODES = frozenset({(OURS, "NodeInventory"), ("", "Node")})
"""What says which nodes there are."""
COUNTING = frozenset({CONFIG, (OURS, "NodeInventory"), ("", "Node")})
"""What counts where it stands, and is neither deployed (a Node is there already) nor made into anything."""
INPUTS = OWNERS | COUNTING | {PROFILE}
"""What a render reads and does not print, but for the kinds that Profiles are for."""


def driven(items: Iterable[Item], kept: bool = False) -> frozenset[tuple[str, str]]:
    """Return (group, kind) of the configs that the Profiles among some items are for; `kept`: of those to print."""
    kinds = set[tuple[str, str]]()
    for item in items:
        if item.kind == PROFILE[1] and item.group == OURS:
            spec = item.manifest.get("spec")
            own = spec.get("for") if isinstance(spec, dict) else None
            if isinstance(own, dict) and (not kept or own.get("keep") is True):
                kinds.add((str(own.get("group")), str(own.get("kind"))))
    return frozenset(kinds)


def owning(items: Collection[Item]) -> list[Item]:
    """Return those among some items that objects are generated from, the kinds of Profiles among them."""
    theirs = driven(items)
    kinds = OWNERS | theirs
    own = [item for item in items if (item.group, item.kind) in kinds]
    return [item for item in own if not is_foreign(item)] if theirs else own


def is_foreign(item: Item) -> bool:
    """Return True for a config of which an annotation says that its own operator acts on it."""
    return item.annotations.get(PROFILE_MARK) == "none"
