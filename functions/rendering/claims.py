"""What the list says about nodes beside our own kinds: its Node objects, and Modules written by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from krmfn import Item, ResourceList

from ..exclusivity import Claim, Node
from ..kmm.lookup import table, text

PREVIOUS_NAMES = "internal.config.kubernetes.io/previousNames"
"""kustomize's annotation: the names that a resource had, oldest first."""
_FEW = 16
"""Label keys up to which looking for each is cheaper than reading all of a node's labels."""


def nodes(resources: ResourceList, claims: Iterable[Claim]) -> list[Node]:
    """Return every Node (core/v1) in the list, by name and by those labels that some claim selects by.

    Under kustomize a Node has the name that it had before prefixes: the one in its file and on the cluster.
    """
    claims = list(claims)
    items = resources.select("Node", "") if claims else []
    keys = sorted({key for claim in claims for key in claim.selector})
    name = former_name if any(map(is_from_kustomize, items[:1])) else _name
    return [Node(name(item), item.picked_labels(keys) if len(keys) <= _FEW else item.labels) for item in items]


def is_from_kustomize(item: Item) -> bool:
    """Return True for an item of a list that kustomize has sent: it marks every one."""
    return item.mentions("kustomize.config.k8s.io/id")


def former_name(item: Item) -> str:
    """Return the name that an item had before kustomize changed it."""
    return item.string("metadata", "annotations", PREVIOUS_NAMES).partition(",")[0] or item.name


def _name(item: Item) -> str:
    return item.name


def of_modules(modules: Iterable[Item], generated: Collection[tuple[str, str]] = ()) -> list[Claim]:
    """Return a claim per KMM Module that loads something.

    `modules` are those that this run does not generate: their configs claim for them. `generated` names the Modules
    that are about to be made, by namespace and name: what stands in such a place makes way when it is adopted, and is
    an error of its own when it is not.
    """
    claims: list[Claim] = []
    for item in modules:
        if (item.ref.namespace, item.ref.name) in generated:
            continue
        selector = table(item.manifest, "spec").get("selector")
        loaded = text(table(item.manifest, "spec", "moduleLoader", "container", "modprobe"), "moduleName")
        if isinstance(selector, dict) and loaded:
            labels = {str(key): str(value) for key, value in selector.items()}
            claims.append(Claim(item.ref, labels, "spec.selector", None, frozenset({loaded}), "", item.place))
    return claims
