"""What is wrong between the clusters of a repository: inventories, nodes, and Argo CD's Applications.

Each node is in one cluster. The paths that an Application watches must hold all files that its cluster is made from.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from krmfn import Field, Item, Manifest, Place, Result, error, warning
from krmfn.printing import counted, some
from krmfn.resource import join
from krmfn.results import Rule

from ..fleet.nodes import names_and_kernels
from ..kmm.lookup import table, tables, text
from ..kmm.module import MODULE_KINDS
from ..paths.roots import parents, within
from ..rendering import function_config, ignoring
from ..run import note, run_of
from ..settings import Intent
from . import idle_inventories
from .config import NAME, Config
from .deployed import Cluster, Clusters, deployed_items
from .survey import Root

_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_FOLDER = re.compile(r"\{\{ *\.?path(?:\.path)? *\}\}")
"""The folder in the template of an ApplicationSet, as it is written with goTemplate and without."""


def check(streams: Clusters, intent: Intent) -> None:
    """Report what is wrong between the clusters of a configuration file, its inventories and its Applications.

    An inventory with the name of another cluster is an error where this is a check: its findings would be about nodes
    of that cluster. Like all findings about nodes it stops nothing else.
    """
    clusters, config = (*streams.clusters, *streams.unassigned), streams.config
    if not config.clusters:
        idle_inventories.check([] if intent.is_old else clusters)
        return
    severity = error if intent.judges_whole and not intent.deploys else warning
    file = config.name
    for cluster in clusters:
        for item in cluster.final.select("NodeInventory", "krmfn.dev"):
            if (name := item.ref.name) in config.clusters and name != cluster.name:
                message = (
                    f"the inventory is in the cluster {cluster.name}, and has the name of another one in "
                    f"{file}; give each cluster its own, or make it again with `--name {cluster.name}`"
                )
                if not cluster.members:
                    message = f"has the name of a cluster in {file}, which does not list it; add this path there"
                finding = severity(message, rule="KRM601", field=Field("metadata.name", name))
                cluster.final.report([item.located(finding)])
            elif cluster.is_unassigned:
                message = f"no cluster of {file} has this inventory, so its nodes count nowhere; add its path there"
                cluster.final.report([item.located(warning(message, rule="KRM524"))])
    if intent.judges_whole and not (intent.deploys or intent.is_old):
        _check_empty(clusters, config)
    if intent.judges_nodes:
        _check_nodes(streams.clusters, config)
        _check_copies(streams.clusters)
    if intent.judges_nodes and intent.judges_whole:
        _check_applications(streams)


def _check_empty(clusters: Sequence[Cluster], config: Config) -> None:
    """Report each cluster of the configuration file of which nothing would be deployed: `render` refuses that."""
    for cluster in clusters:
        members, final = config.clusters.get(cluster.name, ()), cluster.final
        is_read = cluster.is_whole and not any(member.problem for member in members)
        if members and is_read and not final.failed and not deployed_items(final):
            message = (
                f"nothing in {cluster.name} would reach the cluster, which makes Argo CD delete what is there, so "
                "`krmfn render` refuses it; pass --allow-empty there if this is intended"
            )
            facts = (("cluster", cluster.name),)
            final.report([warning(message, rule="KRM522", place=members[0].place, facts=facts)])


def _check_nodes(clusters: Sequence[Cluster], config: Config) -> None:
    """Report each cluster that has Modules and no nodes, if another one has nodes: its nodes cannot be checked."""
    known = [cluster.name for cluster in clusters if any(map(cluster.final.select, ("Node", "NodeInventory")))]
    for cluster in clusters if known else ():
        name, final = cluster.name, cluster.final
        modules = [item for group, kind in MODULE_KINDS for item in final.select(kind, group)]
        if name in known or final.failed or not modules:
            continue
        members = config.clusters.get(name, ())
        subject = f"{name} has" if members else f"{name} is in no cluster of {config.name}, and has"
        target = f"clusters.{name}" if members else "a cluster there, and this path with it"
        message = (
            f"{subject} {counted(len(modules), 'Module')} and no nodes, so it is not known which nodes get a driver "
            f"({some(known, len(known))} have theirs); add an inventory (`krmfn inventory`) to {target}"
        )
        final.report([warning(message, rule="KRM605", place=members[0].place if members else Place(config.name))])


def _check_copies(clusters: Sequence[Cluster]) -> None:
    """Report each inventory that has most of its nodes, with their kernels, in common with another cluster."""
    owners: dict[tuple[str, str], str] = {}
    for cluster in clusters if len(clusters) > 1 else ():
        name, final = cluster.name, cluster.final
        for item in final.select("NodeInventory", "krmfn.dev"):
            nodes = {*names_and_kernels(item)}
            others = Counter(owners.setdefault(node, name) for node in nodes)
            del others[name]
            for other, number in others.most_common(1):
                if number * 2 > len(nodes):
                    message = (
                        f"{number:,} of its {counted(len(nodes), 'node')} are also in the cluster {other}, with the "
                        f"same kernels, so it may be a copy of that inventory; make it again at {name}: "
                        f"`kubectl get nodes -o json | krmfn inventory --name {name}`"
                    )
                    pairs = [(item.ref, item.located(warning(message, rule="KRM613")))]
                    hidden = Counter[frozenset[ignoring.Entry]]()
                    kept = ignoring.not_ignored(pairs, {item.ref: item}, function_config.read(final)[0], hidden)
                    final.report([finding for _, finding in kept])
                    note(final, turned_off=run_of(final).turned_off + hidden.total())


def _check_applications(streams: Clusters) -> None:
    """Report each Application whose `manifest-generate-paths` lack a path that its cluster is made from."""
    pairs = [(cluster, root) for cluster in streams.clusters for root in cluster.roots if root.path]  # stdin has none
    roots = [(cluster, root, os.path.relpath(root.path, streams.config.folder)) for cluster, root in pairs]
    for cluster in (*streams.clusters, *streams.unassigned):
        for kind in ("Application", "ApplicationSet"):
            for item in cluster.final.select(kind, "argoproj.io"):
                cluster.final.report(_unwatched(item, roots, streams.config))


def _unwatched(item: Item, roots: Iterable[tuple[Cluster, Root, str]], config: Config) -> Iterator[Result]:
    """Yield a warning when the paths of an Application lack a path that its cluster is made from.

    Argo CD does not render it again after a commit that changes only that path; without the annotation it does so
    after every commit. `roots` are those of all clusters, each with its cluster and its path in the repository.
    """
    is_set = item.kind == "ApplicationSet"
    keys = ("spec", "template") if is_set else ()
    template = table(item.manifest, *keys)
    source, watched = table(template, "spec", "source"), text(table(template, "metadata", "annotations"), _PATHS)
    written = text(source, "path")
    missing: dict[str, str] = {}
    for cluster, root, folder in roots if written and watched.strip("; ") else ():
        path = _FOLDER.sub(folder, written) if is_set and _generates(item.manifest, folder) else written
        known = _FOLDER.sub(folder, watched)
        if os.path.normpath(path) != folder or "{{" in known:
            continue
        paths = [os.path.normpath(os.path.join("/", folder, part.strip())) for part in known.split(";") if part.strip()]
        for real in _sources(cluster, root, config, has_plugin="plugin" in source):
            name = os.path.normpath(f"/{os.path.relpath(real, config.folder)}")
            if within(real, config.folder) and not _is_watched(name, paths, real):
                top = os.path.dirname(name)
                missing.setdefault(name if top == "/" or os.path.isdir(real) else top, folder)
    if missing:
        message = (
            f"does not name {some([*missing], len(missing))}, which {next(iter(missing.values()))} is made of: after a "
            f"commit that changes nothing else Argo CD keeps its old manifests; add `;{';'.join(missing)}`"
        )
        field = Field(join((*keys, "metadata", "annotations", _PATHS)), watched)
        yield item.located(warning(message, rule="KRM529", field=field))


def _generates(manifest: Manifest, folder: str) -> bool:
    """Return True when a Git generator of an ApplicationSet makes an Application of a folder.

    That is when an entry of its `directories` matches the folder, and none that matches has `exclude`.
    """

    def is_matched(entry: Manifest) -> bool:
        path = PurePosixPath(text(entry, "path"))
        is_as_deep = text(entry, "path").count("/") == folder.count("/")
        return is_as_deep and bool(path.parts) and PurePosixPath(folder).match(str(path))

    generators = [generator.get("git") for _, generator in tables(manifest.get("spec"), "generators")]
    entries = [entry for generator in generators for _, entry in tables(generator, "directories")]
    excludes = [entry.get("exclude") is True for entry in entries if is_matched(entry)]
    return bool(excludes) and not any(excludes)


def _sources(cluster: Cluster, root: Root, config: Config, has_plugin: bool) -> Iterator[str]:
    """Yield the files and folders that an Application is made from; the plugin reads the configuration file, too."""
    for kustomization in root.graph.below(root.path):
        yield kustomization.path
        yield from (reference.real for reference in kustomization.references if reference.kind == "file")
    if has_plugin:
        yield os.path.join(config.folder, NAME)
        yield from (member.real for member in (*cluster.members, *config.profiles))


def _is_watched(name: str, paths: Sequence[str], real: str) -> bool:
    """Return True when one of the paths is a file or a folder above it, or a pattern that matches it.

    A folder is also watched when all YAML files in it are. No `*` of a pattern matches a `/`.
    Source: Argo CD 3.2.1, util/app/path/path.go, AppFilesHaveChanged.
    """
    names = [name]
    if paths and os.path.isdir(real) and not {*parents(name)}.intersection(paths):
        files = (os.path.join(top, file) for top, _, entries in os.walk(real) for file in entries)
        names = [name.rstrip("/") + file[len(real) :] for file in files if file.endswith((".yaml", ".yml"))]

    def is_matched(file: str) -> bool:
        return any(path in (*parents(file),) or PurePosixPath(file).match(path) for path in paths)

    return bool(names) and all(map(is_matched, names))


_APPLICATION = """\
# .krmfn.yaml
clusters: {lab: [lab, inventories]}
---
# lab/config.yaml
kind: DeviceConfig
---
# inventories/lab.yaml
kind: Node
metadata: {name: node-1, labels: {example.com/gpu: "true"}}
---
# argocd/lab.yaml
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: lab
  namespace: argocd
  annotations: {argocd.argoproj.io/manifest-generate-paths: .;/.krmfn.yaml;/inventories}
spec:
  source: {repoURL: https://git.example.com/fleet.git, path: lab, plugin: {name: krmfn}}
"""
RULES = (
    Rule(
        "KRM529",
        "`manifest-generate-paths` of an Argo CD Application in the input should name every path that its folder is "
        "made from",
        good=_APPLICATION,
        bad=_APPLICATION.replace(";/inventories", ""),
        remedy="Add the folder, seen from the root of the repository and with a `/` before it.",
        severities=("warning",),
    ),
)
"""The rule about Applications."""
