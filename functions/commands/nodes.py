"""The command `nodes`: which node gets which Module, and why not."""

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial

from krmfn import KrmfnError, Result, error, info, warning
from krmfn.printing import counted, did_you_mean, joined, some
from krmfn.typed import NamedTuple

from .. import options, terminal
from ..chain import live_rows, loading
from ..cluster import cluster_streams, live_nodes, unjudged
from ..cluster.deployed import Lists
from ..command import FAILS_ON, Command, Context
from ..exclusivity.node import Node
from ..finding import without_copies
from ..fleet import summarized, table, wording
from ..fleet.live import Live
from ..fleet.nodes import Fleet
from ..formats import columns, findings
from ..formats.checked import tag_cluster
from ..report import cluster_view, parts
from ..report.cluster_view import View
from ..run import placed
from ..settings import ANSWER
from . import clusters, moving, run_findings


class Request(NamedTuple):
    """What is asked of `nodes`."""

    paths: tuple[str, ...]
    kernel: tuple[str, ...]
    where: tuple[str, ...]
    label: tuple[str, ...]
    owner: str | None
    node: tuple[str, ...]
    problems: bool
    wide: bool
    fail_on: tuple[str, ...]
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    options.add_context(parser)
    moving.add_arguments(parser, "show what would happen if nodes had another kernel")
    help_ = "print only nodes with this label; may be repeated"
    parser.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help=help_)
    help_ = "print only the nodes of this config or Module (its name, or namespace/name)"
    parser.add_argument("--owner", metavar="NAME", help=help_)
    help_ = "print only this node, or the nodes that match a pattern with *; may be repeated"
    node = parser.add_argument("--node", action="append", default=[], metavar="NAME", help=help_)
    setattr(node, options.OFFERED, (options.ASKED.format("nodes"),))
    help_ = "print only selected nodes that get no driver; with --live also those on which it is not loaded"
    parser.add_argument("--problems", action="store_true", help=help_)
    help_ = "print a line per node and Module (default without --node: a line per config and kernel)"
    parser.add_argument("--wide", action="store_true", help=help_)
    options.add_fail_on(parser, options.NOW)
    help_ = "the same as --fail-on uncovered"
    parser.add_argument("--require-coverage", action="append_const", dest="fail_on", const="uncovered", help=help_)
    formats = "output format (default: text)"
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help=formats)


def _run(context: Context, args: Request) -> int:
    streams = clusters.read(context, args.paths, goes_on=True, layout=cluster_streams.asked_of(context, args.paths))
    if streams is None:
        return 2
    paint = terminal.painted if terminal.has_colors(context.options.color, sys.stdout) else terminal.plain
    dumps = live_nodes.by_cluster(context.options, list(streams.lists))
    # a dump says nothing about a kernel that a node would move to
    dumps = {name: dump for name, dump in dumps.items() if dump.nodes and not args.kernel}
    text, results = _table(streams.lists, args, paint, dumps)
    results += run_findings.gap_errors(unjudged.of_clusters(streams)) if "unjudged" in args.fail_on else []
    code = clusters.print_text(context, streams, text, results)
    return code or int(findings.fails(results, args.fail_on))


