"""Ptemplates become KMM Modules and consumer DaemonSets, as the ptemplate operator meant it."""

from __future__ import annotations

from krmfn import ResourceList
from krmfn.ownership import Scope

from ..owners import MODULE_GROUP

KIND = "Ptemplate"
GROUP = "pt.example.com"
MISSPELT = f"ptemplates.{GROUP}"
"""The group as the operator's guides spell it: taken for ours, so that its error can name the right one."""
OWNERS = frozenset({(GROUP, KIND)})
SCOPE = Scope("ptemplate", OWNERS, frozenset({(MODULE_GROUP, "Module"), ("apps", "DaemonSet")}))


def ptemplate(resources: ResourceList) -> None:
    """The KRM function. A list that has nothing to do with it leaves as the same bytes."""
    items = [item for item in resources.select(KIND) if item.group in (GROUP, MISSPELT)]
    if items or resources.owned(SCOPE):
        from .walk import walk

        walk(resources, items, SCOPE)
