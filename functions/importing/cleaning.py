"""Take off a manifest what nobody wrote: what the API server sets, and the marks of the tool that deployed it."""

from __future__ import annotations

from typing import Any

from krmfn import Manifest, cluster_dump

_BY_TOOLS = ("meta.helm.sh/", "helm.sh/chart", "argocd.argoproj.io/instance", "internal.config.kubernetes.io/")
"""How the labels and annotations begin that a tool writes for itself when it deploys, beside those of every dump."""


def cleaned(manifest: Manifest) -> Manifest:
    """Return the manifest without its status, and without what server and tools have put into its metadata."""
    written = {name: value for name, value in cluster_dump.cleaned(manifest).items() if name != "status"}
    metadata = written.get("metadata")
    return written | {"metadata": _metadata(metadata)} if isinstance(metadata, dict) else written


def owner(manifest: Manifest) -> str:
    """Return the object that this one belongs to, as `DeviceConfig gpu`, and is deleted with; "" for none."""
    owners = (manifest.get("metadata") or {}).get("ownerReferences") or []
    return next((f"{one.get('kind')} {one.get('name')}" for one in owners if isinstance(one, dict)), "")


def _metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    fields = dict(metadata)
    for name in ("labels", "annotations"):
        notes = fields.get(name)
        if isinstance(notes, dict):
            fields[name] = {key: value for key, value in notes.items() if not key.startswith(_BY_TOOLS)}
    return {name: value for name, value in fields.items() if value != {}}
