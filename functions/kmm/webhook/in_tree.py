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


def _one_in_tree_field(container: Table) -> Iterator[Result]:
    if _in_tree_list(container) and _in_tree_name(container):
        message = "only one of the Container's fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined"
        yield refused(message, f"{CONTAINER}.inTreeModuleToRemove", _in_tree_name(container))


KMM019 = Rule(
    "KMM019",
    "the container must set only one of inTreeModulesToRemove and inTreeModuleToRemove; [] counts as set (KMM 2.1+)",
    good="spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu]}}}\n",
    bad="spec: {moduleLoader: {container: {inTreeModulesToRemove: [gpu], inTreeModuleToRemove: gpu}}}\n",
    remedy="Write inTreeModulesToRemove, and remove the older inTreeModuleToRemove.",
    check=_one_in_tree_field,
)


def _one_mapping_in_tree_field(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    if _in_tree_list(entry) and _in_tree_name(entry):
        message = "only one of the KernelMapping fields: InTreeModulesToRemove or InTreeModuleToRemove can be defined"
        yield refused(message, f"{path}.inTreeModuleToRemove", _in_tree_name(entry))


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
    check=_one_mapping_in_tree_field,
)


def _same_in_tree_field(entry: Table, path: str, index: int, container: Table) -> Iterator[Result]:
    mine = _in_tree_list(entry) and _in_tree_name(container)
    theirs = _in_tree_name(entry) and _in_tree_list(container)
    if mine or theirs:
        message = (
            "only one type if field (InTreeModuleToRemove or InTreeModulesToRemove) can be defined in KenrelMapping "
            "or Container"
        )
        yield refused(message, f"{path}.{'inTreeModulesToRemove' if mine else 'inTreeModuleToRemove'}")


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
    check=_same_in_tree_field,
)


def _in_tree_list(holder: Table) -> bool:
    return listing(holder, "inTreeModulesToRemove") is not None


def _in_tree_name(holder: Table) -> str:
    return text(holder, "inTreeModuleToRemove")


CONTAINER_RULES = (KMM019,)
MAPPING_RULES = (KMM026, KMM027)
RULES = CONTAINER_RULES + MAPPING_RULES
