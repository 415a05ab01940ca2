"""Files about us that Flux's source-controller leaves out of what it fetches: `.sourceignore`, and `spec.ignore`.

Source: Flux, source-controller 1.6, docs/spec/v1/gitrepositories.md (excluding files): the patterns are those of
.gitignore, in each folder's .sourceignore; those of spec.ignore come last. Git itself matches them.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import KrmfnError, Place, Result, warning

from .. import oracles
from ..deployments.deployment import Deployment
from ..paths.roots import within
from ..rule import Rule
from .deployed import Cluster
from .engines import Engines
from .flux_listing import NAME, has_patterns, ignored
from .root_files import files_of_root, may_be_ours
from .survey import Root


def findings(engines: Engines, roots: Iterable[Root], tops: Sequence[str]) -> Iterator[Result]:
    """Yield a warning per file about us that Flux deploys by its objects, and does not get.

    Where Git cannot tell, a warning says so, if there are patterns.
    """
    by_ignore = dict[str, list[Deployment]]()
    for deployment in engines.deployments:
        declaration = deployment.declaration
        if (declaration.engine, declaration.how) == ("flux", "raw"):
            by_ignore.setdefault(declaration.ignore, []).append(deployment)
    read = {path for root in roots for path in files_of_root(root)} if by_ignore else set()
    reported = set[str]()
    for ignore, deployments in by_ignore.items():
        folders = {deployment.real(engines.top) for deployment in deployments}
        try:
            left_out = [path for path in ignored(engines.top, ignore) if path in read and path not in reported]
        except KrmfnError as failure:
            if has_patterns(engines.top, ignore):
                message = f"what Flux leaves out of this repository is not known: {failure}"
                yield warning(message, rule="KRM537", remedy="have Git, a clone, and fewer patterns")
            continue
        for path in left_out:
            is_deployed = any(within(path, folder) for folder in folders) and any(within(path, top) for top in tops)
            if is_deployed and may_be_ours(path):
                reported.add(path)
                yield _left_out(path, ignore, deployments[0])


def without(clusters: Sequence[Cluster], top: str, results: Iterable[Result]) -> list[Cluster]:
    """Return clusters without the loose files that `findings` says Flux leaves out, and no other engine deploys.

    `top` is the root of the repository.
    """
    paths = {os.path.realpath(result.place.path) for result in results if result.rule == "KRM537" and result.place}
    return [cluster._replace(roots=tuple(_rest(cluster, top, paths))) for cluster in clusters] if paths else [*clusters]


def _rest(cluster: Cluster, top: str, paths: Collection[str]) -> Iterator[Root]:
    """Yield the roots of a cluster without some files, unless another engine than Flux deploys these there."""
    others = [
        deployment.real(top)
        for deployment in cluster.deployments
        if deployment.declaration.engine in ("argocd", "fleet")
    ]
    dropped = {path for path in paths if not any(within(path, folder) for folder in others)}
    for root in cluster.roots:
        kept = tuple(file for file in root.files if file.real not in dropped)
        yield root._replace(files=kept) if root.kind == "files" or root.is_generated else root


def _left_out(path: str, ignore: str, deployment: Deployment) -> Result:
    source, holder = f"spec.ignore or a {NAME}" if ignore else f"a {NAME}", deployment.declaration.source.ref
    message = f"{source} leaves it out of what Flux fetches for {holder}, so no cluster gets it"
    remedy = "add a pattern for it that begins with `!`, or leave it out here, too, with `exclude` in .krmfn.yaml"
    return warning(message, rule="KRM537", place=Place(os.path.relpath(path)), remedy=remedy)


_GOOD = """\
# clusters/lab/drivers.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: drivers, namespace: flux-system}
spec: {path: ./drivers, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
---
# drivers/module.yaml
kind: Module
"""
_SOURCE = """\
# clusters/lab/source.yaml
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {url: https://git.example.com/fleet.git, ignore: /drivers/}
"""
RULES = (
    Rule(
        "KRM537",
        "a file with a config or a Module in a deployed folder should not be left out of what Flux or Fleet fetches",
        good=_GOOD,
        bad=f"{_GOOD}---\n{_SOURCE}",
        remedy="Add a pattern for the file that begins with `!`, or leave it out with `exclude` in .krmfn.yaml, too.",
        held=oracles.FLUX_FILES,
        severities=("warning",),
    ),
)
"""The rule about files that Flux does not fetch."""
