"""The Module that a hub makes on a spoke of a ManagedClusterModule, as far as one node of the spoke is concerned.

The hub takes `build` and `sign` away, and writes a literal mapping per kernel of the spoke, with the image that it has
filled in; it does so once it has found all images for the cluster. Source: KMM main (de3f8c9),
internal/manifestwork/manifestwork.go and internal/controllers/hub/managedclustermodule_reconciler.go.
"""

from krmfn import KrmfnError
from krmfn.typed import Any

from ..kmm.lookup import Table, table, tables, text
from ..kmm.module import IN_TREE, Module
from ..kmm.resolution import resolver
from .link import Subject

_NOT_BROUGHT = ("build", "sign")


def pair_of_specs(subject: Subject, present: Any) -> tuple[Any, Any]:
    """Return the spec of the Module on a cluster (`present`) and the planned one.

    Of one that a hub brings it is what the hub writes, and both have the mappings for the node's kernel alone.
    """
    module = subject.driver.module
    if not subject.driver.through_hub:
        return present, module.spec
    mappings = tables(table(present, "moduleLoader", "container"), "kernelMappings")
    of_kernel = [entry for _, entry in mappings if text(entry, "literal") == subject.kernel]
    return _with_mappings(present, of_kernel), _with_mappings(module.spec, _written(module, subject.kernel))


def works(subject: Subject) -> str:
    """Return by which objects on the hub a Module comes to the cluster."""
    name = subject.driver.ref.name
    work, images = f"ManifestWork {subject.cluster}/{name}", f"ModuleImagesConfig {name}-{subject.cluster}"
    return f"{subject.driver.claim.external or 'its hub'}: look at {work} there, and at {images}: all images come first"


def _written(module: Module, kernel: str) -> list[Table]:
    """Return the mapping that the hub writes for a kernel; none where it fails on it, or no mapping takes it."""
    try:
        resolution = resolver(module)(kernel)
    except KrmfnError:
        return []
    if resolution.mapping is None:
        return []
    return [{"literal": kernel, "containerImage": resolution.image, IN_TREE[0]: [*resolution.in_tree]}]


def _with_mappings(spec: Any, mappings: list[Table]) -> Any:
    loader, container = table(spec, "moduleLoader"), table(spec, "moduleLoader", "container")
    kept = {key: value for key, value in container.items() if key not in _NOT_BROUGHT}
    return {**spec, "moduleLoader": {**loader, "container": {**kept, "kernelMappings": mappings}}}
