"""A plan as a comment on a pull request, in Markdown: no longer than a comment may be, and no name in it is markup."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from krmfn import Result, printing
from krmfn.printing import printable
from krmfn.typed import NamedTuple
from krmfn.yamltext import emit

from ..plan import Change, Comparison
from . import comment_lines, unjudged, verdict
from .changes import Names, Overview, as_json, fields_of, first_lines, named, overview, text, values
from .checked import cluster_suffix
from .fitting import fit, omissions, section
from .markup import in_tags, inline
from .unjudged import Gap

LIMIT = 60_000
"""Characters of a comment; GitHub takes 65,536, GitLab a million."""
_FEW = 4
ALIKE, SHORT, LONGER = 4_000, 8_000, 12_000
"""Characters of a comment beside a page that has everything: about a few clusters that change alike, about a few that
do not, and about more. What makes the job fail has up to three quarters of the last, whatever the clusters."""
_NAME = 200
"""Characters of a cluster's name."""
_REST, _LEAST = 8_000, 700
"""Characters for the lines that say how much is left out: at most, and at least."""
_CLUSTERS = 20
"""Clusters that such a line names; more are only counted."""
_LINE = 400
"""Characters of a line before the table, and as many of its end: its clusters stand there."""


class Review(NamedTuple):
    """What a run tells beside the change."""

    findings: Sequence[Result] = ()
    """All findings of the run, those about the change, too; none where only the change is told."""
    failing: Collection[str] = ("error",)
    """The severities that make the job fail."""
    remedies: Mapping[str, str] = {}  # read only
    """What to do about each rule, by its id; it is told where a finding itself does not say it."""
    page: str = ""
    """The file that has everything; with it the comment may be short."""
    below: str = ""
    """What stands below the line that says what changes: what the run counts, and what is not judged."""


