"""The command `ci`: a pull request checked, compared and reported, each cluster read once per side."""

import argparse
import json
import os
from collections.abc import Sequence

from krmfn.printing import json_text
from krmfn.results import Findings
from krmfn.typed import Any

from .. import options
from ..cluster import cluster_streams
from ..cluster.deployed import Clusters
from ..command import Command, Context
from ..formats import comment, findings, grouped
from ..formats.checked import Checked
from ..paths import output, replacing
from ..plan import Comparison
from ..settings import COMPARE, REVIEW
from . import check, clusters, report
from .catalogue import rules

FORMAT = "krmfn.dev/ci/v1"
"""The format of result.json."""
_OF_FINDINGS = {"annotations.txt": "github", "junit.xml": "junit"}
_OF_ALL = {"findings.sarif": "sarif", "codequality.json": "gitlab"}
"""Files whose readers take a finding that is not there for one that is mended: written when all could be read."""
FILES = (*_OF_FINDINGS, *_OF_ALL, "comment.md", "report.html", replacing.RESULT)


def _arguments(parser: argparse.ArgumentParser) -> None:
    options.add_paths(parser, live=True)
    help_ = "say what changes since the merge base of HEAD and REF, read from Git; without it there is no comment.md"
    parser.add_argument("--base", metavar="REF", help=help_)
    help_ = f"where {', '.join(FILES)} are written: a new or empty folder, or that of an earlier `ci`"
    parser.add_argument("--out", metavar="DIR", required=True, help=help_)
    parser.add_argument("--baseline", metavar="FILE", help="ignore the findings listed in FILE")
    options.add_fail_on(parser, options.NOW | options.CHANGE)


def _run(context: Context, args: Any) -> int:
    replacing.clear(args.out, FILES, FORMAT)
    written = context.options.written | {os.path.realpath(args.out)}
    context = context._replace(options=context.options._replace(written=written))
    here = [path for path in args.paths if args.base is None or os.path.lexists(path)]
    # PATHs that only the base has are compared, and there is nothing to read
    is_gone = args.paths and not here and not context.options.cluster
    streams = cluster_streams.no_clusters(context) if is_gone else cluster_streams.render(context, here)
    compared: list[Comparison] = []
    if args.base is not None:
        from ..comparing import against_base  # here: what runs Git is slow to load

        look = context._replace(intent=COMPARE, log=context.log._replace(quiet=True))
        compared = against_base.with_base(look, args.base, args.paths, streams, skips=True)
    is_whole = streams.is_whole and (bool(compared) or args.base is None)
    checked = _checked(context, args, streams, compared)
    code = 2 if not is_whole else int(findings.fails(checked.results, args.fail_on))
    output.write_texts({args.out: _texts(args, streams, checked, compared, code)}, context.options.root)
    output.write_stdout(findings.text(checked, rules, head="check: "))
    return code


def _checked(context: Context, args: Any, streams: Clusters, compared: Sequence[Comparison]) -> Checked:
    """Return the findings, with those about the change and why the run fails beside these."""
    cluster_streams.look_up_places(context, streams)
    more = clusters.change_errors(compared, args.fail_on)
    more += clusters.uncovered(streams.lists, args.fail_on) if streams.is_whole else ()
    checked = check.judged(context, streams, args.baseline, more)
    said = {str(result) for result in checked.results}
    every = [one.name for one in compared]
    serious = ((note, names) for note, names in grouped.notes(compared) if note.severity != "info")
    of_change = (grouped.tag_clusters(note, names, every) if every[1:] else note for note, names in serious)
    results = [*checked.results, *(note for note in of_change if str(note) not in said)]
    return checked._replace(results=list(Findings(results)))


def _texts(
    args: Any, streams: Clusters, checked: Checked, compared: Sequence[Comparison], code: int
) -> dict[str, bytes]:
    """Return the files by their names."""
    shown = _OF_FINDINGS | (_OF_ALL if code < 2 else {})
    texts = {name: findings.FORMATS[format_](checked, rules) for name, format_ in shown.items()}
    if code < 2:
        texts["report.html"] = report.page_of(streams, (), compared)[0]
    if compared:
        texts["comment.md"] = f"check: {findings.summary_line(checked)}\n\n{comment.markdown(compared)}"
    changes = any(one.first or one.failed or one.plan.changes or one.plan.effects or one.notes for one in compared)
    result: dict[str, Any] = {
        "format": FORMAT,
        "exit": code,
        "changes": changes,
        "failOn": list(args.fail_on),
        "base": args.base,
        "check": json.loads(findings.as_json(checked)),
    }
    result |= {"diff": json.loads(comment.FORMATS["json"](compared))} if compared else {}
    texts[replacing.RESULT] = json_text(result, 2) + "\n"
    return {name: text.encode(errors="backslashreplace") for name, text in texts.items()}


_EXAMPLES = (
    "--base origin/main --out results",
    "--base origin/main clusters --out results --fail-on warning --fail-on lost",
    "--out results",
)
COMMAND = Command(*(_EXAMPLES, _arguments, _run, REVIEW), joins=True)
