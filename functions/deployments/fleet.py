"""Rancher Fleet: which folders a GitRepo makes bundles of, and for which clusters.

Source: Fleet 0.13, docs/gitrepo-content, docs/gitrepo-targets and docs/ref-fleet-yaml. A folder of `paths` is a bundle,
and so is each folder below it with a fleet.yaml of its own. `targetCustomizations` change a bundle, and choose nothing.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence

from krmfn import Manifest

from ..kmm.lookup import table, tables, text, texts
from . import names, patterns
from .deployment import Declaration, Declared, EngineObject, How, Repository, additions_of, covers, normal_path

GROUP = "fleet.cattle.io"
BUNDLES = ("fleet.yml", "fleet.yaml")
"""The names of the file of a bundle; the last one counts where both are there (internal/fleetyaml)."""
_ADDITIONS = ("namespace", "helm", "yaml", "labels", "targetCustomizations", "targets")
_LOCAL = "fleet-local"
"""The namespace of the cluster that Fleet itself runs in."""


def declared(objects: Sequence[EngineObject], repository: Repository) -> Declared:
    """Return what the GitRepos among some objects deploy of this repository."""
    declarations: dict[Declaration, None] = {}
    for item in objects:
        if (item.ref.group, item.ref.kind) == (GROUP, "GitRepo"):
            spec = table(item.manifest, "spec")
            if repository.is_ours(text(spec, "repo")):
                for path in _bundles(texts(spec, "paths") or ["."], repository):
                    declarations.update(dict.fromkeys(_declarations(item, path, repository)))
    return Declared(tuple(declarations))


def _bundles(paths: Sequence[str], repository: Repository) -> list[str]:
    """Return the folders of the bundles that some paths, perhaps with wildcards, make."""
    tops = list[str]()
    for path in map(normal_path, paths):
        is_glob = any(sign in path for sign in "*?[\\")
        tops += [folder for folder in repository.folders if patterns.of_folders(folder, path)] if is_glob else [path]
    inner = [folder for folder in repository.bundles if any(covers(top, folder) for top in tops)]
    return list(dict.fromkeys([top for top in tops if top in repository.bundles or not inner] + inner or tops))


def _declarations(item: EngineObject, path: str, repository: Repository) -> Iterator[Declaration]:
    """Yield the bundle in a folder once for each cluster."""
    bundle = repository.bundles.get(path, {})
    folder = normal_path(posixpath.join(path, text(table(bundle, "kustomize"), "dir")))
    additions, is_kept = additions_of(bundle, _ADDITIONS), bundle.get("keepResources") is True
    chart = table(bundle, "helm")
    how: How = "helm" if text(chart, "chart") or text(chart, "repo") or path in repository.charts else "raw"
    targets = [target for _, target in tables(bundle, "overrideTargets")]
    targets = targets or [target for _, target in tables(table(item.manifest, "spec"), "targets")]
    for cluster, unknown in _clusters(item, targets):
        spec = table(item.manifest, "spec")
        yield Declaration(
            *(folder, "fleet", how, item.origin, cluster, unknown),
            additions=additions,
            is_suspended=spec.get("paused") is True,
            revision=text(spec, "revision"),
            bundle=path,
            kept_by="keepResources is true" if spec.get("keepResources") is True or is_kept else "",
        )


def _clusters(item: EngineObject, targets: Sequence[Manifest]) -> Iterator[tuple[str, str]]:
    """Yield (name, which they are) of the clusters of some targets; the name is "" where it is not known."""
    if item.ref.namespace == _LOCAL:
        yield "", ""
        return
    if not targets:
        yield "", "the cluster group default of Fleet"
    for target in targets:
        if name := text(target, "clusterName"):
            yield names.key_of(name), ""
        elif group := text(target, "clusterGroup"):
            yield "", f"the cluster group {group} of Fleet"
        elif "clusterSelector" in target or "clusterGroupSelector" in target:
            yield "", f"{names.EVERY['fleet']}{_conditions(target)}"
        else:
            yield "", "the clusters of a target of Fleet without a selector"


def _conditions(target: Mapping[str, object]) -> str:
    """Return by which labels the selectors of a target choose clusters, in words; "" for all clusters."""
    selectors = [table(target, field) for field in ("clusterSelector", "clusterGroupSelector")]
    labels = [f"{key}={value}" for selector in selectors for key, value in table(selector, "matchLabels").items()]
    expressions = (tables(selector, "matchExpressions") for selector in selectors)
    labels += [text(expression, "key") for rows in expressions for _, expression in rows]
    groups = " in a cluster group" if "clusterGroupSelector" in target else ""
    return f"{groups}{' with ' + ', '.join(labels) if labels else ''}"
