"""Who made an object: one annotation, and what an update may replace. Pure functions over manifests.

metadata.ownerReferences are never used: they need a live uid, Argo CD does not prune objects that have them and
Config Sync refuses them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .resource import Manifest, Ref, annotations_of

OWNER = "krmfn.dev/owner"
"""Annotation `<group>|<kind>|<namespace>|<name>` of the resource that a generated object was made from."""
PASSED_ON = "krmfn.dev/passed-on"
"""Annotation that lists the owner's own labels and annotations on a generated object, so that an update can
take back one that the owner no longer has: `labels/team annotations/contact`."""

_PREVIOUS = ("internal.config.kubernetes.io/previousNamespaces", "internal.config.kubernetes.io/previousNames")

OwnerId = tuple[str, str, str, str]
"""group, kind, namespace, name."""


def stamp(manifest: Manifest, owner: Ref, passed_on: Iterable[str] = ()) -> Manifest:
    """`manifest` marked as made from `owner`; `passed_on` as in PASSED_ON. Returns the same object, changed."""
    notes = manifest["metadata"].setdefault("annotations", {})
    notes[OWNER] = "|".join(owner.id)
    names = sorted(passed_on)
    if names:
        notes[PASSED_ON] = " ".join(names)
    return manifest


def owner_id(notes: dict[str, str]) -> OwnerId | None:
    """Whose child an object with the annotations `notes` is; None for an object we did not make."""
    parts = notes.get(OWNER, "").split("|")
    return (parts[0], parts[1], parts[2], parts[3]) if len(parts) == 4 else None


def known_as(owner: Ref, notes: dict[str, str]) -> set[OwnerId]:
    """Every identity of an owner: its own and those it had before kustomize renamed it (oldest first in `notes`)."""
    spaces, names = (notes.get(key, "").split(",") for key in _PREVIOUS)
    former = {(owner.group, owner.kind, space, name) for space, name in zip(spaces, names, strict=False) if name}
    # kustomize notes "default" for a namespace that was not set.
    return former | {(g, k, "", n) for g, k, space, n in former if space == "default"} | {owner.id}


def updated(existing: Manifest, wanted: Manifest) -> Manifest:
    """What an update makes of `existing`: all that `wanted` says, plus labels, annotations and keys of others."""
    old_meta = _mapping(existing.get("metadata"))
    new_meta = wanted["metadata"]
    taken_back = set(str(annotations_of(existing).get(PASSED_ON, "")).split())
    metadata = {**old_meta, **new_meta}
    for part in ("labels", "annotations"):
        foreign = {
            key: value
            for key, value in _mapping(old_meta.get(part)).items()
            if f"{part}/{key}" not in taken_back and key not in (OWNER, PASSED_ON)
        }
        merged = {**foreign, **(new_meta.get(part) or {})}
        if merged:
            metadata[part] = merged
        else:
            metadata.pop(part, None)
    return {**existing, **wanted, "metadata": metadata}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
