"""Lints about Modules that may meet on a node: one removes a kernel module that the other loads."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from krmfn import Field, Ref, Result, warning
from krmfn.printing import some

from ... import oracles
from ...grouping import grouped
from ...rule import Rule, apply
from ..module import Module


def check(modules: Iterable[Module], external: Collection[Ref] = ()) -> list[Result]:
    """Return the lints about the Modules of one cluster together; `external` are those of --against among them."""
    return list(apply(RULES, list(modules), external))


def _removes_no_neighbour(modules: Sequence[Module], external: Collection[Ref]) -> Iterator[Result]:
    removers = [module for module in modules if module.removes and module.ref not in external]
    loads = ((kernel_module, module) for module in modules if removers for kernel_module in module.loads)
    loaders = grouped(loads)
    for remover in removers:
        # One that loads what it removes replaces an in-tree module; two that load the same are exclusivity's business.
        removed = [(name, path) for name, path in remover.removes.items() if name not in remover.loads]
        for kernel_module, path in removed:
            others = (other for other in loaders.get(kernel_module, ()) if other.ref != remover.ref)
            if neighbours := [other for other in others if _can_meet(remover.selector or {}, other.selector or {})]:
                origins = (" from --against" if neighbour.ref in external else "" for neighbour in neighbours)
                refs = (f"{neighbour.ref}{origin}" for neighbour, origin in zip(neighbours, origins, strict=True))
                names = some(refs, len(neighbours), 3)
                is_mutual = any(remover.loads & neighbour.removes.keys() for neighbour in neighbours)
                effect = "and is removed by it" if is_mutual else "on the same node"
                message = (
                    f"removes {kernel_module}, which {names} loads {effect}, and KMM keeps no order between Modules"
                )
                field, remedy = Field(path, kernel_module), "remove it from this list, or let the selectors differ"
                yield warning(message, ref=remover.ref, field=field, remedy=remedy)


def _can_meet(selector: Mapping[str, str], other_selector: Mapping[str, str]) -> bool:
    """Return True when a node can have the labels of both selectors."""
    return all(other_selector.get(key, value) == value for key, value in selector.items())


KRM231 = Rule(
    "KRM231",
    "a Module should not remove a kernel module that another Module loads on the same node",
    good="""\
metadata: {name: gpu}
spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu]}}}
---
metadata: {name: nic}
spec: {moduleLoader: {container: {modprobe: {moduleName: nic}}}}
""",
    bad="""\
metadata: {name: gpu}
spec: {moduleLoader: {container: {inTreeModulesToRemove: [nic]}}}
---
metadata: {name: nic}
spec: {moduleLoader: {container: {modprobe: {moduleName: nic}}}}
""",
    remedy="Remove the kernel module from the list, or select nodes for the two Modules by different values of one "
    "label.",
    held=oracles.WORKER,
    check=_removes_no_neighbour,
    severities=("warning",),
    advice=True,
)

RULES = (KRM231,)
