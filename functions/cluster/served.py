"""What a cluster does not serve, where it is known what it serves: KUBE_API_VERSIONS, as Argo CD sets it.

It is a list with commas, and holds both `apps/v1` and `apps/v1/DaemonSet`. Source: Argo CD 3.2.1, util/argo/argo.go.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from krmfn.item import Item
from krmfn.results import Result, warning
from krmfn.typed import Any

VARIABLE = "KUBE_API_VERSIONS"
_CRD = ("apiextensions.k8s.io", "CustomResourceDefinition")


def check(deployed: Sequence[Item]) -> Iterator[Result]:
    """Yield a warning for each kind of what is deployed that the cluster does not serve and no CRD among it brings.

    A warning, since the CRD may come before the sync, or with another Application. Nothing is yielded where it is not
    known what is served, and where only groups and versions are named.
    """
    served = {one.strip() for one in os.environ.get(VARIABLE, "").split(",")}
    if not any(one.count("/") == 2 for one in served):
        return
    brought = {_brought(item) for item in deployed if (item.group, item.kind) == _CRD}
    seen: set[str] = set()
    for item in deployed:
        name = f"{item.ref.api_version}/{item.kind}"
        if name not in served and name not in seen and (item.group, item.kind) not in brought:
            seen.add(name)
            message = (
                f"the cluster does not serve {item.kind} of {item.ref.api_version} ({VARIABLE}), and no CRD here "
                "defines it; install its CRD before this is synced"
            )
            yield item.located(warning(message, rule="KRM525"))


def _brought(item: Item) -> tuple[str, str]:
    """Return the (group, kind) that a CRD brings."""
    spec: Any = item.manifest.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    return (str(spec.get("group")), str(names.get("kind"))) if isinstance(names, dict) else ("", "")
