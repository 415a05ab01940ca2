"""Argo CD's Applications in the input: what a cluster is made of has to be among the paths that they watch."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from krmfn import Field, Item, Manifest, Result, warning
from krmfn.printing import some
from krmfn.resource import join
from krmfn.results import Rule

from ..kmm.lookup import table, tables, text
from ..paths.roots import parents, within
from ..settings import Intent
from . import config as configs
from .config import Config
from .deployed import Cluster, Clusters
from .survey import Root

_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_FOLDER = re.compile(r"\{\{ *\.?path(?:\.path)? *\}\}")
"""What stands for the folder in the template of an ApplicationSet, with goTemplate and without."""


def check(laid: Clusters, intent: Intent) -> None:
    """Report each Application that Argo CD would not render anew after some change of its cluster."""
    config = laid.config
    if not (config.clusters and intent.judges_whole and intent.judges_nodes):
        return
    every = [(one, root) for one in laid.clusters for root in one.roots if root.path]  # stdin has none
    roots = [(cluster, root, os.path.relpath(root.path, config.folder)) for cluster, root in every]
    for one in (*laid.clusters, *laid.apart):
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
