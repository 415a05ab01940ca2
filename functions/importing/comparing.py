"""Compare hand-written objects with the rendered ones that replace them."""

import json
from collections.abc import Mapping

from krmfn import Manifest
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..differences import ABSENT, FieldChange, differences
from ..kmm.module import HUB_KIND, MODULE_KIND
from ..rendering.kinds import PROFILE_MARK
from .normal import OUR_ANNOTATIONS, OUR_LABELS, folded, normal, pods


class Difference(NamedTuple):
    """A field with another value, and the reason why that is intended; "" where it is not."""

    change: FieldChange
    reason: str = ""


def compare(written: Manifest, rendered: Manifest, selector: Mapping[str, Any]) -> list[Difference]:
    """Return the differences in meaning between two objects; `selector` holds the labels of the Module's nodes."""
    old, new = _with_all_notes(normal(written)), _with_all_notes(normal(rendered))
    changes = list(differences(old, new))
    if ref(written).kind not in (MODULE_KIND, HUB_KIND):
        return [Difference(change, _our_reason(change) or _pod_reason(change, selector)) for change in changes]
    folded_changes = {change.parts: change for change in differences(folded(old), folded(new))}
    reasons = {change.parts: "" if change.parts in folded_changes else _FOLDED for change in changes}
    result = [Difference(change, _our_reason(change) or reasons[change.parts]) for change in changes]
    others = (change for parts, change in folded_changes.items() if parts not in reasons)
    return result + [Difference(change) for change in others if not _our_reason(change)]


def template_differences(written: Manifest, rendered: Manifest) -> list[Difference]:
    """Return the differences between the pod templates of two DaemonSets, each of which replaces the pods."""
    old, new = pods(written), pods(rendered)
    start = ("spec", "template")
    result = [Difference(change._replace(parts=(*start, *change.parts))) for change in differences(old, new)]
    is_same = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)  # with the order of lists
    return result if result or is_same else [Difference(FieldChange(start, old, new))]


_FOLDED = "it is written in each kernel mapping, or as a list: KMM reads both the same way"


def _with_all_notes(manifest: Manifest) -> Manifest:
    """Return the manifest with labels and annotations, even if empty, so that each key is compared by itself."""
    spec = manifest.get("spec") or {}
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(template, dict):
        spec = {**spec, "template": {**template, "metadata": _notes(template)}}
    return {**manifest, "metadata": _notes(manifest), "spec": spec}


def _notes(holder: Mapping[str, Any]) -> Any:
    metadata = holder.get("metadata") or {}
    return {"labels": {}, "annotations": {}, **metadata} if isinstance(metadata, dict) else metadata


_REPLACED = "krmfn sets this on every object that it generates"
_UNSET = "krmfn sets this where a Profile makes the object, and here none does"


def _our_reason(change: FieldChange) -> str:
    """Return why a label or annotation differs that krmfn sets on generated objects; "" for another field."""
    if is_replaced(change):
        return _REPLACED
    return _UNSET if _is_ours(change) else ""


def is_replaced(change: FieldChange) -> bool:
    """Return True for a label or annotation that every generated object has, with a value of its own."""
    return _is_ours(change) and change.parts[-1] != PROFILE_MARK


def _is_ours(change: FieldChange) -> bool:
    return str(change.parts[-1] if change.parts else "") in OUR_LABELS + OUR_ANNOTATIONS and "metadata" in change.parts


def _pod_reason(change: FieldChange, selector: Mapping[str, Any]) -> str:
    """Return why a DaemonSet has another field; "" for a field that is lost or changed, which is not intended."""
    holder, key = change.parts[:-1], change.parts[-1]
    if change.old is not ABSENT:
        return ""
    if holder == (*_POD, "nodeSelector") and selector.get(str(key)) == change.new:
        return "the Module's own selector: without it a node that leaves the selector could never unload"
    if holder[-2:] == ("metadata", "labels"):
        return "labels of a config are set on all its objects, and those of a DaemonSet on its pods"
    if holder[-2:] == ("metadata", "annotations") and holder[:1] == ("metadata",):
        return "annotations of a config are set on all its objects"
    if change.parts[:4] == (*_POD, "imagePullSecrets"):
        return "the pull secret of a config is for all its images"
    return ""


_POD = ("spec", "template", "spec")


def refusal(change: FieldChange) -> str:
    """Return why a change is not acceptable: `spec.a: its value would change`."""
    if change.new is ABSENT:
        return f"{change.path}: a DeviceConfig has no field for it"
    if change.old is ABSENT:
        return f"{change.path}: it would be added"
    return f"{change.path}: its value would change"
