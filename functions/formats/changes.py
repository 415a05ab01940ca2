"""What changes, as readers are told: each change, note and effect once, with the clusters that have it.

Text is for a terminal, JSON for programs; `comment` has Markdown.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice

from krmfn import Result, printing
from krmfn.printing import json_text, printable
from krmfn.results import reference
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from .. import grouping
from ..differences import ABSENT, FieldChange
from ..plan import Change, Comparison, Plan
from . import columns, findings, grouped
from .grouped import Row

SIGNS = {"created": "+", "changed": "~", "deleted": "-", "unknown": "?"}
Names = Sequence[str]
"""The clusters that have something; none where there is only one cluster."""
_STYLES = {"+": "created", "-": "deleted", "@": "place"}
"""Styles of a value's lines by what they begin with; the context in the diff of a long text has none."""


class Told(NamedTuple):
    """The changes of one cluster, or of several."""

    headline: str
    """The whole of it in one line."""
    columns: Sequence[str]
    rows: Sequence[tuple[Row, str]]
    """A row per cluster with its summary; none for one cluster."""
    effects: Sequence[tuple[str, str, Names]]
    """What happens on the nodes: a word and a sentence."""
    notes: Sequence[tuple[Result, Names]]
    changes: Sequence[tuple[Change, Names]]
    every: Names
    """All clusters, also those of which nothing is told."""

    def where(self, names: Names) -> str:
        """Return the clusters in words; "" where there is only one."""
        return grouped.where(names, self.every)


def told(compared: Sequence[Comparison], every: Names) -> Told:
    """Return what changes: of a fleet, whose clusters are `every`, with their names."""
    changes = grouped.changes(compared)
    if len(every) < 2:
        (one,) = compared
        effects = [(effect.what, f"{effect.ref}: {effect.message}", ()) for effect in grouped.untold(one)]
        notes = [(note, ()) for note in one.notes]
        return Told(summary(one), (), (), effects, notes, [(change, ()) for change, _ in changes], ())
    rows = grouped.rows(compared)
    shown = [*grouped.COLUMNS, *(what for what in grouped.RARE if any(what in row.numbers for row in rows))]
    summed = [(row, summary(one, with_nodes=False)) for one, row in zip(compared, rows, strict=True)]
    whole, fleet = grouped.headline(compared, rows), list(grouped.effects(compared))
    return Told(whole, shown, summed, fleet, grouped.notes(compared), changes, every)


def first(compared: Sequence[Comparison]) -> list[str]:
    """Return what is told before all else, with its clusters where there are several; nothing is left out."""
    whose = grouping.grouped((line, one.name) for one in compared for line in one.first)
    every = [one.name for one in compared]
    return [f"{line} ({grouped.where(names, every)})" if every[1:] else line for line, names in whose.items()]


def summary(compared: Comparison, with_nodes: bool = True) -> str:
    """Return `1 created, 2 changed, 12 unchanged`; a count of zero is left out."""
    if compared.failed:
        return "cannot be rendered, so what changes is not known"
    if compared.is_same:
        return "nothing changes: its files are those of the base"
    parts = [f"{count:,} {what}" for what, count in counted(compared.plan).items() if count]
    parts += [f"{printing.counted(compared.hidden, 'change')} of other kinds"] if compared.hidden else []
    effects = [effect for effect in compared.plan.effects if effect.what != "kept"]
    nodes = {name for effect in effects if effect.what != "unknown" for name in effect.nodes}
    doubtful = {name for effect in effects for name in effect.nodes} - nodes
    if with_nodes:
        parts += [f"{printing.counted(len(nodes), 'node')} affected"] if nodes else []
        parts += [f"what happens on {printing.counted(len(doubtful), 'node')} is not known"] if doubtful else []
    still = ["no object changes" if effects or compared.notes else "nothing changes"]
    return ", ".join(parts if compared.plan.changes else [*still, *parts])


def counted(plan: Plan) -> dict[str, int]:
    """Return how many objects are created, changed, deleted and unchanged; unknown ones only if there are some."""
    numbers = {what: sum(change.what == what for change in plan.changes) for what in SIGNS}
    unknown = numbers.pop("unknown")
    return {**numbers, "unchanged": plan.unchanged, **({"unknown": unknown} if unknown else {})}


