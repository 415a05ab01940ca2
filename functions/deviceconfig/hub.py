"""A config for many clusters: Open Cluster Management carries its Module to every cluster with the chosen labels."""

from __future__ import annotations

from krmfn import Manifest

from ..rendering.metadata import MODULE_ORDER, metadata
from .model import DeviceConfig
from .module import module_spec


def managed_cluster_module(config: DeviceConfig) -> Manifest:
    """`hub.kmm.sigs.x-k8s.io/v1beta1 ManagedClusterModule`, cluster-scoped; the spoke's Module has its name."""
    hub = config.spec["hub"]
    found = metadata(config.name, config.ref, "module", MODULE_ORDER, config.child_labels, config.child_annotations)
    del found["namespace"]
    return {
        "apiVersion": "hub.kmm.sigs.x-k8s.io/v1beta1",
        "kind": "ManagedClusterModule",
        "metadata": found,
        "spec": {
            "moduleSpec": module_spec(config),
            "spokeNamespace": hub["spokeNamespace"],
            "selector": dict(hub["clusterSelector"]),
        },
    }
