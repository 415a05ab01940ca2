"""DeviceConfigs become KMM Modules and DaemonSets."""

from __future__ import annotations

from krmfn import ResourceList

from ..owners import MODULE_GROUP, OURS, SEED, Owners, owned

KIND = "DeviceConfig"
OWNERS: Owners = frozenset({(OURS, KIND), (SEED, KIND)})


def deviceconfig(resources: ResourceList) -> None:
    """The KRM function. DeviceConfigs of other groups pass through untouched; every KMM Module is checked.

    A list that has nothing to do with it leaves as the same bytes, before the rest of this package is even imported;
    a command looks at the functionConfig nevertheless.
    """
    items = [item for item in resources.select(KIND) if (item.group, KIND) in OWNERS]
    asked = "command" in resources.options and resources.function_config is not None
    if items or asked or owned(resources, OWNERS) or resources.select("Module", MODULE_GROUP):
        from .walk import walk

        walk(resources, items, OWNERS)
