"""The webhook's rules about kernel modules: modprobe's names, arguments and loading order, in-tree ones to remove.

Source: KMM v2.4.0 to main, internal/webhook/module.go; the texts' misspellings are KMM's.
"""

from collections.abc import Iterator

from krmfn import Result

from ... import oracles
from ...rule import Rule
from ..lookup import Table, has, listing, table, text, texts
from ..module import MODPROBE, Module
from ..rule import OF_MAPPINGS, quote, refusal
from ..versions import Target

ORDER = "modulesLoadingOrder"


def check(module: Module, kmm: Target) -> Iterator[Result]:
    """Yield the findings about modprobe, in the webhook's order."""
    if not has(module.container, "modprobe"):
        return
    modprobe, prefix = module.modprobe, kmm.modprobe_prefix
    name, names = text(modprobe, "moduleName"), texts(modprobe, ORDER)
    load, unload = (bool(listing(table(modprobe, "rawArgs"), key)) for key in ("load", "unload"))
    order = listing(modprobe, ORDER)
    is_ordered, first, condition = order is not None, (*names, name)[0], "if a loading order is defined,"
    missing = "load and unload rawArgs must be set when moduleName is unset"
    for rule, is_wrong, path, current, message in (
        ("KMM028", name and (load or unload), "rawArgs", None, "rawArgs cannot be set when moduleName is set"),
        ("KMM029", not name and not (load and unload), "moduleName", modprobe.get("moduleName"), missing),
        ("KMM030", is_ordered and len(names) < 2, ORDER, order, f"{condition} at least two values must be defined"),
        ("KMM031", is_ordered and not name, "moduleName", None, f"{condition} moduleName must be set"),
        ("KMM032", name and first != name, f"{ORDER}[0]", first, f"{condition} the first element must be moduleName"),
    ):
        if is_wrong:
            yield refusal(prefix + message, f"{MODPROBE}.{path}", current, rule=rule)
    seen: set[str] = set()
    for index, entry in enumerate(names):
        if entry in seen:
            message = f"{prefix}{quote(entry)}: duplicate value in the loading order list"
            yield refusal(message, f"{MODPROBE}.{ORDER}[{index}]", entry, rule="KMM033")
        seen.add(entry)


KMM028 = Rule(
    "KMM028",
    "modprobe must not have rawArgs together with moduleName (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, args: {load: [-v]}}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, rawArgs: {load: [-v, gpu]}}}}}\n",
    remedy="Remove rawArgs, or remove moduleName and write rawArgs for load and unload.",
    held=oracles.WEBHOOK,
)

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
    held=oracles.WEBHOOK,
)

KMM030 = Rule(
    "KMM030",
    "modulesLoadingOrder must have at least two entries; [] counts as set (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu]}}}}\n",
    remedy="Write moduleName followed by the modules to load before it, or remove modulesLoadingOrder.",
    held=oracles.WEBHOOK,
)

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
    held=oracles.WEBHOOK,
)

KMM032 = Rule(
    "KMM032",
    "modulesLoadingOrder must start with moduleName (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {moduleName: gpu, modulesLoadingOrder: [gpu_core, gpu]}}}}\n",
    remedy="Write moduleName first: each module is loaded after those that follow it in the list.",
    held=oracles.WEBHOOK,
)

KMM033 = Rule(
    "KMM033",
    "modulesLoadingOrder must not name a module twice (KMM 1.1+)",
    good="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu, gpu_core]}}}}\n",
    bad="spec: {moduleLoader: {container: {modprobe: {modulesLoadingOrder: [gpu, gpu_core, gpu_core]}}}}\n",
    remedy="Remove the repeated entries.",
    held=oracles.WEBHOOK,
)


def in_tree(path: str, holder: Table, container: Table) -> Iterator[Result]:
    """Yield the findings about the in-tree kernel modules of a kernel mapping, or of the container itself."""
    (is_list, name), (is_other_list, other_name) = _fields(holder), _fields(container)
    if is_list and name:
        owner, rule = ("Container's", "KMM019") if holder is container else ("KernelMapping", "KMM026")
        fields = "fields: InTreeModulesToRemove or InTreeModuleToRemove"
        message = f"{OF_MAPPINGS}only one of the {owner} {fields} can be defined"
        yield refusal(message, f"{path}.inTreeModuleToRemove", name, rule=rule)
    is_own_list = is_list and other_name
    if holder is not container and (is_own_list or (name and is_other_list)):
        fields = f"{OF_MAPPINGS}only one type if field (InTreeModuleToRemove or InTreeModulesToRemove)"
        path = f"{path}.{'inTreeModulesToRemove' if is_own_list else 'inTreeModuleToRemove'}"
        yield refusal(f"{fields} can be defined in KenrelMapping or Container", path, rule="KMM027")


def _fields(holder: Table) -> tuple[bool, str]:
    """Return whether there is a list of kernel modules, and the name in the deprecated field."""
    return listing(holder, "inTreeModulesToRemove") is not None, text(holder, "inTreeModuleToRemove")


KMM019 = Rule(
    "KMM019",
    "the container must set only one of inTreeModulesToRemove and inTreeModuleToRemove; [] counts as set (KMM 2.1+)",
    good="spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu]}}}\n",
    bad="spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu], inTreeModuleToRemove: gpu}}}\n",
    remedy="Write inTreeModulesToRemove, and remove the older inTreeModuleToRemove.",
    held=oracles.WEBHOOK,
)

KMM026 = Rule(
    "KMM026",
    "a kernel mapping must set only one of inTreeModulesToRemove and inTreeModuleToRemove (KMM 2.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        inTreeModulesToRemove: [gpu]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        inTreeModulesToRemove: [gpu]
        inTreeModuleToRemove: gpu
""",
    remedy="Write inTreeModulesToRemove, and remove the older inTreeModuleToRemove.",
    held=oracles.WEBHOOK,
)

KMM027 = Rule(
    "KMM027",
    "kernel mapping and container must not mix inTreeModulesToRemove and inTreeModuleToRemove (KMM 2.1+)",
    good="""\
spec:
  moduleLoader:
    container:
      inTreeModulesToRemove: [gpu]
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        inTreeModulesToRemove: [gpu, gpu_core]
""",
    bad="""\
spec:
  moduleLoader:
    container:
      inTreeModuleToRemove: gpu
      kernelMappings:
      - regexp: ^.+$
        containerImage: registry.example.com/gpu:1.0-$KERNEL_FULL_VERSION
        inTreeModulesToRemove: [gpu, gpu_core]
""",
    remedy="Write inTreeModulesToRemove in both places.",
    held=oracles.WEBHOOK,
)


RULES = (KMM028, KMM029, KMM030, KMM031, KMM032, KMM033, KMM019, KMM026, KMM027)
