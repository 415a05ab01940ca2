"""What commands have in common that print something about the clusters of their PATHs, and what makes them fail."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from krmfn import KrmfnError, Ref, ResourceList, Result, error
from krmfn.ownership import Id
from krmfn.printing import some
from krmfn.typed import TYPE_CHECKING

from ..cluster import asked, cluster_streams, telling
from ..cluster.deployed import Clusters
from ..command import Context
from ..formats.checked import names_of, tag_cluster
from ..paths import files, output
from ..run import run_of

if TYPE_CHECKING:
    from ..fleet.drivers import Driver
    from ..plan import Comparison
    from ..report.cluster_view import View
    from ..report.parts import Part


def read(
    context: Context,
    paths: Sequence[str],
    is_needed: bool = True,
    goes_on: bool = False,
    layout: Clusters | None = None,
) -> Clusters | None:
    """Return the clusters of some PATHs; None, with all findings logged, when something of them cannot be read.

    Without a PATH it is the working folder where one `is_needed`, else there are no clusters. The findings of a cluster
    are logged, and a cluster with errors is returned like others. With `goes_on` clusters that cannot be read are left
    out, as long as one can. `layout` has the clusters, where only some are asked for.
    """
    if paths or context.options.cluster or is_needed:
        streams = cluster_streams.render(context, paths, None, layout)
    else:
        streams = cluster_streams.no_clusters(context)
    if not streams.is_whole:
        telling.log(context, streams)
        errors = [finding for finding in streams.findings if finding.severity == "error"]
        unread = {cluster.name for cluster in (*streams.clusters, *streams.unassigned) if not cluster.is_whole}
        unread = unread.union(*map(names_of, errors))
        clusters = [cluster for cluster in streams.clusters if cluster.name not in unread]
        if not goes_on or not clusters or not all(map(names_of, errors)):
            return None
        names = sorted(unread)
        context.log.say(f"left out, since not all of it can be read: {', '.join(names)}", "error")
        left_out = [cluster for cluster in streams.clusters if cluster.name in unread]
        return streams._replace(clusters=clusters, unread=tuple(names), left_out=left_out)
    telling.log_excluded(context, streams)
    visible = {n: r for n, r in streams.lists.items() if r.failed or context.intent.logs_advice}
    findings = telling.findings_of(context, streams, visible)
    context.log.findings([*streams.findings, *streams.unassigned_findings(), *findings])
    return streams


def print_text(context: Context, streams: Clusters, text: str, results: Iterable[Result]) -> int:
    """Print a text about some clusters, log the findings about them, and return the exit code."""
    results = streams.sources.placed(results)
    if len(streams.clusters) > 1:
        from ..formats import grouped  # here: findings about one cluster are not grouped

        results = grouped.lines(results, streams.lists)
    context.log.findings(results)
    asked.say_others(context, streams)
    output.write_stdout(text)
    if not streams.is_whole:
        return 2
    failed = any(resources.failed for resources in streams.lists.values())
    return int(failed or any(result.severity == "error" for result in results))


def mapping_error(module: Ref, kernels: str, consequence: str) -> Result:
    """Return the error that a Module has no mapping for some kernels, with what follows from that."""
    remedy = "add a mapping, or pass --allow-unmapped if this is intended"
    return error(f"no kernel mapping for {kernels}, so {consequence}", ref=module, remedy=remedy)


def add_from(parser: argparse.ArgumentParser) -> None:
    """Add the option for files that were printed on other machines."""
    help_ = "output files of `nodes --format json` and `check --format json`, for example from other machines"
    help_ += "; their clusters are included"
    parser.add_argument("--from", dest="files", nargs="+", action="extend", default=[], metavar="FILE", help=help_)


def read_outputs(names: Sequence[str], clusters: Collection[str]) -> list[Part]:
    """Return the clusters that the files of --from are about, given the names of those that PATHs have.

    Raises KrmfnError for a cluster that is in both, and as `outputs.read`.
    """
    from ..report import outputs  # here: few runs have such files

    parts = outputs.read(((name, files.read_text(name)) for name in names), clusters)
    for part in parts:
        if part.name in clusters:
            raise KrmfnError(
                f"the cluster {part.name} is both in a file of --from and among the PATHs; remove one of the two"
            )
    return parts


Kept = Collection[tuple[Id, str]]
"""Modules with the names of nodes that surely keep what they have of it."""


def uncovered_errors(
    lists: Mapping[str, ResourceList], words: Collection[str], comparisons: Sequence[Comparison] = ()
) -> Iterator[Result]:
    """Yield an error for nodes without a driver, and for a cluster of which that is not known, for --fail-on uncovered.

    `words` are those of --fail-on. A cluster with errors has none of these: it fails by its errors. Nodes that keep a
    driver while a change is rolled out in order have one: `comparisons` know it, if the change is known.
    """
    if "uncovered" not in words:
        return
    from ..report import cluster_view  # here: few runs ask for this

    views = [cluster_view.join(name, resources) for name, resources in lists.items()]
    kept = {comparison.name: _kept(comparison) for comparison in comparisons}
    for view in views:
        if not view.resources.failed and view.cluster.drivers:
            if not view.groups:
                reason = str(view.errors[0]) if view.errors else cluster_view.NO_NODES
                yield error(f"which nodes of {view.name} get no driver is not known: {reason}")
            items = {item.ref: item for item in view.resources.items}
            errors = coverage_errors(view, kept.get(view.name, kept.get("", ())))  # a single comparison has no name
            errors = [items[e.ref].located(e) if e.ref in items else e for e in errors]
            yield from tag_cluster(view.name, run_of(view.resources).sources.placed(errors))
        yield from tag_cluster(view.name, map(error, hub_doubts(view)))
    if message := no_modules(views):
        yield error(message)


def _kept(comparison: Comparison) -> Kept:
    """Return what nodes keep of a Module: an image that is known to be loaded before the change."""
    effects = (effect for effect in comparison.plan.effects if effect.word == "kept")
    pairs = ((effect.ref.id, part) for effect in effects for part in effect.parts if part.before)
    return frozenset((id_, node) for id_, part in pairs for node in part.nodes)


def coverage_errors(view: View, kept: Kept = ()) -> list[Result]:
    """Return an error per config and reason for the nodes of a cluster that it selects and that get no driver.

    With a dump of live nodes also for those that do not have what is planned; a dump of nodes alone, made before a
    merge, does not say that KMM has done its part. `kept` are the nodes that keep another version.
    """
    from ..chain import live_rows  # here, as above
    from ..fleet import table
    from ..sentence import named

    names: dict[tuple[Ref, str], list[str]] = {}
    live = view.live
    spokes = [error(UNKNOWN_SPOKES, ref=driver.claim.ref) for driver in without_spokes(view)]
    for row in live_rows.rows(view.groups, view.cluster.all_drivers, live=live):
        if row.driver and row.is_problem and (row.state != table.DRIVEN or (live and not live.dump.is_of_nodes)):
            is_alone = row.node.cluster is None
            if row.state == table.ASSUMED and is_alone and (row.driver.ref.id, row.node.name) in kept:
                continue
            is_assumed = row.state == table.ASSUMED and not row.node.last_kernel and row.holds is None
            reason = f"assumed, not known: {row.reason}" if is_assumed else row.reason
            names.setdefault((row.driver.claim.ref, reason), []).append(row.node.name)
    uncovered = (error((named(nodes), f": {reason}"), ref=ref) for (ref, reason), nodes in names.items())
    return [*spokes, *uncovered]


UNKNOWN_SPOKES = "the nodes of its spokes are not known here, so what they get is not judged"


def without_spokes(view: View) -> list[Driver]:
    """Return the Modules that a hub brings to spokes, none of whose nodes is known: the hub's own are never theirs."""
    spokes = {node.cluster for node in view.cluster.fleet.nodes}
    drivers = (driver for driver in view.cluster.drivers if driver.cluster is not None)
    return [driver for driver in drivers if not any(map(driver.reaches, spokes))]


UNKNOWN_HUB = "what a hub brings to {} is not known: {}"


def hub_doubts(view: View) -> list[str]:
    """Return why it is not known what hubs bring to a cluster, where no row of a hub's tells of it."""
    known = run_of(view.resources)
    doubts = [*known.hub_doubts] if view.live else []
    doubts += ["none is among the PATHs"] if known.lacks_hub and not view.cluster.drivers else []
    return [UNKNOWN_HUB.format(view.name, doubt) for doubt in doubts]


def no_modules(views: Sequence[View]) -> str:
    """Return a sentence where none of the clusters has a Module, so that no node can lack one; else ""."""
    if any(view.cluster.drivers or view.resources.failed or hub_doubts(view) for view in views):
        return ""
    names = [view.name for view in views]
    return f"no Module is in {some(names, len(names))}, so no node can get one; is it the right PATH?"
