"""The webhook's rules about modprobe's names, raw arguments and loading order.

Source: KMM v2.4.0 to main, internal/webhook/module.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import Rule, apply

from ..gotext import quote
from ..lookup import Table, has, listing, table, text, texts
from ..module import MODPROBE, Module
from ..rule import prefixed, refused
from ..versions import Target

ORDER = f"{MODPROBE}.modulesLoadingOrder"


def check(module: Module, kmm: Target) -> Iterator[Result]:
    """Yield the findings about modprobe, in the webhook's order."""
    if has(module.container, "modprobe"):
        yield from prefixed(kmm.modprobe_prefix, apply(RULES, module.modprobe))


def _no_raw_args_with_a_name(modprobe: Table) -> Iterator[Result]:
    load, unload = _raw_args(modprobe)
    if text(modprobe, "moduleName") and (load or unload):
        yield refused("rawArgs cannot be set when moduleName is set", f"{MODPROBE}.rawArgs")


KMM028 = Rule(
    "KMM028",
    "modprobe must not have rawArgs together with moduleName (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, args: {load: [-v]}}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, rawArgs: {load: [-v, gpu]}}}}}\n",
    remedy="Remove rawArgs, or remove moduleName and write rawArgs for load and unload.",
    check=_no_raw_args_with_a_name,
)


def _raw_args_without_a_name(modprobe: Table) -> Iterator[Result]:
    load, unload = _raw_args(modprobe)
    if not text(modprobe, "moduleName") and not (load and unload):
        message = "load and unload rawArgs must be set when moduleName is unset"
        yield refused(message, f"{MODPROBE}.moduleName", modprobe.get("moduleName"))


KMM029 = Rule(
    "KMM029",
    "modprobe must have rawArgs for load and unload if it has no moduleName (KMM 1.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      modprobe:
        moduleName: null
        rawArgs: {load: [gpu], unload: [-r, gpu]}
""",
    bad="spec: {moduleLoader: {container: {modprobe: {moduleName: null, rawArgs: {load: [gpu]}}}}}\n",
    remedy="Write moduleName, or both lists of rawArgs.",
    check=_raw_args_without_a_name,
)


def _order_has_two(modprobe: Table) -> Iterator[Result]:
    order = listing(modprobe, "modulesLoadingOrder")
    if order is not None and len(order) < 2:
        yield refused("if a loading order is defined, at least two values must be defined", ORDER, order)


KMM030 = Rule(
    "KMM030",
    "modulesLoadingOrder must have at least two entries; [] counts as set (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu]}}}}\n",
    remedy="Write moduleName followed by the modules to load before it, or remove modulesLoadingOrder.",
    check=_order_has_two,
)


def _order_needs_a_name(modprobe: Table) -> Iterator[Result]:
    if listing(modprobe, "modulesLoadingOrder") is not None and not text(modprobe, "moduleName"):
        yield refused("if a loading order is defined, moduleName must be set", f"{MODPROBE}.moduleName")


KMM031 = Rule(
    "KMM031",
    "modprobe must have a moduleName if it has modulesLoadingOrder (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="""\
spec:
  moduleLoader:
    container:
      modprobe:
        moduleName: null
        rawArgs: {load: [gpu], unload: [-r, gpu]}
        modulesLoadingOrder: [gpu, gpu_core]
""",
    remedy="Write moduleName, or remove modulesLoadingOrder: raw arguments name all modules that they load.",
    check=_order_needs_a_name,
)


def _order_starts_with_the_name(modprobe: Table) -> Iterator[Result]:
    order, name = texts(modprobe, "modulesLoadingOrder"), text(modprobe, "moduleName")
    if order and name and order[0] != name:
        message = "if a loading order is defined, the first element must be moduleName"
        yield refused(message, f"{ORDER}[0]", order[0])


KMM032 = Rule(
    "KMM032",
    "modulesLoadingOrder must start with moduleName (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, modulesLoadingOrder: [gpu_core, gpu]}}}}\n",
    remedy="Write moduleName first: each module is loaded after those that follow it in the list.",
    check=_order_starts_with_the_name,
)


def _order_has_no_twins(modprobe: Table) -> Iterator[Result]:
    seen = set()
    for index, name in enumerate(texts(modprobe, "modulesLoadingOrder")):
        if name in seen:
            yield refused(f"{quote(name)}: duplicate value in the loading order list", f"{ORDER}[{index}]", name)
        seen.add(name)


KMM033 = Rule(
    "KMM033",
    "modulesLoadingOrder must not name a module twice (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu, gpu_core, gpu_core]}}}}\n",
    remedy="Remove the repeated entries.",
    check=_order_has_no_twins,
)


def _raw_args(modprobe: Table) -> tuple[bool, bool]:
    raw = table(modprobe, "rawArgs")
    return bool(listing(raw, "load")), bool(listing(raw, "unload"))


RULES = (KMM028, KMM029, KMM030, KMM031, KMM032, KMM033)