def _table(lists: Lists, args: Request, paint: terminal.Paint, dumps: Mapping[str, Live]) -> tuple[str, list[Result]]:
    """Return the table with the findings about it; clusters with errors are in it, with what their nodes would get.

    `dumps` are those of the clusters whose nodes are live.
    """
    filter_ = table.Filter(dict(map(moving.label, args.label)), args.owner or "", args.node, args.problems)
    moves, where = moving.moves(args.kernel), moving.row_filter(args.where)
    views = []
    for name, resources in lists.items():
        nodes_of = partial(_nodes_here, dumps, moving.mover(resources, name, moves, where))
        view = cluster_view.join(name, resources, nodes_of, has_brought=name in dumps)
        if (dump := dumps.get(name)) and not view.errors:
            view = cluster_view.with_dump(view, dump)
        views.append(view)
    results = list(_findings(args, filter_, where, views))
    nodes = [node for view in views for group in view.groups for node in group.nodes]
    moving.check_moves(moves, args.where, args.kernel, nodes)
    # with --kernel, --where names the nodes that move
    filters = (filter_,) if moves else (filter_, where)
    if args.format == "json":
        is_whole = filter_ == table.Filter() and (bool(moves) or not args.where)
        tables = _without_repeats([[*_rows(view, filters, len(lists) > 1)] for view in views])
        pairs = zip(map(cluster_view.part, views), tables, strict=True)
        return parts.dump(pairs, is_whole, ",".join(args.kernel) or None), results
    tables = _without_repeats([[*_rows(view, filters, len(lists) > 1, True)] for view in views])
    rows = [row for rows in tables for row in rows]
    if args.problems and nodes and not rows and not any(resources.failed for resources in lists.values()):
        results.append(info(f"of {counted(len(nodes), 'node')}, none that matches the options lacks its driver"))
    if not nodes or (args.problems and not rows):  # no head above nothing: the line says that there is no problem
        return "", results
    if args.format != "text":
        return table.markdown(rows, paint), results
    short = summarized.problems if args.problems else summarized.summary
    write = summarized.text if args.wide or args.node else short
    return write(rows, paint, columns.terminal_width()), results


def _nodes_here(dumps: Collection[str], move: cluster_view.Move, fleet: Fleet) -> Sequence[Node]:
    """Return the nodes of a cluster but for those of its spokes that have a dump: the spoke tells of these."""
    return [node for node in move(fleet) if dict(node.cluster or ()).get("") not in dumps]


def _findings(args: Request, filter_: table.Filter, where: table.Filter, views: Sequence[View]) -> Iterator[Result]:
    """Yield what is wrong with the clusters and their nodes, and what the table does not show.

    Raises KrmfnError for options that nothing passes.
    """
    is_required = "uncovered" in args.fail_on
    has_nodes = any(view.cluster.fleet.nodes for view in views)
    for view in views:
        if has_nodes and not view.cluster.fleet.nodes and not view.errors:
            finding = error if is_required and view.cluster.drivers else warning
            yield from tag_cluster(view.name, [finding(moving.NO_NODES.format(view.name))])
            continue
        yield from tag_cluster(view.name, _node_findings(view, {*where.labels, *filter_.labels}, is_required))
        yield from tag_cluster(view.name, () if args.format == "json" else _omissions(view, filter_.owner))
        yield from tag_cluster(view.name, map(error if is_required else warning, clusters.hub_doubts(view)))
        if not is_required:
            unknown = [warning(clusters.UNKNOWN_SPOKES, ref=d.claim.ref) for d in clusters.without_spokes(view)]
            yield from tag_cluster(view.name, unknown)
    _check_filter(filter_, views)
    known = [view for view in views if view.groups] if args.where and not args.kernel else []
    if known and not any(any(_rows(view, (where,))) for view in known):
        raise KrmfnError(f"--where: no node has {' and '.join(args.where)}")
    for view in views:
        if view.live:
            rows = live_rows.rows(view.groups, view.cluster.all_drivers, live=view.live)
            yield from tag_cluster(view.name, map(info, loading.sentences(rows, view.live)))
    if (message := clusters.no_modules(views)) and has_nodes:
        yield (error if is_required else warning)(message)


def _rows(
    view: View, filters: Sequence[table.Filter], is_named: bool = False, has_doubt: bool = False
) -> Iterator[table.Row]:
    """Yield the rows of a cluster that all filters let pass.

    With `is_named` they have the cluster's name, with `has_doubt` they say what else may select nodes.
    """
    names = [str(ref) for ref in view.bare]
    doubt = f"no Module is generated from {some(names, len(names))}" if has_doubt and names else ""
    rows = live_rows.rows(view.groups, view.cluster.all_drivers, view.name if is_named else "", doubt, view.live)
    return (row for row in rows if all(filter_.matches(row) for filter_ in filters))


