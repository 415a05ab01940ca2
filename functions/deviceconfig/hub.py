"""The object of a config for many clusters: Open Cluster Management brings its Module to the chosen clusters."""

from __future__ import annotations

from krmfn import Manifest

from ..kmm.module import HUB_API, HUB_KIND
from ..rendering.metadata import MODULE_ORDER, metadata
from .fields import Hub
from .model import DeviceConfig
from .module import Specs, module_spec


def managed_cluster_module(config: DeviceConfig, hub: Hub, known: Specs) -> Manifest:
    """Return the `hub.kmm.sigs.x-k8s.io/v1beta1 ManagedClusterModule`; the spoke's Module has its name."""
    own_metadata = metadata(
        config.name, config.ref, "module", MODULE_ORDER, config.object_labels, config.object_annotations
    )
    del own_metadata["namespace"]
    return {
        "apiVersion": HUB_API,
        "kind": HUB_KIND,
        "metadata": own_metadata,
        "spec": {
            "moduleSpec": module_spec(config, known),
            "spokeNamespace": hub.spokeNamespace,
            "selector": dict(hub.clusterSelector or {}),
        },
    }
