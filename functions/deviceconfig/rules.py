"""All rules about DeviceConfigs beyond their schema."""

from collections.abc import Iterator, Sequence

from krmfn import Result

from .. import oracles
from ..rule import Rule, apply
from . import (
    container_rules,
    daemonset_rules,
    driver_rules,
    extra_rules,
    lock_rules,
    mapping_rules,
    name_rules,
    placement_rules,
    rights_rules,
    unset_rules,
    version_rules,
)
from .layers import Vendor
from .model import DeviceConfig
from .names import PARTS

_OF_ALL = (*placement_rules.RULES, *driver_rules.RULES, *mapping_rules.RULES, *name_rules.RULES)
_OF_NAMES = (placement_rules.NAMESPACE, *name_rules.OF_NAMES)
"""The rules about names: all others find the same in configs of one fingerprint."""


def variables_are_known(config: DeviceConfig) -> Iterator[Result]:
    """Yield an error per variable that is unknown, not allowed in its field, or without a fitting value."""
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
        held=oracles.OUR_KINDS,
        check=variables_are_known,
    ),
)
_OF_VENDOR = (*version_rules.RULES, *lock_rules.RULES)
"""The rules about configs whose profile has versions or locks."""
_OF_DAEMON_SETS = (*container_rules.RULES, *daemonset_rules.RULES, *_OF_VARIABLES)
"""The rules that apply to a retained version, too, since its DaemonSets may have other fields."""
RULES = (*_OF_ALL, *_OF_DAEMON_SETS, *extra_rules.RULES, *rights_rules.RULES, *unset_rules.RULES, *_OF_VENDOR)
"""The rules about one config or pool."""


def check_group(configs: Sequence[DeviceConfig], sound: set[bytes]) -> list[Result]:
    """Return the findings about the pools of one config: about each, then about all together.

    `sound` gets the fingerprints of configs without a finding; of later configs with these only the names are judged.
    """
    results: list[Result] = []
    for config in configs:
        rules = _OF_NAMES if config.fingerprint in sound else rules_for(config)
        results += [config.located(result) for result in apply(rules, config)]
        for earlier in config.retained:
            located = (earlier.located(result) for result in apply(_OF_DAEMON_SETS, earlier))
            results += [result for result in located if result not in results]
    if not results:
        sound.update(config.fingerprint for config in configs if config.fingerprint)
    return [*results, *apply((name_rules.TOGETHER, extra_rules.TOGETHER), configs)]


def rules_for(config: DeviceConfig) -> list[Rule]:
    """Return the rules about the fields that a config or pool has."""
    groups = (
        (True, _OF_ALL),
        (config.has_variables, _OF_VARIABLES),
        (not config.fields.keys().isdisjoint(("daemonSets", *PARTS)), container_rules.RULES),
        ("daemonSets" in config.fields, daemonset_rules.RULES),
        ("extraObjects" in config.fields, extra_rules.RULES),
        (config.has_accounts or "extraObjects" in config.fields, rights_rules.RULES),
        (config.has_switches, unset_rules.RULES),
        (config.vendor != Vendor(), _OF_VENDOR),
    )
    return [rule for applies, rules in groups if applies for rule in rules]
