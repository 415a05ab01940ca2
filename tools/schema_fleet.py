"""The fields of a NodeInventory."""

from __future__ import annotations

from schema_nodes import choice, form, listed, mapped, number, record, text

_MANY = 1_000_000
_TAINT = record(
    "a taint, as a Node has it",
    {
        "key": text("the taint's key", "label key"),
        "value": text("the taint's value", "label value"),
        "effect": choice("what it does to pods that do not tolerate it", "NoSchedule", "NoExecute"),
    },
    ["key", "effect"],
)
_GROUP = record(
    "nodes that are alike",
    {
        "architecture": text("the architecture, as Go names it: amd64", "line"),
        "osImage": text("the operating system: Ubuntu 24.04.1 LTS", "line"),
        "labels": mapped("the labels that all of them have", text("the value", "label value"), "label key", _MANY),
        "taints": listed(_TAINT, "the taints that all of them have", most=1024),
        "nodes": {
            "type": "string",
            "description": "a line per node: its name, its kernel (- when it is not known), then the labels that it "
            "does not share as key=value, divided by one space",
            "minLength": 1,
        },
    },
    ["nodes"],
)
INVENTORY = record(
    "the nodes of one cluster",
    {
        "clusterUID": text(
            "the uid of the cluster's Namespace kube-system: a dump of a cluster with another one is refused",
            "line",
        ),
        "kubeletVersions": listed(
            text("the version of a kubelet: v1.34.2", "line"), "the versions of the nodes' kubelets", most=_MANY
        ),
        "takenOn": text("the day on which the nodes were listed: 2026-01-31", "date"),
        "validUntil": text("the last day on which it may be relied on: 2026-12-31", "date"),
        "nodeCount": number("how many nodes it has; where there are fewer, a part of it is missing", least=1),
        "labelKeys": listed(
            {"type": "string", "description": "a label key, or * for all", **form("label key or *")},
            "the labels that are known of every node; a selector by another one cannot be judged",
            least=0,
            most=_MANY,
        ),
        "groups": listed(_GROUP, "the nodes", most=_MANY),
    },
    ["labelKeys", "groups"],
)
