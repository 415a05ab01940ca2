"""A plan as a comment on a pull request, in Markdown: no longer than a comment may be, and no name in it is markup."""

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from krmfn import Result, printing
from krmfn.printing import printable
from krmfn.typed import NamedTuple
from krmfn.yamltext import emit

from ..plan import Change, Comparison
from . import verdict
from .changes import Names, Overview, as_json, fields_of, first_lines, named, overview, text, values

LIMIT = 60_000
"""Characters of a comment; GitHub takes 65,536, GitLab a million."""
_NAME = 200
"""Characters of a cluster's name."""
_REST = 8_000
"""Characters for the lines that say how much is left out."""
_SHORT = 30
"""Characters of a cluster's name in a line that says how much is left out."""
_CLUSTERS = 20
"""Clusters that such a line names; more are only counted."""
_RIGHTS = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_LINE = 400
"""Characters of a line before the table, and as many of its end: its clusters stand there."""
_REFERENCE = re.compile(
    r"(?<!\w)@(?=\w)|@(?=[\w.-]*\.[A-Za-z])|[#!$&](?=\d)|\bGH(?=-\d)|:(?=//|[A-Za-z+][\w+-]*:)|www(?=\.)",
    re.IGNORECASE,
)
"""What begins a mention of a person, a reference to an issue or the like, a link, or a picture by its name."""


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Return a comment: the fleet in one line and a table, what is wrong and what happens on nodes, then the details.

    Each stands there once, with the clusters that have it. What does not fit is counted for each cluster: details are
    left out first, then changes, then what happens.
    """
    names = [comparison.name for comparison in comparisons]
    clusters = [name if len(name) <= _NAME else f"{name[:_NAME]}..." for name in names]
    comparisons = [comparison._replace(name=name) for comparison, name in zip(comparisons, clusters, strict=True)]
    listed = [c for c in comparisons if c.plan.changes or c.plan.effects or c.notes or c.failed]
    fleet = overview(listed or comparisons[:1], clusters)
    line = f"**{_cell(verdict.headline(comparisons))}**\n"
    head = f"{line}\n{_table(fleet)}" if fleet.rows else line
    others = len(comparisons) - max(len(listed), 1)
    tail = f"\nNothing changes in {printing.counted(others, 'other cluster')}.\n" if others else ""
    first = ((f"* {_cell(_shorten(line))}\n", ()) for line in (*_losses(comparisons), *first_lines(comparisons)))
    opening = _fit(first, LIMIT // 4)
    if opening.text:
        rest = f"* **and {opening.cut:,} more, which do not fit: read them with krmfn diff**\n" if opening.cut else ""
        head = f"**Look at this first**\n\n{opening.text}{rest}\n{head}"
    room = LIMIT - len(head) - len(tail) - _REST
    lines = _fit(_lines(fleet), room // 2)
    room -= len(lines.text)
    changes = [(change, _cell(fleet.suffix(names)), names) for change, names in fleet.changes]
    rows = _fit(((_row(change, suffix), names) for change, suffix, names in changes), room // 2)
    room -= len(rows.text)
    details = _fit(((_details(change, suffix), names) for change, suffix, names in changes), room)
    column, rule, cell = (" clusters |", "---|", " |") if fleet.rows else ("", "", "")
    word = " more" if details.text else ""
    parts = (
        _section(lines, f"- and {printing.counted(lines.cut, 'more line')}{_omissions(lines)}\n"),
        _section(rows, f"| | and {rows.cut:,} more | |{cell}\n", f"| | object | |{column}\n|---|---|---|{rule}\n"),
        _section(details, f"The details of {details.cut:,}{word} do not fit into a comment{_omissions(details)}.\n"),
    )
    return "".join((head, *parts, tail))


def _shorten(line: str) -> str:
    return line if len(line) <= 2 * _LINE else f"{line[:_LINE]} ... {line[-_LINE:]}"


def _losses(comparisons: Sequence[Comparison]) -> list[str]:
    """Return a line when nodes lose a driver, which a reader could overlook among the numbers of an upgrade."""
    effects = [(comparison.name, effect) for comparison in comparisons for effect in comparison.plan.effects]
    number = len({(name, node) for name, effect in effects if effect.word == "lost" for node in effect.nodes})
    return [f"{printing.counted(number, 'node')} {'lose' if number > 1 else 'loses'} a driver"] if number else []


class Part(NamedTuple):
    """The text of a part of a comment that fits, and what is left out."""

    text: str
    cut: int
    """How many entries are left out."""
    clusters: Counter[str]
    """How many of these each cluster has."""


def _fit(entries: Iterable[tuple[str, Names]], room: int) -> Part:
    """Return the texts that fit into `room` characters; one that does not is left out, and the next one tried."""
    texts: list[str] = []
    cut, clusters = 0, Counter[str]()
    for entry, names in entries:
        if len(entry) <= room:
            texts.append(entry)
            room -= len(entry)
        else:
            cut += 1
            clusters.update(names)
    return Part("".join(texts), cut, clusters)


def _table(fleet: Overview) -> str:
    """Return a row per cluster, as far as they fit into a third of a comment."""
    lines = [
        (f"| {_cell(row.name)} | {' | '.join(row.cells(fleet.columns))} | {_cell(objects)} |\n", (row.name,))
        for row, objects in fleet.rows
    ]
    table = _fit(lines, LIMIT // 3)
    remaining = Counter[str]()
    for row, _ in fleet.rows:
        remaining.update(row.numbers if row.name in table.clusters else {})
    numbers = " | ".join(f"{remaining[name]:,}" for name in fleet.columns)
    rest = f"| and {table.cut:,} more | {numbers} | |\n" if table.cut else ""
    title = f"| cluster | {' | '.join(fleet.columns)} | objects |\n|---|{'--:|' * len(fleet.columns)}---|\n"
    return f"{title}{table.text}{rest}"


def _omissions(part: Part) -> str:
    """Return how many entries of each cluster are left out: ` (dev 3, stage 2)`; "" for none."""
    if not part.clusters:
        return ""
    named = [f"{_cell(name[:_SHORT])} {number:,}" for name, number in part.clusters.items()]
    return f" ({printing.some(named, len(named), _CLUSTERS)})"


def _section(part: Part, rest: str, title: str = "") -> str:
    """Return a part with its title, and `rest` where something is cut; "" where there is nothing."""
    return f"\n{title}{part.text}{rest if part.cut else ''}" if part.text or part.cut else ""


def _lines(fleet: Overview) -> Iterator[tuple[str, Names]]:
    """Yield errors and warnings, new rights, what happens on the nodes, then infos, each with its clusters."""
    notes = [(f"- {_note(note)}{_cell(fleet.suffix(names))}\n", names, note.severity) for note, names in fleet.notes]
    yield from ((line, names) for line, names, severity in notes if severity != "info")
    for change, names in fleet.changes if fleet.rows else ():
        if change.ref.kind in _RIGHTS and change.what != "deleted":
            yield f"- **rights** {_cell(f'{change.ref} is {change.what}{fleet.suffix(names)}')}\n", names
    yield from ((f"- {_cell(line)}\n", names) for _, line, names in fleet.effects)
    yield from ((line, names) for line, names, severity in notes if severity == "info")


def _note(note: Result) -> str:
    subject = [_cell(str(part)) for part in (note.ref, note.field and note.field.path) if part]
    rule = f" [{note.rule}]" if note.rule else ""
    where = _cell(note.where.removesuffix(": ")) if note.where and not note.ref else ""
    return f"**{note.severity}** {': '.join([*filter(None, [where]), *subject, _cell(note.message)])}{rule}"


def _row(change: Change, clusters: str) -> str:
    last = f" {clusters[2:-1]} |" if clusters else ""
    return f"| {change.what} | {_cell(str(change.ref))} | {fields_of(change)} |{last}\n"


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
    title = html.escape(_without_mentions(f"{change.what}: {named(change)}"))
    return f"<details><summary>{title}{clusters}</summary>\n\n{fence}{language}\n{body}\n{fence}\n\n</details>\n\n"


def _cell(text: str) -> str:
    """Return the text escaped, so that Markdown takes none of it for markup, in a table or outside."""
    return re.sub(r"[^\w\s.,:;/()=+'-]|_", lambda match: f"&#{ord(match[0])};", _without_mentions(text))


def _without_mentions(text: str) -> str:
    """Return one line of text that mentions nobody.

    GitHub and GitLab look for mentions in the text that they show, so escapes do not help: a zero width space does.
    """
    return _REFERENCE.sub("\\g<0>\u200b", printable(text))


FORMATS: dict[str, Callable[[Sequence[Comparison]], str]] = {"text": text, "markdown": markdown, "json": as_json}
"""The formats of `diff --format`."""
