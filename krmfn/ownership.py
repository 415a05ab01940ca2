"""Mark generated objects with who made them, and say what an update may replace. Pure functions over manifests.

metadata.ownerReferences are never used: they need a live uid, Argo CD does not prune objects that have them and
Config Sync refuses them.
"""

import re
from collections.abc import Iterable

from .resource import Manifest, Ref, annotations_of, mapping, ref
from .typed import Any, NamedTuple

__all__ = ["OWNER", "PASSED_ON", "PREFIX", "Id", "Mark", "known_as", "mark_of", "mark_on", "owner_key", "stamp"]
__all__ += ["updated"]

PREFIX = "krmfn.dev"
"""What the annotations begin with, where a function names no prefix of its own (see `program.function`)."""
OWNER = f"{PREFIX}/owner"
"""Annotation on a generated object: `<function> <owner> <object>`, separated by single spaces, where owner and object
are `<group>|<kind>|<namespace>|<name>`, the object's own as it was generated."""
PASSED_ON = f"{PREFIX}/passed-on"
"""Annotation that lists the owner's own labels and annotations on a generated object, so that an update can
take back one that the owner no longer has: `labels/team annotations/contact`."""

_ID = r"([^ |]*)\|([^ |]+)\|([^ |]*)\|([^ |]+)"
_MARK = f"([^ ]+) {_ID} {_ID}"
_PREVIOUS = ("internal.config.kubernetes.io/previousNamespaces", "internal.config.kubernetes.io/previousNames")

Id = tuple[str, str, str, str]
"""group, kind, namespace, name: what the API server tells objects apart by (see `Ref.id`)."""


class Mark(NamedTuple):
    """What the annotation OWNER of an object says."""

    function: str
    """The function that made the object."""
    owner: Id
    """The resource that the object was made from."""
    made: Id
    """The object's own id when it was made."""


def owner_key(prefix: str) -> str:
    """Return the annotation that is OWNER to functions with this prefix."""
    return f"{prefix}/owner"


def stamp(
    manifest: Manifest, function: str, owner: Ref, passed_on: Iterable[str] = (), prefix: str = PREFIX
) -> Manifest:
    """Mark `manifest` as made by `function` from `owner`; return the same object, changed. `passed_on`: see PASSED_ON.

    Call it when apiVersion, kind, namespace and name are final. Raises ValueError for an object without kind or name,
    and for a function or id that the mark cannot hold: one with a space or a `|`.
    """
    subject = ref(manifest)
    if not subject.kind or not subject.name:
        raise ValueError(f"{subject} cannot be marked as generated: it needs a kind and a name")
    mark = f"{function} {'|'.join(owner.id)} {'|'.join(subject.id)}"
    if not (mark.isprintable() and mark.count(" ") == 2 and mark.count("|") == 6):  # more than what joins the parts
        for part in (function, *owner.id, *subject.id):
            if " " in part or "|" in part or part != part.strip():
                raise ValueError(f"{part!r} cannot be part of the mark of {subject}: it has a space or a |")
    annotations = manifest["metadata"].setdefault("annotations", {})
    annotations[owner_key(prefix)] = mark
    if names := sorted(passed_on):
        annotations[f"{prefix}/passed-on"] = " ".join(names)
    return manifest


def mark_of(annotations: dict[str, str], prefix: str = PREFIX) -> Mark | None:
    """Return the mark in the annotations of an object; None for one without a mark, or with one that is no mark."""
    match = re.fullmatch(_MARK, str(annotations.get(owner_key(prefix), "")))
    parts: Any = match.groups() if match else ()
    return Mark(parts[0], parts[1:5], parts[5:]) if parts else None


def mark_on(item: Any, prefix: str = PREFIX) -> Mark | None:
    """Return the mark of an item; None also when a key stands twice in it, since readers differ on these."""
    mark = mark_of(item.annotations, prefix) if item.is_read or item.mentions(owner_key(prefix)) else None
    return mark if mark and not (item.is_read and item.content.duplicate_keys) else None


def known_as(now: Ref, annotations: dict[str, str]) -> set[Id]:
    """Return every id of a resource: its own and those that it had before kustomize renamed or moved it.

    Source: kustomize's annotations previousNames and previousNamespaces, which it sends to functions.
    """
    spaces, names = (annotations.get(key, "").split(",") for key in _PREVIOUS)
    former = {(now.group, now.kind, space, name) for space, name in zip(spaces, names, strict=False) if name}
    # kustomize notes "default" for a namespace that was not set.
    return former | {(g, k, "", n) for g, k, space, n in former if space == "default"} | {now.id}


def updated(existing: Manifest, new: Manifest, prefix: str = PREFIX) -> Manifest:
    """Return what an update makes of `existing`: all that `new` says, and labels, annotations, keys of others."""
    old_meta = mapping(existing.get("metadata"))
    new_meta = new["metadata"]
    ours = (owner_key(prefix), f"{prefix}/passed-on")
    taken_back = set(str(annotations_of(existing).get(ours[1], "")).split())
    metadata = {**old_meta, **new_meta}
    for part in ("labels", "annotations"):
        old = mapping(old_meta.get(part))
        foreign = {key: old[key] for key in old if f"{part}/{key}" not in taken_back and key not in ours}
        merged = {**foreign, **(new_meta.get(part) or {})}
        if merged:
            metadata[part] = merged
        else:
            metadata.pop(part, None)
    return {**existing, **new, "metadata": metadata}
