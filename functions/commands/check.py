"""The command `check`: what is wrong in each PATH, as a report."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from krmfn import color
from krmfn.resource import Place
from krmfn.results import Findings, Result, error, in_order

from .. import options
from ..cluster import cluster_lists, cluster_streams
from ..cluster.cluster_lists import Rendered
from ..command import Command, Context
from ..formats import baseline, findings
from ..formats.checked import Checked
from ..paths import failures, files, output
from ..run import run_of
from ..settings import CHECK
from .catalogue import rules


class Args(NamedTuple):
    """The arguments of `check`."""

    paths: tuple[str, ...]
    format: str | None
    baseline: str | None
    write_baseline: str | None
    strict: bool


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    help_ = "output format (default: text, or `format` in .krmfn.yaml)"
    parser.add_argument("--format", choices=tuple(findings.FORMATS), help=help_)
    parser.add_argument("--baseline", metavar="FILE", help="ignore the findings listed in FILE")
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="write the current findings to FILE, and print nothing"
    )
    parser.add_argument("--strict", action="store_true", help="fail on warnings as well")


def run(context: Context, args: Args) -> int:
    """Print the findings of every cluster. What cannot be read is an error among them, and exit code 2."""
    streams = cluster_streams.rendered(context, args.paths)
    if len(streams.clusters) > 1:
        cluster_streams.look_up(context, streams)
    whole = cluster_lists.joined([_checked(one) for one in streams.clusters])
    if args.write_baseline:
        if not streams.is_whole:
            cluster_streams.log(context, streams)
            return 2
        files.write_text(args.write_baseline, baseline.dump([*streams.findings, *whole.results]), context.options.root)
        return 0
    results = [*streams.findings, *whole.results]
    number = len(results)
    if args.baseline:
        results = _new(context, args.baseline, results)
    left_out = number - len(results)
    results = _once(results)
    # no baseline names these: what was not read was not judged
    results += [result for failure in streams.failures for result in _unread(failure)]
    results = list(Findings(results))
    write = findings.FORMATS[args.format or streams.config.format or "text"]
    if write is findings.text and color.is_wanted(context.options.color, sys.stdout):
        write = partial(findings.text, paint=color.painted)
    by_cluster = {one.cluster.name: one.final.results for one in streams.clusters}
    checked = whole._replace(results=results, excluded=streams.excluded, clusters=by_cluster, baseline=left_out)
    output.write_stdout(write(checked, rules))
    severities = findings.summary(results)
    if not streams.is_whole:
        return 2
    return int(severities["error"] > 0 or (args.strict and severities["warning"] > 0))


def _checked(one: Rendered) -> Checked:
    """Return what was found in one cluster."""
    return one.read._replace(results=in_order(one.final.results), turned_off=run_of(one.final).turned_off)


def _once(results: Sequence[Result]) -> list[Result]:
    """Return the findings without those that another cluster has, too: a base that several build is one file."""
    return list({(one.place, str(one)) if one.place and one.place.line else id(one): one for one in results}.values())


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


COMMAND = Command(
    "print what is wrong with the resources, and where",
    ("clusters/lab", "clusters/lab --format sarif > findings.sarif", "clusters/* --strict --baseline known.json"),
    *(_arguments, Args, run, CHECK),
    joins=True,
)
