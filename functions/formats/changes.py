"""A plan for readers: text for a terminal, JSON for programs; `comment` has Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any

from krmfn import color, counts
from krmfn.results import json_text, printable, reference
from krmfn.yamltext import emit

from ..differences import ABSENT, FieldChange
from ..plan import Change, Comparison, Effect, Plan
from . import findings, grouped

_SIGNS = {"created": "+", "changed": "~", "deleted": "-", "unknown": "?"}
_STYLES = {"+": "created", "-": "deleted", "@": "place"}
"""Styles of a value's lines by what they begin with; the context in the diff of a long text has none."""


def text(compared: Sequence[Comparison], paint: color.Paint = color.plain) -> str:
    """Return each change with its fields, old value and new value, then the notes, then a line that counts.

    Of several clusters the fleet comes first, and a change that several have is told once.
    """
    told = [printable(f"! {line}") for line in first(compared)]
    lines = [*told, *([""] if told else [])]
    lines += _lines(compared[0], paint) if len(compared) == 1 else _fleet(compared, paint)
    return "".join(f"{line}\n" for line in lines)


def first(compared: Sequence[Comparison]) -> list[str]:
    """Return what is told before all else, with its clusters where there are several; nothing is left out."""
    whose: dict[str, list[str]] = {}
    for one in compared:
        for line in one.first:
            whose.setdefault(line, []).append(one.name)
    several = len(compared) > 1
    return [f"{line} ({grouped.where(names, len(compared))})" if several else line for line, names in whose.items()]


def _fleet(compared: Sequence[Comparison], paint: color.Paint) -> list[str]:
    every = grouped.rows(compared)
    names = grouped.columns(every)
    table = [["CLUSTER", *(name.upper() for name in names), "OBJECTS"]]
    for one, row in zip(compared, every, strict=True):
        numbers = [f"{row.numbers.get(name, 0):,}" if row.is_known else "?" for name in names]
        table.append([printable(row.name), *numbers, summary(one, with_nodes=False)])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [paint(printable(grouped.headline(compared, every)), "place"), ""]
    lines += ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)
    head = ""
    for change, clusters in grouped.changes(compared):
        if (there := printable(f"{grouped.where(clusters, len(compared))}:")) != head:
            lines += ["", paint(there, "place")]
            head = there
        lines += _change_lines(change, paint)
    if effects := [told for (_, told), _ in grouped.effects(compared, untold)]:
        lines += ["", "on the nodes:", *(printable(f"* {told}") for told in effects)]
    notes = [
        f"{color.finding(note, paint)} ({printable(grouped.where(clusters, len(compared)))})"
        for note, clusters in grouped.notes(compared)
    ]
    return [*lines, *([""] if notes else []), *notes]


def _lines(compared: Comparison, paint: color.Paint) -> list[str]:
    lines: list[str] = []
    for change in compared.plan.changes:
        lines += _change_lines(change, paint)
    if effects := untold(compared):
        lines += [*([""] if lines else []), "on the nodes:"]
        lines += (printable(f"* {effect.ref}: {effect.message}") for effect in effects)
    if compared.notes:
        lines += [*([""] if lines else []), *(color.finding(note, paint) for note in compared.notes)]
    return [*lines, *([""] if lines else []), summary(compared)]


def _change_lines(change: Change, paint: color.Paint) -> Iterator[str]:
    yield paint(printable(f"{_SIGNS[change.what]} {named(change)}"), change.what)
    for field in change.fields:
        yield printable(f"    {field.path}")
        yield from (_painted(line, paint) for line in values(field))


def _painted(line: str, paint: color.Paint) -> str:
    text, style = printable(f"      {line}"), _STYLES.get(line[:1])
    return paint(text, style) if style else text


def summary(compared: Comparison, with_nodes: bool = True) -> str:
    """Return `1 created, 2 changed, 12 unchanged`; a count of zero is left out."""
    if compared.failed:
        return "cannot be rendered, so what changes is not known"
    if compared.is_same:
        return "nothing changes: its files are those of the base"
    parts = [f"{count:,} {what}" for what, count in counted(compared.plan).items() if count]
    parts += [f"{counts.counted(compared.hidden, 'change')} of other kinds"] if compared.hidden else []
    effects = (effect for effect in compared.plan.effects if effect.what != "kept")
    nodes = len({name for effect in effects for name in effect.nodes})
    if nodes and with_nodes:
        parts.append(f"{counts.counted(nodes, 'node')} affected")
    still = ["no object changes" if nodes or compared.notes else "nothing changes"]
    return ", ".join(parts if compared.plan.changes else [*still, *parts])


def untold(compared: Comparison) -> list[Effect]:
    """Return the effects that no note says in the same words."""
    messages = {note.message for note in compared.notes}
    return [effect for effect in compared.plan.effects if effect.message not in messages]


def counted(plan: Plan) -> dict[str, int]:
    """Return how many objects are created, changed, deleted and unchanged; unknown ones only if there are some."""
    numbers = {what: sum(change.what == what for change in plan.changes) for what in _SIGNS}
    unknown = numbers.pop("unknown")
    return {**numbers, "unchanged": plan.unchanged, **({"unknown": unknown} if unknown else {})}


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
    told = grouped.changes(compared)
    document["changes"] = [({"clusters": list(names)} if is_fleet else {}) | _change(one) for one, names in told]
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
