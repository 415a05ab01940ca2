"""The command `report`: a fleet as one page to look at."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from krmfn import Result
from krmfn.typed import Any

from .. import options
from ..cluster import cluster_streams, live_nodes
from ..cluster.deployed import Clusters
from ..command import Command, Context
from ..fleet.live import Live
from ..paths import files
from ..plan import Comparison
from ..settings import COMPARE, REVIEW
from . import clusters


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    options.add_context(parser)
    help_ = "write the page to FILE, atomically (default: stdout)"
    parser.add_argument("-o", "--output", metavar="FILE", help=help_)
    clusters.add_from(parser)
    help_ = "show what has changed since the merge base of HEAD and REF, read from Git"
    parser.add_argument("--base", metavar="REF", help=help_)


def _run(context: Context, args: Any) -> int:
    # a change is one of all clusters, so with --base all are read
    layout = cluster_streams.asked_of(context, args.paths) if args.base is None and not args.files else None
    streams = clusters.read(context, args.paths, is_needed=not args.files, goes_on=True, layout=layout)
    if streams is None:
        return 2
    comparisons: list[Comparison] = []
    if args.base is not None:
        from ..comparing import against_base  # here: what runs Git is slow to load

        look = context._replace(intent=COMPARE)
        comparisons = against_base.compare_with_base(look, args.base, [*streams.paths], streams)
    dumps = live_nodes.by_cluster(context.options, list(streams.lists))
    text, results = page_of(streams, args.files, comparisons, args.output, dumps)
    if args.output is not None:
        files.write_text(args.output, text)
        text = ""
    return clusters.print_text(context, streams, text, results)


def page_of(
    streams: Clusters,
    names: Sequence[str],
    comparisons: Sequence[Comparison],
    output: str | None = None,
    dumps: Mapping[str, Live] = MappingProxyType({}),
) -> tuple[str, list[Result]]:
    """Return the page about some clusters and those of files (--from), and its findings that the lists do not have.

    `output` is the file that it is written to: the page has links to what is below its folder. `dumps` are those of the
    clusters whose nodes are live.
    """
    lists, findings = streams.lists, [*streams.findings, *streams.unassigned_findings]
    from importlib.metadata import version

    # here: no other command has a template to fill in
    from ..report import cluster_view
    from ..report.page import page
    from ..report.parts import unread_part
    from ..report.tallies import change_errors
    from .catalogue import rules

    views = [cluster_view.join(name, resources) for name, resources in lists.items()]
    views = [cluster_view.with_dump(view, dumps[view.name]) if view.name in dumps else view for view in views]
    parts = list(map(cluster_view.part, views))
    parts += clusters.read_outputs(names, lists)
    by_id = {rule.id: rule for rule in rules()}
    fleet = [*parts, *map(unread_part, streams.unread)]
    text = page(fleet, by_id, version("krmfn"), comparisons, _links(output), findings)
    # those of the lists were logged, and count for the exit code, with the lists
    logged = {result.occurrence for resources in lists.values() for result in resources.results}
    results = (*(finding for part in parts for finding in part.findings), *change_errors(comparisons))
    return text, [finding for finding in results if finding.occurrence not in logged]


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
COMMAND = Command(*(_EXAMPLES, _arguments, _run, REVIEW), joins=True)
