"""The command `clusters`: which root goes to which cluster, by which engine, and where that is written.

Files that nobody applies, such as inventories, are no roots of these: they are told apart.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from krmfn import KrmfnError, Place
from krmfn.printing import json_text
from krmfn.typed import Any, NamedTuple

from .. import options
from ..cluster import cluster_streams, config, telling
from ..cluster.deployed import Cluster, Clusters
from ..cluster.survey import Root
from ..command import Command, Context
from ..deployments import names
from ..deployments.deployment import Deployment
from ..deployments.elsewhere import Elsewhere
from ..formats import columns
from ..grouping import grouped
from ..kustomization.calls import BLOCKING
from ..paths import files, manifests, output
from ..rendering.kinds import COUNTING, PROFILE
from ..settings import LOOK


class _Row(NamedTuple):
    """A root of a cluster."""

    cluster: str
    """Its name; "" for loose files of a repository that are in none."""
    path: str
    """From the root of the repository; - for stdin."""
    engine: str = "none"
    how: str = "unknown"
    place: Place | None = None
    destination: str = ""
    """What the engine's object calls the cluster, where .krmfn.yaml has another name for it."""
    is_read_only: bool = False
    """Whether nobody applies it: inventories and settings that count for the cluster, and files of no cluster."""


class Request(NamedTuple):
    """What is asked of `clusters`."""

    paths: tuple[str, ...]
    format: str
    write: bool


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    help_ = "write these clusters to .krmfn.yaml at the root of the repository, which must not have one"
    parser.add_argument("--write", action="store_true", help=help_)


def _run(context: Context, args: Request) -> int:
    """Print the clusters, or write them; what cannot be read is logged, and nothing is judged."""
    streams = _without_blocked(cluster_streams.layout_of(context, args.paths))
    rows = list(_rows(streams))
    telling.log(context, streams)
    if args.write:
        _write(context, streams, rows)
    else:
        others = [other for other in streams.engines.elsewhere if _is_below(other.source.place.path, streams)]
        output.write_stdout(_json(rows, others) if args.format == "json" else _text(rows, others))
    return 0 if streams.is_whole else 2


def _without_blocked(streams: Clusters) -> Clusters:
    """Return the clusters without errors about what a build may not do in a kustomization: nothing is built here."""
    return streams._replace(findings=[finding for finding in streams.findings if finding.rule not in BLOCKING])


def _rows(streams: Clusters) -> Iterator[_Row]:
    """Yield the roots of all clusters, first those that an engine deploys, in the order of its objects."""
    top = streams.engines.top
    deployments = [deployment for deployment in streams.engines.deployments if _is_asked(deployment, streams)]
    for deployment in deployments:
        for name in _names_of(deployment, streams):
            destination = deployment.cluster if name != deployment.cluster else ""
            yield _row(deployment)._replace(cluster=name, destination=destination)
    known = {deployment.real(top) for deployment in deployments}
    rest = [(cluster, root) for cluster in streams.clusters for root in cluster.roots if root.path not in known]
    for cluster, root in rest:
        row = _of_root(cluster, root, top)._replace(is_read_only=cluster.is_unassigned or _is_read_only(root))
        yield row._replace(cluster="") if cluster.is_unassigned else row


def _is_read_only(root: Root) -> bool:
    """Return True for loose files that only inform krmfn; what cannot be read may hold anything."""
    if root.kind != "files":
        return False
    resources, failures = manifests.read_files(root.files)
    kinds = COUNTING | {PROFILE}
    return bool(resources.items) and not failures and all((i.group, i.kind) in kinds for i in resources.items)


def _row(deployment: Deployment) -> _Row:
    declaration = deployment.declaration
    place = declaration.source.place
    return _Row(deployment.cluster, deployment.path, declaration.engine, declaration.how, place)


def _names_of(deployment: Deployment, streams: Clusters) -> list[str]:
    """Return the clusters that get a folder as they are judged: by .krmfn.yaml where that lists it, else its own.

    Where several list it, and the object names one of these, it is that one (see `named.with_deployments`).
    """
    real = deployment.real(streams.engines.top)
    listing = [cluster for cluster in streams.clusters if any(_covers(m.real, real) for m in cluster.members)]
    names = [cluster.name for cluster in listing]
    return names if names and deployment.cluster not in names else [deployment.cluster]


def _is_asked(deployment: Deployment, streams: Clusters) -> bool:
    """Return True for a folder that is below one of the PATHs, or above it."""
    real = deployment.real(streams.engines.top)
    return any(_covers(top, real) or _covers(real, top) for top in streams.paths.values())


