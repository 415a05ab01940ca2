"""What only profiles and defaults may hold: rights of the pods, and further objects."""

from __future__ import annotations

from schema_nodes import ENABLED, Node, elsewhere, flag, form, listed, opened, record, same, text

_WORDS = "letters, digits, -, _, ., / and *"
_WORD: Node = {"pattern": "^[A-Za-z0-9*_./:-]*$", "maxLength": 253, "x-says": _WORDS}
_NAME: Node = {
    "pattern": "^[A-Za-z0-9${}_.-]+$",
    "maxLength": 253,
    "x-says": "lower case letters, digits, -, . and variables of krmfn",
}
_RESOURCES = {
    "apiGroups": listed(text('an API group, "" for the core one, * for all', **_WORD), "API groups", most=64),
    "resources": listed(text("a kind of resource in the plural, such as nodes", **_WORD), "resources", most=64),
    "resourceNames": listed(text("a name", **_WORD), "these objects only", most=64),
    "verbs": listed(text("what may be done, such as get, list, watch", **_WORD), "verbs", most=64),
}
_URLS = {"nonResourceURLs": listed(text("a path such as /metrics", **_WORD), "paths of the API server", most=64)}
RULES: dict[str, Node] = {
    "rules": listed(
        record("one rule of a Role", _RESOURCES, ["apiGroups", "resources", "verbs"]),
        "rights in the config's namespace, for the pods that run under serviceAccountName",
        most=64,
    ),
    "clusterRules": listed(
        record(
            "one rule of a ClusterRole",
            {**_RESOURCES, **_URLS},
            ["verbs"],
            [
                (
                    "has(self.nonResourceURLs) != (has(self.apiGroups) && has(self.resources))",
                    "write apiGroups and resources, or nonResourceURLs",
                )
            ],
        ),
        "rights in the whole cluster, for the same pods",
        most=64,
    ),
}
"""Fields of `serviceAccount`."""

EXTRA_OBJECTS = listed(
    opened(
        "one object, as it would be applied",
        {
            "apiVersion": text("the group and version of its kind", **_WORD),
            "kind": text("its kind, one of a few", **_WORD),
            "metadata": record(
                "its name and its like",
                {
                    "name": text("its name; $KRMFN_NAME stands for the config's", **_NAME),
                    "namespace": text("the config's namespace, which is filled in", **_NAME),
                    "labels": same("labels"),
                    "annotations": same("annotations"),
                },
                ["name"],
            ),
            **ENABLED,
        },
        ["apiVersion", "kind", "metadata"],
    ),
    "further objects for each config, such as a ServiceMonitor",
    most=64,
)
"""The field `extraObjects`."""

_WHY = "it may stand in a profile or in the defaults of the functionConfig only"
REFUSED = f"{_WHY}, so that who may write a DeviceConfig cannot give rights"
"""Why a DeviceConfig has none of these."""

ACCOUNT: dict[str, Node] = {
    "create": flag("generate the ServiceAccount, too; it is called <DeviceConfig's name>-<part> without a name"),
    "openshift": {
        "description": "what lets its pods run on OpenShift: the SecurityContextConstraint of this name, and no other; "
        "true is privileged",
        **form("subdomain"),
        "type": ["boolean", "string"],
    },
}
DEFS: dict[str, Node] = {
    "account": elsewhere(
        record("what is generated for its ServiceAccount, and goes with it", {**ACCOUNT, **ENABLED}),
        **dict.fromkeys(RULES, REFUSED),
    ),
    "accountWithRights": record(
        "what is generated for its ServiceAccount, and goes with it", {**ACCOUNT, **RULES, **ENABLED}
    ),
}
"""What a part of a config says of its own account: in a DeviceConfig, and in profiles and defaults."""


def with_rights(node: Node) -> Node:
    """Return the node of a part whose account may get rights, for profiles and defaults."""
    return {**node, "properties": {**node["properties"], "serviceAccount": same("accountWithRights")}}
