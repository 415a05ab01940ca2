"""The annotations by which kpt says which file an item stands in."""

from .resource import Place, is_index
from .typed import Any

__all__ = ["INDEX", "PATH", "place_of"]

PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"


def place_of(annotations: dict[str, Any]) -> Place | None:
    """Return the place that kpt's annotations name."""
    path, index = str(annotations.get(PATH, "")), str(annotations.get(INDEX, "0"))
    if not path or "kustomize.config.k8s.io/id" in annotations:  # kustomize invents paths, which name no file
        return None
    return Place(path, int(index) if is_index(index) else 0)
