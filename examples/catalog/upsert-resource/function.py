#!/usr/bin/env python3
"""Put the functionConfig, a resource or a List of them, into the package: in the place of its namesakes, or anew."""

from __future__ import annotations

from krmfn import Item, Manifest, Refused, ResourceList, function

TARGET = "config.kubernetes.io/target-path"
BOOKS = ("internal.config.kubernetes.io/", "config.kubernetes.io/path", "config.kubernetes.io/index", "config.k8s.io/")
"""How the annotations begin by which kpt and kustomize keep their books."""


@function
def upsert_resource(resources: ResourceList) -> None:
    """Put the resources into the list."""
    config = resources.function_config
    if not config:
        raise Refused("the functionConfig is missing: pass the resource to put into the package")
    for manifest in (config.get("items") or []) if config.get("kind") == "List" else [config]:
        put(resources, manifest)


def put(resources: ResourceList, manifest: Manifest) -> None:
    """Put one resource in."""
    metadata = manifest.get("metadata") or {}
    annotations = dict(metadata.get("annotations") or {})
    path = annotations.pop(TARGET, "")
    own = {key: value for key, value in annotations.items() if not key.startswith(BOOKS)}
    items = [item for item in resources.where(kind=manifest["kind"]) if is_same(item, manifest, path)]
    for item in items:
        resources.replace(item, annotated(manifest, own))
    if not items:
        resources.append(annotated(manifest, own), path=path)


def annotated(manifest: Manifest, annotations: dict[str, str]) -> Manifest:
    """Return a manifest with these annotations, and no others."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "annotations"}
    return {**manifest, "metadata": metadata | ({"annotations": annotations} if annotations else {})}


def is_same(item: Item, manifest: Manifest, path: str) -> bool:
    """Return True for an item with the manifest's group, kind, namespace and name, in the file that is asked for."""
    metadata = manifest["metadata"]
    group = manifest["apiVersion"].rpartition("/")[0]
    wanted = (group, manifest["kind"], metadata.get("namespace", ""), metadata["name"])
    return item.ref.id == wanted and path in ("", item.path)


if __name__ == "__main__":
    upsert_resource.main()
