"""The names of resources before kustomize changed them: a Node's on the cluster is the one in its file."""

from __future__ import annotations

from krmfn import Item, itemtext

PREVIOUS_NAMES = "internal.config.kubernetes.io/previousNames"
"""kustomize's annotation: the names that a resource had, oldest first."""


def is_from_kustomize(item: Item) -> bool:
    """Return True for an item of a list that kustomize has sent: it marks every one."""
    return item.mentions("kustomize.config.k8s.io/id")


def previous_name(item: Item) -> str:
    """Return the name that an item had before kustomize changed it."""
    return itemtext.string(item, "metadata", "annotations", PREVIOUS_NAMES).partition(",")[0] or item.name
