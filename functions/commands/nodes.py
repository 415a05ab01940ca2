"""The command `nodes`: which node gets which Module, and why not."""

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from krmfn import KrmfnError, Result, error, info, printing, warning
from krmfn.printing import counted, did_you_mean, some
from krmfn.typed import Any

from .. import options
from ..cluster import live_nodes
from ..cluster.deployed import Lists
from ..command import Command, Context
from ..fleet import explanation, table, wording
from ..fleet.live import Live
from ..formats import findings
from ..formats.checked import tag_cluster
from ..report import local, parts
from ..report.local import Joined
from ..settings import ANSWER
from . import clusters, moving


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    moving.add_arguments(parser, "show what would happen if nodes had another kernel")
    help_ = "print only nodes with this label; may be repeated"
    parser.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help=help_)
    help_ = "print only the nodes of this config or Module (its name, or namespace/name)"
    parser.add_argument("--owner", metavar="NAME", help=help_)
    help_ = "print only this node, or the nodes that match a pattern with *; may be repeated"
    node = parser.add_argument("--node", action="append", default=[], metavar="NAME", help=help_)
    setattr(node, options.OFFERED, (options.ASKED.format("nodes"),))
    help_ = "print only nodes that are selected but get no driver; with --live, or that have it not"
    parser.add_argument("--problems", action="store_true", help=help_)
    help_ = "print a line per node and Module; without it, and without --node, text has one per config and kernel"
    parser.add_argument("--wide", action="store_true", help=help_)
    options.add_fail_on(parser, options.NOW)
    help_ = "the same as --fail-on uncovered"
    parser.add_argument("--require-coverage", action="append_const", dest="fail_on", const="uncovered", help=help_)
    parser.add_argument(
        "--format", choices=(*table.FORMATS, "json"), default="text", help="output format (default: text)"
    )


def _run(context: Context, args: Any) -> int:
    streams = clusters.read(context, args.paths, goes_on=True)
    if streams is None:
        return 2
    paint = printing.painted if printing.is_wanted(context.options.color, sys.stdout) else printing.plain
    dumps = live_nodes.by_cluster(context.options.live, list(streams.lists))
    # of a kernel that is only wished nothing is known
    now = {name: dump for name, dump in dumps.items() if dump.nodes and not args.kernel}
    text, results = _table(streams.lists, args, paint, now)
    code = clusters.printed(context, streams, text, results)
    return code or int(findings.fails(results, args.fail_on))


def _table(lists: Lists, args: Any, paint: printing.Paint, dumps: Mapping[str, Live]) -> tuple[str, list[Result]]:
    """Return the table, also of what has errors: each of its nodes with what the rest would come to there.

    `dumps` are those of the clusters whose nodes are live.
    """
    wanted = table.Filter(dict(map(moving.label, args.label)), args.owner or "", args.node, args.problems)
    moves, where = moving.moves(args.kernel), moving.where(args.where)
    views = []
    for name, resources in lists.items():
        view = local.join(name, resources, moving.moved(resources, name, moves, where))
        if (dump := dumps.get(name)) and not view.wrong:
            committed = [*dump.committed[name].values()]
            live = explanation.compare(dump, view.groups, committed, view.whole, view.mode != "off")
            view = view._replace(live=live)
        views.append(view)
    results = list(_found(args, wanted, where, views))
    nodes = [node for view in views for group in view.groups for node in group.nodes]
    moving.check_moved(moves, args.where, args.kernel, nodes)
    is_json, also = args.format == "json", table.Filter() if moves else where
    shown = [_rows(view, wanted, also, len(lists) > 1, not is_json) for view in views]
    if is_json:
        is_whole = wanted == table.Filter() and (bool(moves) or not args.where)
        known = zip(map(local.part, views), shown, strict=True)
        return parts.dump(known, is_whole, ",".join(args.kernel) or None), results
    rows = [row for of_one in shown for row in of_one]
    if args.problems and nodes and not rows and not any(resources.failed for resources in lists.values()):
        results.append(info(f"of {counted(len(nodes), 'node')}, none that matches the options lacks its driver"))
    write = table.text if args.format == "text" and (args.wide or args.node) else table.FORMATS[args.format]
    return write(rows, paint) if nodes else "", results


def _found(args: Any, wanted: table.Filter, where: table.Filter, views: Sequence[Joined]) -> Iterator[Result]:
    """Yield what is wrong with the clusters and their nodes, and what the table does not show.

    Raises KrmfnError for options that nothing passes.
    """
    is_required = "uncovered" in args.fail_on
    some_are_known = any(view.whole.fleet.nodes for view in views)
    for view in views:
        if some_are_known and not view.whole.fleet.nodes and not view.wrong:
            is_wrong = is_required and view.whole.drivers
            yield from tag_cluster(view.name, [(error if is_wrong else warning)(moving.NO_NODES.format(view.name))])
            continue
        yield from tag_cluster(view.name, _judged(view, {*where.labels, *wanted.labels}, is_required))
        yield from tag_cluster(view.name, () if args.format == "json" else _left_out(view, wanted.owner))
    _check_filter(wanted, views)
    known = [view for view in views if view.groups] if args.where and not args.kernel else []
    if known and not any(any(_rows(view, where, table.Filter(), is_named=False)) for view in known):
        raise KrmfnError(f"--where: no node has {' and '.join(args.where)}")
    for view in views:
        if view.live:
            yield from tag_cluster(view.name, _loaded(view, view.live))
    if (without := clusters.not_asked(views)) and some_are_known:
        yield (error if is_required else warning)(without)