def _without_repeats(tables: Sequence[Sequence[table.Row]]) -> list[list[table.Row]]:
    """Return the rows of each cluster, those of a spoke's nodes without a Module left out where another row is of them.

    A hub has the nodes of its spokes, and each spoke has them, too.
    """
    selected = {(row.cluster, row.node.name) for rows in tables for row in rows if row.driver}

    def is_told(row: table.Row) -> bool:
        return bool(row.driver) or (row.node.cluster is None and (row.cluster, row.node.name) not in selected)

    return [list(filter(is_told, rows)) for rows in tables]


def _check_filter(filter_: table.Filter, views: Sequence[View]) -> None:
    """Raise KrmfnError for a filter that nothing passes: a name or labels that nothing has."""
    refs = [ref for view in views for ref in view.bare]
    drivers = [driver for view in views for driver in view.cluster.drivers]
    refs += (ref for driver in drivers for ref in (driver.owner, driver.ref) if ref)
    owners = [name for ref in refs for name in (ref.name, f"{ref.namespace}/{ref.name}")] if filter_.owner else []
    if filter_.owner and filter_.owner not in owners:
        hint = did_you_mean(filter_.owner, owners)
        raise KrmfnError(joined(f"--owner {filter_.owner}: no config or Module has this name", hint))
    nodes = [node for view in views for node in view.cluster.fleet.nodes]
    nodes += [node for view in views if view.live for node, _, _ in view.live.losses] if nodes else []
    for name in filter_.names if nodes else ():
        if not any(fnmatchcase(node.name, name) for node in nodes):
            hint = did_you_mean(name, [node.name for node in nodes])
            raise KrmfnError(joined(f"--node {name}: no node has this name", hint))
    labels = filter_.labels.items()
    if labels and nodes and not any(labels <= dict(node.labels).items() for node in nodes):
        raise KrmfnError(f"--label: no node has {' and '.join(map('='.join, labels))}")


def _node_findings(view: View, keys: Collection[str], is_required: bool) -> Iterator[Result]:
    """Yield the findings about the nodes of a cluster that were not reported with its list.

    Raises KrmfnError where there is no node, though nothing is wrong, or where labels (`keys`) are not known of them.
    """
    has_errors = view.resources.failed
    yield from without_copies(view.node_findings, placed(view.resources) if has_errors else ())
    if view.errors or (has_errors and not view.groups):
        return
    moving.check_nodes(view.cluster.fleet, view.name, keys)
    if is_required and not has_errors:
        yield from clusters.coverage_errors(view)


def _omissions(view: View, owner: str) -> Iterator[Result]:
    """Yield warnings about what the table does not show, or shows in spite of errors.

    `owner` is the config or Module of --owner; "" for all.
    """
    name, bare = view.name, view.bare
    if view.errors:
        yield warning(
            f"no nodes of {name} are shown, because there are errors about its nodes", remedy="correct them first"
        )
        return
    if not view.groups:
        return
    if view.resources.failed:
        yield warning(f"{name} has errors, so nothing is rendered from it; the table shows what its nodes would get")
    if bare:
        configs, pronoun = some(map(str, bare), len(bare)), "it" if len(bare) == 1 else "them"
        yield warning(f"the table has no row for {configs}: no Module is generated from {pronoun}")
    # those that select none of the nodes that there are of their kind, a hub's or its clusters'
    kinds = {node.cluster is not None for node in view.cluster.fleet.nodes}
    positions = {outcome.driver for group in view.groups for outcome in group.outcomes}
    elsewhere = {node.cluster for node in view.cluster.fleet.nodes} - {group.nodes[0].cluster for group in view.groups}
    drivers = [driver for at, driver in enumerate(view.cluster.drivers) if at not in positions]
    drivers = [driver for driver in drivers if not any(map(driver.reaches, elsewhere))]  # spokes tell of their nodes
    idle = [d for d in drivers if (d.cluster is not None) in kinds and (not owner or d.is_called(owner))]
    if idle:
        yield warning(f"the table has no row for {some(map(wording.name, idle), len(idle))}: no node is selected")


_EXAMPLES = (
    "clusters/lab",
    "clusters/lab --node gpu-17",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --where pool=canary --problems",
    "clusters/* --require-coverage --format json > nodes.json",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, ANSWER, joins=True, exits=FAILS_ON)
