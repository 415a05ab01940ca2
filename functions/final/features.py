"""The rule about labels of Node Feature Discovery that a selector asks for and that nothing makes."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Result, info
from krmfn.fieldpath import join
from krmfn.rule import Rule

from ..kmm.lookup import table, tables
from .stream import Final

_DOMAIN = "feature.node.kubernetes.io/"
_SOURCES = ("cpu-", "kernel-", "memory-", "network-", "pci-", "storage-", "system-", "usb-")
"""How the names begin that NFD makes by itself (its built-in sources, of v0.17)."""


def labels_are_made(final: Final) -> Iterator[Result]:
    """Yield an info per label of NFD in a selector that no NodeFeatureRule makes and that no node has.

    Only where the cluster has such rules: elsewhere nothing is known of what makes labels there.
    """
    rules = [item for item in (*final.deployed, *final.theirs) if item.kind == "NodeFeatureRule"]
    made = set[str]()
    for item in rules:
        for _, rule in tables(table(item.manifest, "spec"), "rules"):
            if rule.get("labelsTemplate"):
                return  # what it makes is only known on a node
            made.update(key if "/" in key else f"{_DOMAIN}{key}" for key in table(rule, "labels"))
    every = (*final.inputs, *final.deployed, *final.theirs)
    nodes = [item for item in every if item.kind in ("Node", "NodeInventory")]
    for item, module in final.modules if rules else ():
        for key in module.selector or {}:
            name = key.removeprefix(_DOMAIN)
            if name == key or name.startswith(_SOURCES) or key in made or any(node.mentions(key) for node in nodes):
                continue
            message = (
                f"no NodeFeatureRule here makes the label {key}, no node has it, and Node Feature Discovery does not "
                f"make it by itself; the rules make: {', '.join(sorted(made)) or 'none'}"
            )
            yield final.located(item, info(message, field=Field(join(("spec", "selector", key)))))


RULES = (
    Rule(
        "KRM713",
        "a label of Node Feature Discovery in a selector should be made by a NodeFeatureRule, or be on a node",
        good="""\
kind: Module
spec: {selector: {feature.node.kubernetes.io/gpu: "true"}}
---
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: gpu}
spec: {rules: [{name: gpu, labels: {feature.node.kubernetes.io/gpu: "true"}}]}
""",
        bad="""\
kind: Module
spec: {selector: {feature.node.kubernetes.io/gpux: "true"}}
---
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: gpu}
spec: {rules: [{name: gpu, labels: {feature.node.kubernetes.io/gpu: "true"}}]}
""",
        remedy="Correct the label in the selector, or write a NodeFeatureRule that makes it.",
        check=labels_are_made,
        severities=("info",),
        advice=True,
    ),
)
"""The rule about labels that nothing makes."""
