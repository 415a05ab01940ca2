"""Files about us in a folder of Argo CD that it does not apply, and that nothing else deploys either."""

import os
from collections.abc import Iterable, Iterator, Sequence

from krmfn import Place, Result, info, warning

from .. import oracles
from ..deployments.deployment import Deployment, Directory
from ..deployments.holders import applies
from ..paths.manifests import kustomization_in
from ..paths.roots import within
from ..rule import Rule
from . import assignment
from .engines import Engines
from .root_files import files_of_root, may_be_ours
from .survey import Root

_REMEDIES = {
    "recurse": "write `directory: {recurse: true}` into its source, or move the file",
    "include": "let `directory.include` match it, or move the file",
    "exclude": "if a cluster should get it, let `directory.exclude` not match it",
    "mark": "if a cluster should get it, remove the mark from it",
}
"""What to do, by what keeps a file out; the last two are meant to."""
_MEANT = ("exclude", "mark")


def findings(engines: Engines, roots: Iterable[Root], tops: Sequence[str]) -> Iterator[Result]:
    """Yield a finding per file about us that Argo CD leaves out of a folder that it applies file by file.

    `roots` are those of all clusters: what one of them reads is not left out. `tops` are the real PATHs.
    """
    directories: dict[str, Deployment] = {}  # many clusters may get one folder: it is walked once
    for deployment in engines.deployments:
        real = deployment.real(engines.top)
        if _is_directory(deployment, real) and any(within(real, top) for top in tops):
            directories.setdefault(real, deployment)
    seen = {path for root in roots for path in files_of_root(root)} if directories else set()
    reasons = dict[str, tuple[str, Deployment]]()
    for real, deployment in directories.items():
        for path in assignment.files_in(real):
            source = os.path.realpath(path)
            is_new = source not in seen and within(source, engines.top)  # the survey reports a link that leads out
            seen.add(source)
            if is_new and may_be_ours(path):
                reasons[path] = _reason(deployment.declaration.directory, os.path.relpath(path, real)), deployment
    for path, (reason, deployment) in sorted(reasons.items()):
        message = (
            f"{deployment.declaration.source.ref} leaves it out of {deployment.path}, and nothing else deploys it, so "
            "no cluster gets it"
        )
        severity = info if reason in _MEANT else warning
        yield severity(message, rule="KRM536", place=Place(os.path.relpath(path)), remedy=_REMEDIES[reason])


def _is_directory(deployment: Deployment, real: str) -> bool:
    return assignment.is_directory(deployment, has_kustomization=bool(kustomization_in(real)))


def _reason(directory: Directory, file: str) -> str:
    """Return what keeps a file, seen from its folder, out: the first option without which Argo CD would apply it."""
    if "/" in file and not directory.recurse:
        return "recurse"
    if not applies(directory._replace(exclude=""), file):
        return "include"
    return "mark" if applies(directory, file) else "exclude"


_APPLICATION = """\
# apps/lab.yaml
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lab, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/fleet.git, path: lab, directory: {recurse: true}}
  destination: {name: lab, namespace: kmm}
---
# lab/gpu/module.yaml
kind: Module
"""
RULES = (
    Rule(
        "KRM536",
        "a file with a config, a Module or a consumer in a folder that Argo CD applies should not be left out of it",
        good=_APPLICATION,
        bad=_APPLICATION.replace("recurse: true", "recurse: false"),
        remedy="Write `directory: {recurse: true}` into the source of the Application, or move the file.",
        held=oracles.ARGOCD_DIRECTORIES,
        severities=("warning", "info"),
    ),
)
"""The rule about files that Argo CD leaves out."""
