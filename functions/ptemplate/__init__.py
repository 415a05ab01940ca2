"""Ptemplates become KMM Modules and consumer DaemonSets, as the ptemplate operator meant it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krmfn import ResourceList
from krmfn.ownership import Scope

from ..rendering.kinds import MODULE_GROUP
from ..rendering.suspects import GUIDE_GROUP, PTEMPLATE_GROUP, suspects

if TYPE_CHECKING:
    from ..rendering.beside import Beside

KIND = "Ptemplate"
OWNERS = frozenset({(PTEMPLATE_GROUP, KIND)})
HANDLED = frozenset({*OWNERS, (GUIDE_GROUP, KIND)})
"""What the schema is asked of: also the group of the operator's guides, so that the error names the right one."""
SCOPE = Scope("ptemplate", OWNERS, frozenset({(MODULE_GROUP, "Module"), ("apps", "DaemonSet")}))


def ptemplate(resources: ResourceList, beside: Beside | None = None) -> None:
    """The KRM function. A list that has nothing to do with it leaves as the same bytes.

    A command looks at the functionConfig nevertheless. `beside` is a function that has run before this one, and has
    looked at what is not a Ptemplate's.
    """
    items = [item for item in resources.select(KIND) if (item.group, KIND) in HANDLED]
    if beside:
        if items or resources.owned(SCOPE):
            from .pipeline import walk

            walk(resources, items, SCOPE, HANDLED, beside)
        return
    found = suspects(resources) if not items else []
    configured = "command" in resources.options and resources.function_config is not None
    if items or configured or (found and resources.owned(SCOPE)):
        from .pipeline import walk

        walk(resources, items, SCOPE, HANDLED)
    elif found:
        from ..rendering.recognition import check

        resources.report(check(resources, HANDLED))
