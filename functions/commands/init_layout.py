"""What `init` finds in a repository that has a layout: where its clusters stand, and who says so."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path, PurePosixPath

from krmfn import KrmfnError
from krmfn.streams import Log
from krmfn.typed import Any, NamedTuple

from ..cluster import cluster_streams
from ..cluster.deployed import Clusters
from ..cluster.root_files import files_of_cluster
from ..cluster.word_reader import Reader
from ..command import Context
from ..importing.beginnings import Spot
from ..options import RunOptions
from ..paths import files, git, manifests
from ..settings import LOOK
from ..sources import Sources

_DEPLOYED = ("plugin", "render")


class Layout(NamedTuple):
    """What a repository says of its clusters; empty where it says nothing."""

    roots: Mapping[str, Sequence[str]] = {}  # read only
    """The folders of each cluster, from the root of the repository; first those that krmfn renders."""
    engine: str = ""
    """The engine whose objects say so; "" for the configuration file."""
    streams: Clusters = Clusters()


def layout_of(top: str, log: Log) -> Layout:
    """Return the layout of a repository, as `krmfn clusters` reads it. Raises KrmfnError where it cannot be read."""
    context = Context(RunOptions(everything=True), LOOK, log, Sources())
    streams = cluster_streams.layout_of(context, [os.path.relpath(top)])
    name = streams.config.name
    for finding in () if streams.config.clusters else streams.findings:
        if name and finding.severity == "error" and finding.place and finding.place.path == name:
            raise KrmfnError(f"{name} cannot be read, so where clusters stand is not known: {finding.message}")
    roots: dict[str, list[str]] = {}
    if streams.config.clusters:
        for name, members in streams.config.clusters.items():
            folders = [member.real for member in members if not Path(member.real).suffix or Path(member.real).is_dir()]
            if folders:
                inside = [os.path.relpath(folder, top) for folder in folders]
                roots[name] = sorted(inside, key=lambda path: not manifests.kustomization_in(f"{top}/{path}"))
        return Layout(roots, "", streams)
    deployed = [entry for entry in streams.engines.deployments if entry.declaration.engine != "none"]
    deployments = sorted(deployed, key=lambda deployment: deployment.declaration.how not in _DEPLOYED)
    for deployment in deployments:
        roots.setdefault(deployment.cluster, []).append(deployment.path)
    engine = deployments[0].declaration.engine if deployments else ""
    return Layout(roots, engine, streams)


def spots_of(layout: Layout, top: str, names: Sequence[str]) -> dict[str, Spot]:
    """Return where each of these clusters stands, or will. Raises KrmfnError where the layout does not say it."""
    known = {name: _only(layout, name) for name in layout.roots}
    is_plain = not any(manifests.kustomization_in(f"{top}/{folder}") for folder in known.values() if folder)
    bases = _bases([f"{top}/{folder}" for folder in known.values() if folder])
    spots = {}
    for name in names:
        if name in known and not known[name]:
            folders = ", ".join(layout.roots[name])
            raise KrmfnError(f"{name} has several folders ({folders}), and which of them gets drivers is not known")
        folder = known.get(name) or f"{_parent(known, name)}{name}"
        listing = manifests.kustomization_in(f"{top}/{folder}")
        is_there = name in known and Path(top, folder).is_dir()
        plain = not listing if is_there else is_plain
        spot = Spot(folder, os.path.relpath(listing, top) if listing else "", () if is_there else bases, plain)
        spots[name] = spot._replace(has_config=is_there and _has_config(layout, name))
    return spots


def _has_config(layout: Layout, name: str) -> bool:
    """Return True when something of ours but nodes reaches a cluster: a first config would be another one."""
    reader = Reader()
    for cluster in layout.streams.clusters:
        if cluster.name == name:
            reader.concerns(files_of_cluster(cluster))
    return reader.has_more


def _only(layout: Layout, name: str) -> str:
    """Return the folder of a cluster that gets drivers: the only one, or the only one that krmfn renders; or ""."""
    folders = layout.roots[name]
    rendered = [
        deployment.path for deployment in layout.streams.engines.deployments if deployment.declaration.how in _DEPLOYED
    ]
    ours = [folder for folder in folders if folder in rendered] if layout.engine else []
    for choice in (ours, folders):
        if len(choice) == 1:
            return choice[0]
    named = [folder for folder in folders if Path(folder).name == name]
    return named[0] if len(named) == 1 else ""


def _parent(known: Mapping[str, str], name: str) -> str:
    """Return the folder of all clusters, with a slash. Raises KrmfnError where they have none in common."""
    parents = {folder[: -len(PurePosixPath(folder).name)] for folder in known.values() if folder}
    if len(parents) != 1:
        places = ", ".join(f"{other} in {folder}" for other, folder in known.items() if folder) or "nowhere alike"
        raise KrmfnError(f"where {name} will stand is not known: the clusters stand {places}")
    return parents.pop()


def _bases(folders: Sequence[str]) -> list[str]:
    """Return the folders elsewhere that the kustomizations of all clusters list."""
    listings = [_resources(folder) for folder in folders if manifests.kustomization_in(folder)]
    alike = reduce(lambda first, other: [entry for entry in first if entry in other], listings) if listings else []
    return [entry for entry in alike if entry.startswith("../")]


def _resources(folder: str) -> list[str]:
    from krmfn.yamltext import load

    path = manifests.kustomization_in(folder) or ""
    data: Any = None
    with suppress(KrmfnError):
        data = load.read(files.read_regular(path, path))
    entries = data.get("resources") if isinstance(data, dict) else None
    return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []


def inventories(top: str) -> list[str]:
    """Return the files of a Git work tree that may hold an inventory, from its root."""
    done = git.call(top, "grep", "-lIF", "-z", "--untracked", "-e", "NodeInventory", "--", "*.yaml", "*.yml", "*.json")
    return [name for name in os.fsdecode(done.stdout).split("\0") if name] if not done.returncode else []


def inventory_of(top: str, names: Sequence[str], cluster: str) -> str:
    """Return the file among these that has the inventory of a cluster; "" where none has it."""
    for name in names:
        with suppress(KrmfnError):
            items = manifests.read(str(Path(top, name)), root=top).items
            if any(item.kind == "NodeInventory" and item.ref.name == cluster for item in items):
                return name
    return ""
