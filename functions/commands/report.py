"""The command `report`: a fleet as one page to look at."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from krmfn import Result
from krmfn.typed import TYPE_CHECKING, NamedTuple

from .. import options
from ..cluster import cluster_streams, live_nodes
from ..cluster.deployed import Clusters
from ..command import Command, Context
from ..fleet.live import Live
from ..formats import findings
from ..formats.checked import Checked, tag_cluster
from ..formats.unjudged import joined, of_each
from ..formats.verdict import Told, Verdict
from ..paths import files
from ..plan import Comparison
from ..run import placed
from ..settings import COMPARE, REVIEW
from . import clusters, run_findings
from .catalogue import rules

if TYPE_CHECKING:
    from ..report.parts import Part


class Request(NamedTuple):
    """What is asked of `report`."""

    paths: tuple[str, ...]
    output: str | None
    files: tuple[str, ...]
    base: str | None


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    options.add_context(parser)
    help_ = "write the page to FILE, atomically (default: stdout)"
    parser.add_argument("-o", "--output", metavar="FILE", help=help_)
    clusters.add_from(parser)
    help_ = "show what has changed since the merge base of HEAD and REF, read from Git"
    parser.add_argument("--base", metavar="REF", help=help_)


def _run(context: Context, args: Request) -> int:
    # a change is one of all clusters, so with --base all are read
    layout = cluster_streams.asked_of(context, args.paths) if args.base is None and not args.files else None
    streams = clusters.read(context, args.paths, is_needed=not args.files, goes_on=True, layout=layout)
    if streams is None:
        return 2
    comparisons: list[Comparison] = []
    if args.base is not None:
        from ..comparing import against_base  # here: what runs Git is slow to load

        look = context._replace(intent=COMPARE)
        comparisons = against_base.compare_with_base(
            look, against_base.AgainstBase(args.base, [*streams.paths], streams)
        )
    from ..report import verdicts  # here: no other command has a page

    dumps = live_nodes.by_cluster(context.options, list(streams.lists))
    outputs = clusters.read_outputs(args.files, streams.lists)
    parts = [*parts_of(streams, dumps), *outputs]
    additions = [finding for part in outputs for finding in tag_cluster(part.name, part.findings)]
    checked = run_findings.collect(context, streams, None, additions)
    gaps = [*of_each(checked.not_judged, [*streams.lists]), *(gap for part in outputs for gap in part.gaps)]
    checked = checked._replace(not_judged=joined(gaps, [part.name for part in parts]))
    if args.base is not None:
        checked = run_findings.at_the_change(checked, args.base, [*streams.paths])
    checked = run_findings.with_changes(checked, comparisons)
    text = page_of(parts, checked, verdicts.verdict_of(parts, checked, comparisons), comparisons, args.output)
    results = _unlogged(streams, parts, comparisons)
    if args.output is not None:
        files.write_text(args.output, text)
        text = ""
    code = clusters.print_text(context, streams, text, results)
    return code or int(findings.fails(checked.results, ()))  # what is logged already counts, too


def parts_of(streams: Clusters, dumps: Mapping[str, Live] = MappingProxyType({})) -> list[Part]:
    """Return what the page shows of each cluster; `dumps` are those of the clusters whose nodes are live."""
    from ..report import cluster_view  # here: it is slow to load
    from ..report.parts import unread_part

    views = [cluster_view.join(name, resources) for name, resources in streams.lists.items()]
    views = [cluster_view.with_dump(view, dumps[view.name]) if view.name in dumps else view for view in views]
    return [*map(cluster_view.part, views), *map(unread_part, streams.unread)]


def page_of(
    parts: Sequence[Part],
    checked: Checked,
    verdict: Verdict,
    comparisons: Sequence[Comparison],
    output: str | None = None,
) -> str:
    """Return the page about some clusters.

    `output` is the file that it is written to: the page has links to what is below its folder.
    """
    from importlib.metadata import version

    from ..report.page import page  # here: no other command has a template to fill in

    by_id = {rule.id: rule for rule in rules()}
    return page(parts, by_id, version("krmfn"), Told(verdict, checked.results, comparisons), _links(output))


def _unlogged(streams: Clusters, parts: Sequence[Part], comparisons: Sequence[Comparison]) -> list[Result]:
    """Return the findings of the page that are not among those of the lists, which were logged."""
    from ..report.tallies import change_errors

    # by their ids: one that is told twice may have another place
    logged = {(result.severity, result.id) for resources in streams.lists.values() for result in placed(resources)}
    results = (*(finding for part in parts for finding in part.findings), *change_errors(comparisons))
    return [finding for finding in results if (finding.severity, finding.id) not in logged]


def _links(output: str | None) -> Callable[[str], str]:
    """Return a function that returns the link to a file from the page; "" for one that is not below the page's folder.

    A page on stdout has no links, since nobody knows where it will be.
    """
    if output is None:
        return lambda name: ""
    folder = str(Path(output).parent)
    from ..report.page import link  # here, as above

    return cache(lambda name: link(files.path_below(folder, name)))


_EXAMPLES = (
    "clusters/lab -o report.html",
    "clusters/lab --base origin/main -o report.html",
    "clusters/* > report.html",
    "--from nodes-*.json check-*.json -o report.html",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, REVIEW, joins=True)
