"""What engines change after krmfn: it is told where it changes a Module or its consumer, and is not judged.

What they write into a kustomization that they build is judged (see `edited_roots`).
"""

from collections.abc import Iterator, Sequence

from krmfn import Field, Item, ResourceList, Result, warning
from krmfn.resource import join

from .. import oracles
from ..deployments.additions import affects, holds, variables
from ..deployments.deployment import Addition, Deployment
from ..kmm.lookup import strings
from ..kmm.module import MODULE_KINDS, VARIABLES
from ..paths.roots import within
from ..rule import Rule
from .deployed import Cluster, Clusters
from .reached import NAMES, configs_in, place_of, reached_by_each

_READY = "kmm.node.kubernetes.io/"


def check(streams: Clusters, top: str) -> None:
    """Report what engines add to Modules and consumers, and variables of theirs in configs that krmfn renders."""
    for cluster in streams.clusters:
        if not any(deployment.declaration.additions for deployment in cluster.deployments):
            continue
        configs, of_kmm = (dict(reached_by_each(cluster, top, choose)) for choose in (configs_in, _of_kmm))
        for deployment in cluster.deployments:
            if deployment.declaration.additions:
                is_raw = deployment.declaration.how == "raw" and configs[deployment]  # these have an error
                changes = [] if is_raw else _changes(cluster, deployment, top, of_kmm[deployment])
                cluster.final.report([*changes, *_variables(deployment, configs[deployment])])


def _changes(cluster: Cluster, deployment: Deployment, top: str, items: Sequence[Item]) -> Iterator[Result]:
    """Yield a warning about the additions that change one of the Modules and consumers that are deployed."""
    declaration = deployment.declaration
    is_renamed = _is_renamed(cluster, deployment, top)
    rest = [addition for addition in declaration.additions if addition not in _written(cluster, deployment, top)]
    fields = [addition.field for addition in rest if items and affects(addition, items, is_renamed)]
    if fields:
        others = f" and {len(items) - 1:,} more" if items[1:] else ""
        message = (
            f"{NAMES[declaration.engine]} adds {_listed(fields)} to {items[0].ref}{others} after krmfn, so "
            "what is judged is not what is applied"
        )
        yield warning(
            message,
            rule="KRM547",
            ref=declaration.source.ref,
            place=place_of(deployment, top),
            remedy=f"write it into the kustomization of {deployment.path}",
        )


def _written(cluster: Cluster, deployment: Deployment, top: str) -> Sequence[Addition]:
    """Return the additions of a deployment with which its root was built."""
    declared, real = deployment.declaration.additions, deployment.real(top)
    built = [root.additions for root in cluster.roots if root.path == real and {*root.additions} <= {*declared}]
    return max(built, key=len, default=())


def _is_renamed(cluster: Cluster, deployment: Deployment, top: str) -> bool:
    """Return whether a kustomization in the folder of a deployment gives names or namespaces to all its resources."""
    real = deployment.real(top)
    roots = [root for root in cluster.roots if root.kind == "kustomization" and within(root.path, real)]
    changes = [root.graph.transformed(root.path) for root in roots]
    return any(change.prefixes or change.suffixes or change.namespaces for change in changes)


def _listed(fields: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(fields[:-1]), fields[-1]]))


def _of_kmm(part: ResourceList) -> Sequence[Item]:
    return [item for item in part.items if (item.group, item.kind) in MODULE_KINDS or holds(item, _READY)]


def _variables(deployment: Deployment, configs: Sequence[Item]) -> Iterator[Result]:
    """Yield a warning per text of a config with a variable of Flux's postBuild, which krmfn's objects keep as it is."""
    for addition in deployment.declaration.additions:
        if addition.field != "postBuild":
            continue
        names, source = variables(addition), deployment.declaration.source.ref
        for item in configs:
            for path, text, _ in strings(item.manifest) if item.mentions("${") else ():
                if name := _variable(text, names):
                    message = (
                        f"${{{name}}} is for the postBuild of {source}, which replaces nothing in what krmfn makes of "
                        "it"
                    )
                    yield item.located(
                        warning(message, rule="KRM548", field=Field(join(path)), remedy="write the value")
                    )


def _variable(text: str, names: frozenset[str] | None) -> str:
    """Return the first variable of Flux in a text; `names` are the known ones, and None stands for all but KMM's."""
    for part in text.split("${")[1:]:
        name = part.split("}")[0].split(":")[0]
        is_other = name.isidentifier() and name not in VARIABLES and not name.startswith("KRMFN_")
        if name in names if names is not None else is_other:
            return name
    return ""


_RENDERED = """\
# clusters/lab/drivers.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: drivers, namespace: flux-system}
spec:
  path: ./drivers
  prune: true
  sourceRef: {kind: GitRepository, name: rendered}
---
# clusters/lab/source.yaml
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rendered, namespace: flux-system}
spec: {url: "https://git.example.com/fleet.git", ref: {branch: rendered}}
---
# drivers/kustomization.yaml
resources: [module.yaml]
---
# drivers/module.yaml
kind: Module
"""
_CONFIG = """\
# clusters/lab/drivers.yaml
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: drivers, namespace: flux-system}
spec:
  path: ./drivers
  prune: true
  sourceRef: {kind: GitRepository, name: rendered}
  postBuild: {substitute: {MODE: safe}}
---
# clusters/lab/source.yaml
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rendered, namespace: flux-system}
spec: {url: "https://git.example.com/fleet.git", ref: {branch: rendered}}
---
# drivers/kustomization.yaml
resources: [config.yaml]
---
# drivers/config.yaml
kind: DeviceConfig
spec: {parameters: ["mode=safe"]}
"""
RULES = (
    Rule(
        "KRM547",
        "an engine should not change Modules and their consumers after krmfn has judged them",
        good=_RENDERED,
        bad=_RENDERED.replace("  prune: true\n", "  prune: true\n  targetNamespace: other\n"),
        remedy="Write the change into the kustomization of the folder, where it is judged, and remove it from the "
        "object of the engine.",
        held=oracles.ENGINE_KINDS,
        severities=("warning",),
    ),
    Rule(
        "KRM548",
        "a config should hold no variable of Flux's postBuild, which replaces nothing in what krmfn makes of it",
        good=_CONFIG,
        bad=_CONFIG.replace("mode=safe", "mode=${MODE}"),
        remedy="Write the value, or let an overlay of kustomize set it for each cluster.",
        held=oracles.FLUX_KUSTOMIZATION,
        severities=("warning",),
    ),
)
"""The rules about what engines add."""
