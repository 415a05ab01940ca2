"""Lints about Modules that may meet on a node: one removes a kernel module that the other loads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from krmfn.resource import Manifest, Ref, ref
from krmfn.results import Field, Result, warning

from ..lookup import Table, listing, table, tables, text, texts
from ..rule import Rules

CONTAINER = "spec.moduleLoader.container"


class Neighbour(NamedTuple):
    """The kernel modules that a Module loads, and those that it removes first, each with its field."""

    ref: Ref
    selector: Mapping[str, str]
    loads: frozenset[str]
    removes: Mapping[str, str]


def removes_no_neighbour(modules: Sequence[Manifest]) -> Iterator[Result]:
    """KRM231: no Module removes a kernel module that another Module loads on the same node."""
    known = [neighbour(module) for module in modules]
    loaders: dict[str, list[Neighbour]] = defaultdict(list)
    for each in known:
        for kernel_module in each.loads:
            loaders[kernel_module].append(each)
    for remover in known:
        # Who loads what it removes replaces an in-tree module; two who load the same are exclusivity's business.
        for kernel_module, path in remover.removes.items():
            if kernel_module in remover.loads:
                continue
            others = [other for other in loaders.get(kernel_module, ()) if other.ref != remover.ref]
            met = [other for other in others if _can_meet(remover.selector, other.selector)]
            if met:
                yield _finding(remover, kernel_module, path, met)


def _finding(remover: Neighbour, kernel_module: str, path: str, met: list[Neighbour]) -> Result:
    named = ", ".join(str(other.ref) for other in met[:3]) + (f" and {len(met) - 3} more" if len(met) > 3 else "")
    both = any(remover.loads & other.removes.keys() for other in met)
    what = "and is removed by it" if both else "on the same node"
    message = f"removes {kernel_module}, which {named} loads {what}; KMM keeps no order between Modules"
    return warning(message, ref=remover.ref, field=Field(path, kernel_module))


def neighbour(module: Manifest) -> Neighbour:
    """Return what a Module loads and removes; kernel modules with `_` for `-`, as the kernel names them."""
    container = table(module, "spec", "moduleLoader", "container")
    modprobe = table(container, "modprobe")
    loads = {text(modprobe, "moduleName"), *texts(modprobe, "modulesLoadingOrder")}
    removes: dict[str, str] = {}
    holders = [(CONTAINER, container)]
    holders += [(f"{CONTAINER}.kernelMappings[{at}]", entry) for at, entry in tables(container, "kernelMappings")]
    for path, holder in holders:
        for name, field in _removed(path, holder):
            removes.setdefault(kernel_name(name), field)
    selector = {key: value for key, value in table(module, "spec", "selector").items() if isinstance(value, str)}
    return Neighbour(ref(module), selector, frozenset(kernel_name(name) for name in loads if name), removes)


def kernel_name(name: str) -> str:
    """Return a kernel module's name as the kernel has it: `-` and `_` are one."""
    return name.replace("-", "_")


def _removed(path: str, holder: Table) -> Iterator[tuple[str, str]]:
    for index, name in enumerate(listing(holder, "inTreeModulesToRemove") or []):
        if isinstance(name, str):
            yield name, f"{path}.inTreeModulesToRemove[{index}]"
    if text(holder, "inTreeModuleToRemove"):
        yield text(holder, "inTreeModuleToRemove"), f"{path}.inTreeModuleToRemove"


def _can_meet(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return True when a node can have the labels of both selectors."""
    return all(other.get(key, value) == value for key, value in one.items())


RULES: Rules = (("KRM231", removes_no_neighbour),)
