"""Which kinds a function handles, and which items of a list were made for them."""

from __future__ import annotations

from krmfn import Item, ResourceList
from krmfn.ownership import OWNER, owner_id

Owners = frozenset[tuple[str, str]]
"""The (group, kind) pairs whose children a function handles."""


OURS, SEED = "krmfn.dev", "example.com"
"""The groups whose DeviceConfigs are ours, and the he-sample operator's."""
MODULE_GROUP, HUB_GROUP = "kmm.sigs.x-k8s.io", "hub.kmm.sigs.x-k8s.io"
"""KMM's groups: Module, and ManagedClusterModule."""


def is_child(item: Item, owners: Owners) -> bool:
    """True for an item that was generated for one of `owners`."""
    owner = owner_id(item.annotations) if item.mentions(OWNER) else None
    return owner is not None and owner[:2] in owners


def owned(resources: ResourceList, owners: Owners) -> list[Item]:
    """The items that were generated for one of `owners`."""
    return [item for item in resources.items if is_child(item, owners)]


def written(resources: ResourceList, owners: Owners) -> list[Item]:
    """The KMM Modules in the list that were not generated for one of `owners`."""
    return [item for item in resources.select("Module", MODULE_GROUP) if not is_child(item, owners)]
