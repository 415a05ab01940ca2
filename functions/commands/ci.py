"""The command `ci`: a pull request checked, compared and reported, each cluster read once per side."""

import argparse
import json
import os
from collections.abc import Sequence

from krmfn import Result
from krmfn.printing import json_text
from krmfn.typed import Any, NamedTuple

from .. import options
from ..cluster import cluster_streams, telling
from ..cluster.deployed import Clusters
from ..command import FAILS_ON, Command, Context
from ..formats import comment, findings, verdict
from ..formats.checked import Checked
from ..paths import output, replacing
from ..plan import Comparison
from ..report import verdicts
from ..settings import COMPARE, REVIEW
from . import change_findings, clusters, report, run_findings
from .catalogue import rules

FORMAT = "krmfn.dev/ci/v1"
"""The format of result.json."""
_OF_FINDINGS = {"annotations.txt": "github", "junit.xml": "junit"}
_OF_ALL = {"findings.sarif": "sarif", "codequality.json": "gitlab"}
"""Files whose readers take an absent finding for a mended one, so they are written only when all could be read."""
FILES = (*_OF_FINDINGS, *_OF_ALL, "comment.md", "report.html", replacing.RESULT)


class Request(NamedTuple):
    """What is asked of `ci`."""

    paths: tuple[str, ...]
    base: str | None
    out: str
    baseline: str | None
    fail_on: tuple[str, ...]
    rules_url: str | None


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    help_ = "say what changes since the merge base of HEAD and REF, read from Git; without it there is no comment.md"
    parser.add_argument("--base", metavar="REF", help=help_)
    help_ = f"where {', '.join(FILES)} are written: a new or empty folder, or that of an earlier `ci`"
    parser.add_argument("--out", metavar="DIR", required=True, help=help_)
    parser.add_argument("--baseline", metavar="FILE", help=options.BASELINE)
    options.add_fail_on(parser, options.NOW | options.CHANGE)
    options.add_rules_url(parser)


def _run(context: Context, args: Request) -> int:
    replacing.clear(args.out, FILES, FORMAT)
    written = context.options.written | {os.path.realpath(args.out)}
    context = context._replace(options=context.options._replace(written=written))
    paths = [path for path in args.paths if args.base is None or os.path.lexists(path)]
    # PATHs that only the base has are compared, and there is nothing to read
    is_gone = args.paths and not paths and not context.options.cluster
    streams = cluster_streams.no_clusters(context) if is_gone else cluster_streams.render(context, paths)
    comparisons: list[Comparison] = []
    if args.base is not None:
        from ..comparing import against_base  # here: what runs Git is slow to load

        look = context._replace(intent=COMPARE, log=context.log._replace(quiet=True))
        comparisons = against_base.compare_with_base(
            look, against_base.AgainstBase(args.base, args.paths, streams, skips=True)
        )
    errors = change_findings.change_errors(comparisons, args.fail_on)
    comparisons = change_findings.without_failing(comparisons, errors)
    checked = _collect(context, args, streams, comparisons, [raised.error for raised in errors])
    is_compared = bool(comparisons) or args.base is None
    code = run_findings.exit_code(streams, checked, args.fail_on) if is_compared else 2
    output.write_texts({args.out: _texts(args, streams, checked, comparisons, code)}, context.options.root)
    visible = _failing(checked) if context.options.quiet else checked
    output.write_stdout(findings.text(visible, rules, findings.Layout(head="check: ")))
    return code


def _failing(checked: Checked) -> Checked:
    """Return a check with the findings that make the job fail, and with the number of others: the files have these."""
    others = [result for result in checked.results if result.severity not in checked.failing]
    visible = [result for result in checked.results if result.severity in checked.failing]
    return checked._replace(results=visible, hidden=findings.summary(others))


def _collect(
    context: Context, args: Request, streams: Clusters, comparisons: Sequence[Comparison], errors: Sequence[Result]
) -> Checked:
    """Return the findings, with those about the change, and with the `errors` and others that --fail-on makes."""
    telling.look_up_places(context, streams)
    additions = [*errors]
    if streams.is_readable:
        additions += clusters.uncovered_errors(streams.lists, args.fail_on, comparisons)
    checked = run_findings.collect(context, streams, args.baseline, additions)
    if comparisons and args.base is not None:
        checked = run_findings.at_the_change(checked, args.base, args.paths)
    checked = run_findings.with_changes(checked, comparisons)
    checked = run_findings.with_gaps(checked, args.fail_on)
    return checked._replace(failing=findings.failing(args.fail_on), rules_url=args.rules_url or "")


def _texts(
    args: Request, streams: Clusters, checked: Checked, comparisons: Sequence[Comparison], code: int
) -> dict[str, bytes]:
    """Return the files by their names."""
    formats = _OF_FINDINGS | (_OF_ALL if code < 2 else {})
    texts = {name: findings.FORMATS[format_](checked, rules) for name, format_ in formats.items()}
    parts = report.parts_of(streams)
    outcome = verdicts.verdict_of(parts, checked, comparisons)
    if code < 2:
        texts["report.html"] = report.page_of(parts, checked, outcome, comparisons)
    if comparisons:
        remedies = {rule.id: rule.remedy for rule in rules()}
        line = f"{comment.gaps_line(checked.not_judged)}\n" if checked.not_judged else ""
        below = f"\ncheck: {findings.summary_line(checked)}\n{line}"
        review = comment.Review(checked.results, checked.failing, remedies, "report.html", below)
        texts["comment.md"] = comment.markdown(comparisons, review)
    changes = any(c.first or c.failed or c.plan.changes or c.plan.effects or c.notes for c in comparisons)
    result: dict[str, Any] = {"format": FORMAT, "exit": code, "changes": changes, "failOn": list(args.fail_on)}
    result |= {"verdict": verdict.as_data(outcome)}
    result |= {"base": args.base, "check": json.loads(findings.as_json(checked))}
    gaps = run_findings.gaps_of_change(comparisons)
    result |= {"diff": json.loads(comment.FORMATS["json"](comparisons, gaps))} if comparisons else {}
    texts[replacing.RESULT] = json_text(result, 2) + "\n"
    return {name: text.encode(errors="backslashreplace") for name, text in texts.items()}


_EXAMPLES = (
    "--base origin/main --out results",
    "--base origin/main clusters --out results --fail-on warning --fail-on lost",
    "--out results",
)
COMMAND = Command(_EXAMPLES, _arguments, _run, Request, REVIEW, joins=True, exits=FAILS_ON)
