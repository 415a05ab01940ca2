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
from .names import PARTS

_OF_ALL = (*placement_rules.RULES, *driver_rules.RULES, *name_rules.RULES)
_OF_NAMES = (placement_rules.NAMESPACE, *name_rules.OF_NAMES)
"""Those that look at names: what all the others look at is equal in configs of one likeness."""
_OF_VENDOR = (*version_rules.RULES, *lock_rules.RULES)
"""The rules about configs whose profile says more than fields."""
_OF_DAEMON_SETS = (*container_rules.RULES, *daemonset_rules.RULES, *variable_rules.RULES)
"""The rules that a retained version has to keep, too: its DaemonSets may have fields of their own."""
RULES = (*_OF_ALL, *_OF_DAEMON_SETS, *extra_rules.RULES, *rights_rules.RULES, *_OF_VENDOR)
"""The rules about one config or pool."""


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
    groups = (
        (True, _OF_ALL),
        (config.has_variables, variable_rules.RULES),
        (not config.fields.keys().isdisjoint(("daemonSets", *PARTS)), container_rules.RULES),
        ("daemonSets" in config.fields, daemonset_rules.RULES),
        ("extraObjects" in config.fields, extra_rules.RULES),
        (config.has_accounts, rights_rules.RULES),
        (config.vendor != Vendor(), _OF_VENDOR),
    )
    return [rule for has_them, rules in groups if has_them for rule in rules]
