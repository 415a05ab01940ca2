"""The command `nodes`: which node gets which Module, and why not."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial

from krmfn import KrmfnError, Ref, ResourceList, Result, color, error, info, warning
from krmfn.counts import counted, some
from krmfn.typed import NamedTuple

from .. import options
from ..cluster import live_nodes
from ..command import Command, Context
from ..deviceconfig.reading import domain_of
from ..exclusivity.node import Node
from ..fleet import table, wording
from ..fleet.drivers import Driver
from ..formats import findings
from ..formats.checked import of_cluster
from ..report import local, printed
from ..report.local import Joined
from ..settings import LOOK
from . import clusters, fleets, moving


class Nodes(NamedTuple):
    """The arguments of `nodes`."""

    paths: tuple[str, ...]
    kernel: tuple[str, ...]
    where: tuple[str, ...]
    label: tuple[str, ...]
    owner: str | None
    node: tuple[str, ...]
    problems: bool
    wide: bool
    fail_on: tuple[str, ...]
    require_coverage: bool
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    moving.add_arguments(parser, "show what would happen if nodes had another kernel")
    help_ = "print only nodes with this label; may be repeated"
    parser.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help=help_)
    help_ = "print only the nodes of this config or Module (its name, or namespace/name)"
    parser.add_argument("--owner", metavar="NAME", help=help_)
    help_ = "print only this node, or the nodes that match a pattern with *; may be repeated"
    parser.add_argument("--node", action="append", default=[], metavar="NAME", help=help_)
    help_ = "print only nodes that are selected but get no driver"
    parser.add_argument("--problems", action="store_true", help=help_)
    help_ = "print a line per node and Module; without it, and without --node, text has one per config and kernel"
    parser.add_argument("--wide", action="store_true", help=help_)
    options.add_fail_on(parser, options.NOW)
    parser.add_argument("--require-coverage", action="store_true", help="the same as --fail-on uncovered")
    parser.add_argument(
        "--format", choices=(*table.FORMATS, "json"), default="text", help="output format (default: text)"
    )


def _run(context: Context, args: Nodes) -> int:
    streams = clusters.read(context, args.paths, goes_on=True)
    if streams is None:
        return 2
    paint = color.painted if color.is_wanted(context.options.color, sys.stdout) else color.plain
    if args.require_coverage:
        args = args._replace(fail_on=(*args.fail_on, "uncovered"))
    dumps = live_nodes.by_cluster(context.options.live, list(streams.lists))
    dumped = [name for name, dump in dumps.items() if dump.nodes]
    text, results = _table(streams.lists, args, paint, dumped)
    code = clusters.printed(context, streams, text, results)
    return code or int(findings.fails(results, args.fail_on))


def _table(
    lists: Mapping[str, ResourceList], args: Nodes, paint: color.Paint, dumped: Collection[str]
) -> tuple[str, list[Result]]:
    """Return the table, also of what has errors: each of its nodes with what the rest would come to there.

    `dumped` are the clusters whose nodes are live.
    """
    wanted = table.Filter(dict(map(fleets.label, args.label)), args.owner or "", args.node, args.problems)
    moves, where = moving.moves(args.kernel), moving.where(args.where)
    results: list[Result] = []
    parts: list[printed.Cluster] = []
    rows: list[table.Row] = []
    every: list[tuple[Joined, list[Ref]]] = []
    for name, resources in lists.items():
        joined = local.join(resources, domain_of, moving.moved(resources, name, moves, where))
        bare = local.bare(resources, joined.whole)
        every.append((joined, bare))
        is_required = "uncovered" in args.fail_on
        results += of_cluster(name, _judged(name, resources, joined, {*where.labels, *wanted.labels}, is_required))
        also, cluster = table.Filter() if moves else where, name if len(lists) > 1 else ""
        shown = partial(_rows, joined, wanted, also, cluster, is_live=name in dumped)
        if args.format == "json":
            parts.append(printed.Cluster(local.part_of(name, resources, joined), shown()))
            continue
        results += of_cluster(name, _left_out(name, resources, joined, bare, wanted.owner))
        rows += shown(f"no Module is generated from {some(map(str, bare), len(bare))}" if bare else "")
    _check_filter(wanted, every)
    if (
        args.where
        and not moves
        and not any(any(_rows(one, where, table.Filter(), "")) for one, _ in every if one.groups)
        and any(one.groups for one, _ in every)
    ):
        raise KrmfnError(f"--where: no node has {' and '.join(args.where)}")
    moving.check_moved(moves, args.where, args.kernel, [node for one, _ in every for node in _nodes(one)])
    for name, (joined, _) in zip(lists, every, strict=True):
        results += of_cluster(name, _loaded(joined)) if name in dumped and not joined.wrong else ()
    results += _without_modules(lists, [joined for joined, _ in every], "uncovered" in args.fail_on)
    if args.format == "json":
        return printed.dump(
            parts, wanted == table.Filter() and (bool(moves) or not args.where), ",".join(args.kernel) or None
        ), results
    number = sum(len(group.nodes) for joined, _ in every for group in joined.groups)
    if args.problems and number and not rows and not any(resources.failed for resources in lists.values()):
        results.append(info(f"of {counted(number, 'node')}, none that matches the options lacks its driver"))
    write = table.text if args.format == "text" and (args.wide or args.node) else table.FORMATS[args.format]
    return write(rows, paint) if number else "", results


def _rows(
    joined: Joined, wanted: table.Filter, also: table.Filter, cluster: str, in_doubt: str = "", is_live: bool = False
) -> Iterator[table.Row]:
    """Yield the rows of a cluster that both filters want."""
    rows = table.rows(joined.groups, joined.whole.every, wanted, cluster, in_doubt, is_live)
    return (row for row in rows if also.wants(row))


def _nodes(joined: Joined) -> Iterator[Node]:
    return (node for group in joined.groups for node in group.nodes)


def _check_filter(wanted: table.Filter, every: Sequence[tuple[Joined, Sequence[Ref]]]) -> None:
    """Raise KrmfnError for a filter that nothing passes: a name or labels that nothing has."""
    refs = [ref for _, bare in every for ref in bare]
    refs += (ref for joined, _ in every for one in joined.whole.drivers for ref in (one.owner, one.ref) if ref)
    if wanted.owner and not any(table.is_called(ref, wanted.owner) for ref in refs):
        names = {name for ref in refs for name in (ref.name, f"{ref.namespace}/{ref.name}")}
        near = get_close_matches(wanted.owner, sorted(names), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise KrmfnError(f"--owner {wanted.owner}: no config or Module has this name{hint}")
    nodes = [node for joined, _ in every for node in joined.whole.fleet.nodes]
    for name in wanted.names if nodes else ():
        if not any(fnmatchcase(node.name, name) for node in nodes):
            near = get_close_matches(name, [node.name for node in nodes], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise KrmfnError(f"--node {name}: no node has this name{hint}")
    labels = wanted.labels.items()
    if labels and nodes and not any(labels <= dict(node.labels).items() for node in nodes):
        raise KrmfnError(f"--label: no node has {' and '.join(map('='.join, labels))}")


def _judged(
    name: str, resources: ResourceList, joined: Joined, keys: Collection[str], is_required: bool
) -> Iterator[Result]:
    """Yield the findings about the nodes of a cluster that were not reported with its list.

    Raises KrmfnError where there is no node, though nothing is wrong, or where labels (`keys`) are not known of them.
    """
    said = {str(one) for one in resources.results} if resources.failed else set()
    yield from (one for one in joined.about_nodes if str(one) not in said)
    if joined.wrong or (resources.failed and not joined.groups):
        return
    fleets.check_nodes(joined.whole.fleet, name, keys)
    if is_required and not resources.failed:
        yield from uncovered(table.rows(joined.groups, joined.whole.every, table.Filter(problems=True)))


def _without_modules(lists: Mapping[str, ResourceList], every: Sequence[Joined], is_required: bool) -> Iterator[Result]:
    """Yield a finding when there is no Module at all, so that every node is fine and nothing was asked."""
    if any(joined.whole.drivers for joined in every) or any(resources.failed for resources in lists.values()):
        return
    if any(joined.whole.fleet.nodes for joined in every):
        finding = error if is_required else warning
        yield finding(f"no Module is in {some(lists, len(lists))}, so no node can get one; is it the right PATH?")


def _loaded(joined: Joined) -> Iterator[Result]:
    """Yield how many Modules are planned on live nodes, and where KMM's ready label is missing."""
    planned = [
        (driver.ready in node.labels, f"{driver.module.ref.name} on {node.name}")
        for group in joined.groups
        for outcome in group.outcomes
        if outcome.state == table.DRIVEN and (driver := joined.whole.every[outcome.driver]).loads
        for node in group.nodes
    ]
    lacking = sorted(name for is_ready, name in planned if not is_ready)
    those = f", these {len(lacking):,} not: {some(lacking, len(lacking))}" if lacking else ""
    yield info(f"planned {len(planned):,}, loaded {len(planned) - len(lacking):,}{those}")


