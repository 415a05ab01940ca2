"""The function `deviceconfig`: DeviceConfigs become KMM Modules and DaemonSets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krmfn import ResourceList
from krmfn.ownership import Scope

from ..rendering.kinds import HUB_GROUP, MODULE_GROUP, OURS, SEED
from ..rendering.suspects import suspects

if TYPE_CHECKING:
    from ..rendering.beside import Beside

KIND = "DeviceConfig"
OWNERS = frozenset({(OURS, KIND), (SEED, KIND)})
MADE = frozenset(
    {
        (MODULE_GROUP, "Module"),
        (HUB_GROUP, "ManagedClusterModule"),
        ("apps", "DaemonSet"),
        ("", "Service"),
        ("", "ServiceAccount"),
        ("rbac.authorization.k8s.io", "RoleBinding"),
    }
)
"""(group, kind) of all that is generated from a DeviceConfig."""
SCOPE = Scope("deviceconfig", OWNERS, MADE)


def deviceconfig(resources: ResourceList, beside: Beside | None = None) -> None:
    """Render the DeviceConfigs of a list, and check every KMM Module in it.

    DeviceConfigs of other groups pass through untouched. A list without anything of ours keeps its bytes, and the rest
    of this package is not even imported; a command reads the functionConfig nevertheless. `beside` is a function that
    runs after this one.
    """
    items = [item for item in resources.select(KIND) if (item.group, KIND) in OWNERS]
    candidates = suspects(resources) if not items else []
    configured = "command" in resources.options and resources.function_config is not None
    if items or configured or resources.select("Module", MODULE_GROUP) or (candidates and resources.owned(SCOPE)):
        from .pipeline import run

        run(resources, items, SCOPE, beside)
    elif candidates:
        from ..rendering.recognition import check

        resources.report(check(resources, OWNERS | beside.handled if beside else OWNERS))
