"""The function `ptemplate`: Ptemplates become KMM Modules and DaemonSets, as with the ptemplate operator."""

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
"""What the schema judges: also the group of the operator's guides, so that the error names the right one."""
SCOPE = Scope("ptemplate", OWNERS, frozenset({(MODULE_GROUP, "Module"), ("apps", "DaemonSet")}))


def ptemplate(resources: ResourceList, beside: Beside | None = None) -> None:
    """Render the Ptemplates of a list.

    A list without anything of ours keeps its bytes; a command reads the functionConfig nevertheless. `beside` is a
    function that has run before this one, and has looked at what is not a Ptemplate's.
    """
    items = [item for item in resources.select(KIND) if (item.group, KIND) in HANDLED]
    if beside:
        if items or resources.owned(SCOPE):
            from .pipeline import run

            run(resources, items, SCOPE, HANDLED, beside)
        return
    candidates = suspects(resources) if not items else []
    configured = "command" in resources.options and resources.function_config is not None
    if items or configured or (candidates and resources.owned(SCOPE)):
        from .pipeline import run

        run(resources, items, SCOPE, HANDLED)
    elif candidates:
        from ..rendering.recognition import check

        resources.report(check(resources, HANDLED))
