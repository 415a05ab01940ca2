"""Argo CD's Applications: the paths that one watches must hold all files that its cluster is made from."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from krmfn import Field, Item, Manifest, Result, warning
from krmfn.printing import some
from krmfn.resource import join

from .. import oracles
from ..deployments import patterns
from ..deployments.deployment import Repository
from ..kmm.lookup import table, tables, text
from ..paths.roots import within
from ..rule import Rule
from .config import NAME, Config
from .deployed import Cluster, Clusters
from .survey import Root

_PATHS = "argocd.argoproj.io/manifest-generate-paths"
_FOLDER = re.compile(r"\{\{ *\.?path(?:\.path)? *\}\}")
"""The folder in the template of an ApplicationSet, as it is written with goTemplate and without."""


def check(streams: Clusters) -> None:
    """Report each Application whose `manifest-generate-paths` lack a path that its cluster is made from."""
    top = streams.config.folder or streams.engines.top
    pairs = [(cluster, root) for cluster in streams.clusters for root in cluster.roots if root.path]  # stdin has none
    roots = [(cluster, root, os.path.relpath(root.path, top)) for cluster, root in pairs if top]
    for cluster in (*streams.clusters, *streams.unassigned):
        for kind in ("Application", "ApplicationSet"):
            for item in cluster.final.where(kind=kind, group="argoproj.io"):
                cluster.final.report(_unwatched(item, roots, streams, top))


def _unwatched(
    item: Item, roots: Iterable[tuple[Cluster, Root, str]], streams: Clusters, repository: str
) -> Iterator[Result]:
    """Yield a warning when the paths of an Application lack a path that its cluster is made from.

    Argo CD does not render it again after a commit that changes only that path; without the annotation it does so
    after every commit. `roots` are those of all clusters, each with its cluster and its path in the `repository`.
    """
    is_set = item.kind == "ApplicationSet"
    keys = ("spec", "template") if is_set else ()
    template = table(item.manifest, *keys)
    sources, watched = _ours(template, streams), text(table(template, "metadata", "annotations"), _PATHS)
    written = [text(source, "path") for source in sources if text(source, "path")]
    if not (sources and watched.strip("; ")):
        return
    of_engine = {reached.path for reached in streams.engines.deployments if reached.declaration.source.ref == item.ref}
    missing: dict[str, str] = {}
    for cluster, root, folder in roots:
        filled = [
            _FOLDER.sub(folder, path) if is_set and _generates(item.manifest, folder) else path for path in written
        ]
        known = _FOLDER.sub(folder, watched)
        if folder not in {*map(os.path.normpath, filled), *of_engine} or "{{" in known:
            continue
        paths = paths_of(known, folder)
        for real in _files_of(cluster, root, streams.config, any("plugin" in source for source in sources)):
            name = os.path.normpath(f"/{os.path.relpath(real, repository)}")
            if within(real, repository) and not _is_watched(name, paths, real):
                above = os.path.dirname(name)
                missing.setdefault(name if above == "/" or os.path.isdir(real) else above, folder)
    if missing:
        message = (
            f"does not name {some([*missing], len(missing))}, which {next(iter(missing.values()))} is made of: after a "
            "commit that changes nothing else Argo CD keeps its old manifests"
        )
        field = Field(join((*keys, "metadata", "annotations", _PATHS)), watched)
        remedy = f"add `;{';'.join(missing)}`" + _near_misses(watched, missing)
        yield item.located(warning(message, rule="KRM529", field=field, remedy=remedy))


def _near_misses(watched: str, missing: Iterable[str]) -> str:
    """Return why patterns of the annotation that match a missing folder do not cover it; "" without one."""
    written = [part.strip() for part in watched.split(";") if part.strip().startswith("/")]
    matching = [part for part in written if any(patterns.of_folders(folder, part) for folder in missing)]
    return f"; {matching[0]} matches the folder alone, since no `*` there matches a `/`" if matching else ""


def _ours(template: Manifest, streams: Clusters) -> list[Manifest]:
    """Return the sources of an Application, or of a template of one, that are in this repository."""
    spec, repository = table(template, "spec"), Repository(streams.engines.urls)
    sources = [table(spec, "source"), table(spec, "sourceHydrator", "drySource")]
    sources += [source for _, source in tables(spec, "sources")]
    return [source for source in filter(None, sources) if _is_ours(text(source, "repoURL"), repository)]


def _is_ours(url: str, repository: Repository) -> bool:
    return not url or repository.is_ours(url)


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


def _files_of(cluster: Cluster, root: Root, config: Config, has_plugin: bool) -> Iterator[str]:
    """Yield the files and folders that an Application is made from; the plugin reads the configuration file, too."""
    for kustomization in root.graph.below(root.path):
        yield kustomization.path
        yield from (reference.real for reference in kustomization.references if reference.kind == "file")
    if has_plugin and config.folder:
        yield os.path.join(config.folder, NAME)
        yield from (member.real for member in (*cluster.members, *config.profiles))


def _is_watched(name: str, paths: Sequence[str], real: str) -> bool:
    """Return True when one of the paths is a file or a folder above it, or a pattern that matches it.

    A folder is also watched when all YAML files in it are.
    """
    names = [name]
    if paths and os.path.isdir(real):
        if any(within(name, os.path.normpath(path)) for path in paths):
            return True
        files = (os.path.join(top, file) for top, _, entries in os.walk(real) for file in entries)
        names = [name.rstrip("/") + file[len(real) :] for file in files if file.endswith((".yaml", ".yml"))]
    return bool(names) and all(is_covered(file, paths) for file in names)


def paths_of(watched: str, folder: str) -> list[str]:
    """Return the paths that the annotation of an Application names, whose source has the path `folder`.

    Source: Argo CD 3.2.1, util/app/path/path.go, GetAppRefreshPaths; later versions remove white space around a path.
    """
    parts = [part.strip() for part in watched.split(";") if part.strip()]
    return [part if part.startswith("/") else f"/{os.path.normpath(os.path.join(folder, part))}" for part in parts]


def is_covered(file: str, paths: Sequence[str]) -> bool:
    """Return whether a change of a file has an Application rendered anew: a path is above it, or a pattern matches it.

    No `*` of a pattern matches a `/`. Source: as above, AppFilesHaveChanged.
    """
    folder = os.path.dirname(file)
    return any(
        file == path or within(folder, os.path.normpath(path)) or patterns.of_folders(file, path) for path in paths
    )


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
        held=oracles.ARGOCD_PATHS,
        severities=("warning",),
    ),
)
"""The rule about Applications."""