def text(compared: Sequence[Comparison], paint: printing.Paint = printing.plain) -> str:
    """Return each change with its fields, old value and new value, then the notes, then a line that counts.

    Of several clusters the fleet comes first, and a change that several have is told once.
    """
    said = told(compared, [one.name for one in compared])
    table = [["CLUSTER", *map(str.upper, said.columns), "OBJECTS"]]
    table += ([row.name, *row.cells(said.columns), objects] for row, objects in said.rows)
    fleet = [paint(printable(said.headline), "place"), "", *columns.lines(table)] if said.rows else []
    objects, head = list[str](), ""
    for change, names in said.changes:
        if said.rows and (there := printable(f"{said.where(names)}:")) != head:
            objects += [*([""] if objects else []), paint(there, "place")]
            head = there
        objects += _change_lines(change, paint)
    effects = [printable(f"* {line}") for _, line, _ in said.effects]
    notes = list[str]()
    for note, names in said.notes:
        notes.append(printing.finding(note, paint) + (f" ({printable(said.where(names))})" if said.rows else ""))
    before, after = [printable(f"! {line}") for line in first(compared)], [] if said.rows else [said.headline]
    parts = (before, fleet, objects, ["on the nodes:", *effects] if effects else [], notes, after)
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def _change_lines(change: Change, paint: printing.Paint) -> Iterator[str]:
    yield paint(printable(f"{SIGNS[change.what]} {named(change)}"), change.what)
    for field in change.fields:
        yield printable(f"    {field.path}")
        for line in values(field):
            text, style = printable(f"      {line}"), _STYLES.get(line[:1])
            yield paint(text, style) if style else text


def as_json(compared: Sequence[Comparison]) -> str:
    """Return `{changes: [...], effects: [...], notes: [...], summary: {...}}`; a value that is not there has no key.

    Of several clusters each change and note names those that have it, each effect its own, `clusters` has how many
    nodes of each gain a driver, lose it, ... (null: not known), and `failed` those whose new side cannot be rendered.
    """
    is_fleet = len(compared) > 1 or any(one.name for one in compared)
    nothing = dict.fromkeys(grouped.COLUMNS, 0)

    def of(names: Names) -> dict[str, Any]:
        return {"clusters": list(names)} if is_fleet else {}

    rows = ((row, {**nothing, **row.numbers} if row.is_known else None) for row in grouped.rows(compared))
    clusters = [{"name": row.name, "nodes": nodes} for row, nodes in rows]
    every = [note for one in compared for note in one.notes]
    notes = grouped.notes(compared) if is_fleet else [(note, ()) for note in every]
    totals: Counter[str] = Counter()
    for one in compared:
        totals.update({**counted(one.plan), **({"hidden": one.hidden} if one.hidden else {})})
    same, failed = sum(one.is_same for one in compared), [one.name for one in compared if one.failed]
    document = {
        **({"clusters": clusters} if is_fleet else {}),
        **({"first": lines} if (lines := first(compared)) else {}),
        "changes": [of(names) | _change(one) for one, names in grouped.changes(compared)],
        "effects": [effect for one in compared for effect in _effects(one, is_fleet)],
        "notes": [of(names) | findings.finding(one) for one, names in notes],
        "summary": {**totals, **({"same": same} if same else {}), **findings.summary(every)},
        **({"failed": failed} if failed else {}),
    }
    return json_text(document, 2) + "\n"


def _effects(compared: Comparison, is_fleet: bool) -> Iterator[dict[str, Any]]:
    """Yield each effect per nodes that are alike; `before` and `after` are null for nothing, absent where not known."""
    of = {"cluster": compared.name} if is_fleet else {}
    for effect, part in ((one, part) for one in compared.plan.effects for part in one.parts):
        images = {"before": part.before, "after": part.after}
        known = {key: image for key, image in images.items() if image is not None or part.is_known}
        nodes = {"nodes": list(part.nodes), "events": list(part.events), "reason": effect.reason}
        yield {**of, "effect": effect.what, "ref": reference(effect.ref), **nodes, **known, "message": effect.message}


def _change(change: Change) -> dict[str, Any]:
    fields = ({"path": field.path, "old": field.old, "new": field.new} for field in change.fields)
    known = [{key: value for key, value in field.items() if value is not ABSENT} for field in fields]
    return {"change": change.what, "ref": reference(change.ref), "fields": known}


def fields_of(change: Change) -> str:
    """Return `2 fields`; "" for an object that is created or deleted."""
    count = len(change.fields)
    return f"{count} field{'' if count == 1 else 's'}" if count else ""


def named(change: Change) -> str:
    """Return the object of a change and the number of its fields."""
    return ": ".join(filter(None, (str(change.ref), fields_of(change))))


def values(field: FieldChange) -> Iterator[str]:
    """Yield the old value in lines with -, the new one in lines with +; of long texts only what differs."""
    if isinstance(field.old, str) and isinstance(field.new, str) and "\n" in field.old + field.new:
        yield from islice(unified_diff(field.old.split("\n"), field.new.split("\n"), lineterm="", n=1), 2, None)
        return
    for sign, value in (("-", field.old), ("+", field.new)):
        yield from (f"{sign} {line}" for line in _written(value))


def _written(value: Any) -> Iterable[str]:
    if isinstance(value, dict | list) and value:
        return emit.dump(value).splitlines()
    return () if value is ABSENT else (json.dumps(value, ensure_ascii=False),)
