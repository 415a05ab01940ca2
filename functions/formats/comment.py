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
from .changes import Names, Told, as_json, fields_of, first, named, text, told, values

LIMIT = 60_000
"""Characters of a comment; GitHub takes 65,536, GitLab a million."""
_NAME = 200
"""Characters of a cluster's name."""
_REST = 8_000
"""Characters that say how much is left out."""
_SHORT = 30
"""Characters of a cluster's name where something of many is cut."""
_CLUSTERS = 20
"""Clusters that are named where something is cut; more are counted."""
_RIGHTS = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_LINE = 400
"""Characters of a line that is told first, and as many of its end: there its clusters stand."""
_REFERENCE = re.compile(
    r"(?<!\w)@(?=\w)|@(?=[\w.-]*\.[A-Za-z])|[#!$&](?=\d)|\bGH(?=-\d)|:(?=//|[A-Za-z+][\w+-]*:)|www(?=\.)",
    re.IGNORECASE,
)
"""What begins a mention of a person, a reference to an issue or the like, a link, or a picture by its name."""


def markdown(compared: Sequence[Comparison]) -> str:
    """Return a comment: the fleet in one line and a table, what is wrong and what happens on nodes, then the details.

    Each is told once, with the clusters that have it. What does not fit is counted for each cluster: details go first,
    then changes, then what happens.
    """
    compared = [one._replace(name=one.name if len(one.name) <= _NAME else f"{one.name[:_NAME]}...") for one in compared]
    telling = [one for one in compared if one.plan.changes or one.plan.effects or one.notes or one.failed]
    said = told(telling or compared[:1], [one.name for one in compared])
    head = _head(said) if said.rows else f"**{said.headline}**\n"
    others = len(compared) - max(len(telling), 1)
    tail = f"\nNothing changes in {printing.counted(others, 'other cluster')}.\n" if others else ""
    told_first = ((f"* {_cell(_shortened(line))}\n", ()) for line in (*_lost(compared), *first(compared)))
    at_once = _filled(told_first, LIMIT // 4)
    if at_once.text:
        rest = f"* **and {at_once.cut:,} more, which do not fit: read them with krmfn diff**\n" if at_once.cut else ""
        head = f"**Look at this first**\n\n{at_once.text}{rest}\n{head}"
    room = LIMIT - len(head) - len(tail) - _REST
    lines = _filled(_lines(said), room // 2)
    room -= len(lines.text)
    rows = _filled(((_row(change, _whose(said, names)), names) for change, names in said.changes), room // 2)
    room -= len(rows.text)
    details = _filled(((_details(change, _whose(said, names)), names) for change, names in said.changes), room)
    column, rule, cell = (" clusters |", "---|", " |") if said.rows else ("", "", "")
    more = " more" if details.text else ""
    parts = (
        _section(lines, f"- and {printing.counted(lines.cut, 'more line')}{_cut(lines)}\n"),
        _section(rows, f"| | and {rows.cut:,} more | |{cell}\n", f"| | object | |{column}\n|---|---|---|{rule}\n"),
        _section(details, f"The details of {details.cut:,}{more} do not fit into a comment{_cut(details)}.\n"),
    )
    return "".join((head, *parts, tail))


def _shortened(line: str) -> str:
    return line if len(line) <= 2 * _LINE else f"{line[:_LINE]} ... {line[-_LINE:]}"


def _lost(compared: Sequence[Comparison]) -> list[str]:
    """Return that nodes lose a driver, for a reader who takes the numbers below for those of any upgrade."""
    effects = [(one.name, effect) for one in compared for effect in one.plan.effects if effect.what == "lost"]
    number = len({(name, node) for name, effect in effects for node in effect.nodes})
    return [f"{printing.counted(number, 'node')} {'lose' if number > 1 else 'loses'} a driver"] if number else []


def _whose(said: Told, names: Names) -> str:
    """Return of which clusters something is, in brackets; "" where there is only one."""
    return f" ({_cell(said.where(names))})" if said.rows else ""


class Part(NamedTuple):
    """What fits of a part of a comment, and of how many entries of each cluster the rest is."""

    text: str
    cut: int
    clusters: Counter[str]


def _filled(told: Iterable[tuple[str, Names]], room: int) -> Part:
    """Return the texts that fit into the room, one after the other."""
    fitting: list[str] = []
    cut, clusters = 0, Counter[str]()
    for one, names in told:
        if len(one) <= room:
            fitting.append(one)
            room -= len(one)
        else:
            cut += 1
            clusters.update(names)
    return Part("".join(fitting), cut, clusters)


def _head(said: Told) -> str:
    """Return the fleet in one line, and a row per cluster as far as they fit into a third of a comment."""
    lines = [
        (f"| {_cell(row.name)} | {' | '.join(row.cells(said.columns))} | {_cell(objects)} |\n", (row.name,))
        for row, objects in said.rows
    ]
    shown = _filled(lines, LIMIT // 3)
    left = Counter[str]()
    for row, _ in said.rows:
        left.update(row.numbers if row.name in shown.clusters else {})
    numbers = " | ".join(f"{left[name]:,}" for name in said.columns)
    rest = f"| and {shown.cut:,} more | {numbers} | |\n" if shown.cut else ""
    title = f"| cluster | {' | '.join(said.columns)} | objects |\n|---|{'--:|' * len(said.columns)}---|\n"
    return f"**{_cell(said.headline)}**\n\n{title}{shown.text}{rest}"


def _cut(part: Part) -> str:
    """Return of which clusters something is left out, and how much of each: ` (dev 3, stage 2)`."""
    if not part.clusters:
        return ""
    named = [f"{_cell(name[:_SHORT])} {number:,}" for name, number in part.clusters.items()]
    return f" ({printing.some(named, len(named), _CLUSTERS)})"


def _section(part: Part, rest: str, title: str = "") -> str:
    """Return a part with its title, and `rest` where something is cut; "" where there is nothing."""
    return f"\n{title}{part.text}{rest if part.cut else ''}" if part.text or part.cut else ""


def _lines(said: Told) -> Iterator[tuple[str, Names]]:
    """Yield errors and warnings, new rights, what happens on the nodes, then what is worth knowing."""
    notes = [(f"- {_note(note)}{_whose(said, names)}\n", names, note.severity) for note, names in said.notes]
    yield from ((line, names) for line, names, severity in notes if severity != "info")
    for change, names in said.changes if said.rows else ():
        if change.ref.kind in _RIGHTS and change.what != "deleted":
            yield f"- **rights** {_cell(f'{change.ref} is {change.what}')}{_whose(said, names)}\n", names
    yield from ((f"- {_cell(line)}\n", names) for _, line, names in said.effects)
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
    title = html.escape(_inert(f"{change.what}: {named(change)}"))
    return f"<details><summary>{title}{clusters}</summary>\n\n{fence}{language}\n{body}\n{fence}\n\n</details>\n\n"


def _cell(text: str) -> str:
    """Return the text escaped, so that Markdown takes none of it for markup, in a table or outside."""
    return re.sub(r"[^\w\s.,:;/()=+'-]|_", lambda match: f"&#{ord(match[0])};", _inert(text))


def _inert(text: str) -> str:
    """Return one line of text that mentions nobody.

    GitHub and GitLab look for mentions in the text that they show, so escapes do not help: a zero width space does.
    """
    return _REFERENCE.sub("\\g<0>\u200b", printable(text))


FORMATS: dict[str, Callable[[Sequence[Comparison]], str]] = {"text": text, "markdown": markdown, "json": as_json}
"""The formats of `diff --format`."""
