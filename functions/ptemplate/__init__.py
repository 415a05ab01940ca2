"""Ptemplates become KMM Modules and consumer DaemonSets, as the ptemplate operator meant it."""

from __future__ import annotations

from krmfn import ResourceList

from ..owners import Owners, owned

KIND = "Ptemplate"
GROUP = "pt.example.com"
MISSPELT = f"ptemplates.{GROUP}"
"""The group as the operator's guides spell it: taken for ours, so that its error can name the right one."""
OWNERS: Owners = frozenset({(GROUP, KIND)})


def ptemplate(resources: ResourceList) -> None:
    """The KRM function. A list that has nothing to do with it leaves as the same bytes.

    A command looks at the functionConfig nevertheless.
    """
    items = [item for item in resources.select(KIND) if item.group in (GROUP, MISSPELT)]
    asked = "command" in resources.options and resources.function_config is not None
    if items or asked or owned(resources, OWNERS):
        from .walk import walk

        walk(resources, items, OWNERS)
