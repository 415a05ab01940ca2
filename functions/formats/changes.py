"""What changes, for readers: each change, note and effect once, with the clusters that have it.

Text is for a terminal, JSON for programs; `comment` has Markdown.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import unified_diff
from itertools import islice

from krmfn import Result, printing
from krmfn.printing import json_text, printable
from krmfn.results import reference
from krmfn.typed import Any, NamedTuple
from krmfn.yamltext import emit

from .. import grouping, terminal
from ..differences import ABSENT, FieldChange
from ..plan import Change, Comparison, Plan
from ..sentence import Topic, topic_of
from . import alike, columns, findings, grouped, unjudged
from .grouped import Row
from .unjudged import Gap

SIGNS = {"created": "+", "changed": "~", "deleted": "-", "stays": "=", "unknown": "?"}
Names = Sequence[str]
"""The clusters that have something; none where there is only one cluster."""
_STYLES = {"+": "created", "-": "deleted", "@": "place"}
"""Styles of a value's lines by what they begin with; the context in the diff of a long text has none."""


class Overview(NamedTuple):
    """The changes of one cluster, or of several."""

    headline: str
    """All of it in one line."""
    columns: Sequence[str]
    rows: Sequence[tuple[Row, str]]
    """A row per cluster with its summary; none for one cluster."""
    effects: Sequence[tuple[str, str, Names]]
    """What happens on the nodes: a word and a sentence."""
    notes: Sequence[tuple[Result, Names]]
    changes: Sequence[tuple[Change, Names]]
    clusters: Names
    """All clusters, also those without a change."""

    def where(self, names: Names) -> str:
        """Return the clusters in words; "" where there is only one."""
        return grouped.where(names, self.clusters)

    def suffix(self, names: Names) -> str:
        """Return the clusters as a line ends with them: ` (dev, stage)`; "" where there is only one."""
        return f" ({self.where(names)})" if self.rows else ""


def overview(comparisons: Sequence[Comparison], clusters: Names) -> Overview:
    """Return what changes; `clusters` are the names of all clusters, also of those without a change."""
    changes = grouped.changes(comparisons)
    if len(clusters) < 2:
        (comparison,) = comparisons
        effects = [(effect.word, f"{effect.ref}: {effect.message}", ()) for effect in grouped.without_note(comparison)]
        notes = [(note, ()) for note in comparison.notes]
        return Overview(summary(comparison), (), (), effects, notes, [(change, ()) for change, _ in changes], ())
    rows = grouped.rows(comparisons)
    names = [*grouped.COLUMNS, *(name for name in grouped.RARE if any(name in row.numbers for row in rows))]
    objects = (summary(comparison, with_nodes=False) for comparison in comparisons)
    table = alike.alike([*zip(rows, objects, strict=True)])
    headline, sentences = grouped.headline(comparisons, rows), list(grouped.effects(comparisons))
    return Overview(headline, names, table, sentences, grouped.notes(comparisons), changes, clusters)


def first_lines(comparisons: Sequence[Comparison], others: Collection[tuple[Topic, str]] = ()) -> list[str]:
    """Return the lines that stand before all others, each once, with its clusters if there are several.

    Those about one of the `others`, a topic in a cluster, are left out: they are told elsewhere.
    """
    openings = ((opening, comparison.name) for comparison in comparisons for opening in comparison.first)
    pairs = dict.fromkeys((opening.text, name) for opening, name in openings if (opening.topic, name) not in others)
    clusters = [comparison.name for comparison in comparisons]
    by_line = grouping.grouped(pairs).items()
    return [f"{line} ({grouped.where(names, clusters)})" if clusters[1:] else line for line, names in by_line]


