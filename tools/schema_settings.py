"""The `spec` of the functionConfig, field by field."""

from __future__ import annotations

from krmfn_functions.kmm.versions import DEFAULT, TARGETS
from schema_nodes import choice, flag, listed, mapped, record, same, text

_VERSION = text(f"the KMM version of the cluster: {', '.join(TARGETS)}, or a newer one ({DEFAULT})", "KMM version")
_MODE = choice("how overlapping node selectors are judged (auto)", "auto", "nodes", "selectors", "off")
SETTINGS = record(
    "the settings",
    {
        "namespace": text("for configs that name none", "label"),
        "defaults": same("vendor", "fields of every DeviceConfig that does not say otherwise"),
        "profiles": mapped("vendor defaults by name", same("profile"), most=1024),
        "overrides": mapped("fields over those of a profile or Profile, by its name", same("profile"), most=1024),
        "operators": listed(
            record(
                "a kind",
                {
                    "group": text("its group", "subdomain"),
                    "kind": text("its kind", "line"),
                    "selector": text("the path of its node selector: two that can match one node conflict", "line"),
                },
                ["group", "kind"],
            ),
            "kinds like DeviceConfig that an operator in the cluster acts on: they pass through",
        ),
        "extraKinds": listed(
            {
                **record(
                    "GROUP/KIND, or a mapping",
                    {
                        "kind": text("GROUP/KIND", "line"),
                        "scope": choice("whether it has no namespace", "Cluster", "Namespaced"),
                    },
                    ["kind"],
                ),
                "type": ["string", "object"],
            },
            "kinds that extra objects of a Profile may be of, beside those that they always may",
        ),
        "kmm": record("the KMM of the cluster", {"version": _VERSION}),
        "exclusivity": record("how DeviceConfigs on the same nodes are judged", {"mode": _MODE}),
        "adopt": flag("take over objects of the same name that nobody generated"),
        "prune": {
            "description": "what becomes of generated objects whose owner is not in the input: removed under kpt and "
            "refused elsewhere (auto), always removed, never removed; false is never",
            "type": ["string", "boolean"],
            "enum": ["auto", "always", "never", True, False],
        },
        "partialView": choice("what to do when kpt shows only some of the items", "refuse", "allow"),
        "ignore": mapped(
            "rules whose findings do not count, each with the reason", text("why", "reason"), "rule", most=1024
        ),
        "annotations": same("annotations", "annotations for every generated object"),
    },
)
