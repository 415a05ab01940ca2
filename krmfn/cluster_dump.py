"""Objects as a cluster gives them back (`kubectl get -o yaml`), compared as they would be written in Git.

What the server and the engines write is taken off; a field that is on one side only and holds what the API server fills
in is no difference, nor is a quantity that is written another way. What is not known to be either is a difference.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from .api_defaults import TABLES, Table
from .differences import ABSENT, FieldChange, Part, differences
from .resource import Manifest, ref

Defaults = Mapping[tuple[str, str], Table]
"""The defaults of custom resources, by group and kind (see `api_defaults`)."""
NO_DEFAULTS: Defaults = {}

_METADATA = frozenset(
    {
        *("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields", "ownerReferences"),
        *("finalizers", "deletionTimestamp", "deletionGracePeriodSeconds"),
    }
)
_WRITTEN = frozenset(
    {
        "kubectl.kubernetes.io/last-applied-configuration",
        "kubectl.kubernetes.io/restartedAt",
        "deprecated.daemonset.template.generation",
        "deployment.kubernetes.io/revision",
        "argocd.argoproj.io/tracking-id",
        "argocd.argoproj.io/installation-id",
        "kustomize.toolkit.fluxcd.io/name",
        "kustomize.toolkit.fluxcd.io/namespace",
        "helm.toolkit.fluxcd.io/name",
        "helm.toolkit.fluxcd.io/namespace",
        "config.k8s.io/owning-inventory",
        "controller-uid",
        "job-name",
    }
)
"""Labels and annotations that kubectl, controllers and engines write."""
_WRITTEN_PREFIXES = ("openshift.io/sa.scc.", "batch.kubernetes.io/")
_BUILT_IN = (
    frozenset({"", "apps", "batch", "autoscaling", "policy"})
    | {
        f"{name}.k8s.io"
        for name in (
            "networking",
            "scheduling",
            "storage",
            "resource",
            "discovery",
            "coordination",
            "admissionregistration",
        )
    }
    | {"rbac.authorization.k8s.io", "apiextensions.k8s.io"}
)
_MAPS = frozenset({"labels", "annotations", "nodeSelector", "limits", "requests", "resources", "matchLabels", "data"})
"""Mappings of built-in kinds that mean nothing when they are empty."""
_QUANTITIES = frozenset({"limits", "requests", "sizeLimit", "divisor"})
_UNITS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_OF_EVERY_CLUSTER = frozenset(
    {
        *(("ConfigMap", name) for name in ("kube-root-ca.crt", "openshift-service-ca.crt")),
        *(("ServiceAccount", name) for name in ("default", "builder", "deployer")),
        *(("Namespace", name) for name in ("default", "kube-system", "kube-public", "kube-node-lease")),
        *(("PriorityClass", name) for name in ("system-cluster-critical", "system-node-critical")),
        ("Service", "kubernetes"),
    }
)
"""Objects that the control plane makes, by kind and name."""


def is_dumped(manifest: Manifest) -> bool:
    """Return True for an object that comes from a cluster: only there it has a uid and a resourceVersion."""
    metadata = manifest.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("uid") and metadata.get("resourceVersion"))


def is_made_by_cluster(manifest: Manifest) -> bool:
    """Return True for an object of a dump that a controller or the control plane has made: nobody keeps it in Git."""
    metadata = manifest["metadata"]
    return (
        any(owner.get("controller") is True for owner in metadata.get("ownerReferences") or ())
        or "kubernetes.io/bootstrapping" in (metadata.get("labels") or ())
        or (manifest.get("kind"), metadata.get("name")) in _OF_EVERY_CLUSTER
        or (manifest.get("kind") == "Secret" and manifest.get("type") == "kubernetes.io/service-account-token")
    )


def cleaned(manifest: Manifest) -> Manifest:
    """Return an object of a dump without what a server has written, as far as that is sure."""
    metadata = _without_written({key: value for key, value in manifest["metadata"].items() if key not in _METADATA})
    made = {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": metadata}
    spec = made.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(spec, dict) and isinstance(template, dict) and isinstance(template.get("metadata"), dict):
        of_pods = _without_written({k: v for k, v in template["metadata"].items() if k != "creationTimestamp"})
        made["spec"] = {**spec, "template": {**template, "metadata": of_pods}}
    return made


def _without_written(metadata: dict[str, Any]) -> dict[str, Any]:
    for key in ("labels", "annotations"):
        entries = metadata.get(key)
        if isinstance(entries, dict):
            kept = {
                name: value
                for name, value in entries.items()
                if name not in _WRITTEN and not str(name).startswith(_WRITTEN_PREFIXES)
            }
            metadata[key] = kept
            if not kept:
                del metadata[key]
    return metadata


def compared(
    old: Manifest, new: Manifest, dumped: tuple[bool, bool], defaults: Defaults = NO_DEFAULTS
) -> tuple[Manifest, Manifest, tuple[FieldChange, ...]]:
    """Return two states of an object as they are compared, and the fields in which they differ.

    `dumped` says of each whether it comes from a cluster, one of them at least.
    """
    old, new = (
        cleaned(_as_stored(one)) if is_from_cluster else _as_stored(one)
        for one, is_from_cluster in zip((old, new), dumped, strict=True)
    )
    fields = tuple(differences(old, new))
    if all(dumped):
        return old, new, fields
    own = ref(new)
    table = TABLES.get((own.group, own.kind)) or defaults.get((own.group, own.kind)) or {}
    stored = old if dumped[0] else new
    fields = tuple(one for one in fields if not _is_the_same(one, own.group in _BUILT_IN, table, stored, dumped[0]))
    return old, new, fields


def _as_stored(manifest: Manifest) -> Manifest:
    """Return a Secret as the API server keeps it: its stringData among the data."""
    texts = manifest.get("stringData")
    if manifest.get("kind") != "Secret" or not isinstance(texts, dict):
        return manifest
    data = {key: base64.b64encode(str(value).encode()).decode() for key, value in texts.items()}
    kept = {key: value for key, value in manifest.items() if key != "stringData"}
    return {**kept, "data": {**(manifest.get("data") or {}), **data}}


def _is_the_same(change: FieldChange, built_in: bool, table: Table, stored: Manifest, old_is_stored: bool) -> bool:
    """Return True for a difference in how a value is written only; `stored` is the object of the cluster."""
    old, new, parts = change.old, change.new, change.parts
    if _is_empty(old, parts, built_in) and _is_empty(new, parts, built_in):
        return True
    if old is not ABSENT and new is not ABSENT:
        return built_in and not _QUANTITIES.isdisjoint(map(str, parts)) and _number(old) == _number(new) is not None
    written, from_cluster = (new, old) if old_is_stored else (old, new)
    # what the server fills in is there; it drops no value but an empty text
    return written in (ABSENT, "") and _is_default("" if written == "" else from_cluster, parts, table, stored)


def _is_empty(value: Any, parts: tuple[Part, ...], built_in: bool) -> bool:
    """Return True for what the API server drops or gives back without a meaning of its own."""
    if value is ABSENT or value is None:
        return True
    if isinstance(value, dict):
        return (
            built_in and parts[-1] in _MAPS and all(_is_empty(one, (*parts, key), True) for key, one in value.items())
        )
    return built_in and value == []


def _is_default(value: Any, parts: tuple[Part, ...], table: Table, side: Manifest) -> bool:
    """Return True when a value, or all that it holds, is what the API server fills in at that place."""
    path = ".".join("*" if isinstance(part, int) or str(part).startswith("name=") else str(part) for part in parts)
    if path in table:
        default = table[path]
        if callable(default):
            holder = _at(side, parts[:-1])
            return isinstance(holder, dict) and default(value, holder)
        return bool(value == default) and isinstance(value, bool) == isinstance(default, bool)
    if not isinstance(value, dict) or not value:
        return False
    return all(_is_default(entry, (*parts, key), table, side) for key, entry in value.items())


def _at(manifest: Manifest, parts: tuple[Part, ...]) -> Any:
    """Return what stands at a path; None where nothing does."""
    value: Any = manifest
    for part in parts:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int):
            value = value[part] if part < len(value) else None
        elif isinstance(value, list):
            value = next((one for one in value if f"name={one.get('name')}" == part), None)
    return value


def _number(value: Any) -> Decimal | None:
    """Return a quantity as a number; None for anything else. Source: k8s.io/apimachinery/pkg/api/resource."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    number = text.rstrip("numkKMGTPEi") if not text[-1:].isdigit() else text
    unit = text[len(number) :]
    try:
        if unit.endswith("i") and (power := "KMGTPE".find(unit[:-1])) >= 0 and len(unit) == 2:
            return Decimal(number) * Decimal(1024 ** (power + 1))
        return Decimal(number).scaleb(_UNITS[unit]) if unit in _UNITS else None
    except InvalidOperation:
        return None
