"""What else in the list has a say about nodes: the Nodes themselves, and Modules that somebody wrote by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from krmfn import Item, ResourceList

from .exclusivity import Claim, Node
from .kmm.lookup import table, text

_FEW = 16
"""Label keys up to which looking for each is cheaper than reading all of a node's labels."""


def nodes(resources: ResourceList, claims: Iterable[Claim]) -> list[Node]:
    """Every Node (core/v1) in the list, by name and by those labels that some claim selects by."""
    keys = sorted({key for claim in claims for key in claim.selector})
    items = resources.select("Node", "")
    return [Node(item.name, item.picked_labels(keys) if len(keys) <= _FEW else item.labels) for item in items]


def of_modules(modules: Iterable[Item], generated: Collection[tuple[str, str]] = ()) -> list[Claim]:
    """Return a claim per KMM Module that loads something.

    `modules` are those that this run does not generate: their configs claim for them. `generated` names the Modules
    that are about to be made, by namespace and name: what stands in such a place makes way when it is adopted, and is
    an error of its own when it is not.
    """
    found: list[Claim] = []
    for item in modules:
        if (item.ref.namespace, item.ref.name) in generated:
            continue
        selector = table(item.manifest, "spec").get("selector")
        loaded = text(table(item.manifest, "spec", "moduleLoader", "container", "modprobe"), "moduleName")
        if isinstance(selector, dict) and loaded:
            labels = {str(key): str(value) for key, value in selector.items()}
            found.append(Claim(item.ref, labels, "spec.selector", None, frozenset({loaded}), "", item.place))
    return found
