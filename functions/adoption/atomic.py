"""Which fields an apply replaces as a whole, so that what only the cluster has there goes.

Source: Kubernetes' server-side apply: a list without `listType: map` or `set` is atomic. KMM's CRDs have no such lists.
"""

from collections.abc import Sequence

from krmfn.typed import Any

from ..differences import Part
from ..pods import structure

_POD_KINDS = frozenset({"DaemonSet", "Deployment", "StatefulSet", "ReplicaSet"})
_TEMPLATE = ("spec", "template", "spec")


def is_replaced(kind: str, parts: Sequence[Part]) -> bool:
    """Return True for a field inside of a list or a mapping that an apply replaces as a whole."""
    if kind in _POD_KINDS and tuple(parts[:3]) == _TEMPLATE:
        return _is_replaced(parts[3:], "PodSpec")
    if kind in (*_POD_KINDS, "Service") and tuple(parts[:2]) == ("spec", "selector"):
        return True  # `mapType: atomic`
    return any(isinstance(part, int) or part.startswith("name=") for part in parts)


def _is_replaced(parts: Sequence[Part], node: Any) -> bool:
    """Walk a PodSpec's structure; the last part is the field itself, whose holder counts."""
    types = structure.facts()["types"]
    for part in parts:
        node = types.get(node, node) if isinstance(node, str) else node
        if not isinstance(node, dict):
            return False
        if node.get("$atomic"):
            return True
        if "$list" in node:
            if "$keys" not in node:
                return True
            node = node["$list"]
        elif "$map" in node:
            node = node["$map"]
        else:
            node = node.get(str(part), node.get(f"{part}!"))
    return False
