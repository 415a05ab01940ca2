"""Every rule about DeviceConfigs beyond their schema."""

from __future__ import annotations

from collections.abc import Sequence

from krmfn import Result
from krmfn.rule import apply

from . import (
    container_rules,
    driver_rules,
    extra_rules,
    lock_rules,
    mapping_rules,
    name_rules,
    placement_rules,
    pod_rules,
    rights_rules,
    service_rules,
    variable_rules,
    version_rules,
)
from .layers import Vendor
from .model import DeviceConfig

_OF_ALL = (*placement_rules.RULES, *driver_rules.RULES, *mapping_rules.RULES, *name_rules.RULES, *variable_rules.RULES)
_OF_NAMES = (placement_rules.NAMESPACE, *name_rules.RULES)
"""Those that look at names: what all the others look at is equal in configs of one likeness."""
_OF_FIELDS = (
    (("daemonSets", "devicePlugin", "dra"), container_rules.RULES),
    (("daemonSets",), (*service_rules.RULES, *pod_rules.RULES)),
    (("extraObjects",), extra_rules.RULES),
)
"""The rules about configs that have one of some fields."""
_OF_VENDOR = (*version_rules.RULES, *lock_rules.RULES)
"""The rules about configs whose profile says more than fields."""
RULES = (*_OF_ALL, *(rule for _, rules in _OF_FIELDS for rule in rules), *rights_rules.RULES, *_OF_VENDOR)
"""The rules about one config or pool."""
_OF_DAEMON_SETS = (*container_rules.RULES, *service_rules.RULES, *pod_rules.RULES, *variable_rules.RULES)
"""The rules that a retained version has to keep, too: its DaemonSets may have fields of their own."""


def check(config: DeviceConfig) -> list[Result]:
    """Return the findings of all rules about one config or pool."""
    rules = [
        *_OF_ALL,
        *(rule for names, rules in _OF_FIELDS if not config.fields.keys().isdisjoint(names) for rule in rules),
    ]
    rules += rights_rules.RULES if config.has_accounts else ()
    rules += _OF_VENDOR if config.vendor != Vendor() else ()
    results = [config.located(result) for result in apply(rules, config)]
    for earlier in config.retained:
        of_version = (earlier.located(result) for result in apply(_OF_DAEMON_SETS, earlier))
        results += [result for result in of_version if result not in results]
    return results


def _of_names(config: DeviceConfig) -> list[Result]:
    return [config.located(result) for result in apply(_OF_NAMES, config)]


def check_group(configs: Sequence[DeviceConfig], sound: set[bytes]) -> list[Result]:
    """Return the findings about the pools of one config: about each, then about all together.

    `sound` gets the likeness of configs without a finding; of others that are like them only the names are judged.
    """
    alone = [
        result for config in configs for result in (_of_names(config) if config.likeness in sound else check(config))
    ]
    if not alone:
        sound.update(config.likeness for config in configs if config.likeness)
    extras = extra_rules.together(configs) if configs[0].spec.extraObjects else ()
    together = (*name_rules.together(configs), *extras)
    return alone + [config.located(result) for config, result in together]
