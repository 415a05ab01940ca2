"""Lints for a Module that a ManagedClusterModule brings to spokes: what the hub takes, and then fails with.

Source: KMM main (de3f8c9), internal/manifestwork/manifestwork.go: the hub takes `build` and `sign` away and writes a
literal mapping for each kernel of a spoke, with the image and the in-tree modules of the mapping that the kernel takes.
"""

from collections.abc import Iterator

from krmfn import Field, Result, error, warning
from krmfn.findings import Findings

from ... import oracles
from ...rule import Rule, apply
from ..lookup import has, table, text
from ..module import CONTAINER, IN_TREE, MAPPINGS, Module
from ..resolution import is_insecure


def check(module: Module) -> list[Result]:
    """Return the findings about the Module of a ManagedClusterModule, in the order of the rules."""
    return [finding._replace(ref=module.ref) for finding in Findings(apply(RULES, module))]


def _has_loader(module: Module) -> Iterator[Result]:
    if not has(module.spec, "moduleLoader"):
        message = "a hub cannot bring a Module without moduleLoader to its spokes: its controller crashes on it"
        yield error(message, field=Field("spec.moduleLoader"), remedy="write a Module for each spoke")


KMM086 = Rule(
    "KMM086",
    "a ManagedClusterModule must have a moduleLoader: the hub's controller crashes on a Module without one",
    good="kind: ManagedClusterModule\n",
    bad="""\
kind: ManagedClusterModule
spec:
  moduleSpec:
    moduleLoader: null
    devicePlugin: {container: {image: "registry.example.com/plugin:1.0"}}
""",
    remedy="Write a Module into the Git repository of each spoke, or bring it there with a ManifestWork.",
    held=oracles.HUB,
    check=_has_loader,
)


def _in_tree_is_a_list(module: Module) -> Iterator[Result]:
    if name := text(module.container, IN_TREE[1]):
        message = "each spoke refuses it beside the list that the hub writes into its mappings"
        yield error(message, field=Field(f"{CONTAINER}.{IN_TREE[1]}", name), remedy=f"write {IN_TREE[0]}")


KMM087 = Rule(
    "KMM087",
    "the container of a ManagedClusterModule must have inTreeModulesToRemove in place of inTreeModuleToRemove",
    good="""\
kind: ManagedClusterModule
spec: {moduleSpec: {moduleLoader: {container: {inTreeModulesToRemove: [oldgpu]}}}}
""",
    bad="""\
kind: ManagedClusterModule
spec: {moduleSpec: {moduleLoader: {container: {inTreeModuleToRemove: oldgpu}}}}
""",
    remedy="Use the list `inTreeModulesToRemove`.",
    held=oracles.HUB,
    check=_in_tree_is_a_list,
)


def _tls_is_of_the_container(module: Module) -> Iterator[Result]:
    of_container = is_insecure(module, {})
    for index, entry in enumerate(module.mappings):
        if has(entry, "registryTLS") and is_insecure(module, entry) != of_container:
            message = "does not reach the spokes, where the registryTLS of the container counts for each kernel"
            value = table(entry, "registryTLS")
            yield warning(message, field=Field(f"{MAPPINGS}[{index}].registryTLS", value), remedy="write it there")


KMM088 = Rule(
    "KMM088",
    "registryTLS should be in the container of a ManagedClusterModule: that of a mapping does not reach the spokes",
    good="""\
kind: ManagedClusterModule
spec: {moduleSpec: {moduleLoader: {container: {registryTLS: {insecure: true}}}}}
""",
    bad="""\
kind: ManagedClusterModule
spec:
  moduleSpec:
    moduleLoader:
      container:
        kernelMappings:
        - regexp: ^.+$
          containerImage: registry.example.com/gpu:1.0-${KERNEL_FULL_VERSION}
          registryTLS: {insecure: true}
""",
    remedy="Move registryTLS from the mapping to the container.",
    held=oracles.HUB,
    check=_tls_is_of_the_container,
    severities=("warning",),
    advice=True,
)

RULES = (KMM086, KMM087, KMM088)
