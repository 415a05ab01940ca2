"""What differs between a hand-written object and the one that is rendered in its place, and which of that is meant."""

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
    """A field with another value; `why` says why that is meant, "" where it is not."""

    change: FieldChange
    why: str = ""


def compared(written: Manifest, rendered: Manifest, selector: Mapping[str, Any]) -> list[Difference]:
    """Return the differences in meaning between two objects; `selector` holds the labels of the Module's nodes."""
    old, new = _noted(normal(written)), _noted(normal(rendered))
    changes = list(differences(old, new))
    if ref(written).kind in (MODULE_KIND, HUB_KIND):
        in_folds = {change.parts: change for change in differences(folded(old), folded(new))}
        told = {change.parts for change in changes}
        return [
            *(Difference(one, _of_ours(one) or ("" if one.parts in in_folds else _FOLDED)) for one in changes),
            *(Difference(one) for at, one in in_folds.items() if at not in told and not _of_ours(one)),
        ]
    return [Difference(change, _of_ours(change) or _of_pods(change, selector)) for change in changes]


def rolling(written: Manifest, rendered: Manifest) -> list[Difference]:
    """Return the differences between the pod templates of two DaemonSets, each of which replaces the pods."""
    old, new = pods(written), pods(rendered)
    start = ("spec", "template")
    found = [Difference(one._replace(parts=(*start, *one.parts))) for one in differences(old, new)]
    in_order = json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    return found if found or in_order else [Difference(FieldChange(start, old, new))]


_FOLDED = "it is written in each kernel mapping, or as a list: KMM reads both the same way"


def _noted(manifest: Manifest) -> Manifest:
    """Return the manifest with labels and annotations, though they be empty, so that each is compared by itself."""
    spec = manifest.get("spec") or {}
    template = spec.get("template") if isinstance(spec, dict) else None
    if isinstance(template, dict):
        spec = {**spec, "template": {**template, "metadata": _with_notes(template)}}
    return {**manifest, "metadata": _with_notes(manifest), "spec": spec}


def _with_notes(holder: Mapping[str, Any]) -> Any:
    metadata = holder.get("metadata") or {}
    return {"labels": {}, "annotations": {}, **metadata} if isinstance(metadata, dict) else metadata


REPLACED = "krmfn sets this on every object that it generates"
_UNSET = "krmfn sets this where a Profile makes the object, and here none does"


def _of_ours(change: FieldChange) -> str:
    """Return why a label or annotation differs that generated objects have of their own."""
    if change.parts[-1:] and str(change.parts[-1]) in OUR_LABELS + OUR_ANNOTATIONS and "metadata" in change.parts:
        return _UNSET if change.parts[-1] == PROFILE_MARK else REPLACED
    return ""


def _of_pods(change: FieldChange, selector: Mapping[str, Any]) -> str:
    """Return why a field of a DaemonSet is added to; a field that is lost or has another value is not meant."""
    where, key = change.parts[:-1], change.parts[-1]
    if change.old is not ABSENT:
        return ""
    if where == (*_POD, "nodeSelector") and selector.get(str(key)) == change.new:
        return "the Module's own selector: without it a node that leaves the selector could never unload"
    if where[-2:] == ("metadata", "labels"):
        return "labels of a config are set on all its objects, and those of a DaemonSet on its pods"
    if where[-2:] == ("metadata", "annotations") and where[:1] == ("metadata",):
        return "annotations of a config are set on all its objects"
    if change.parts[:4] == (*_POD, "imagePullSecrets"):
        return "the pull secret of a config is for all its images"
    return ""


_POD = ("spec", "template", "spec")


def lost(difference: Difference) -> str:
    """Return a difference that is not meant as a reason: `spec.a: true would be lost`."""
    change = difference.change
    if change.new is ABSENT:
        return f"{change.path}: a DeviceConfig has no field for it"
    if change.old is ABSENT:
        return f"{change.path}: it would be added"
    return f"{change.path}: its value would change"
