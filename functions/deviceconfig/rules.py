"""Every rule about DeviceConfigs beyond their schema."""

from collections.abc import Sequence

from krmfn import Result
from krmfn.results import Rule, apply

from . import (
    container_rules,
    daemonset_rules,
    driver_rules,
    extra_rules,
    lock_rules,
    name_rules,
    placement_rules,
    rights_rules,
    variable_rules,
    version_rules,
)
from .layers import Vendor
from .model import DeviceConfig

_OF_ALL = (*placement_rules.RULES, *driver_rules.RULES, *name_rules.RULES, *variable_rules.RULES)
_OF_NAMES = (placement_rules.NAMESPACE, *name_rules.OF_NAMES)
"""Those that look at names: what all the others look at is equal in configs of one likeness."""
_OF_FIELDS = (
    (("daemonSets", "devicePlugin", "dra"), container_rules.RULES),
    (("daemonSets",), daemonset_rules.RULES),
    (("extraObjects",), extra_rules.RULES),
)
"""The rules about configs that have one of some fields."""
_OF_VENDOR = (*version_rules.RULES, *lock_rules.RULES)
"""The rules about configs whose profile says more than fields."""
RULES = (*_OF_ALL, *(rule for _, rules in _OF_FIELDS for rule in rules), *rights_rules.RULES, *_OF_VENDOR)
"""The rules about one config or pool."""
_OF_DAEMON_SETS = (*container_rules.RULES, *daemonset_rules.RULES, *variable_rules.RULES)
"""The rules that a retained version has to keep, too: its DaemonSets may have fields of their own."""


def check_group(configs: Sequence[DeviceConfig], sound: set[bytes]) -> list[Result]:
    """Return the findings about the pools of one config: about each, then about all together.

    `sound` gets the likeness of configs without a finding; of others that are like them only the names are judged.
    """
    results: list[Result] = []
    for config in configs:
        rules = _OF_NAMES if config.likeness in sound else applying(config)
        results += [config.located(result) for result in apply(rules, config)]
        for earlier in config.retained:
            of_version = (earlier.located(result) for result in apply(_OF_DAEMON_SETS, earlier))
            results += [result for result in of_version if result not in results]
    if not results:
        sound.update(config.likeness for config in configs if config.likeness)
    return [*results, *apply((name_rules.TOGETHER, extra_rules.TOGETHER), configs)]


def applying(config: DeviceConfig) -> list[Rule]:
    """Return the rules about what a config or pool has."""
    of_fields = (rule for names, own in _OF_FIELDS if not config.fields.keys().isdisjoint(names) for rule in own)
    rules = [*_OF_ALL, *of_fields, *(rights_rules.RULES if config.has_accounts else ())]
    return [*rules, *(_OF_VENDOR if config.vendor != Vendor() else ())]
