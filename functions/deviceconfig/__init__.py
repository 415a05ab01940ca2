"""DeviceConfigs become KMM Modules and DaemonSets."""

from __future__ import annotations

from krmfn import ResourceList

from ..owners import MODULE_GROUP, OURS, SEED, Owners, is_child
from ..suspects import suspects

KIND = "DeviceConfig"
OWNERS: Owners = frozenset({(OURS, KIND), (SEED, KIND)})


def deviceconfig(resources: ResourceList) -> None:
    """The KRM function. DeviceConfigs of other groups pass through untouched; every KMM Module is checked.

    A list that has nothing to do with it leaves as the same bytes, before the rest of this package is even imported.
    """
    items = [item for item in resources.select(KIND) if (item.group, KIND) in OWNERS]
    found = suspects(resources) if not items else []
    if items or resources.select("Module", MODULE_GROUP) or any(is_child(item, OWNERS) for item in found):
        from .walk import walk

        walk(resources, items, OWNERS)
    elif found:
        from ..recognition import check

        resources.report(check(resources, OWNERS))