def summary(comparison: Comparison, with_nodes: bool = True) -> str:
    """Return `1 created, 2 changed, 12 unchanged`; a count of zero is left out."""
    if comparison.failed:
        return "cannot be rendered, so what changes is not known"
    if comparison.is_same:
        return "nothing changes: its files are those of the base"
    if comparison.unbuilt and not comparison.plan.changes:
        return f"what changes in {printing.some(comparison.unbuilt, len(comparison.unbuilt), 2)} is not known"
    parts = [f"{count:,} {word}" for word, count in counts(comparison.plan).items() if count]
    parts += [f"{printing.counted(comparison.hidden, 'change')} of other kinds"] if comparison.hidden else []
    effects = [effect for effect in comparison.plan.effects if effect.word != "kept"]
    nodes = {name for effect in effects if effect.word != "unknown" for name in effect.nodes}
    unknown = {name for effect in effects for name in effect.nodes} - nodes
    if with_nodes:
        parts += [f"{printing.counted(len(nodes), 'node')} affected"] if nodes else []
        parts += [f"what happens on {printing.counted(len(unknown), 'node')} is not known"] if unknown else []
    head = ["no object changes" if effects or comparison.notes else "nothing changes"]
    return ", ".join(parts if comparison.plan.changes else [*head, *parts])


def counts(plan: Plan) -> dict[str, int]:
    """Return how many objects are created, changed, deleted and unchanged.

    What stays though it leaves Git, and what is not known, is counted only if there is some.
    """
    numbers = {word: sum(change.what == word for change in plan.changes) for word in SIGNS}
    rare = {word: count for word in ("stays", "unknown") if (count := numbers.pop(word))}
    return {**numbers, "unchanged": plan.unchanged, **rare}


def text(comparisons: Sequence[Comparison], gaps: Sequence[Gap] = (), paint: terminal.Paint = terminal.plain) -> str:
    """Return each change with its fields, old value and new value, then the notes, the `gaps`, and a line that counts.

    Of several clusters a table of all comes first, and a change that several have stands there once.
    """
    fleet = overview(comparisons, [comparison.name for comparison in comparisons])
    rows = [["CLUSTER", *map(str.upper, fleet.columns), "OBJECTS"]]
    rows += ([row.name, *row.cells(fleet.columns), objects] for row, objects in fleet.rows)
    table = [paint(printable(fleet.headline), "place"), "", *columns.lines(rows)] if fleet.rows else []
    objects, heading = list[str](), ""
    for change, names in fleet.changes:
        clusters = printable(f"{fleet.where(names)}:") if fleet.rows else ""
        if clusters != heading:
            objects += [*([""] if objects else []), paint(clusters, "place")]
            heading = clusters
        objects += _change_lines(change, paint)
    effects = [printable(f"* {line}") for _, line, _ in fleet.effects]
    openings = {(opening.topic, entry.name) for entry in comparisons for opening in entry.first}
    notes, leading, known = list[str](), list[str](), set[tuple[Topic, str]]()
    for note, names in fleet.notes:
        lines, topic = _note_lines(note, fleet.suffix(names), paint), topic_of(note.sentence)
        holders = names or (comparisons[0].name,)  # a cluster alone is not named
        subjects = {(topic, name) for name in holders} if topic else set[tuple[Topic, str]]()
        if not openings.isdisjoint(subjects):  # once, and first
            leading += [f"! {lines[0]}", *lines[1:]]
            known |= subjects
        else:
            notes += lines
    first = [*leading, *(printable(f"! {line}") for line in first_lines(comparisons, known))]
    last = [printable(unjudged.line(gaps))] if gaps else []
    last += [] if fleet.rows else [fleet.headline]
    parts = (first, table, objects, ["on the nodes:", *effects] if effects else [], notes, last)
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts if part)


def _note_lines(note: Result, clusters: str, paint: terminal.Paint) -> list[str]:
    return [terminal.finding(note, paint) + printable(clusters), *terminal.help_lines(note, paint)]


