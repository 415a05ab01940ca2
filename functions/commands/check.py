"""The command `check`: what is wrong in each PATH, as a report."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial

from krmfn import color
from krmfn.resource import Place
from krmfn.results import Findings, Result, error, in_order
from krmfn.typed import NamedTuple

from .. import options
from ..cluster import cluster_lists, cluster_streams
from ..cluster.cluster_streams import Streams
from ..command import Command, Context
from ..formats import baseline, findings
from ..formats.checked import Checked, of_cluster
from ..paths import failures, files, output
from ..paths.manifests import KUSTOMIZATIONS
from ..run import run_of
from ..settings import CHECK
from . import selection
from .catalogue import rules


class Args(NamedTuple):
    """The arguments of `check`."""

    paths: tuple[str, ...]
    format: str | None
    baseline: str | None
    write_baseline: str | None
    fail_on: tuple[str, ...]
    strict: bool
    min_severity: str
    select: str
    ignore: str
    output_format: str


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    help_ = "output format (default: text, or `format` in .krmfn.yaml)"
    parser.add_argument("--format", choices=tuple(findings.FORMATS), help=help_)
    parser.add_argument("--baseline", metavar="FILE", help="ignore the findings listed in FILE")
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="write the current findings to FILE, and print nothing"
    )
    options.add_fail_on(parser, options.NOW)
    parser.add_argument("--strict", action="store_true", help="the same as --fail-on warning")
    help_ = "show only findings of this severity and above; the exit code counts all (default: info)"
    parser.add_argument("--min-severity", choices=selection.SEVERITIES, default="info", help=help_)
    help_ = "show only findings of these rules, such as KRM604, or KRM6 for all that begin so; the exit code counts all"
    parser.add_argument("--select", metavar="RULE,...", default="", help=help_)
    help_ = "turn off these rules, as `ignore` in a functionConfig does: those that advise; findings are counted"
    parser.add_argument("--ignore", metavar="RULE,...", default="", help=help_)
    help_ = "with --format text: full shows the line of the file below each finding (default: concise)"
    parser.add_argument("--output-format", choices=("concise", "full"), default="concise", help=help_)


def run(context: Context, args: Args) -> int:
    """Print the findings of every cluster. What cannot be read is an error among them, and exit code 2."""
    least = "warning" if context.options.quiet and args.min_severity == "info" else args.min_severity
    is_narrowed = least != "info" or args.select or args.ignore
    chosen = selection.selection(least, args.select, args.ignore, _ids) if is_narrowed else None
    streams = cluster_streams.rendered(context, args.paths)
    if len(streams.clusters) > 1:
        cluster_streams.look_up(context, streams)
    if args.write_baseline:
        if not streams.is_whole:
            cluster_streams.log(context, streams)
            return 2
        known = judged(context, streams, None).results
        files.write_text(args.write_baseline, baseline.dump(known), context.options.root)
        return 0
    fail_on = (*args.fail_on, *(["warning"] if args.strict else []))
    more: Iterable[Result] = ()
    if "uncovered" in fail_on:
        from . import failing  # here: few ask

        more = failing.uncovered(streams.lists, fail_on)
    checked = judged(context, streams, args.baseline, more)
    checked = selection.without_ignored(checked, chosen) if chosen else checked
    write = findings.FORMATS[args.format or streams.config.format or "text"]
    if write is findings.text:
        paint = color.painted if color.is_wanted(context.options.color, sys.stdout) else color.plain
        write = partial(write, paint=paint)
        if args.output_format == "full":
            write = partial(write, source=selection.source_of(context.options.root))
    output.write_stdout(write(selection.shown(checked, chosen) if chosen else checked, rules))
    return int(findings.fails(checked.results, fail_on)) if streams.is_whole else 2


def judged(context: Context, streams: Streams, known: str | None, more: Iterable[Result] = ()) -> Checked:
    """Return what was found in all clusters, and what cannot be read, but for what the baseline file `known` names.

    `more` are findings that no baseline names.
    Raises KrmfnError for a file that is no baseline.
    """
    parts = (
        one.read._replace(results=in_order(one.final.results), turned_off=run_of(one.final).turned_off)
        for one in streams.clusters
    )
    whole = cluster_lists.joined(list(parts))
    results = [*streams.findings]
    for one in streams.clusters:
        if one.final.results:
            results += of_cluster(one.cluster.name, in_order(one.final.results))
    number = len(results)
    if known:
        results = _new(context, known, results)
    left_out = number - len(results)
    results += more
    # no baseline names these: what was not read was not judged
    for failure in streams.failures:
        results += of_cluster(failure.cluster, _unread(failure)) if failure.cluster else _unread(failure)
    if len(streams.clusters) > 1:
        from ..formats import grouped  # late: of one cluster nothing is told for several

        results = grouped.joined(results, len(streams.clusters))
    results = [*map(_in_file, results)]
    by_cluster = {one.cluster.name: one.final.results for one in streams.clusters}
    return whole._replace(
        results=list(Findings(results)), excluded=streams.excluded, clusters=by_cluster, baseline=left_out
    )


def _in_file(result: Result) -> Result:
    """Return a finding that stands in a file, or in none: what CI servers show at a file is no folder."""
    place = result.place
    if not place or place.line or not os.path.isdir(place.path):  # noqa: PTH112
        return result
    names = (f"{place.path}/{name}" for name in KUSTOMIZATIONS)
    if name := next(filter(os.path.isfile, names), ""):
        return result._replace(place=place._replace(path=os.path.normpath(name)))
    return result._replace(place=None, message=f"{place.path}: {result.message}")


def _new(context: Context, name: str, results: Sequence[Result]) -> list[Result]:
    """Return the findings that a baseline file does not name."""
    left = baseline.new(results, baseline.parse(files.read_text(name, context.options.root), name))
    context.log.say(f"{len(results) - len(left)} of {len(results)} findings are listed in {name}")
    return left


def _unread(failure: failures.Failure) -> list[Result]:
    """Return an error for each file of a PATH that cannot be read, or one for the PATH."""
    if failure.findings:
        return list(failure.findings)
    messages: list[str] = []
    for line in failure.lines:
        if not messages or line.startswith(f"{os.path.normpath(failure.path)}/"):
            messages.append(line.removeprefix(f"{failure.name}: "))
        else:
            messages[-1] += f"\n{line}"
    return [error(message, place=Place(failure.name)) for message in messages]


def _ids() -> frozenset[str]:
    return frozenset(rule.id for rule in rules())


COMMAND = Command(
    ("clusters/lab", "clusters/lab --format sarif > findings.sarif", "clusters/* --strict --baseline known.json"),
    *(_arguments, Args, run, CHECK),
    joins=True,
)
