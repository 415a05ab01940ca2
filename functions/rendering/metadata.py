"""The metadata of generated objects: names, labels, and annotations that order how they are applied."""

from __future__ import annotations

from krmfn import Ref
from krmfn.ownership import PASSED_ON
from krmfn.typed import Any

from ..kmm.module import MODULE_GROUP, MODULE_KIND
from .substitution import DISABLED, SUBSTITUTE

MODULE_ORDER = {
    "argocd.argoproj.io/sync-wave": "0",
    SUBSTITUTE: DISABLED,
}
"""On a Module: Argo CD applies it first and deletes it last; Flux leaves its $KERNEL_FULL_VERSION alone."""


def daemonset_order(namespace: str, *modules: str) -> dict[str, str]:
    """Return the annotations that apply a DaemonSet after its Modules: Argo CD's next wave, cli-utils' depends-on.

    Without any there is no such annotation: nothing can depend on what is not there.
    """
    if not modules:
        return {"argocd.argoproj.io/sync-wave": "1"}
    needs = ",".join(f"{MODULE_GROUP}/namespaces/{namespace}/{MODULE_KIND}/{module}" for module in modules)
    return {"argocd.argoproj.io/sync-wave": "1", "config.kubernetes.io/depends-on": needs}


def metadata(
    name: str, owner: Ref, component: str, order: dict[str, str], labels: dict[str, str], annotations: dict[str, str]
) -> dict[str, Any]:
    """Return fresh metadata for a generated object: the owner's own labels and annotations, then ours over them.

    `order` holds the annotations that tell Argo CD, Flux and kpt when to apply and prune (reference: Argo CD sync
    waves, Flux substitution, cli-utils depends-on). Nothing else of the owner's metadata is inherited, the
    local-config mark in particular.
    """
    known = {"name": owner.name, "component": component, "part-of": owner.name, "managed-by": "krmfn"}
    ours = {f"app.kubernetes.io/{key}": value for key, value in known.items()}
    made: dict[str, Any] = {
        "name": name,
        "namespace": owner.namespace,
        "labels": {**labels, **ours},
        "annotations": {**annotations, **order},
    }
    passed = [f"labels/{key}" for key in labels if key not in ours]
    passed += [f"annotations/{key}" for key in annotations if key not in order]
    if passed:
        made["annotations"][PASSED_ON] = " ".join(sorted(passed))
    return made


def filled(**fields: Any) -> dict[str, Any]:
    """Return the fields that hold something, 0 and False included: None, empty texts, lists, mappings are left out."""
    return {key: value for key, value in fields.items() if value or value == 0}
