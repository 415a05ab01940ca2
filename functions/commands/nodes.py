"""The command `nodes`: which node gets which Module, and why not."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from krmfn import KrmfnError, Ref, ResourceList, Result, error
from krmfn.cli.main import Command

from ..deviceconfig.reading import domain_of
from ..fleet import table, wording
from ..fleet.coverage import coverage
from . import fleets


class Nodes(NamedTuple):
    """The arguments of `nodes`."""

    paths: tuple[str, ...]
    nodes: str | None
    kernel: str | None
    where: tuple[str, ...]
    label: tuple[str, ...]
    owner: str
    problems: bool
    require_coverage: bool
    format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    fleets.add_arguments(parser)
    help_ = "what if all nodes, or those of --where, had this kernel"
    parser.add_argument("--kernel", metavar="VERSION", help=help_)
    help_ = "only nodes with this label move to --kernel; may be given several times"
    parser.add_argument("--where", action="append", default=[], metavar="KEY=VALUE", help=help_)
    help_ = "print only nodes with this label; may be given several times"
    parser.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help=help_)
    help_ = "print only what this config or Module gets: its name, or namespace/name"
    parser.add_argument("--owner", default="", metavar="NAME", help=help_)
    help_ = "print only nodes that are selected and get no driver"
    parser.add_argument("--problems", action="store_true", help=help_)
    help_ = "fail when a node that is selected gets no driver"
    parser.add_argument("--require-coverage", action="store_true", help=help_)
    parser.add_argument("--format", choices=(*table.FORMATS, "json"), default="text", help="(default: text)")


def _run(lists: Mapping[str, ResourceList], args: Nodes) -> tuple[str, list[Result]]:
    wanted = table.Filter(dict(map(fleets.label, args.label)), args.owner, args.problems)
    where = dict(map(fleets.label, args.where))
    if where and not args.kernel:
        raise KrmfnError("--where says which nodes move to --kernel VERSION; to print only some nodes, say --label")
    rows: list[table.Row] = []
    results: list[Result] = []
    if args.format == "json":
        return _as_json(lists, args, wanted, where, results), results
    decided = False
    for path, whole, exclusive in fleets.read(lists, args.nodes, results):
        decided = True
        known = fleets.known_nodes(whole, path, {*where, *wanted.labels})
        nodes = fleets.moved(known, args.kernel, where)
        groups = coverage(nodes, whole.drivers, exclusive, whole.theirs)
        rows += table.rows(groups, whole.every, wanted, path if len(lists) > 1 else "")
        if args.require_coverage:
            results += uncovered(table.rows(groups, whole.every, table.Filter(problems=True)))
    return table.FORMATS[args.format](rows) if decided else "", results


def _as_json(
    lists: Mapping[str, ResourceList],
    args: Nodes,
    wanted: table.Filter,
    where: Mapping[str, str],
    results: list[Result],
) -> str:
    """Return all that is known of each cluster, also of those with errors; findings are added to `results`."""
    from ..report import local, printed  # here: a table needs less

    fleets.add_nodes(lists, args.nodes)
    clusters = []
    for name, resources in lists.items():
        joined = local.join(resources, domain_of, lambda nodes: fleets.moved(nodes, args.kernel, where))
        whole = joined.whole
        if not resources.failed:
            results += joined.about_nodes
        if not resources.failed and not joined.wrong:
            fleets.known_nodes(whole, name, {*where, *wanted.labels})
            if args.require_coverage:
                results += uncovered(table.rows(joined.groups, whole.every, table.Filter(problems=True)))
        rows = table.rows(joined.groups, whole.every, wanted, name if len(lists) > 1 else "")
        clusters.append(printed.Cluster(local.part_of(name, resources, joined), rows))
    return printed.dump(clusters, wanted == table.Filter(), args.kernel)


def uncovered(rows: Iterable[table.Row]) -> list[Result]:
    """Return an error per config and reason for which nodes that it selects get no driver."""
    names: dict[tuple[Ref, str], list[str]] = {}
    for row in rows:
        if row.driver:
            names.setdefault((row.driver.claim.ref, row.reason), []).append(row.node.name)
    return [error(f"{wording.nodes_named(alike)}: {reason}", ref=ref) for (ref, reason), alike in names.items()]


_EXAMPLES = (
    "clusters/lab",
    "clusters/lab --kernel 5.14.0-570.12.1.el9_6.x86_64 --where pool=canary --problems",
    "clusters/* --require-coverage --format json > nodes.json",
)
NODES = Command("print which driver each node gets, or why none", _arguments, Nodes, _run, _EXAMPLES, joins=True)
