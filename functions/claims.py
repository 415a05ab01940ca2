"""What else in the list has a say about nodes: the Nodes themselves, and Modules that somebody wrote by hand."""

from __future__ import annotations

from krmfn import ResourceList
from krmfn.ownership import owner_id

from .children import Owners
from .exclusivity import Claim, Node

MODULE_GROUP = "kmm.sigs.x-k8s.io"


def nodes(resources: ResourceList) -> list[Node]:
    """Every Node (core/v1) in the list, by name and labels."""
    return [Node(item.ref.name, item.labels) for item in resources.select("Node", "")]


def of_modules(resources: ResourceList, owners: Owners) -> list[Claim]:
    """A claim per KMM Module that loads something and was not generated for one of `owners` (they claim themselves)."""
    found: list[Claim] = []
    for item in resources.select("Module", MODULE_GROUP):
        owner = owner_id(item.annotations)
        spec = item.manifest.get("spec")
        if (owner and owner[:2] in owners) or not isinstance(spec, dict):
            continue
        selector = spec.get("selector")
        loaded = _loaded(spec)
        if isinstance(selector, dict) and loaded:
            labels = {str(key): str(value) for key, value in selector.items()}
            found.append(Claim(item.ref, labels, "spec.selector", None, frozenset({loaded}), "", item.place))
    return found


def _loaded(spec: object) -> str:
    """spec.moduleLoader.container.modprobe.moduleName, "" where there is none."""
    for key in ("moduleLoader", "container", "modprobe", "moduleName"):
        spec = spec.get(key) if isinstance(spec, dict) else None
    return spec if isinstance(spec, str) else ""
