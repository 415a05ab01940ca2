"""The names of resources before kustomize changed them: a Node's on the cluster is the one in its file."""

from __future__ import annotations

from krmfn import Item, itemtext

PREVIOUS_NAMES = "internal.config.kubernetes.io/previousNames"
"""kustomize's annotation: the names that a resource had, oldest first."""
KUSTOMIZE_ID = "kustomize.config.k8s.io/id"
"""kustomize's annotation on every item of a list that it sends to a function."""


def previous_name(item: Item) -> str:
    """Return the name that an item had before kustomize changed it."""
    return itemtext.string(item, "metadata", "annotations", PREVIOUS_NAMES).partition(",")[0] or item.name
