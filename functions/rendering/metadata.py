"""Make the metadata of generated objects: names, labels, and the annotations that put engines in the right order."""

from __future__ import annotations

from typing import Any

from krmfn import Ref
from krmfn.ownership import PASSED_ON

MODULE_ORDER = {
    "argocd.argoproj.io/sync-wave": "0",
    "kustomize.toolkit.fluxcd.io/substitute": "disabled",
}
"""On a Module: Argo CD applies it first and deletes it last; Flux leaves its $KERNEL_FULL_VERSION alone."""


def consumer_order(namespace: str, module: str) -> dict[str, str]:
    """On a consumer of a Module: Argo CD's next wave, and cli-utils' reference to what it depends on."""
    needs = f"kmm.sigs.x-k8s.io/namespaces/{namespace}/Module/{module}"
    return {"argocd.argoproj.io/sync-wave": "1", "config.kubernetes.io/depends-on": needs}


def ready_label(namespace: str, module: str) -> str:
    """The label KMM puts on a node while the Module's kernel module is loaded there."""
    return f"kmm.node.kubernetes.io/{namespace}.{module}.ready"


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
    found: dict[str, Any] = {
        "name": name,
        "namespace": owner.namespace,
        "labels": {**labels, **ours},
        "annotations": {**annotations, **order},
    }
    passed = [f"labels/{key}" for key in labels if key not in ours]
    passed += [f"annotations/{key}" for key in annotations if key not in order]
    if passed:
        found["annotations"][PASSED_ON] = " ".join(sorted(passed))
    return found


def filled(**fields: Any) -> dict[str, Any]:
    """The fields that hold something: an empty string, list or mapping and None never reach a manifest."""
    return {key: value for key, value in fields.items() if value not in (None, "", [], {})}
