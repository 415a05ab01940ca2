"""The webhook's rules about the two fields that say which in-tree kernel modules are removed.

Source: KMM v2.4.0 to main, internal/webhook/module.go; the texts' misspellings are KMM's.
"""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Result
from krmfn.rule import Rule

from ..lookup import Table, listing, text
from ..module import CONTAINER
from ..rule import refused


def of_container(container: Table) -> Iterator[Result]:
    """Yield the findings about the container."""
    is_list, name = _fields(container)
    if is_list and name:
        message = "only one of the Container's fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined"
        yield refused(message, f"{CONTAINER}.inTreeModuleToRemove", name, rule="KMM019")


def of_mapping(entry: Table, path: str, container: Table) -> Iterator[Result]:
    """Yield the findings about one kernel mapping."""
    (is_list, name), (is_other_list, other_name) = _fields(entry), _fields(container)
    if is_list and name:
        message = "only one of the KernelMapping fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined"
        yield refused(message, f"{path}.inTreeModuleToRemove", name, rule="KMM026")
    mine = is_list and other_name
    if mine or (name and is_other_list):
        message = (
            "only one type if field (InTreeModuleToRemove or InTreeModulesToRemove) can be defined in KenrelMapping "
            "or Container"
        )
        path = f"{path}.{'inTreeModulesToRemove' if mine else 'inTreeModuleToRemove'}"
        yield refused(message, path, rule="KMM027")


def _fields(holder: Table) -> tuple[bool, str]:
    """Return whether there is a list of kernel modules, and the name in the deprecated field."""
    return listing(holder, "inTreeModulesToRemove") is not None, text(holder, "inTreeModuleToRemove")


KMM019 = Rule(
    "KMM019",
    "the container must set only one of inTreeModulesToRemove and inTreeModuleToRemove; [] counts as set (KMM 2.1+)",
    good="spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu]}}}\n",
    bad="spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu], inTreeModuleToRemove: gpu}}}\n",
    remedy="Write inTreeModulesToRemove, and remove the older inTreeModuleToRemove.",
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
)


RULES = (KMM019, KMM026, KMM027)
