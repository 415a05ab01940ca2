"""What the API server fills into a Module or a ManagedClusterModule, from their CRDs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..versions import NEWEST
from .facts import Node, module_facts


def of_module() -> dict[str, Any]:
    """Return the defaults of a Module by their paths (see `krmfn.api_defaults`)."""
    return dict(_defaults(module_facts(NEWEST), ""))


def of_hub_module() -> dict[str, Any]:
    """Return the defaults of a ManagedClusterModule, whose moduleSpec is the spec of a Module."""
    spec = (path.removeprefix("spec.") for path in of_module())
    return {f"spec.moduleSpec.{path}": default for path, default in zip(spec, of_module().values(), strict=True)}


def _defaults(node: Node, path: str) -> Iterator[tuple[str, Any]]:
    if node.default is not None:
        yield path, node.default
    for name, child in (node.fields or {}).items():
        yield from _defaults(child, f"{path}.{name}" if path else name)
    if node.type == "array" and node.item:
        yield from _defaults(node.item, f"{path}.*")
