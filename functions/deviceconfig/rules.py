"""Every rule about DeviceConfigs beyond their schema."""

from collections.abc import Iterator, Sequence

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
    version_rules,
)
from .layers import Vendor
from .model import DeviceConfig
from .names import PARTS

_OF_ALL = (*placement_rules.RULES, *driver_rules.RULES, *name_rules.RULES)
_OF_NAMES = (placement_rules.NAMESPACE, *name_rules.OF_NAMES)
"""Those that look at names: what all the others look at is equal in configs of one likeness."""


def variables_are_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable that is unknown, that stands where none is filled in, or that has no value."""
    if config.has_variables:
        from . import variables  # here, since most configs have none

        yield from variables.mistakes(config)


_OF_VARIABLES = (
    Rule(
        "KRM146",
        "a krmfn variable must be known and allowed in its field, and must have a value that fits there",
        good="""\
spec:
  devicePlugin: {image: "registry.example.com/plugin:$KRMFN_DRIVER_VERSION"}
""",
        bad="""\
spec:
  devicePlugin: {image: "registry.example.com/plugin:$KRMFN_DRIVER_VERISON"}
""",
        remedy="Correct the name, write the field that gives the variable its value, or write the value itself.",
        check=variables_are_known,
    ),
)
_OF_VENDOR = (*version_rules.RULES, *lock_rules.RULES)
"""The rules about configs whose profile says more than fields."""
_OF_DAEMON_SETS = (*container_rules.RULES, *daemonset_rules.RULES, *_OF_VARIABLES)
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
        (config.has_variables, _OF_VARIABLES),
        (not config.fields.keys().isdisjoint(("daemonSets", *PARTS)), container_rules.RULES),
        ("daemonSets" in config.fields, daemonset_rules.RULES),
        ("extraObjects" in config.fields, extra_rules.RULES),
        (config.has_accounts, rights_rules.RULES),
        (config.vendor != Vendor(), _OF_VENDOR),
    )
    return [rule for has_them, rules in groups if has_them for rule in rules]
