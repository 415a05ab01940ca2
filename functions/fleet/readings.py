"""Scalars that Kubernetes and kustomize read differently: where one decides what is selected, neither is taken."""

from __future__ import annotations

from krmfn import Field, Item, Result, error
from krmfn.rule import Rule


def check(*items: Item) -> list[Result]:
    """Return an error for each key and value of resources that is one thing to Kubernetes and another to kustomize."""
    found = [(item, one) for item in items for one in item.ambiguous]
    return [item.located(error(str(one), rule="KRM174", field=Field(one.path, one.text))) for item, one in found]


RULES = (
    Rule(
        "KRM174",
        "a selector, label, name, namespace, version, taint or kind is one word to every reader of YAML",
        good="""\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu:1.0
  nodeSelector: {"y": "true"}
""",
        bad="""\
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata: {name: gpu, namespace: kmm}
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu:1.0
  nodeSelector: {y: "true"}
""",
        remedy="Put the word in quotes: plain `y`, `yes`, `on`, `n`, `no`, `off` are booleans to Kubernetes and words "
        "to kustomize; a plain date is a word to the one and a time to the other; a key that is a number, a date or a "
        "boolean is refused by kustomize.",
    ),
)
"""The rule about scalars with two readings."""
