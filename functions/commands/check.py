"""The command `check`: what is wrong in each PATH, as a report."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import cache, partial

from krmfn import KrmfnError, error
from krmfn.printing import counted
from krmfn.results import Result
from krmfn.typed import NamedTuple

from .. import options, terminal
from ..cluster import cluster_streams, telling
from ..cluster.deployed import Clusters
from ..command import FAILS_ON, Command, Context
from ..formats import findings
from ..formats.checked import Checked, dump_baseline
from ..paths import files, output
from ..rendering import ignoring
from ..settings import CHECK
from . import run_findings
from .catalogue import rules
from .judged import Judged

_SEVERITIES = ("info", "warning", "error")


class Request(NamedTuple):
    """What is asked of `check`."""

    paths: tuple[str, ...]
    format: str | None
    baseline: str | None
    write_baseline: str | None
    fail_on: tuple[str, ...]
    min_severity: str
    select: str
    ignore: str
    fix: bool
    diff: bool
    force: bool
    everything: bool
    output_format: str | None
    rules_url: str | None


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    options.add_context(parser)
    help_ = "output format (default: text, or `format` in .krmfn.yaml)"
    parser.add_argument("--format", choices=tuple(findings.FORMATS), help=help_)
    parser.add_argument("--baseline", metavar="FILE", help=options.BASELINE)
    help_ = "write the current findings to FILE, and print nothing"
    parser.add_argument("--write-baseline", metavar="FILE", help=help_)
    options.add_fail_on(parser, options.NOW)
    help_ = "the same as --fail-on warning"
    parser.add_argument("--strict", action="append_const", dest="fail_on", const="warning", help=help_)
    help_ = "show only findings of this severity and above; the exit code counts all (default: info)"
    parser.add_argument("--min-severity", choices=_SEVERITIES, default="info", help=help_)
    help_ = "show only findings of these rules (KRM604, or KRM6 for all that start with it); the exit code counts all"
    parser.add_argument("--select", metavar="RULE,...", default="", help=help_)
    help_ = "turn off these rules, as `ignore` in a functionConfig does; only advice can be turned off, and is counted"
    parser.add_argument("--ignore", metavar="RULE,...", default="", help=help_)
    help_ = "fix findings that have one safe correction, check the result, write it, and print the other findings"
    parser.add_argument("--fix", action="store_true", help=help_)
    help_ = "print what --fix would change as a diff, and write nothing; exit code 1 if there is a diff"
    parser.add_argument("--diff", action="store_true", help=help_)
    help_ = "with --fix: also change files with uncommitted changes"
    parser.add_argument("--force", action="store_true", help=help_)
    help_ = "also check folders without anything of krmfn or KMM, if a PATH is a whole repository"
    parser.add_argument("--all", action="store_true", dest="everything", help=help_)
    help_ = "with --format text: concise shows no help below findings, full also the line of the file"
    parser.add_argument("--output-format", choices=("concise", "full"), help=help_)
    options.add_rules_url(parser)


def run(context: Context, args: Request) -> int:
    """Print the findings of every cluster. What cannot be read is an error among them, and the exit code is 2."""
    _check_rules(*_named(args))
    context = context._replace(options=context.options._replace(everything=args.everything))
    if args.fix or args.diff:
        return _mend(context, args)
    if args.write_baseline:
        return _write_baseline(context, args, args.write_baseline)
    judged = _judge(context, args)
    _print(context, args, judged)
    return run_findings.exit_code(judged.streams, judged.checked, args.fail_on)


def _named(args: Request) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rules of --select and those of --ignore."""
    select, ignore = (tuple(filter(None, text.split(","))) for text in (args.select, args.ignore))
    return select, ignore


def _rendered(context: Context, args: Request) -> Clusters:
    """Return the clusters of the PATHs."""
    return cluster_streams.render(context, args.paths, None, cluster_streams.asked_of(context, args.paths))


def _write_baseline(context: Context, args: Request, file: str) -> int:
    """Write the findings that there are now to a file; nothing where something cannot be read."""
    streams = _rendered(context, args)
    if len(streams.clusters) > 1:
        telling.look_up_places(context, streams)
    if not streams.is_readable:
        telling.log(context, streams)
        return 2
    text = dump_baseline(run_findings.collect(context, streams, None).results)
    files.write_text(file, text, context.options.root)
    return 0


def _judge(context: Context, args: Request) -> Judged:
    """Return the clusters of the PATHs with their findings, and with those that are shown."""
    least = "warning" if context.options.quiet and args.min_severity == "info" else args.min_severity
    select, ignore = _named(args)
    streams = _rendered(context, args)
    if len(streams.clusters) > 1:  # as many builds at a time as --jobs says
        telling.look_up_places(context, streams)
    additions: Iterable[Result] = ()
    if "uncovered" in args.fail_on:
        from . import clusters  # here: few ask

        additions = clusters.uncovered_errors(streams.lists, args.fail_on)
    checked = run_findings.collect(context, streams, args.baseline, additions)._replace(
        failing=findings.failing(args.fail_on), rules_url=args.rules_url or ""
    )
    checked = run_findings.with_gaps(checked, args.fail_on)
    checked = _turn_off(checked, ignore) if ignore else checked
    visible = _select(checked, least, select) if least != "info" or select else checked
    return Judged(streams, checked, visible)


