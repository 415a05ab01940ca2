"""Which CRDs of KMM a cluster is known to have: those that the user gives, those in its inputs, those in its dump."""

from collections.abc import Sequence

from krmfn import KrmfnError, Manifest, ResourceList

from ..kmm.crd.user_facts import CRD, NAMES, is_crd, read
from ..kmm.module import MODULE_VERSION
from ..paths import manifests
from ..run import run_of


def known(files: Sequence[str], parts: Sequence[ResourceList], side: ResourceList | None) -> tuple[Manifest, ...]:
    """Return the CRDs of KMM's kinds, those first that count before the others.

    `files` are those of --kmm-crd, `parts` the lists of a cluster before the function runs, with what their dump has
    noted (`Run.crds`); `side` is what belongs to it beside them.
    Raises KrmfnError for a file of --kmm-crd without such a CRD, or with one that has no schema.
    """
    crds = [crd for file in files for crd in _of_file(file)]
    for resources in (*parts, *([side] if side else [])):
        crds += (item.manifest for item in resources.where(kind=CRD[1], group=CRD[0]) if item.name in NAMES)
    for resources in parts:
        crds += run_of(resources).crds
    return tuple(crds)


def _of_file(path: str) -> list[Manifest]:
    crds = [item.manifest for item in manifests.read(path).items if is_crd(item.manifest)]
    if not crds:
        raise KrmfnError(f"--kmm-crd {path} holds none of the CRDs {' and '.join(sorted(NAMES))}")
    if not any(read(crds)):
        raise KrmfnError(f"--kmm-crd {path} holds a CRD without a schema for {MODULE_VERSION}")
    return crds
