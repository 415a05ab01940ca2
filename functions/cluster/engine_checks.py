"""How engines deploy what was judged: configs applied as they are, Modules made anew, roots that nothing deploys."""

import os
from collections.abc import Iterator, Sequence

from krmfn import Item, Place, ResourceList, Result, error, warning
from krmfn.ownership import OWNER
from krmfn.printing import some

from .. import oracles
from ..deployments.holders import applies
from ..kmm.module import MODULE_KINDS
from ..rendering.kinds import of_kinds
from ..rule import Rule
from .deployed import Cluster, Clusters
from .raw_configs import others, raw_configs
from .reached import NAMES, configs_in, place_of, reached_by_each


def check(streams: Clusters, top: str) -> None:
    """Report configs that an engine applies as they are, and roots with something of ours that nothing deploys.

    `top` is the root of the repository. The findings stop nothing else.
    """
    for cluster in streams.clusters:
        cluster.final.report(raw_configs(cluster, top))
        cluster.final.report(_refused(cluster, top))
        cluster.final.report(_made_anew(cluster, top))
        cluster.final.report(_jsonnet(cluster, top))
    if lonely := _lonely(streams):
        lonely[0].final.report([_undeployed(lonely, streams.engines.templates)])


def check_apart(streams: Clusters) -> None:
    """Report several roots with something of ours in a repository without any object of an engine.

    Each is judged as a cluster of its own; nobody but its user knows whether they are parts of one.
    """
    lonely = _lonely(streams)
    if lonely[1:]:
        lonely[0].final.report([_undeployed(lonely, ())])


def _lonely(streams: Clusters) -> list[Cluster]:
    """Return the clusters that hold something of ours and that no object of an engine deploys."""
    return [cluster for cluster in streams.clusters if not cluster.deployments and has_ours(cluster)]


def _undeployed(lonely: Sequence[Cluster], templates: Sequence[str]) -> Result:
    """Return the warning about roots that nothing deploys, at the first config or Module in them.

    `templates` are files of which Helm makes objects of engines: one of those may do so.
    """
    helms = f" (what Helm makes of {some(templates, len(templates), 1)} may)" if templates else ""
    items = [item for cluster in lonely for _, part in cluster.parts for item in _ours(part)]
    items = [item for item in items if OWNER not in item.annotations] or items
    if lonely[1:]:
        names = [cluster.name for cluster in lonely]
        message = f"no object of an engine deploys {some(names, len(names))}{helms}, so they are judged apart"
        roots = ", ".join(root.name for cluster in lonely for root in cluster.roots)
        remedy = f"if they reach one cluster, write `clusters: {{NAME: [{roots}]}}` into .krmfn.yaml"
        return warning(message, rule="KRM544", remedy=remedy)
    message = (
        f"no object of an engine deploys it{others(items)}{helms}, so it is judged as if a cluster of its own got it"
    )
    remedy = "if a cluster gets it, `krmfn clusters --write` writes .krmfn.yaml, to name its folder there"
    return items[0].located(warning(message, rule="KRM544", remedy=remedy))


def has_ours(cluster: Cluster) -> bool:
    """Return True for a cluster that holds a config or a Module."""
    return any(map(_ours, (part for _, part in cluster.parts)))


def _ours(part: ResourceList) -> list[Item]:
    """Return the configs and Modules in a list."""
    return [*configs_in(part), *of_kinds(part.items, MODULE_KINDS)]


def _refused(cluster: Cluster, top: str) -> Iterator[Result]:
    """Yield an error per object of an engine that it refuses, where that deploys configs or Modules.

    Source: Argo CD 3.2, util/io/path, Path: app path is absolute.
    """
    for deployment, holders in reached_by_each(cluster, top, _ours):
        declaration = deployment.declaration
        if declaration.refused and holders:
            engine, path = NAMES[declaration.engine], deployment.path
            message = f"{engine} refuses {declaration.refused}, so nothing of that folder reaches the cluster"
            place, remedy = place_of(deployment, top), f"write `path: {path}`"
            yield error(message, rule="KRM543", ref=declaration.source.ref, place=place, remedy=remedy)


