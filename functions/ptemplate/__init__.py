"""The function `ptemplate`: Ptemplates become KMM Modules and DaemonSets, as with the ptemplate operator."""

from __future__ import annotations

from krmfn import ResourceList
from krmfn.ownership import Scope

from ..rendering.kinds import MODULE_GROUP
from ..rendering.suspects import GUIDE_GROUP, PTEMPLATE_GROUP, suspects

KIND = "Ptemplate"
OWNERS = frozenset({(PTEMPLATE_GROUP, KIND)})
HANDLED = frozenset({*OWNERS, (GUIDE_GROUP, KIND)})
"""What the schema judges: also the group of the operator's guides, so that the error names the right one."""
SCOPE = Scope("ptemplate", OWNERS, frozenset({(MODULE_GROUP, "Module"), ("apps", "DaemonSet")}))


def ptemplate(resources: ResourceList) -> None:
    """Render the Ptemplates of a list.

    A list without anything of ours keeps its bytes; a command reads the functionConfig nevertheless.
    """
    items = [item for item in resources.select(KIND) if (item.group, KIND) in HANDLED]
    candidates = suspects(resources) if not items else []
    configured = "command" in resources.options and resources.function_config is not None
    if items or configured or (candidates and resources.owned(SCOPE)):
        from .pipeline import run

        run(resources, items, SCOPE, HANDLED)
    elif candidates:
        from ..rendering.recognition import check

        resources.report(check(resources, HANDLED))
