"""A plan as a comment on a pull request, in Markdown: no longer than a comment may be, and no name in it is markup."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from krmfn import counts
from krmfn.results import Result, printable
from krmfn.yamltext import emit

from ..plan import Change, Comparison
from . import grouped
from .changes import as_json, fields_of, first, named, summary, text, untold, values
from .grouped import Told

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
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|[#!$&](?=\d)")
"""The character with which a mention of a person begins, or a reference to an issue, a merge request or the like."""


def markdown(compared: Sequence[Comparison]) -> str:
    """Return a comment: the fleet in one line and a table, what is wrong and what happens on nodes, then the details.

    Each is told once, with the clusters that have it. What does not fit is counted for each cluster: details go first,
    then changes, then what happens.
    """
    compared = [one._replace(name=one.name if len(one.name) <= _NAME else f"{one.name[:_NAME]}...") for one in compared]
    quiet = [one for one in compared if not _tells(one)]
    telling = [one for one in compared if _tells(one)] or quiet[:1]
    whose = _whose(len(telling)) if len(compared) > 1 else lambda _: ""
    head = _head(telling, whose) if len(compared) > 1 else f"**{summary(compared[0])}**\n"
    tail = (
        f"\nNothing changes in {counts.counted(len(quiet), 'other cluster')}.\n"
        if quiet and telling[0] not in quiet
        else ""
    )
    tail = tail or (f"\nNothing changes in {counts.counted(len(quiet) - 1, 'other cluster')}.\n" if quiet[1:] else "")
    changes = grouped.changes(telling)
    lines = [*_lines(telling, changes, whose)]
    room = LIMIT - len(head) - len(tail) - _REST
    said, left = _filled(lines, room // 2)
    room -= room // 2 - left
    rows, left = _filled(((_row(change, whose(names)), names) for change, names in changes), room // 2)
    room -= room // 2 - left
    details, _ = _filled(((_details(change, whose(names)), names) for change, names in changes), room)
    told = "".join(f"* {_cell(line)}\n" for line in first(compared))
    head = f"**Look at this first**\n\n{told}\n{head}" if told else head
    return head + _list(said, whose) + _table(rows, bool(whose(()))) + _folds(details, whose) + tail


Whose = Callable[[Sequence[str]], str]
"""Returns of which clusters something is, in brackets; "" where there is only one."""


def _whose(number: int) -> Whose:
    return lambda names: f"({_cell(grouped.where(names, number))})"


class Part(NamedTuple):
    """What fits of a part of a comment, and of how many entries of each cluster the rest is."""

    text: str
    cut: int
    clusters: Counter[str]


def _filled(told: Iterable[Told[str]], room: int) -> tuple[Part, int]:
    """Return the texts that fit into the room, one after the other, and the room that is left."""
    fitting: list[str] = []
    cut, clusters = 0, Counter[str]()
    for one, names in told:
        if len(one) <= room:
            fitting.append(one)
            room -= len(one)
        else:
            cut += 1
            clusters.update(names)
    return Part("".join(fitting), cut, clusters), room


def _tells(compared: Comparison) -> bool:
    return bool(compared.plan.changes or compared.plan.effects or compared.notes or compared.failed)


def _head(telling: Sequence[Comparison], whose: Whose) -> str:
    """Return the fleet in one line, and a row per cluster as far as they fit into a third of a comment."""
    every = grouped.rows(telling)
    names = grouped.columns(every)
    lines, left = list[Told[str]](), Counter[str]()
    for one, row in zip(telling, every, strict=True):
        numbers = [f"{row.numbers.get(name, 0):,}" if row.is_known else "?" for name in names]
        lines.append(
            (f"| {_cell(row.name)} | {' | '.join(numbers)} | {_cell(summary(one, with_nodes=False))} |\n", (row.name,))
        )
    shown, _ = _filled(lines, LIMIT // 3)
    for row in every:
        left.update(row.numbers if row.name in shown.clusters else {})
    rest = f"| and {shown.cut:,} more | {' | '.join(f'{left[name]:,}' for name in names)} | |\n" if shown.cut else ""
    title = f"| cluster | {' | '.join(names)} | objects |\n|---|{'--:|' * len(names)}---|\n"
    return f"**{_cell(grouped.headline(telling, every))}**\n\n{title}{shown.text}{rest}"


def _cut(part: Part, whose: Whose) -> str:
    """Return of which clusters something is left out, and how much of each: ` (dev 3, stage 2)`."""
    if not part.clusters or not whose(()):
        return ""
    named = [f"{_cell(name[:_SHORT])} {number:,}" for name, number in part.clusters.items()]
    return f" ({counts.some(named, len(named), _CLUSTERS)})"


def _list(said: Part, whose: Whose) -> str:
    rest = f"- and {counts.counted(said.cut, 'more line')}{_cut(said, whose)}\n" if said.cut else ""
    return f"\n{said.text}{rest}" if said.text or rest else ""


def _table(rows: Part, of_many: bool) -> str:
    more = " clusters |" if of_many else ""
    title = f"| | object | |{more}\n|---|---|---|{'---|' if of_many else ''}\n"
    rest = f"| | and {rows.cut:,} more | |{' |' if of_many else ''}\n" if rows.cut else ""
    return f"\n{title}{rows.text}{rest}" if rows.text or rest else ""


def _folds(details: Part, whose: Whose) -> str:
    more = " more" if details.text else ""
    rest = (
        f"The details of {details.cut:,}{more} do not fit into a comment{_cut(details, whose)}.\n"
        if details.cut
        else ""
    )
    return f"\n{details.text}{rest}" if details.text or rest else ""


def _lines(compared: Sequence[Comparison], changes: Sequence[Told[Change]], whose: Whose) -> Iterator[Told[str]]:
    """Yield errors and warnings, new rights, what happens on the nodes, then what is worth knowing."""
    notes = grouped.notes(compared) if whose(()) else [(note, ()) for one in compared for note in one.notes]
    told = [(f"- {_note(note)}{f' {whose(names)}' if names else ''}\n", names, note.severity) for note, names in notes]
    yield from ((line, names) for line, names, severity in told if severity != "info")
    if whose(()):
        for change, names in changes:
            if change.ref.kind in _RIGHTS and change.what != "deleted":
                yield f"- **rights** {_cell(f'{change.ref} is {change.what}')} {whose(names)}\n", names
        yield from ((f"- {_cell(line)}\n", names) for (_, line), names in grouped.effects(compared, untold))
    else:
        yield from ((f"- {_cell(f'{one.ref}: {one.message}')}\n", ()) for each in compared for one in untold(each))
    yield from ((line, names) for line, names, severity in told if severity == "info")


def _note(note: Result) -> str:
    subject = [_cell(str(part)) for part in (note.ref, note.field and note.field.path) if part]
    rule = f" [{note.rule}]" if note.rule else ""
    where = _cell(note.where.removesuffix(": ")) if note.where and not note.ref else ""
    return f"**{note.severity}** {': '.join([*filter(None, [where]), *subject, _cell(note.message)])}{rule}"


def _row(change: Change, clusters: str) -> str:
    last = f" {clusters[1:-1]} |" if clusters else ""
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
    title += f" {clusters}" if clusters else ""
    return f"<details><summary>{title}</summary>\n\n{fence}{language}\n{body}\n{fence}\n\n</details>\n\n"


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