def _left_out(name: str, resources: ResourceList, joined: Joined, bare: Sequence[Ref], owner: str) -> Iterator[Result]:
    """Yield warnings about what the table does not show, or shows in spite of errors.

    `owner` is the config or Module that was asked about; "" for all.
    """
    if joined.wrong:
        yield warning(f"no nodes of {name} are shown, because there are errors about its nodes; correct them first")
        return
    if not joined.groups:
        return
    if resources.failed:
        yield warning(f"{name} has errors, so nothing is rendered from it; the table shows what its nodes would get")
    if bare:
        few = some(map(str, bare), len(bare))
        yield warning(
            f"the table has no row for {few}: no Module is generated from {'it' if len(bare) == 1 else 'them'}"
        )
    idle = [
        one
        for one in _idle(joined)
        if not owner or any(table.is_called(ref, owner) for ref in (one.ref, one.owner) if ref)
    ]
    if idle:
        few = some(map(wording.name, idle), len(idle))
        yield warning(f"the table has no row for {few}: no node is selected")


def _idle(joined: Joined) -> list[Driver]:
    """Return the Modules that select none of the nodes that there are of their kind, a hub's or its clusters'."""
    kinds = {node.cluster is not None for node in joined.whole.fleet.nodes}
    seen = {outcome.driver for group in joined.groups for outcome in group.outcomes}
    numbered = enumerate(joined.whole.drivers)
    return [one for at, one in numbered if at not in seen and (one.cluster is not None) in kinds]


def uncovered(rows: Iterable[table.Row]) -> list[Result]:
    """Return an error per config and reason for which nodes that it selects get no driver."""
    names: dict[tuple[Ref, str], list[str]] = {}
    for row in rows:
        if row.driver:
            is_assumed = row.state == table.ASSUMED and not row.node.last_kernel
            reason = f"assumed, not known: {row.reason}" if is_assumed else row.reason
            names.setdefault((row.driver.claim.ref, reason), []).append(row.node.name)
    return [error(f"{wording.nodes_named(alike)}: {reason}", ref=ref) for (ref, reason), alike in names.items()]


_EXAMPLES = (
    "clusters/lab",
    "clusters/lab --node gpu-17",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --where pool=canary --problems",
    "clusters/* --require-coverage --format json > nodes.json",
)
COMMAND = Command(
    *(_EXAMPLES, _arguments, Nodes, _run),
    intent=LOOK._replace(shows_errors=True),
    joins=True,
)
