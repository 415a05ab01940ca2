"""The items of a list that may be ours, by their kinds and by one search over the text."""

from __future__ import annotations

from krmfn import Item, ResourceList

from .kinds import OURS, PTEMPLATE_GROUP

GUIDE_GROUP = f"ptemplates.{PTEMPLATE_GROUP}"
"""The group of Ptemplates as the operator's guides spell it: taken for ours, so that its error names the right one."""

KINDS = (
    *("DeviceConfig", "Ptemplate", "RenderDeviceConfigs", "NodeInventory"),
    *("Module", "ManagedClusterModule", "PreflightValidation", "NodeModulesConfig"),
    *("ModuleImagesConfig", "ModuleBuildSignConfig", "BootModuleConfig"),
)
"""Our kinds and KMM's."""

_COMMON = frozenset({"Node", "Pod", "Deployment", "Service", "ConfigMap", "Secret"})
"""Kinds that large lists are full of, which no group of ours has."""


def suspects(resources: ResourceList) -> list[Item]:
    """Return the items whose kind is nearly one of KINDS, and those whose text names one of our groups."""
    kinds = {item.kind for item in resources.items}
    near_ours = {kind for kind in kinds if any(near(kind, known) for known in KINDS)}
    named = {id(item) for item in resources.mentioning(OURS)}
    named |= {id(item) for item in resources.items if item.kind not in _COMMON and item.mentions(PTEMPLATE_GROUP)}
    return [item for item in resources.items if item.kind in near_ours or id(item) in named]


def near(one: str, other: str) -> bool:
    """Return True when at most one letter is added, left out, changed or swapped with its neighbour, in any case."""
    one, other = one.lower(), other.lower()
    if abs(len(one) - len(other)) > 1:
        return False
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])
