"""The command `diff`: what would change on the cluster."""

import argparse
import sys
from collections.abc import Sequence

from krmfn import KrmfnError, printing
from krmfn.typed import NamedTuple

from .. import options, terminal
from ..command import Command, Context
from ..comparing import against_base, pairs
from ..formats import changes, comment, findings, grouped, rollout
from ..paths import output
from ..plan import Comparison, of_kinds
from ..settings import COMPARE
from ..upgrades import waves
from . import change_findings, clusters, run_findings

EXITS = (
    "exit code: 0 nothing changes, 1 an object changes, or what a known node gets (see --fail-on), 2 the new state "
    "cannot be rendered, or there is no plan (--plan)"
)


class Request(NamedTuple):
    """What is asked of `diff`."""

    paths: tuple[str, ...]
    base: str | None
    kinds: str | None
    format: str
    plan: bool
    wave: str | None
    fail_on: tuple[str, ...]
    exit_zero: bool


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s OLD NEW [options]\n       %(prog)s --base REF [PATH ...] [options]"
    help_ = f"OLD, the current state, and NEW, the new state: {options.PATH}; /dev/null for an empty state"
    options.add_paths(parser, live=True, help_=f"{help_}. With --base: the new state (default: .)")
    help_ = "compare each PATH with its state in the merge base of HEAD and REF, read from Git"
    parser.add_argument("--base", metavar="REF", help=help_)
    parser.add_argument("--kinds", metavar="KIND[,KIND]", help="show and count only changes of these kinds")
    parser.add_argument("--format", choices=(*comment.FORMATS,), default="text", help="output format (default: text)")
    help_ = "print the waves of one ordered version bump instead: `kubectl label` lines, what to wait for, the way back"
    parser.add_argument("--plan", action="store_true", help=help_)
    help_ = f"how many nodes a wave of --plan has: a number, or a share such as 25%% (default: {waves.DEFAULT}%)"
    parser.add_argument("--wave", metavar="SIZE", help=help_)
    fails = parser.add_mutually_exclusive_group()
    options.add_fail_on(fails, options.NOW | options.CHANGE, default="change")
    fails.add_argument("--exit-zero", action="store_true", help="exit with code 0 even if something changes")


def run(context: Context, args: Request) -> int:
    """Print what would change. A change that the cluster refuses is a note of severity error, not a failure."""
    _check_plan(args)
    if args.base is None and len(args.paths) != 2:
        raise KrmfnError(
            f"diff takes two PATHs, OLD and NEW, but got {len(args.paths)}; with --base REF it takes any number",
            "usage: krmfn diff OLD NEW, or krmfn diff --base REF [PATH ...]",
        )
    is_read = args.format == "text" and not args.plan  # what a program reads is on stderr for people, too
    if args.base is None:
        comparisons = pairs.compare_paths(context, *args.paths)
    else:
        # these need clusters that do not change, too
        skips = not (args.kinds is not None or args.plan or {"uncovered", "unjudged"}.intersection(args.fail_on))
        request = against_base.AgainstBase(args.base, args.paths, skips=skips, shows_notes=is_read)
        comparisons = against_base.compare_with_base(context, request)
    if not comparisons:
        return 2
    if args.kinds is not None:
        comparisons = _of_kinds(comparisons, [kind for kind in args.kinds.split(",") if kind])
    if args.plan and len(comparisons) > 1:
        raise KrmfnError(f"no plan: there are {len(comparisons):,} clusters; pass the PATHs of one")
    with_reasons = change_findings.with_failing(comparisons, args.fail_on) if is_read else comparisons
    if args.plan:
        plan = waves.rollout(comparisons[0], args.wave or waves.DEFAULT)
        text = rollout.as_json(plan) if args.format == "json" else rollout.text(plan)
    elif args.format == "text" and terminal.has_colors(context.options.color, sys.stdout):
        text = changes.text(with_reasons, run_findings.gaps_of_change(comparisons), terminal.painted)
    else:
        text = comment.FORMATS[args.format](with_reasons, run_findings.gaps_of_change(comparisons))
    output.write_stdout(text)
    if any(comparison.failed for comparison in comparisons):
        return 2
    return int(not args.exit_zero and _fails(context, comparisons, args.fail_on, is_read))


def _check_plan(args: Request) -> None:
    """Raise KrmfnError for options that cannot be combined."""
    if args.wave is not None and not args.plan:
        raise KrmfnError("--wave is about --plan; add --plan")
    if args.wave is not None:
        waves.size(args.wave, 1)
    if args.plan and (args.format == "markdown" or args.kinds is not None):
        raise KrmfnError("--plan has the formats text and json, and no --kinds: it is about the whole change")


def _of_kinds(comparisons: Sequence[Comparison], kinds: Sequence[str]) -> list[Comparison]:
    """Return the comparisons with the changes of these kinds, and with all effects on nodes.

    Raises KrmfnError for no kind, and for one that is misspelt.
    """
    if not kinds:
        raise KrmfnError("--kinds names no kind; write for example --kinds Module,DaemonSet")
    manifests = (manifest for comparison in comparisons for manifest in (*comparison.plan.old, *comparison.plan.new))
    present = {str(manifest.get("kind", "")) for manifest in manifests}
    lower = {kind.lower() for kind in present}
    for kind in kinds:
        suggestion = "" if kind.lower() in lower else printing.closest(kind, present, 0.8)
        if suggestion:
            raise KrmfnError(f"--kinds: no {kind} is in OLD or NEW; did you mean {suggestion}?")
    return [of_kinds(comparison, [kind.lower() for kind in kinds]) for comparison in comparisons]


def _fails(context: Context, comparisons: Sequence[Comparison], words: Sequence[str], is_told: bool) -> bool:
    """Return True when the exit code is 1; the reasons that `words` of --fail-on give are logged.

    With `is_told` the output has those about the change.
    """
    lists = run_findings.new_lists(comparisons)
    of_change = [raised.error for raised in change_findings.change_errors(comparisons, words)]
    others = list(clusters.uncovered_errors(lists, words, comparisons))
    if "unjudged" in words:
        others += run_findings.gap_errors(run_findings.gaps_of_change(comparisons))
    unsaid = others if is_told else [*of_change, *others]
    context.log.findings(grouped.lines(unsaid, [comparison.name for comparison in comparisons]))
    changed = [] if words else change_findings.change_errors(comparisons, ("change",))
    reasons = [*of_change, *others, *(raised.error for raised in changed)]
    return findings.fails([*reasons, *(note for comparison in comparisons for note in comparison.notes)], words)


_EXAMPLES = (
    "main/clusters/lab clusters/lab",
    "/dev/null clusters/lab --format markdown",
    "--base origin/main clusters/lab --fail-on error",
    "main/clusters/lab clusters/lab --plan --wave 5",
)
COMMAND = Command(_EXAMPLES, _arguments, run, Request, COMPARE, joins=True, exits=EXITS)