def markdown(comparisons: Sequence[Comparison], review: Review = Review()) -> str:  # noqa: B008
    """Return a comment: what makes the job fail, then the change, then warnings and infos, then the details.

    The change is a line, a table, and what happens on nodes. Each finding stands there once, with the clusters that
    have it. What does not fit is counted for each cluster: details are left out first, then changes, then
    what happens.
    """
    names = [comparison.name for comparison in comparisons]
    clusters = [name if len(name) <= _NAME else f"{name[:_NAME]}..." for name in names]
    comparisons = [comparison._replace(name=name) for comparison, name in zip(comparisons, clusters, strict=True)]
    listed = [c for c in comparisons if c.plan.changes or c.plan.effects or c.notes or c.failed]
    fleet = overview(listed or comparisons[:1], clusters)
    limit = _limit(fleet, len(comparisons)) if review.page else LIMIT
    others = len(comparisons) - max(len(listed), 1)
    tail = f"\nNothing changes in {printing.counted(others, 'other cluster')}.\n" if others else ""
    top = _failing(review, clusters)
    top += _opening(comparisons, fleet, max(limit - len(top), _LEAST), review.below)
    sizes = Sizes(limit - len(top) - len(tail), min(_REST, max(limit // 8, _LEAST)), review.page)
    lines = [*comment_lines.lines(fleet, review.findings, review.failing, clusters)]
    return "".join((top, *_parts(fleet, lines, sizes), tail))


def _limit(fleet: Overview, count: int) -> int:
    """Return how many characters a comment beside a page may have, about so many clusters."""
    if count > _FEW:
        return LONGER
    several = [names for part in (fleet.effects, fleet.notes, fleet.changes) for *_, names in part]
    return ALIKE if all(len(names) in (0, count) for names in several) else SHORT


def gaps_line(gaps: Sequence[Gap]) -> str:
    """Return what is not judged in one line."""
    return inline(_shorten(unjudged.line(gaps)))


def _red(review: Review) -> list[Result]:
    """Return the findings that make the job fail, the errors first."""
    red = [finding for finding in review.findings if finding.severity in review.failing]
    return sorted(red, key=lambda finding: ("error", "warning", "info").index(finding.severity))


def _failing(review: Review, clusters: Sequence[str]) -> str:
    """Return what makes the job fail, and what to do about it; "" when nothing does."""
    red = [*comment_lines.alike(_red(review), clusters)]
    if not red:
        return ""
    room = LONGER * 3 // 4 if review.page else LIMIT // 2
    fitting = fit(
        ((f"- {comment_lines.note_of(finding)}{inline(cluster_suffix(finding))}\n", ()) for finding in red), room
    )
    remainder = f"- and {fitting.cut:,} more, which do not fit: {review.page or 'krmfn check'} has them\n"
    rules = dict.fromkeys(finding.rule for finding in red if not finding.remedy and finding.rule in review.remedies)
    help_ = "".join(f"- {rule}: {inline(review.remedies[rule])}\n" for rule in rules)
    advice = f"\nWhat to do:\n\n{help_}" if help_ else ""
    return f"**This makes the job fail**\n\n{fitting.text}{remainder if fitting.cut else ''}{advice}\n"


def _opening(comparisons: Sequence[Comparison], fleet: Overview, limit: int, below: str) -> str:
    """Return the change in one line, with a row per cluster, below what to look at first."""
    line = f"**{inline(verdict.headline(comparisons))}**\n{below}"
    head = f"{line}\n{_table(fleet, limit)}" if fleet.rows else line
    first = ((f"* {inline(_shorten(line))}\n", ()) for line in (*_losses(comparisons), *first_lines(comparisons)))
    opening = fit(first, limit // 4)
    if not opening.text:
        return head
    rest = f"* **and {opening.cut:,} more, which do not fit: read them with krmfn diff**\n" if opening.cut else ""
    return f"**Look at this first**\n\n{opening.text}{rest}\n{head}"


class Sizes(NamedTuple):
    """How much room there is for what follows the head."""

    room: int
    rest: int
    """Characters of these for the lines that say how much is left out."""
    page: str
    """The file that has what does not fit; "" for none."""


def _parts(fleet: Overview, lines: Sequence[tuple[str, Names]], sizes: Sizes) -> tuple[str, ...]:
    """Return the lines, the changes and their details, as far as they fit."""
    room = max(0, sizes.room - sizes.rest)
    most = _CLUSTERS if not sizes.page else _FEW
    fitting = fit(lines, room // 2)
    room -= len(fitting.text)
    clusters = ((change, fleet.where(names) if fleet.rows else "", names) for change, names in fleet.changes)
    rows = fit(((_row(change, where), names) for change, where, names in clusters), room // 2)
    room -= len(rows.text)
    details = fit(((_details(change, fleet.suffix(names)), names) for change, names in fleet.changes), room)
    column, rule, cell = (" clusters |", "---|", " |") if fleet.rows else ("", "", "")
    word = " more" if details.text else ""
    source = f"; {sizes.page} has them" if sizes.page else ""
    of_clusters = omissions(details, most)
    return (
        section(fitting, f"- and {printing.counted(fitting.cut, 'more line')}{omissions(fitting, most)}{source}\n"),
        section(rows, f"| | and {rows.cut:,} more | |{cell}\n", f"| | object | |{column}\n|---|---|---|{rule}\n"),
        section(details, f"The details of {details.cut:,}{word} do not fit into a comment{of_clusters}{source}.\n"),
    )


def _shorten(line: str) -> str:
    return line if len(line) <= 2 * _LINE else f"{line[:_LINE]} ... {line[-_LINE:]}"


def _losses(comparisons: Sequence[Comparison]) -> list[str]:
    """Return a line when nodes lose a driver, which a reader could overlook among the numbers of an upgrade."""
    effects = [(comparison.name, effect) for comparison in comparisons for effect in comparison.plan.effects]
    number = len({(name, node) for name, effect in effects if effect.word == "lost" for node in effect.nodes})
    return [f"{printing.counted(number, 'node')} {'lose' if number > 1 else 'loses'} a driver"] if number else []


def _table(fleet: Overview, limit: int) -> str:
    """Return a row per cluster, as far as they fit into a third of a comment."""
    lines = [
        (
            f"| {inline(row.name, True)} | {' | '.join(row.cells(fleet.columns))} | {inline(objects, True)} |\n",
            (row.name,),
        )
        for row, objects in fleet.rows
    ]
    table = fit(lines, limit // 3)
    cut = [row for row, _ in fleet.rows if row.name in table.clusters]
    remaining = Counter[str]()
    for row in cut:
        remaining.update(row.numbers)
    numbers = " | ".join(f"{remaining[name]:,}" for name in fleet.columns)
    rest = f"| and {sum(row.clusters for row in cut):,} more | {numbers} | |\n" if cut else ""
    title = f"| cluster | {' | '.join(fleet.columns)} | objects |\n|---|{'--:|' * len(fleet.columns)}---|\n"
    return f"{title}{table.text}{rest}"


def _row(change: Change, clusters: str) -> str:
    last = f" {inline(clusters, True)} |" if clusters else ""
    return f"| {change.what} | {inline(str(change.ref), True)} | {fields_of(change)} |{last}\n"


def _details(change: Change, clusters: str) -> str:
    """Return a folded part: a changed object's fields as a diff, else the whole object."""
    if change.what == "changed":
        lines = [line for field in change.fields for line in (f"@@ {field.path} @@", *values(field))]
        language = "diff"
    else:
        lines = emit.dump(change.new if change.old is None else change.old).splitlines()
        language = "yaml"
    body = "\n".join(map(printable, lines))
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body)), 0)
    title = in_tags(f"{change.what}: {named(change)}{clusters}")
    return f"<details><summary>{title}</summary>\n\n{fence}{language}\n{body}\n{fence}\n\n</details>\n\n"


def alone(comparisons: Sequence[Comparison], gaps: Sequence[Gap] = ()) -> str:
    """Return a comment that has nothing but the change, and below its line what is not judged.

    In every format what is not judged stands beside the line that sums up.
    """
    return markdown(comparisons, Review(below=f"\n{gaps_line(gaps)}\n" if gaps else ""))


FORMATS: dict[str, Callable[[Sequence[Comparison], Sequence[Gap]], str]] = {
    "text": text,
    "markdown": alone,
    "json": as_json,
}
"""The formats of `diff --format`, given what is not judged."""
