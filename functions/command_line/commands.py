"""The program's own commands, made runnable as the SDK's are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from krmfn import color
from krmfn.results import placed

from .. import options
from ..cluster import cluster_streams
from ..paths import output
from ..program import Command, Printed
from ..subcommand import EXITS, PRINTED, Context, Subcommand


def subcommand(known: Command | Printed | Callable[[], Command | Printed]) -> Subcommand:
    """Return a program's command as a subcommand."""
    command = known if isinstance(known, Command | Printed) else known()
    shown = command.help, command.examples or ("",)
    if isinstance(command, Printed):
        return Subcommand(
            *shown, PRINTED, command.arguments, command.args, partial(_print, command), runs_function=False
        )
    return Subcommand(
        *(*shown, EXITS, partial(_arguments, command), command.args, partial(_run, command)), joins=command.joins
    )


def _arguments(command: Command, parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser)
    command.arguments(parser)
    if command.compares:
        help_ = "show what changes since the merge base of HEAD and REF, read from Git"
        parser.add_argument("--base", metavar="REF", help=help_)
        parser.set_defaults(compared=())
    if command.paints:
        parser.set_defaults(painted=False)


def _print(command: Printed, context: Context, args: Any) -> int:
    output.write_stdout(command.run(args))
    return 0


def _run(command: Command, context: Context, args: Any) -> int:
    """Print what the command makes of the lists of all clusters; of none when something cannot be read."""
    stays = None if command.runs_function else lambda _: True
    if args.paths or context.options.cluster or command.reads_paths(args):
        streams = cluster_streams.rendered(context, args.paths, judged=command.is_judged, stays=stays)
    else:
        streams = cluster_streams.nothing(context)
    if not streams.is_whole:
        cluster_streams.log(context, streams)
        return 2
    cluster_streams.log_left_out(context, streams)
    context.log.findings(streams.findings)
    lists = streams.lists
    for resources in lists.values():
        if resources.failed:  # nothing was generated; what stands in the files can still be looked at
            context.log.findings(resources.results)
    args = args._replace(paths=streams.paths)
    if command.compares and args.base is not None:
        from ..comparing import against_base

        as_diff = context._replace(options=context.options._replace(command="diff"))
        args = args._replace(compared=against_base.with_base(as_diff, args.base, args.paths, streams))
    if command.paints:
        args = args._replace(painted=color.is_wanted(context.options.color, sys.stdout))
    text, results = command.run(lists, args)
    results = placed(results)
    context.log.findings(results)
    output.write_stdout(text)
    failed = any(resources.failed for resources in lists.values())
    return int(failed or any(result.severity == "error" for result in results))
