"""The kinds that our functions read and make."""

from __future__ import annotations

from krmfn.ownership import Scope

from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND

OURS, SEED = "krmfn.dev", "example.com"
"""The groups whose DeviceConfigs are ours, and the he-sample operator's."""
PTEMPLATE_GROUP = "pt.example.com"
CONFIG = (OURS, "RenderDeviceConfigs")
"""The functionConfig; one among the resources in a PATH is taken as such."""

_RBAC = "rbac.authorization.k8s.io"
_MONITORING = "monitoring.coreos.com"
CLUSTER_WIDE = frozenset({("scheduling.k8s.io", "PriorityClass"), ("resource.k8s.io", "DeviceClass")})
"""Kinds without namespaces among EXTRA."""
EXTRA = CLUSTER_WIDE | {
    *(("", "ConfigMap"), ("", "Service"), ("", "ServiceAccount"), (_RBAC, "Role"), (_RBAC, "RoleBinding")),
    *(("policy", "PodDisruptionBudget"), ("networking.k8s.io", "NetworkPolicy")),
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
COUNTING = frozenset({CONFIG, (OURS, "NodeInventory"), ("", "Node")})
"""What counts where it stands, and is neither deployed (a Node is there already) nor made into anything."""
INPUTS = OWNERS | COUNTING
"""What a render reads and does not print."""
