"""The extra objects of a profile or of the defaults, for each config: which kinds there may be, and their metadata."""

from __future__ import annotations

from krmfn import Field, Manifest, Result
from krmfn.typed import Any

from ..rendering.generated import metadata
from ..rendering.kinds import CLUSTER_WIDE
from .model import DeviceConfig

_ORDER = {"argocd.argoproj.io/sync-wave": "-2"}
"""Argo CD applies them before everything else, since pods mount ConfigMaps and name PriorityClasses."""
_AROUND = ("apiVersion", "kind", "metadata")


def objects(config: DeviceConfig) -> list[Manifest]:
    """Return the extra objects of a config, in the order in which they are written."""
    return [_object(config, entry) for entry in config.spec.extraObjects]


def origin(config: DeviceConfig, index: int, finding: Result) -> Result | None:
    """Return the finding about an extra object as one about its text in the profile or the defaults."""
    if finding.field is None:
        return None
    return config.located(finding._replace(field=Field(config.at(f"extraObjects[{index}].{finding.field.path}"))))


def is_cluster_wide(entry: dict[str, Any]) -> bool:
    """Return True for an object of a kind without namespaces."""
    return (entry["apiVersion"].rpartition("/")[0], entry["kind"]) in CLUSTER_WIDE


def _object(config: DeviceConfig, entry: dict[str, Any]) -> Manifest:
    own = entry["metadata"]
    labels = {**config.object_labels, **own.get("labels", {})}
    annotations = {**config.object_annotations, **own.get("annotations", {})}
    made = metadata(own["name"], config.ref, "extra", _ORDER, labels, annotations)
    if is_cluster_wide(entry):
        del made["namespace"]
    rest = {name: value for name, value in entry.items() if name not in _AROUND}
    return {"apiVersion": entry["apiVersion"], "kind": entry["kind"], "metadata": made, **rest}
