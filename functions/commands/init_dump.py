"""The dump that `init --live` reads: what kubectl is asked for, and what a dump that somebody else has made lacks."""

from collections.abc import Sequence

from krmfn import Item, Ref

from ..adoption.steps import resource
from ..fleet import dumped_kinds
from ..importing import vendors
from ..rendering.kinds import driven_kinds
from . import import_configs
from .adopt_dump import OPERATORS

_RBAC = "rbac.authorization.k8s.io"
_IMPORTED = (
    "daemonsets.apps",
    "configmaps",
    "services",
    f"roles.{_RBAC}",
    f"rolebindings.{_RBAC}",
    f"clusterroles.{_RBAC}",
    f"clusterrolebindings.{_RBAC}",
    "customresourcedefinitions.apiextensions.k8s.io",
    "profiles.krmfn.dev",
)
"""What drivers and their operators are made of beside Modules; Secrets are never asked for."""
_USUAL = ("DaemonSet", "ConfigMap")
"""Kinds of which nearly every cluster has objects that drivers need."""


def script() -> str:
    """Return the loop that writes a dump with all that is imported, and with all that says who owns it."""
    profiles = [
        item for name in vendors.names() for item in import_configs.profiles_of([str(vendors.profile(name))], None)
    ]
    configs = [resource(Ref(f"{group}/v1", kind, "", "")) for group, kind in sorted(driven_kinds(profiles))]
    return dumped_kinds.script((*_IMPORTED, *configs, *OPERATORS), "--show-managed-fields")


def lacks(name: str, items: Sequence[Item]) -> list[str]:
    """Return a line about the kinds that the dump of a cluster has no object of, though it may have been asked."""
    kinds = {item.kind for item in items}
    missing = [kind for kind in _USUAL if kind not in kinds]
    if not missing:
        return []
    names = " and ".join(f"{kind}s" for kind in missing)
    return [f"{name}: the dump has no {names}, so none is imported; `krmfn init --kubectl` prints what asks for all"]
