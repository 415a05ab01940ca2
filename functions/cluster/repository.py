"""What is wrong between the clusters of a repository: inventories, nodes, and Argo CD's Applications.

Each cluster has its own nodes, and no other's. What a cluster is made of has to be among the paths that its Application
watches.
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
from . import config as configs
from .config import Config
from .deployed import Cluster, Clusters, deployed
from .survey import Root

_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_FOLDER = re.compile(r"\{\{ *\.?path(?:\.path)? *\}\}")
"""What stands for the folder in the template of an ApplicationSet, with goTemplate and without."""


def check(laid: Clusters, intent: Intent) -> None:
    """Report what is wrong between the clusters of a configuration file, its inventories and its Applications.

    An inventory may have the name of another cluster, or be in none. What is said of the nodes of another cluster fails
    a check; like all about nodes it stops nothing else.
    """
    made, config = (*laid.clusters, *laid.unassigned), laid.config
    if not config.clusters:
        return
    severity = error if intent.judges_whole and not intent.deploys else warning
    for one in made:
        for item in one.final.select("NodeInventory", "krmfn.dev"):
            if (name := item.ref.name) in config.clusters and name != one.name:
                message = (
                    f"the inventory is in the cluster {one.name}, and has the name of another one in "
                    f"{config.name}; give each cluster its own, or make it again with `--name {one.name}`"
                )
                if not one.members:
                    message = f"has the name of a cluster in {config.name}, which does not list it; add this path there"
                finding = severity(message, rule="KRM601", field=Field("metadata.name", name))
                one.final.report([item.located(finding)])
            elif one.is_unassigned:
                message = (
                    f"no cluster of {config.name} has this inventory, so its nodes count nowhere; add its path there"
                )
                one.final.report([item.located(warning(message, rule="KRM524"))])
    if intent.judges_whole and not (intent.deploys or intent.is_old):
        _check_empty(made, config)
    if intent.judges_nodes:
        _check_known(laid.clusters, config)
        _check_copied(laid.clusters)
    if intent.judges_nodes and intent.judges_whole:
        _check_applications(laid)


def _check_empty(made: Sequence[Cluster], config: Config) -> None:
    """Report a cluster of the configuration file of which nothing would be deployed: `render` refuses that."""
    for one in made:
        members = config.clusters.get(one.name)
        is_read = one.is_whole and not any(member.problem for member in members or ())
        if members and is_read and not one.final.failed and not deployed(one.final):
            message = (
                f"nothing in {one.name} would reach the cluster, which makes Argo CD delete what is there, so "
                "`krmfn render` refuses it; pass --allow-empty there if this is intended"
            )
            one.final.report([warning(message, rule="KRM522", place=members[0].place)])


def _check_known(made: Sequence[Cluster], config: Config) -> None:
    """Report a cluster that has Modules and no nodes, where another one has some: all is said to be well there."""
    known = [one.name for one in made if any(map(one.final.select, ("Node", "NodeInventory")))]
    for one in made if known else ():
        name, modules = one.name, [item for kind in MODULE_KINDS for item in one.final.select(kind[1], kind[0])]
        if name in known or one.final.failed or not modules:
            continue
        members = config.clusters.get(name, ())
        what = f"{name} has" if members else f"{name} is in no cluster of {config.name}, and has"
        where = f"clusters.{name}" if members else "a cluster there, and this path with it"
        message = (
            f"{what} {counted(len(modules), 'Module')} and no nodes, so it is not known which nodes get a driver "
            f"({some(known, len(known))} have theirs); add an inventory (`krmfn inventory`) to {where}"
        )
        place = members[0].place if members else Place(config.name)
        one.final.report([warning(message, rule="KRM605", place=place)])


def _check_copied(made: Sequence[Cluster]) -> None:
    """Report an inventory most of whose nodes, with their kernels, are those of another cluster: it may be a copy."""
    owners: dict[tuple[str, str], str] = {}
    for one in made if len(made) > 1 else ():
        for item in one.final.select("NodeInventory", "krmfn.dev"):
            held = {*names_and_kernels(item)}
            others = Counter(owner for node in held if (owner := owners.setdefault(node, one.name)))
            del others[one.name]
            for other, number in others.most_common(1):
                if number * 2 > len(held):
                    message = (
                        f"{number:,} of its {counted(len(held), 'node')} are also in the cluster {other}, with the "
                        f"same kernels, so it may be a copy of that inventory; make it again at {one.name}: "
                        f"`kubectl get nodes -o json | krmfn inventory --name {one.name}`"
                    )
                    found = [(item.ref, item.located(warning(message, rule="KRM613")))]
                    hidden = Counter[frozenset[ignoring.Hidden]]()
                    kept = ignoring.not_ignored(found, {item.ref: item}, function_config.read(one.final)[0], hidden)
                    one.final.report([finding for _, finding in kept])
                    note(one.final, turned_off=run_of(one.final).turned_off + hidden.total())


def _check_applications(laid: Clusters) -> None:
    """Report each Application that Argo CD would not render anew after some change of its cluster."""
    config = laid.config
    every = [(one, root) for one in laid.clusters for root in one.roots if root.path]  # stdin has none
    roots = [(cluster, root, os.path.relpath(root.path, config.folder)) for cluster, root in every]
    for one in (*laid.clusters, *laid.unassigned):
        for kind in ("Application", "ApplicationSet"):
            for item in one.final.select(kind, "argoproj.io"):
                one.final.report(_unwatched(item, roots, config))


def _unwatched(item: Item, roots: Iterable[tuple[Cluster, Root, str]], config: Config) -> Iterator[Result]:
    """Yield a warning when the paths of an Application lack what its cluster is made of.

    Without the annotation Argo CD looks at every commit.
    """
    is_set = item.kind == "ApplicationSet"
    path = ("spec", "template") if is_set else ()
    template = table(item.manifest, *path)
    source, watched = table(template, "spec", "source"), text(table(template, "metadata", "annotations"), _PATHS)
    written = text(source, "path")
    lacking: dict[str, str] = {}
    for cluster, root, folder in roots if written and watched.strip("; ") else ():
        own = _FOLDER.sub(folder, written) if is_set and _makes(item.manifest, folder) else written
        if os.path.normpath(own) != folder or "{{" in (paths := _FOLDER.sub(folder, watched)):
            continue
        known = [os.path.normpath(os.path.join("/", folder, one.strip())) for one in paths.split(";") if one.strip()]
        for real in _read(cluster, root, config, has_plugin="plugin" in source):
            name = os.path.normpath(f"/{os.path.relpath(real, config.folder)}")
            if within(real, config.folder) and not _is_watched(name, known, real):
                top = os.path.dirname(name)
                lacking.setdefault(name if top == "/" or os.path.isdir(real) else top, folder)
    if lacking:
        message = (
            f"does not name {some([*lacking], len(lacking))}, which {next(iter(lacking.values()))} is made of: after a "
            f"commit that changes nothing else Argo CD keeps its old manifests; add `;{';'.join(lacking)}`"
        )
        field = Field(join((*path, "metadata", "annotations", _PATHS)), watched)
        yield item.located(warning(message, rule="KRM529", field=field))


def _makes(manifest: Manifest, folder: str) -> bool:
    """Return True when a Git generator of an ApplicationSet makes an Application of a folder."""
    generators = (each.get("git") for _, each in tables(manifest.get("spec"), "generators"))
    found = (one for each in generators for _, one in tables(each, "directories"))
    deep = (one for one in found if text(one, "path").count("/") == folder.count("/"))
    named = ((one, PurePosixPath(text(one, "path"))) for one in deep)
    outs = [one.get("exclude") is True for one, path in named if path.parts and PurePosixPath(folder).match(str(path))]
    return bool(outs) and not any(outs)


def _read(cluster: Cluster, root: Root, config: Config, has_plugin: bool) -> Iterator[str]:
    """Yield the files and folders that an Application is made of; the plugin reads the configuration file, too."""
    for one in root.graph.below(root.path):
        yield one.path
        yield from (reference.real for reference in one.references if reference.kind == "file")
    if has_plugin:
        yield os.path.join(config.folder, configs.NAME)
        yield from (member.real for member in (*cluster.members, *config.profiles))


def _is_watched(name: str, known: Sequence[str], real: str) -> bool:
    """Return True when one of the paths is a file or a folder above it, or patterns fit it; for a folder all in it.

    No `*` of a pattern fits a `/`. Source: Argo CD 3.2.1, util/app/path/path.go, AppFilesHaveChanged.
    """
    names = [name]
    if known and os.path.isdir(real) and not {*parents(name)}.intersection(known):
        inside = (os.path.join(at, one) for at, _, files in os.walk(real) for one in files)
        names = [name.rstrip("/") + one[len(real) :] for one in inside if one.endswith((".yaml", ".yml"))]
    fitting = (any(one in (*parents(each),) or PurePosixPath(each).match(one) for one in known) for each in names)
    return bool(names) and all(fitting)


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
        "`manifest-generate-paths` of an Argo CD Application in the input should name all that its folder is made of",
        good=_APPLICATION,
        bad=_APPLICATION.replace(";/inventories", ""),
        remedy="Add the folder, seen from the root of the repository and with a `/` before it.",
        severities=("warning",),
    ),
)
"""The rule about Applications."""
