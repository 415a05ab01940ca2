"""A plan for readers: text for a terminal, Markdown for a pull request, JSON for programs."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any

from ..plan import ABSENT, Change, FieldChange, Plan
from ..results import Result, printable, reference
from ..yamltext import emit
from . import findings

_SIGNS = {"created": "+", "changed": "~", "deleted": "-"}
_LIMIT = 20_000
"""Characters of each part of a comment, beyond which the rest is counted only: GitHub takes 65,536 in all."""


def text(plan: Plan, notes: Sequence[Result]) -> str:
    """Return each change with its fields, old value and new value, then the notes, then a line that counts."""
    lines: list[str] = []
    for change in plan.changes:
        lines.append(f"{_SIGNS[change.what]} {_named(change)}")
        for field in change.fields:
            lines += [f"    {field.path}", *(f"      {line}" for line in _values(field))]
    lines += ["", *map(str, notes)] if notes else []
    lines += ["", summary(plan)] if plan.changes else [summary(plan)]
    return "".join(f"{printable(line)}\n" for line in lines)


def summary(plan: Plan) -> str:
    """Return `1 created, 2 changed, 12 unchanged`; a count of zero is left out."""
    counts = counted(plan)
    parts = [f"{count:,} {what}" for what, count in counts.items() if count]
    return ", ".join(parts if plan.changes else ["nothing changes", *parts])


def counted(plan: Plan) -> dict[str, int]:
    """Return how many objects are created, changed, deleted and unchanged."""
    counts = {what: sum(change.what == what for change in plan.changes) for what in _SIGNS}
    return {**counts, "unchanged": plan.unchanged}


def as_json(plan: Plan, notes: Sequence[Result]) -> str:
    """Return `{changes: [...], notes: [...], summary: {...}}`; a value that is not there has no key."""
    document = {
        "changes": [_change(change) for change in plan.changes],
        "notes": [findings.finding(note) for note in notes],
        "summary": {**counted(plan), **findings.summary(notes)},
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _change(change: Change) -> dict[str, Any]:
    fields = [
        {"path": field.path}
        | {key: value for key, value in (("old", field.old), ("new", field.new)) if value is not ABSENT}
        for field in change.fields
    ]
    return {"change": change.what, "ref": reference(change.ref), "fields": fields}


def markdown(plan: Plan, notes: Sequence[Result]) -> str:
    """Return a comment: the notes, a table of the changes, and the details of each, folded away."""
    parts = [f"**{summary(plan)}**\n"]
    if notes:
        parts.append(_fitting([f"- {_note(note)}\n" for note in notes], "- and {} more\n"))
    if plan.changes:
        rows = [f"| {change.what} | {_cell(str(change.ref))} | {_count(change)} |\n" for change in plan.changes]
        parts.append("| | object | |\n|---|---|---|\n" + _fitting(rows, "| | and {} more | |\n"))
        parts.append(_fitting(map(_details, plan.changes), "The details of {} more do not fit into a comment.\n"))
    return "\n".join(parts)


def _fitting(texts: Iterable[str], rest: str) -> str:
    """Return the texts that fit into a comment, and a line with the number of the others."""
    texts, size = list(texts), 0
    for number, text in enumerate(texts):
        size += len(text)
        if size > _LIMIT:
            return "".join(texts[:number]) + rest.format(f"{len(texts) - number:,}")
    return "".join(texts)


def _note(note: Result) -> str:
    subject = [_cell(str(part)) for part in (note.ref, note.field and note.field.path) if part]
    rule = f" [{note.rule}]" if note.rule else ""
    return f"**{note.severity}** {': '.join([*subject, _cell(note.message)])}{rule}"


def _count(change: Change) -> str:
    count = len(change.fields)
    return f"{count} field{'' if count == 1 else 's'}" if count else ""


def _details(change: Change) -> str:
    """Return a folded part: a changed object's fields as a diff, else the whole object."""
    if change.what == "changed":
        lines = [line for field in change.fields for line in (f"@@ {field.path} @@", *_values(field))]
        language = "diff"
    else:
        lines = emit.dump(change.new if change.old is None else change.old).splitlines()
        language = "yaml"
    body = "\n".join(map(printable, lines))
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body)), 0)
    title = html.escape(printable(f"{change.what}: {_named(change)}"))
    return f"<details><summary>{title}</summary>\n\n{fence}{language}\n{body}\n{fence}\n\n</details>\n\n"


def _cell(text: str) -> str:
    """Return the text escaped, so that Markdown takes none of it for markup, in a table or outside."""
    return re.sub(r"[^\w\s.,:;/()=+'-]|_", lambda match: f"&#{ord(match[0])};", printable(text))


def _named(change: Change) -> str:
    count = _count(change)
    return f"{change.ref}" + (f": {count}" if count else "")


def _values(field: FieldChange) -> Iterator[str]:
    """Yield the old value in lines with -, the new one in lines with +; of long texts only what differs."""
    if isinstance(field.old, str) and isinstance(field.new, str) and "\n" in field.old + field.new:
        yield from islice(unified_diff(field.old.split("\n"), field.new.split("\n"), lineterm="", n=1), 2, None)
        return
    for sign, value in (("-", field.old), ("+", field.new)):
        yield from (f"{sign} {line}" for line in _written(value))


def _written(value: Any) -> Iterable[str]:
    if value is ABSENT:
        return ()
    if isinstance(value, dict | list) and value:
        return emit.dump(value).splitlines()
    return (json.dumps(value, ensure_ascii=False),)


FORMATS: dict[str, Callable[[Plan, Sequence[Result]], str]] = {"text": text, "markdown": markdown, "json": as_json}
"""The formats of `diff --format`."""
