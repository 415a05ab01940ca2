"""Generate a DeviceConfig's objects. Pure: values in, manifests out, in the order in which they are applied."""

from __future__ import annotations

from functools import partial

from ..rendering.generated import Generated, generated
from . import daemonsets, hub, module, rbac
from .model import DeviceConfig
from .origins import origin

FUNCTION = "deviceconfig"
"""The name in the marks of generated objects, whichever program runs the function."""


def objects(configs: list[DeviceConfig]) -> list[Generated]:
    """Return the objects of one DeviceConfig, whose pools are `configs`: RBAC, Modules, then the DaemonSets."""
    first = configs[0]
    wanted = [(first, manifest) for manifest in rbac.objects(first)]
    for config in configs:
        if "hub" in config.spec:
            wanted.append((config, hub.managed_cluster_module(config)))
        else:
            wanted += [(config, manifest) for manifest in [module.module(config), *daemonsets.objects(config)]]
    return [
        generated(manifest, FUNCTION, config.item, config.ref, partial(origin, config)) for config, manifest in wanted
    ]
