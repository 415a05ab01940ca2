"""A plan as a comment on a pull request, in Markdown: no longer than a comment may be, and no name in it is markup."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from krmfn import counts
from krmfn.results import Result, printable
from krmfn.yamltext import emit

from ..plan import Change, Comparison
from .changes import as_json, fields_of, named, summary, text, untold, values

LIMIT = 60_000
"""Characters of a comment; GitHub takes 65,536, GitLab a million."""
_CLUSTERS = 50
"""Clusters that are shown; the others are counted."""
_NAME = 200
"""Characters of a cluster's name."""
_REST = 200
"""Characters that say, of one cluster, how much is left out."""
_TABLE = "| | object | |\n|---|---|---|\n"
_REFERENCE = re.compile(r"(?<!\w)@(?=\w)|[#!$&](?=\d)")
"""The character with which a mention of a person begins, or a reference to an issue, a merge request or the like."""


def markdown(compared: Sequence[Comparison]) -> str:
    """Return a comment: of each cluster the notes, a table of the changes, and the details of each, folded away.

    What does not fit is counted: details go first, then rows, then notes.
    """
    telling = [one for one in compared if one.plan.changes or one.plan.effects or one.notes or one.failed] or list(
        compared[:1]
    )
    shown = telling[:_CLUSTERS]
    heads = [_head(one) for one in shown]
    tail = _tail(len(telling) - len(shown), len(compared) - len(telling))
    room = LIMIT - len(tail) - sum(len(head) + len(_TABLE) + _REST for head in heads)
    notes, left = _filled(map(_lines, shown), room // 2)
    room -= room // 2 - left
    rows, left = _filled((map(_row, one.plan.changes) for one in shown), room // 2)
    room -= room // 2 - left
    details, _ = _filled((map(_details, one.plan.changes) for one in shown), room)
    sections = (
        head + _list(of_notes) + _table(of_rows) + _folds(of_details)
        for head, of_notes, of_rows, of_details in zip(heads, notes, rows, details, strict=True)
    )
    return "\n".join([*sections, *([tail] if tail else [])])


Part = tuple[str, int]
"""What fits of a part of a section, and how many entries do not."""


def _filled(sections: Iterable[Iterable[str]], room: int) -> tuple[list[Part], int]:
    """Return of each section the texts that fit into the room, one after the other, and the room that is left."""
    parts: list[Part] = []
    for texts in sections:
        fitting, cut = [], 0
        for one in texts:
            if len(one) <= room:
                fitting.append(one)
                room -= len(one)
            else:
                cut += 1
        parts.append(("".join(fitting), cut))
    return parts, room


def _tells(compared: Comparison) -> bool:
    return bool(compared.plan.changes or compared.plan.effects or compared.notes or compared.failed)


def _head(compared: Comparison) -> str:
    name = compared.name if len(compared.name) <= _NAME else f"{compared.name[:_NAME]}..."
    return (f"### {_cell(name)}\n\n" if name else "") + f"**{summary(compared)}**\n"


def _list(notes: Part) -> str:
    shown, cut = notes
    return "\n" + shown + (f"- and {counts.counted(cut, 'more line')}\n" if cut else "") if shown or cut else ""


def _table(rows: Part) -> str:
    shown, cut = rows
    return f"\n{_TABLE}{shown}" + (f"| | and {cut:,} more | |\n" if cut else "") if shown or cut else ""


def _folds(details: Part) -> str:
    shown, cut = details
    rest = f"The details of {cut:,}{' more' if shown else ''} do not fit into a comment.\n" if cut else ""
    return f"\n{shown}{rest}" if shown or cut else ""


def _tail(cut: int, quiet: int) -> str:
    """Return a sentence about the clusters that are not shown; "" when all are."""
    parts = [f"{counts.counted(cut, 'more cluster')} with changes not shown"] if cut else []
    parts += [f"nothing changes in {counts.counted(quiet, 'other cluster')}"] if quiet else []
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}.\n" if text else ""


def _lines(compared: Comparison) -> Iterator[str]:
    """Yield the notes, then what happens on the nodes."""
    yield from (f"- {_note(note)}\n" for note in compared.notes)
    yield from (f"- {_cell(f'{effect.ref}: {effect.message}')}\n" for effect in untold(compared))


def _note(note: Result) -> str:
    subject = [_cell(str(part)) for part in (note.ref, note.field and note.field.path) if part]
    rule = f" [{note.rule}]" if note.rule else ""
    where = _cell(note.where.removesuffix(": ")) if note.where and not note.ref else ""
    return f"**{note.severity}** {': '.join([*filter(None, [where]), *subject, _cell(note.message)])}{rule}"


def _row(change: Change) -> str:
    return f"| {change.what} | {_cell(str(change.ref))} | {fields_of(change)} |\n"


def _details(change: Change) -> str:
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
