"""The files that a cluster, a root or a build of a folder is made from, as the graph of its kustomizations has them."""

import os
from collections.abc import Iterable

from krmfn import KrmfnError

from ..kustomization.graph import Kustomization
from ..paths import files, manifests, templates
from .deployed import Cluster
from .survey import Root


def may_be_ours(path: str) -> bool:
    """Return whether a file may hold something of ours, of KMM, or a consumer of it; so may what cannot be read."""
    try:
        return templates.is_about_us(files.read_regular(os.path.realpath(path), path))
    except KrmfnError:
        return True


def files_of_cluster(cluster: Cluster) -> list[str]:
    """Return the paths of the files that a cluster is made from, and of those beside its kustomizations."""
    return [path for root in cluster.all_roots for path in files_of_root(root)]


def number_of_files(clusters: Iterable[Cluster], configuration: str = "") -> int:
    """Return how many files some clusters are made from, each once, with the configuration file where there is one."""
    roots = [root for cluster in clusters for root in cluster.all_roots]
    paths = {path for root in roots for path in files_of_root(root)}
    paths |= {os.path.realpath(configuration)} if configuration else set()
    folders = {root.path for root in roots if not root.files}  # a root without files is its folder
    return sum(path not in folders or not os.path.isdir(path) for path in paths)


def files_of_root(root: Root) -> list[str]:
    """Return the paths of the files that a root is made from, and of those beside its kustomization."""
    paths = [file.real for file in root.files]
    paths += files_below(root, root.path) if root.kind == "kustomization" else []
    return paths if paths or root.kind != "files" else [root.path]


def files_below(root: Root, folder: str) -> list[str]:
    """Return the paths of the files that a build of a folder reads, in the graph of a root."""
    nodes = root.graph.below(folder)
    # what Flux writes for a folder is no file of the repository
    written = {root.path} if root.is_generated else set[str]()
    return [path for node in nodes for path in ([] if node.folder in written else [node.path]) + _listed(node)]


def _listed(node: Kustomization) -> list[str]:
    """Return the paths of the files that a kustomization lists; with an error in it, of any that it may mean.

    A misspelt name may be meant for what stands beside it.
    """
    charts = [path for link in node.references if link.kind == "chart" for path in _files_of_chart(link.real)]
    if not any(finding.severity == "error" for finding in node.findings):
        return [*charts, *(link.real for link in node.references if link.kind == "file")]
    beside = [os.path.join(node.folder, name) for name in os.listdir(node.folder) if name.endswith(manifests.SUFFIXES)]
    return [path for path in (*charts, *beside, *(link.real for link in node.references)) if os.path.isfile(path)]


def _files_of_chart(folder: str) -> list[str]:
    """Return the paths of the files of a chart in the repository."""
    return [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names]
