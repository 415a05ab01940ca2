"""Generate a DeviceConfig's objects. Pure: values in, manifests out, in the order in which they are applied."""

from __future__ import annotations

from functools import partial

from ..rendering.generated import Generated, generated
from ..rendering.kinds import DEVICECONFIG
from . import daemonsets, extras, module, rbac
from .model import DeviceConfig
from .origins import origin

_ANSWERED = frozenset({"KRM201"})
"""An empty selector is confirmed by allNodes (KRM123)."""


def objects(configs: list[DeviceConfig], known: module.Specs) -> list[Generated]:
    """Return the objects of one DeviceConfig, whose pools are `configs`: extras, RBAC, Modules, then the DaemonSets.

    `known` is what the run has made of configs that are alike.
    """
    first = configs[0]
    manifests = rbac.objects(configs) if any(config.has_accounts for config in configs) else []
    own = (first.ref.group, first.ref.kind)
    scope = DEVICECONFIG if own in DEVICECONFIG.owners else DEVICECONFIG._replace(owners=DEVICECONFIG.owners | {own})
    for config in configs:
        if config.loads or config.has_module:
            manifests.append((config, module.module(config, known)))
        if not config.spec.hub and (config.spec.daemonSets or config.retained):
            manifests += daemonsets.objects(config)
    extra = [
        generated(
            manifest, scope, first.item, first.ref, partial(extras.origin, first, index), product=first.vendor.title
        )
        for index, manifest in enumerate(extras.objects(first) if first.spec.extraObjects else ())
    ]
    return extra + [
        generated(manifest, scope, config.item, config.ref, partial(origin, config), _ANSWERED, first.vendor.title)
        for config, manifest in manifests
    ]
