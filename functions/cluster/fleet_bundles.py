"""Kustomizations in bundles of Fleet that list what is not in the bundle: Fleet builds a bundle from its files alone.

Source: Fleet 0.13, internal/bundlereader/loaddirectory.go, GetContent; internal/helmdeployer/kustomize/kustomize.go.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from krmfn import Result, error

from .. import oracles
from ..deployments.deployment import Deployment
from ..kustomization.references import Reference
from ..paths.roots import within
from ..rule import Rule
from .deployed import Clusters
from .fleet_ignores import NAME, bundle_of, is_hidden, is_left_out, lines_of_folder
from .survey import Root


def check(streams: Clusters, top: str) -> None:
    """Report what Fleet cannot build of the roots with something of ours; `top` is the root of the repository."""
    for cluster in streams.clusters:
        built = {root.path: root for root in cluster.roots if root.kind == "kustomization"}
        for deployment in cluster.deployments:
            declaration, root = deployment.declaration, built.get(deployment.real(top))
            is_of_fleet = (declaration.engine, declaration.how) == ("fleet", "raw")
            if is_of_fleet and root and root.path not in cluster.beside:
                cluster.final.report(_absent(root, deployment, top))


def _absent(root: Root, deployment: Deployment, top: str) -> Iterator[Result]:
    """Yield an error per file or folder that a build of a root reads and Fleet does not have."""
    bundle, lines_of = bundle_of(deployment, top), lru_cache(maxsize=None)(lines_of_folder)
    for node in root.graph.below(root.path):
        for reference in node.references if within(node.folder, bundle) else ():
            if reference.real and (reason := _reason(reference, bundle, lines_of)):
                message = f"Fleet cannot build {deployment.path}, so no cluster gets it: {reference.name} {reason}"
                yield error(message, rule="KRM539", place=reference.place, remedy=_REMEDY)


def _reason(reference: Reference, bundle: str, lines_of: Callable[[str], Sequence[str]]) -> str:
    """Return why a file or a folder is not in a bundle; "" where it is."""
    if not within(reference.real, bundle):
        return "is outside of its bundle"
    if not is_left_out(reference.real, bundle, lines_of):
        return ""
    parts = reference.real[len(bundle) :].split("/")
    return "is hidden, so Fleet leaves it out" if any(map(is_hidden, parts)) else f"is left out by a {NAME}"


_REMEDY = (
    "keep a copy in the bundle, or name a folder above both in `paths`, and this one as `kustomize.dir` in fleet.yaml"
)
_GIT_REPO = """\
# gitrepo.yaml
apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: fleet, namespace: fleet-default}
spec:
  repo: https://git.example.com/fleet.git
  paths: [drivers]
  targets: [{clusterName: lab}]
---
"""
_BASE = """\
# base/kustomization.yaml
resources: [module.yaml]
---
# base/module.yaml
kind: Module
"""
RULES = (
    Rule(
        "KRM539",
        "a kustomization in a bundle of Fleet must list only what is in the bundle, and neither hidden nor left out",
        good=f"{_GIT_REPO}# drivers/kustomization.yaml\nresources: [module.yaml]\n---\n# drivers/module.yaml\n"
        "kind: Module\n",
        bad=f"{_GIT_REPO}# drivers/kustomization.yaml\nresources: [../base]\n---\n{_BASE}",
        remedy="Keep a copy in the bundle, or make a bundle of a folder above both.",
        held=oracles.FLEET_BUNDLES,
    ),
)
"""The rule about what Fleet cannot build."""
