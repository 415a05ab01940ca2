"""A plan for readers: text for a terminal, Markdown for a pull request, JSON for programs."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any

from . import report
from .plan import ABSENT, Change, FieldChange, Plan
from .results import Result, printable, reference
from .yamltext import emit

_SIGNS = {"created": "+", "changed": "~", "deleted": "-"}
_LIMIT = 60_000
"""Characters of a comment beyond which details are left out: GitHub takes 65,536."""


def text(plan: Plan, notes: Sequence[Result]) -> str:
    """Each change with its fields, old value and new value, then the notes, then a line that counts."""
    lines: list[str] = []
    for change in plan.changes:
        lines.append(f"{_SIGNS[change.what]} {_named(change)}")
        for field in change.fields:
            lines += [f"    {field.path}", *(f"      {line}" for line in _values(field))]
    lines += ["", *map(str, notes)] if notes else []
    lines += ["", summary(plan)] if plan.changes else [summary(plan)]
    return "".join(f"{printable(line)}\n" for line in lines)


def summary(plan: Plan) -> str:
    """`1 created, 2 changed, 12 unchanged`; what is none is not said."""
    counts = counted(plan)
    told = [f"{count:,} {what}" for what, count in counts.items() if count]
    return ", ".join(told if plan.changes else ["nothing changes", *told])


def counted(plan: Plan) -> dict[str, int]:
    """How many objects are created, changed, deleted and unchanged."""
    counts = {what: sum(change.what == what for change in plan.changes) for what in _SIGNS}
    return {**counts, "unchanged": plan.unchanged}


def as_json(plan: Plan, notes: Sequence[Result]) -> str:
    """`{changes: [...], notes: [...], summary: {...}}`; a value that is not there has no key."""
    document = {
        "changes": [_change(change) for change in plan.changes],
        "notes": [report.finding(note) for note in notes],
        "summary": {**counted(plan), **report.summary(notes)},
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
    """A comment: the notes, a table of the changes, and the details of each, folded away."""
    parts = [f"**{summary(plan)}**\n"]
    if notes:
        parts.append("".join(f"- {_note(note)}\n" for note in notes))
    if plan.changes:
        rows = "".join(f"| {change.what} | {_cell(str(change.ref))} | {_about(change)} |\n" for change in plan.changes)
        parts.append(f"| | object | |\n|---|---|---|\n{rows}")
    left = _LIMIT - sum(map(len, parts))
    for number, change in enumerate(plan.changes):
        details = _details(change)
        left -= len(details)
        if left < 0:
            parts.append(f"The details of {len(plan.changes) - number} more do not fit into a comment.\n")
            break
        parts.append(details)
    return "\n".join(parts)


def _note(note: Result) -> str:
    about = [_cell(str(part)) for part in (note.ref, note.field and note.field.path) if part]
    rule = f" [{note.rule}]" if note.rule else ""
    return f"**{note.severity}** {': '.join([*about, _cell(note.message)])}{rule}"


def _about(change: Change) -> str:
    count = len(change.fields)
    return f"{count} field{'' if count == 1 else 's'}" if count else ""


def _details(change: Change) -> str:
    """A fold: a changed object's fields as a diff, else the whole object."""
    if change.what == "changed":
        lines = [line for field in change.fields for line in (f"@@ {field.path} @@", *_values(field))]
        language = "diff"
    else:
        lines = emit.dump(change.new if change.old is None else change.old).splitlines()
        language = "yaml"
    body = "\n".join(map(printable, lines))
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", body)), 0)
    title = html.escape(printable(f"{change.what}: {_named(change)}"))
    return f"<details><summary>{title}</summary>\n\n{fence}{language}\n{body}\n{fence}\n\n</details>\n"


def _cell(text: str) -> str:
    """Text that no Markdown reader takes for markup, in a table or out of it."""
    return re.sub(r"[^\w\s.,:;/()=+'-]|_", lambda found: f"&#{ord(found[0])};", printable(text))


def _named(change: Change) -> str:
    count = _about(change)
    return f"{change.ref}" + (f": {count}" if count else "")


def _values(field: FieldChange) -> Iterator[str]:
    """Lines with - and +: what was there, what is there now. Long texts only where they differ."""
    if isinstance(field.old, str) and isinstance(field.new, str) and "\n" in field.old + field.new:
        yield from islice(unified_diff(field.old.splitlines(), field.new.splitlines(), lineterm="", n=1), 2, None)
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
"""What `diff --format` knows."""
