"""Flux's variable substitution (`postBuild`): where it would change an object, and the mark that keeps it out.

Source: fluxcd/pkg, kustomize 1.35 and envsubst 1.7. It works on an object's text: `${` opens a variable, `$$` becomes
`$`, and nothing else counts.
"""

from __future__ import annotations

from krmfn import Manifest
from krmfn.fieldpath import FieldPath
from krmfn.resource import fingerprint
from krmfn.typed import Any

SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
DISABLED = "disabled"


def marked(manifest: Manifest) -> Manifest:
    """Return a generated manifest, with the mark when the substitution would change it and nobody has set it."""
    annotations = manifest["metadata"]["annotations"]
    if SUBSTITUTE not in annotations and _has_dollars(manifest) and changed_at(manifest) is not None:
        annotations[SUBSTITUTE] = DISABLED
    return manifest


def _has_dollars(manifest: Manifest) -> bool:
    """Return False when no text holds a dollar, as in nearly all manifests: a walk takes five times as long."""
    data = fingerprint(manifest)
    return data is None or b"$" in data


def changed_at(value: Any, path: FieldPath = ()) -> FieldPath | None:
    """Return the path of the first text that the substitution would change; None when there is none."""
    if isinstance(value, str):
        return path if "${" in value or "$$" in value else None
    if isinstance(value, dict):
        for key, child in value.items():
            at = changed_at(key, (*path, key)) or changed_at(child, (*path, key))
            if at:
                return at
    elif isinstance(value, list):
        for index, child in enumerate(value):
            if at := changed_at(child, (*path, index)):
                return at
    return None
