"""A plan for readers: text for a terminal, JSON for programs; `comment` has Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice

from krmfn import color
from krmfn.results import json_text, printable, reference
from krmfn.typed import Any
from krmfn.yamltext import emit

from ..differences import ABSENT, FieldChange
from ..plan import Change, Comparison, Effect
from . import findings, grouped
from .told import SIGNS, Told, counted, first, told

_STYLES = {"+": "created", "-": "deleted", "@": "place"}
"""Styles of a value's lines by what they begin with; the context in the diff of a long text has none."""


def text(compared: Sequence[Comparison], paint: color.Paint = color.plain) -> str:
    """Return each change with its fields, old value and new value, then the notes, then a line that counts.

    Of several clusters the fleet comes first, and a change that several have is told once.
    """
    said = told(compared, len(compared) > 1)
    lines = [paint(printable(said.headline), "place"), "", *_table(said)] if said.rows else []
    head = ""
    for change, names in said.changes:
        if said.rows and (there := printable(f"{said.where(names)}:")) != head:
            lines += ["", paint(there, "place")]
            head = there
        lines += _change_lines(change, paint)
    effects = [printable(f"* {line}") for _, line, _ in said.effects]
    notes = [
        color.finding(note, paint) + (f" ({printable(said.where(names))})" if said.rows else "")
        for note, names in said.notes
    ]
    for part in (["on the nodes:", *effects] if effects else [], notes, [] if said.rows else [said.headline]):
        lines += ["", *part] if lines and part else part
    at_once = [printable(f"! {line}") for line in first(compared)]
    return "".join(f"{line}\n" for line in (*at_once, *([""] if at_once else []), *lines))


def _table(said: Told) -> list[str]:
    table = [["CLUSTER", *(name.upper() for name in said.columns), "OBJECTS"]]
    table += ([printable(row.name), *row.cells(said.columns), objects] for row, objects in said.rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _change_lines(change: Change, paint: color.Paint) -> Iterator[str]:
    yield paint(printable(f"{SIGNS[change.what]} {named(change)}"), change.what)
    for field in change.fields:
        yield printable(f"    {field.path}")
        yield from (_painted(line, paint) for line in values(field))


def _painted(line: str, paint: color.Paint) -> str:
    text, style = printable(f"      {line}"), _STYLES.get(line[:1])
    return paint(text, style) if style else text


def as_json(compared: Sequence[Comparison]) -> str:
    """Return `{changes: [...], effects: [...], notes: [...], summary: {...}}`; a value that is not there has no key.

    Of several clusters each change and note names those that have it, each effect its own, `clusters` has how many
    nodes of each gain a driver, lose it, ... (null: not known), and `failed` those whose new side cannot be rendered.
    """
    is_fleet = len(compared) > 1 or any(one.name for one in compared)
    document: dict[str, Any] = {}
    if is_fleet:
        document["clusters"] = [
            {
                "name": row.name,
                "nodes": {**dict.fromkeys(grouped.COLUMNS, 0), **row.numbers} if row.is_known else None,
            }
            for row in grouped.rows(compared)
        ]
    document |= {"first": lines} if (lines := first(compared)) else {}
    changes = grouped.changes(compared)
    document["changes"] = [({"clusters": list(names)} if is_fleet else {}) | _change(one) for one, names in changes]
    document["effects"] = [
        ({"cluster": one.name} if is_fleet else {}) | part
        for one in compared
        for effect in one.plan.effects
        for part in _effect(effect)
    ]
    notes = grouped.notes(compared) if is_fleet else [(note, ()) for one in compared for note in one.notes]
    document["notes"] = [
        ({"clusters": list(names)} if is_fleet else {}) | findings.finding(one) for one, names in notes
    ]
    totals: Counter[str] = Counter()
    for one in compared:
        totals.update(counted(one.plan))
        totals.update({"hidden": one.hidden} if one.hidden else {})
    same = sum(one.is_same for one in compared)
    every = [note for one in compared for note in one.notes]
    document["summary"] = {**totals, **({"same": same} if same else {}), **findings.summary(every)}
    if failed := [one.name for one in compared if one.failed]:
        document["failed"] = failed
    return json_text(document, 2) + "\n"


def _effect(effect: Effect) -> Iterator[dict[str, Any]]:
    """Yield an effect per nodes that are alike; `before` and `after` are null for nothing, absent where not known."""
    for part in effect.parts:
        images = {"before": part.before, "after": part.after}
        known = {key: image for key, image in images.items() if image is not None or part.is_known}
        what = {"events": list(part.events), "reason": effect.reason, **known, "message": effect.message}
        yield {"effect": effect.what, "ref": reference(effect.ref), "nodes": list(part.nodes), **what}


def _change(change: Change) -> dict[str, Any]:
    fields = [
        {"path": field.path}
        | {key: value for key, value in (("old", field.old), ("new", field.new)) if value is not ABSENT}
        for field in change.fields
    ]
    return {"change": change.what, "ref": reference(change.ref), "fields": fields}


def fields_of(change: Change) -> str:
    """Return `2 fields`; "" for an object that is created or deleted."""
    count = len(change.fields)
    return f"{count} field{'' if count == 1 else 's'}" if count else ""


def named(change: Change) -> str:
    """Return the object of a change and the number of its fields."""
    count = fields_of(change)
    return f"{change.ref}" + (f": {count}" if count else "")


def values(field: FieldChange) -> Iterator[str]:
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
