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
from ..cluster.cluster_streams import Streams
from ..command import Command, Context
from ..formats import baseline, findings
from ..formats.checked import Checked
from ..paths import failures, files, output
from ..run import run_of
from ..settings import CHECK
from . import failing
from .catalogue import rules


class Args(NamedTuple):
    """The arguments of `check`."""

    paths: tuple[str, ...]
    format: str | None
    baseline: str | None
    write_baseline: str | None
    fail_on: tuple[str, ...]
    strict: bool


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    help_ = "output format (default: text, or `format` in .krmfn.yaml)"
    parser.add_argument("--format", choices=tuple(findings.FORMATS), help=help_)
    parser.add_argument("--baseline", metavar="FILE", help="ignore the findings listed in FILE")
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="write the current findings to FILE, and print nothing"
    )
    failing.add_argument(parser, failing.NOW)
    parser.add_argument("--strict", action="store_true", help="the same as --fail-on warning")


def run(context: Context, args: Args) -> int:
    """Print the findings of every cluster. What cannot be read is an error among them, and exit code 2."""
    streams = cluster_streams.rendered(context, args.paths)
    if len(streams.clusters) > 1:
        cluster_streams.look_up(context, streams)
    if args.write_baseline:
        if not streams.is_whole:
            cluster_streams.log(context, streams)
            return 2
        whole = cluster_lists.joined([_checked(one) for one in streams.clusters])
        files.write_text(args.write_baseline, baseline.dump([*streams.findings, *whole.results]), context.options.root)
        return 0
    checked = judged(context, streams, args.baseline)
    fail_on = (*args.fail_on, *(["warning"] if args.strict else []))
    checked = checked._replace(results=[*checked.results, *failing.uncovered(streams.lists, fail_on)])
    write = findings.FORMATS[args.format or streams.config.format or "text"]
    if write is findings.text and color.is_wanted(context.options.color, sys.stdout):
        write = partial(findings.text, paint=color.painted)
    output.write_stdout(write(checked, rules))
    return int(failing.fails(checked.results, fail_on)) if streams.is_whole else 2


def judged(context: Context, streams: Streams, known: str | None) -> Checked:
    """Return what was found in all clusters, and what cannot be read, but for what the baseline file `known` names.

    Raises KrmfnError for a file that is no baseline.
    """
    whole = cluster_lists.joined([_checked(one) for one in streams.clusters])
    results = [*streams.findings, *whole.results]
    number = len(results)
    if known:
        results = _new(context, known, results)
    left_out = number - len(results)
    results = _once(results)
    # no baseline names these: what was not read was not judged
    results += [result for failure in streams.failures for result in _unread(failure)]
    by_cluster = {one.cluster.name: one.final.results for one in streams.clusters}
    return whole._replace(
        results=list(Findings(results)), excluded=streams.excluded, clusters=by_cluster, baseline=left_out
    )


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