def _print(context: Context, args: Request, judged: Judged) -> None:
    """Print the findings that are shown, in the format that is asked for."""
    form, visible = args.format or judged.streams.config.format or "text", judged.visible
    if form == "prometheus":  # what has failed is told of each config
        visible = run_findings.with_config_places(visible, judged.streams.sources)
    if form in findings.WITHOUT_COUNT:
        visible = _with_hidden(visible)
    write = findings.FORMATS[form]
    if write is findings.text:
        paint = terminal.painted if terminal.has_colors(context.options.color, sys.stdout) else terminal.plain
        layout = findings.Layout(paint, has_help=args.output_format != "concise")
        if args.output_format == "full":
            layout = layout._replace(source=_source_of(context.options.root))
        write = partial(write, layout=layout)
    output.write_stdout(write(visible, rules))


def _mend(context: Context, args: Request) -> int:
    """Mend what can be mended, and print what is left; with --diff print what would be mended, and write nothing.

    The exit code is that of a check afterwards; with --diff it is 1 where something would be mended, too.
    """
    from . import fixing  # here: most checks mend nothing

    if args.write_baseline or "-" in args.paths:
        other = "--write-baseline" if args.write_baseline else "the PATH -"
        raise KrmfnError(f"{other} cannot be combined with --fix or --diff, which change files; remove one of the two")
    mended = fixing.mend(context, partial(_judge, context, args))
    code = run_findings.exit_code(mended.judged.streams, mended.judged.checked, args.fail_on)
    if args.diff:
        if mended.problem:
            context.log.say(f"nothing can be fixed: {mended.problem}", "error")
        output.write_stdout(fixing.diff(mended))
        context.log.findings(mended.judged.visible.results)
    else:
        fixing.write(context, mended, args.force)
        _print(context, args, mended.judged)
    return code or int(bool(mended.problem or (args.diff and mended.texts)))


def _check_rules(select: Sequence[str], ignore: Sequence[str]) -> None:
    """Raise KrmfnError for a name in `select` that no rule begins with, and for a rule that cannot be turned off."""
    for name in select:
        if not any(rule.id.startswith(name) for rule in rules()):
            raise KrmfnError(f"--select: no rule begins with {name}; `krmfn rules` lists them")
    for rule in ignore:
        if wrong := ignoring.mistake(rule):
            raise KrmfnError(f"--ignore: {wrong.text}")


def _turn_off(checked: Checked, ignore: Sequence[str]) -> Checked:
    """Return a check without the findings of these rules, as far as they may be turned off; they are counted."""
    kept = [f for f in checked.results if not (f.rule in ignore and ignoring.is_hideable(f))]
    number = sum(f.unlisted or 1 for f in checked.results) - sum(f.unlisted or 1 for f in kept)
    return checked._replace(results=kept, turned_off=checked.turned_off + number)


def _select(checked: Checked, least: str, select: tuple[str, ...]) -> Checked:
    """Return a check with the findings of these rules, of severity `least` and above, and the number of others."""
    severities = _SEVERITIES[_SEVERITIES.index(least) :]
    visible, hidden = list[Result](), list[Result]()
    for finding in checked.results:
        is_selected = finding.severity in severities and (not select or finding.rule.startswith(select))
        (visible if is_selected else hidden).append(finding)
    return checked._replace(results=visible, hidden=findings.summary(hidden))


def _with_hidden(checked: Checked) -> Checked:
    """Return a check with a finding for those that are not shown and make the command fail: no server shows a pass."""
    severity = next((severity for severity in checked.failing if checked.hidden.get(severity)), "")
    if not severity:
        return checked
    number = counted(sum(checked.hidden.get(name, 0) for name in checked.failing), "finding")
    finding = error(f"{number} that fail this check are not shown: see --select, --min-severity")
    return checked._replace(results=[*checked.results, finding])


def _source_of(root: str | None) -> findings.Source:
    """Return a function that returns a line of a file; "" where it cannot be read."""

    @cache
    def lines(path: str) -> list[str]:
        try:
            return files.read_text(path, root).splitlines()
        except KrmfnError:  # it is an error of the check already
            return []

    return lambda path, number: lines(path)[number - 1] if number <= len(lines(path)) else ""


_EXAMPLES = (
    "clusters/lab",
    "clusters/lab --format sarif > findings.sarif",
    "clusters/* --strict --baseline known.json",
)
COMMAND = Command(_EXAMPLES, _arguments, run, Request, CHECK, joins=True, exits=FAILS_ON)
