"""Bundles of Fleet that it applies file by file, though kustomize would find a kustomization there.

Fleet builds a bundle only where its folder, or `kustomize.dir`, has a file `kustomization.yaml`. Otherwise it applies
each YAML and JSON file of it, those in kustomizations below among them, but for bundles and charts of their own; what
has no kind, such as most kustomizations, it passes over.
Source: Fleet, main of August 2026, internal/bundlereader/style.go; internal/helmdeployer/render/helm.go, manifests, and
rawyaml/resources.go beside it.
"""

import os
from collections.abc import Iterator, Sequence

from ..deployments.deployment import Deployment
from ..deployments.fleet import BUNDLES
from ..kustomization.graph import NO_GRAPH
from ..paths.disk import File, relative
from ..paths.manifests import KUSTOMIZATIONS, SUFFIXES
from ..paths.roots import within
from .fleet_ignores import bundle_of
from .survey import Root

_KUSTOMIZATION = "kustomization.yaml"


def as_applied(deployments: Sequence[Deployment], top: str) -> Iterator[Deployment]:
    """Yield deployments as Fleet has them: of the whole bundle where `kustomize.dir` has no kustomization for it."""
    for deployment in deployments:
        declaration = deployment.declaration
        is_whole = declaration.engine != "fleet" or deployment.path == declaration.bundle
        is_kept = is_whole or is_built(deployment.real(top))
        yield deployment if is_kept else deployment._replace(path=declaration.bundle)


def are_applied(deployment: Deployment, real: str, roots: Sequence[Root]) -> bool:
    """Return whether Fleet applies the files of a folder one by one, though some of them are a kustomization's."""
    declaration = deployment.declaration
    if (declaration.engine, declaration.how) != ("fleet", "raw") or is_built(real) or may_be_built(deployment):
        return False
    return any(root.kind == "kustomization" and within(root.path, real) for root in roots)


def may_be_built(deployment: Deployment) -> bool:
    """Return whether a target may have a kustomization of its own: which cluster gets it is not known then."""
    additions = deployment.declaration.additions
    return any(addition.field == "targetCustomizations" and '"kustomize"' in addition.value for addition in additions)


def root(deployment: Deployment, top: str, is_absolute: bool) -> Root:
    """Return the files of a bundle as one root."""
    start, bundle = "" if is_absolute else os.getcwd(), bundle_of(deployment, top)
    paths = sorted(_files(bundle))
    held = [
        File(relative(path, start), os.path.realpath(path)) for path in paths if within(os.path.realpath(path), top)
    ]
    return Root("files", relative(bundle, start), bundle, NO_GRAPH, tuple(held))


def is_built(folder: str) -> bool:
    """Return whether a folder has the only kustomization that Fleet builds."""
    return os.path.isfile(os.path.join(folder, _KUSTOMIZATION))


def _files(bundle: str) -> Iterator[str]:
    """Yield the files that Fleet applies of a bundle, those that a `.fleetignore` names among them."""
    for folder, folders, names in os.walk(bundle):
        is_other = folder != bundle and ("Chart.yaml" in names or not set(BUNDLES).isdisjoint(names))
        folders[:] = [] if is_other else sorted(name for name in folders if name != ".git")
        for name in names if not is_other else ():
            if name.endswith(SUFFIXES) and name not in BUNDLES and name not in KUSTOMIZATIONS:
                yield os.path.join(folder, name)
