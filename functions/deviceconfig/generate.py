"""A DeviceConfig's children. Pure: values in, manifests out, in the order in which they are applied."""

from __future__ import annotations

from krmfn import Manifest

from ..children import Child, child
from . import consumers, hub, module, rights
from .model import DeviceConfig


def children(function: str, configs: list[DeviceConfig]) -> list[Child]:
    """Return the objects of one DeviceConfig, whose pools are `configs`: rights, Modules, then what waits for them.

    `function` is the name that stands in their marks.
    """
    first = configs[0]
    wanted: list[Manifest] = [*rights.objects(first)]
    for config in configs:
        if "hub" in config.spec:
            wanted.append(hub.managed_cluster_module(config))
        else:
            wanted.append(module.module(config))
            wanted += consumers.objects(config)
    return [child(manifest, function, first.item, first.ref) for manifest in wanted]
