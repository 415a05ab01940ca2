"""The API groups of our kinds and of KMM's."""

from __future__ import annotations

OURS, SEED = "krmfn.dev", "example.com"
"""The groups whose DeviceConfigs are ours, and the he-sample operator's."""
MODULE_GROUP, HUB_GROUP = "kmm.sigs.x-k8s.io", "hub.kmm.sigs.x-k8s.io"
"""KMM's groups: Module, and ManagedClusterModule."""
