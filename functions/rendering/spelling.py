"""What there is of our kinds and KMM's, and the items of a list that may be meant: by their kinds and their text."""

from __future__ import annotations

from krmfn import Item, ResourceList

from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND, MODULE_VERSION
from .kinds import OURS, PTEMPLATE_GROUP, SEED

GUIDE_GROUP = f"ptemplates.{PTEMPLATE_GROUP}"
"""The group of Ptemplates as the operator's guides spell it: taken for ours, so that its error names the right one."""

_V1, _KMM = ("v1alpha1",), (MODULE_VERSION,)
KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
    OURS: {"DeviceConfig": _V1, "RenderDeviceConfigs": _V1, "NodeInventory": _V1, "Profile": _V1},
    SEED: {"DeviceConfig": _V1},
    PTEMPLATE_GROUP: {"Ptemplate": _V1},
    MODULE_GROUP: {
        MODULE_KIND: _KMM,
        "PreflightValidation": ("v1beta1", "v1beta2"),
        **dict.fromkeys(("NodeModulesConfig", "ModuleImagesConfig", "ModuleBuildSignConfig", "BootModuleConfig"), _KMM),
    },
    HUB_GROUP: {HUB_KIND: _KMM},
}
"""Group -> kind -> versions of what there is. Source: KMM v2.4.0 to main (2026-07-29), and the fork's CRDs."""
_KINDS = frozenset(kind for kinds in KNOWN.values() for kind in kinds)

_COMMON = frozenset({"Node", "Pod", "Deployment", "Service", "ConfigMap", "Secret"})
"""Kinds that large lists are full of, which no group of ours has."""


def candidates(resources: ResourceList) -> list[Item]:
    """Return the items whose kind is nearly one of KNOWN, and those whose text names one of our groups."""
    kinds = {item.kind for item in resources.items}
    near_ours = {kind for kind in kinds if any(near(kind, known) for known in _KINDS)}
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