def _jsonnet(cluster: Cluster, top: str) -> Iterator[Result]:
    """Yield a warning for each directory in which Argo CD runs jsonnet: what that gives is not known."""
    directories = {root.path for root in cluster.roots if root.kind == "files"}
    for deployment in cluster.deployments:
        real, declaration = deployment.real(top), deployment.declaration
        if (declaration.engine, declaration.how) != ("argocd", "raw") or real not in directories:
            continue
        below = (os.path.join(folder, name) for folder, _, names in os.walk(real) for name in sorted(names))
        paths = [path for path in below if path.endswith(".jsonnet")]
        paths = [path for path in paths if applies(declaration.directory, os.path.relpath(path, real))]
        if paths:
            others = f" and {len(paths) - 1:,} more here" if paths[1:] else ""
            message = f"Argo CD runs this{others}, and krmfn does not: what it gives to {deployment.path} is not judged"
            place, remedy = Place(os.path.relpath(paths[0])), "keep that in files instead"
            yield warning(message, rule="KRM534", place=place, remedy=remedy)


def _made_anew(cluster: Cluster, top: str) -> Iterator[Result]:
    """Yield a warning per object of an engine that deletes Modules and makes them anew where it cannot change them."""
    for deployment, holders in reached_by_each(cluster, top, _ours):
        declaration = deployment.declaration
        if declaration.anew and holders:
            engine = NAMES[declaration.engine]
            message = (
                f"{engine} deletes and recreates what it cannot change of {deployment.path}, so all nodes of its "
                "Modules unload and load them again"
            )
            yield warning(
                message,
                rule="KRM618",
                ref=declaration.source.ref,
                place=place_of(deployment, top),
                remedy=f"remove `{declaration.anew}` from spec",
            )


_APPLIED = """\
# apps/lab.yaml
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lab, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/fleet.git, path: lab, plugin: {name: krmfn}}
  destination: {name: lab, namespace: kmm}
---
# lab/config.yaml
kind: DeviceConfig
"""
RULES = (
    Rule(
        "KRM544",
        "a root with configs or Modules should be deployed by an engine, if others are, and be in a cluster of "
        ".krmfn.yaml, if that names clusters",
        good=_APPLIED,
        bad=f"{_APPLIED}---\n# one/config.yaml\nkind: DeviceConfig\n---\n# one/kustomization.yaml\nresources: "
        "[config.yaml]\n---\n# two/config.yaml\nkind: DeviceConfig\n---\n# two/kustomization.yaml\nresources: "
        "[config.yaml]\n",
        remedy="Write the roots that reach one cluster under `clusters` in .krmfn.yaml.",
        held=oracles.OUR_FILES,
        severities=("warning",),
    ),
    Rule(
        "KRM545",
        "a config must be rendered before its engine applies it: by the plugin of Argo CD, or in CI into a branch",
        good=_APPLIED,
        bad=_APPLIED.replace(", plugin: {name: krmfn}", ""),
        remedy="Name the plugin in the Application, or let CI render into a branch that the engine applies.",
        held=oracles.ENGINE_KINDS,
        severities=("error", "warning"),
    ),
    Rule(
        "KRM618",
        "an engine that applies Modules should not recreate what it cannot change",
        good=_APPLIED,
        bad=_APPLIED.replace("destination:", "syncPolicy: {syncOptions: [Replace=true]}\n  destination:"),
        remedy="Remove `Replace=true` from `syncPolicy.syncOptions` of the Application, or `force` from Flux's "
        "Kustomization; write it as an annotation of the objects that need it.",
        held=oracles.GITOPS_ENGINE,
        severities=("warning",),
    ),
)
"""The rules about how engines deploy."""