def _rows(
    view: Joined, wanted: table.Filter, also: table.Filter, is_named: bool, doubts: bool = False
) -> Iterator[table.Row]:
    """Yield the rows of a cluster that both filters want; where one `doubts`, they say what else may select nodes."""
    bare, name = map(str, view.bare), view.name if is_named else ""
    in_doubt = f"no Module is generated from {some(bare, len(view.bare))}" if doubts and view.bare else ""
    rows = table.rows(view.groups, view.whole.all_drivers, name, in_doubt, view.live)
    return (row for row in rows if wanted.matches(row) and also.matches(row))


def _check_filter(wanted: table.Filter, views: Sequence[Joined]) -> None:
    """Raise KrmfnError for a filter that nothing passes: a name or labels that nothing has."""
    refs = [ref for view in views for ref in view.bare]
    refs += (ref for view in views for one in view.whole.drivers for ref in (one.owner, one.ref) if ref)
    owners = [name for ref in refs if wanted.owner for name in (ref.name, f"{ref.namespace}/{ref.name}")]
    if wanted.owner and wanted.owner not in owners:
        hint = did_you_mean(wanted.owner, owners)
        raise KrmfnError(f"--owner {wanted.owner}: no config or Module has this name{hint}")
    nodes = [node for view in views for node in view.whole.fleet.nodes]
    nodes += [node for view in views if view.live for node, _, _ in view.live.losses] if nodes else []
    for name in wanted.names if nodes else ():
        if not any(fnmatchcase(node.name, name) for node in nodes):
            hint = did_you_mean(name, [node.name for node in nodes])
            raise KrmfnError(f"--node {name}: no node has this name{hint}")
    labels = wanted.labels.items()
    if labels and nodes and not any(labels <= dict(node.labels).items() for node in nodes):
        raise KrmfnError(f"--label: no node has {' and '.join(map('='.join, labels))}")


def _judged(view: Joined, keys: Collection[str], is_required: bool) -> Iterator[Result]:
    """Yield the findings about the nodes of a cluster that were not reported with its list.

    Raises KrmfnError where there is no node, though nothing is wrong, or where labels (`keys`) are not known of them.
    """
    has_errors = view.resources.failed
    said = {str(one) for one in view.resources.results} if has_errors else set()
    yield from (one for one in view.about_nodes if str(one) not in said)
    if view.wrong or (has_errors and not view.groups):
        return
    moving.check_nodes(view.whole.fleet, view.name, keys)
    if is_required and not has_errors:
        yield from clusters.lacking(view)


def _loaded(joined: Joined, live: explanation.LiveNodes) -> Iterator[Result]:
    """Yield how many Modules are planned on live nodes, and which of them are not loaded or only committed."""
    modules = [
        (row.state, row.loaded, f"{row.driver.module.ref.name} on {row.node.name}")
        for row in table.rows(joined.groups, joined.whole.all_drivers, live=live)
        if row.driver and row.driver.loads
    ]
    planned = [(is_loaded, name) for state, is_loaded, name in modules if state == table.DRIVEN]
    lacking = sorted(name for is_loaded, name in planned if not is_loaded)
    those = f", not loaded: {some(lacking, len(lacking))}" if lacking else ""
    others = sorted(name for state, _, name in modules if state not in (table.DRIVEN, table.COMMITTED))
    rest = f"; selected and not planned: {some(others, len(others))}" if others else ""
    lost = sorted(name for state, _, name in modules if state == table.COMMITTED)
    of_all = f"{live.kept:,} of {live.kept + len(lost):,} committed"
    kept = f"; {of_all} are selected, not these: {some(lost, len(lost))}" if lost else ""
    is_known = live.dump.configured or not planned
    known = "" if is_known else "; KMM's ready labels alone say so: add `nodemodulesconfigs` to the dump"
    yield info(f"planned {len(planned):,}, loaded {len(planned) - len(lacking):,}{those}{rest}{kept}{known}")


def _left_out(view: Joined, owner: str) -> Iterator[Result]:
    """Yield warnings about what the table does not show, or shows in spite of errors.

    `owner` is the config or Module that was asked about; "" for all.
    """
    name, bare = view.name, view.bare
    if view.wrong:
        yield warning(f"no nodes of {name} are shown, because there are errors about its nodes; correct them first")
        return
    if not view.groups:
        return
    if view.resources.failed:
        yield warning(f"{name} has errors, so nothing is rendered from it; the table shows what its nodes would get")
    if bare:
        few, those = some(map(str, bare), len(bare)), "it" if len(bare) == 1 else "them"
        yield warning(f"the table has no row for {few}: no Module is generated from {those}")
    # those that select none of the nodes that there are of their kind, a hub's or its clusters'
    kinds = {node.cluster is not None for node in view.whole.fleet.nodes}
    seen = {outcome.driver for group in view.groups for outcome in group.outcomes}
    drivers = (one for at, one in enumerate(view.whole.drivers) if at not in seen)
    idle = [one for one in drivers if (one.cluster is not None) in kinds and (not owner or one.is_called(owner))]
    if idle:
        few = some(map(wording.name, idle), len(idle))
        yield warning(f"the table has no row for {few}: no node is selected")


_EXAMPLES = (
    "clusters/lab",
    "clusters/lab --node gpu-17",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --where pool=canary --problems",
    "clusters/* --require-coverage --format json > nodes.json",
)
COMMAND = Command(*(_EXAMPLES, _arguments, _run, ANSWER), joins=True)