def _change_lines(change: Change, paint: terminal.Paint) -> Iterator[str]:
    yield paint(printable(f"{SIGNS[change.what]} {_headed(change)}"), change.what)
    for field in change.fields:
        yield printable(f"    {field.path}")
        for line in values(field):
            text, style = printable(f"      {line}"), _STYLES.get(line[:1])
            yield paint(text, style) if style else text


def as_json(comparisons: Sequence[Comparison], gaps: Sequence[Gap] = ()) -> str:
    """Return `{changes: [...], effects: [...], notes: [...], notJudged: [...], summary: {...}}`.

    A value that is not there has no key.

    Of several clusters each change and note names those that have it, each effect its own, `clusters` has how many
    nodes of each gain a driver, lose it, ... (null: not known), and `failed` those whose new side cannot be rendered.
    """
    is_fleet = len(comparisons) > 1 or any(comparison.name for comparison in comparisons)
    zeros = dict.fromkeys(grouped.COLUMNS, 0)

    def of(names: Names) -> dict[str, Any]:
        return {"clusters": list(names)} if is_fleet else {}

    rows = ((row, {**zeros, **row.numbers} if row.is_known else None) for row in grouped.rows(comparisons))
    clusters = [{"name": row.name, "nodes": nodes} for row, nodes in rows]
    of_one = [(note, ()) for comparison in comparisons for note in comparison.notes]
    notes = grouped.notes(comparisons) if is_fleet else of_one
    totals: Counter[str] = Counter()
    for comparison in comparisons:
        totals.update({**counts(comparison.plan), **({"hidden": comparison.hidden} if comparison.hidden else {})})
    same = sum(comparison.is_same for comparison in comparisons)
    failed = [comparison.name for comparison in comparisons if comparison.failed]
    document = {
        **({"clusters": clusters} if is_fleet else {}),
        **({"first": lines} if (lines := first_lines(comparisons)) else {}),
        "changes": [of(names) | _change(change) for change, names in grouped.changes(comparisons)],
        "effects": [effect for comparison in comparisons for effect in _effects(comparison, is_fleet)],
        "notes": [of(names) | findings.finding(note) for note, names in notes],
        "notJudged": unjudged.as_data(gaps),
        "summary": {**totals, **({"same": same} if same else {}), **findings.summary([note for note, _ in notes])},
        **({"failed": failed} if failed else {}),
    }
    return json_text(document, 2) + "\n"


def _effects(comparison: Comparison, is_fleet: bool) -> Iterator[dict[str, Any]]:
    """Yield each effect per nodes that are alike; `before` and `after` are null for nothing, absent where not known."""
    of = {"cluster": comparison.name} if is_fleet else {}
    pairs = ((effect, part) for effect in comparison.plan.effects for part in effect.parts)
    for effect, part in pairs:
        images = {"before": part.before, "after": part.after}
        known = {key: image for key, image in images.items() if image is not None or part.is_known}
        nodes = {"nodes": list(part.nodes), "events": list(part.events), "reason": effect.reason}
        yield {**of, "effect": effect.word, "ref": reference(effect.ref), **nodes, **known, "message": effect.message}


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


def _headed(change: Change) -> str:
    return f"{change.ref}: stays on the cluster" if change.what == "stays" else named(change)


def values(field: FieldChange) -> Iterator[str]:
    """Yield the old value in lines with -, the new one in lines with +; of long texts only what differs."""
    if isinstance(field.old, str) and isinstance(field.new, str) and "\n" in field.old + field.new:
        yield from islice(unified_diff(field.old.split("\n"), field.new.split("\n"), lineterm="", n=1), 2, None)
        return
    for sign, value in (("-", field.old), ("+", field.new)):
        yield from (f"{sign} {line}" for line in _value_lines(value))


def _value_lines(value: Any) -> Iterable[str]:
    if isinstance(value, dict | list) and value:
        return emit.dump(value).splitlines()
    return () if value is ABSENT else (json.dumps(value, ensure_ascii=False),)
