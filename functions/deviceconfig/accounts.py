"""The ServiceAccounts of a config: its own, and those of its device plugin, DRA driver and DaemonSets."""

from collections.abc import Iterator

from krmfn.typed import NamedTuple

from .fields import ServiceAccount
from .model import DeviceConfig
from .names import PARTS, entries, of_account


class Account(NamedTuple):
    """An account that gets something, and the field that says what."""

    config: DeviceConfig
    """Its config or pool, at the version of the DaemonSet."""
    path: str
    """`serviceAccount`, `daemonSets[0].serviceAccount`."""
    part: str
    """The part of the config that has it: a DaemonSet's name; "" for the config's own."""
    name: str
    """The ServiceAccount's name; "" when none is named."""
    fields: ServiceAccount


def accounts(config: DeviceConfig) -> Iterator[Account]:
    """Yield the accounts that a config or pool, and the versions that it retains, say something of."""
    if not config.has_accounts:
        return
    if config.spec.serviceAccount:
        yield Account(config, "serviceAccount", "", config.spec.serviceAccountName, config.spec.serviceAccount)
    for field, part in PARTS.items():
        plugin = getattr(config.spec, field)
        if plugin and plugin.serviceAccount:
            name = of_account(config, plugin, part)
            yield Account(config, f"{field}.serviceAccount", part, name, plugin.serviceAccount)
    for one, index, entry in entries(config):
        if entry.serviceAccount:
            name = of_account(one, entry, entry.name) or one.spec.serviceAccountName
            yield Account(one, f"daemonSets[{index}].serviceAccount", entry.name, name, entry.serviceAccount)