def _is_below(file: str, streams: Clusters) -> bool:
    """Return True for a file of the repository that is below one of the PATHs."""
    return any(_covers(top, str(Path(streams.engines.top, file))) for top in streams.paths.values())


def _covers(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _of_root(cluster: Cluster, root: Root, top: str) -> _Row:
    """Return the row of a root that no engine's object names: it may stand in a folder that an object deploys.

    In .krmfn.yaml somebody applies it by hand.
    """
    above = [deployment for deployment in cluster.deployments if _covers(deployment.real(top), root.path)]
    if above and above[-1].declaration.engine != "none":
        return _row(above[-1])._replace(path=os.path.relpath(root.path, top))
    member = next((member for member in cluster.members if root.path and _covers(member.real, root.path)), None)
    path = os.path.relpath(root.path, top or ".") if root.path else "-"
    return _Row(cluster.name, path, "kubectl" if member else "none", "unknown", member.place if member else None)


def _json(rows: Sequence[_Row], others: Sequence[Elsewhere]) -> str:
    clusters: dict[str, dict[str, Any]] = {}
    unassigned: list[dict[str, Any]] = []
    for row in rows:
        place = {"file": row.place.path, "line": row.place.line} if row.place else None
        if not row.cluster:
            unassigned.append({"path": row.path})
            continue
        cluster = clusters.setdefault(row.cluster, {"name": row.cluster, "roots": []})
        if row.is_read_only:
            cluster.setdefault("notDeployed", []).append({"path": row.path, "from": place})
            continue
        root: dict[str, Any] = {"path": row.path, "engine": row.engine, "how": row.how, "from": place}
        cluster["roots"].append(root | ({"destination": row.destination} if row.destination else {}))
    elsewhere = [
        {"object": str(ref), "deploys": content, "from": {"file": place.path, "line": place.line}}
        for (ref, place), content in others
    ]
    listing = {"clusters": [*clusters.values()], **({"unassigned": unassigned} if unassigned else {})}
    listing |= {"elsewhere": elsewhere} if elsewhere else {}
    return json_text(listing, 2) + "\n"


def _text(rows: Sequence[_Row], others: Sequence[Elsewhere]) -> str:
    """Return a table of what is deployed; then, where there are some, of what is not, and of what is not here."""
    rows = [row for of_cluster in grouped((row.cluster, row) for row in rows).values() for row in of_cluster]
    deployed = [(row.cluster, row.path, row.engine, row.how, _from(row)) for row in rows if not row.is_read_only]
    read_only = [(row.cluster or "-", row.path, _from(row)) for row in rows if row.is_read_only]
    tables = [columns.lines([("CLUSTER", "ROOT", "ENGINE", "HOW", "FROM"), *deployed])] if deployed else []
    tables += [columns.lines([("CLUSTER", "READ, NOT DEPLOYED", "FROM"), *read_only])] if read_only else []
    elsewhere = [(str(ref), content, f"{place.path}:{place.line}") for (ref, place), content in others]
    tables += [columns.lines([("DEPLOYS FROM ELSEWHERE", "WHAT", "FROM"), *elsewhere])] if elsewhere else []
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in tables)


def _from(row: _Row) -> str:
    """Return the file and line that say so, and what is said there of the cluster if it has another name."""
    destination = f" ({row.destination})" if row.destination else ""
    return f"{row.place.path}:{row.place.line}{destination}" if row.place else "-"


def _write(context: Context, streams: Clusters, rows: Sequence[_Row]) -> None:
    """Write the configuration file. Raises KrmfnError where there is one, and where there is nothing to write.

    Loose files at the root of the repository are in no cluster: the objects of the engines are there, and inventories.
    """
    path = str(Path(streams.engines.top) / config.NAME)
    if os.path.lexists(path):
        raise KrmfnError(f"{config.NAME} is there already; change it by hand, or remove it first")
    clusters: dict[str, list[str]] = {}
    for row in rows:
        if row.cluster and row.path not in (".", "-"):
            clusters.setdefault(names.key_of(row.cluster), []).append(row.path)
    if not clusters:
        raise KrmfnError(f"nothing below {', '.join(streams.paths)} makes a cluster; is it the right PATH?")
    lines = [f"  {json_text(name)}: {json_text(list(dict.fromkeys(paths)))}\n" for name, paths in clusters.items()]
    files.write_text(path, "clusters:\n" + "".join(lines), context.options.root)
    context.log.say(f"wrote {os.path.relpath(path)} with {len(clusters):,} clusters")


COMMAND = Command(("", "clusters --format json", "--write"), _arguments, _run, Request, LOOK)
