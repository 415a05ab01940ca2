"""The changes of several clusters, each once with the clusters that have it. Pure values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count

from krmfn import Ref, Result
from krmfn.printing import counted, some
from krmfn.typed import NamedTuple, TypeVar

from .. import grouping, sentence
from ..finding import with_words
from ..plan import Change, Comparison, Effect, effect_in
from .checked import CLUSTERS, NAMES, cluster_suffix, names_of

T = TypeVar("T")
Shared = tuple[T, tuple[str, ...]]
"""A change, note or effect, and the names of the clusters that have it, in their order."""
COLUMNS, RARE = ("gained", "lost", "reloaded", "kept"), ("blocked", "waiting", "unknown")
"""The columns of the table of clusters: those that are always there, and those that need a number above zero."""
_SHOWN, _OTHERS = 4, 10
"""How many clusters are named at most, and how many as exceptions; beyond both they are counted."""
_VERBS = {
    "reloaded": ("reloads at once", "reload at once"),
    "lost": ("loses a driver", "lose a driver"),
    "gained": ("gains a driver", "gain a driver"),
    "blocked": ("is blocked", "are blocked"),
    "waiting": ("waits", "wait"),
}
"""What one node does, and what several do."""


class Row(NamedTuple):
    """What becomes of the nodes of one cluster."""

    name: str
    numbers: Mapping[str, int]
    """How many nodes gain a driver, lose it, ...; a word that is missing counts none."""
    is_known: bool
    """False: nobody knows what happens on the nodes."""
    clusters: int = 1
    """How many clusters it is about."""

    def cells(self, columns: Sequence[str]) -> list[str]:
        """Return the numbers as a table shows them."""
        return [f"{self.numbers.get(name, 0):,}" if self.is_known else "?" for name in columns]


def rows(comparisons: Sequence[Comparison]) -> list[Row]:
    """Return a row per cluster."""
    table: list[Row] = []
    for comparison in comparisons:
        nodes = grouping.grouped((effect.word, effect.nodes) for effect in comparison.plan.effects)
        is_still = not (comparison.plan.changes or comparison.plan.effects or comparison.notes)
        is_known = (comparison.knows_nodes or bool(nodes) or is_still) and not comparison.failed
        numbers = {word: len(set[str]().union(*names)) for word, names in nodes.items()}
        table.append(Row(comparison.name, numbers, is_known))
    return table


def headline(comparisons: Sequence[Comparison], table: Sequence[Row]) -> str:
    """Return `78 nodes in 4 clusters reload at once, 20 keep 2.26.0`: the whole fleet in one line."""
    parts: list[str] = []
    for word, verbs in _VERBS.items():
        if numbers := [row.numbers[word] for row in table if word in row.numbers]:
            total = sum(numbers)
            clusters = f" in {counted(len(numbers), 'cluster')}" if table[1:] else ""
            nodes = f"{total:,}" if parts else f"{counted(total, 'node')}{clusters}"
            parts.append(f"{nodes} {verbs[total > 1]}")
    if kept := sum(row.numbers.get("kept", 0) for row in table):
        effects = (effect for comparison in comparisons for effect in comparison.plan.effects if effect.word == "kept")
        versions = list(dict.fromkeys(effect.version for effect in effects if effect.version))
        nodes = f"{kept:,}" if parts else counted(kept, "node")
        verb = "keep" if kept > 1 else "keeps"
        parts.append(f"{nodes} {verb} {some(versions, len(versions), 2) or 'what they have'}")
    doubts = [row.numbers["unknown"] for row in table if "unknown" in row.numbers]
    places = [f"{counted(sum(doubts), 'node')} in {counted(len(doubts), 'cluster')}"] if doubts else []
    names = [row.name for row in table if not row.is_known]
    places += [f"the nodes of {where(names, [row.name for row in table])}"] if names else []
    unknown = f"what happens on {' and '.join(places)} is not known" if places else ""
    # nodes that wait may be counted in the other parts, too
    separator = "; " if any("waiting" in row.numbers for row in table) else ", "
    return "; ".join(filter(None, [separator.join(parts), unknown])) or "no node is affected"


def where(names: Sequence[str], clusters: Collection[str]) -> str:
    """Return which clusters: `dev, stage`, `all 40 clusters but dev, lab`, `a, b, c, d and 8 more of 40 clusters`."""
    if len(names) == len(clusters) > 1:
        return f"all {len(clusters):,} clusters"
    if len(names) <= _SHOWN:
        return ", ".join(names)
    named = {*names}
    others = [name for name in clusters if name not in named]
    if len(others) <= _OTHERS:
        return f"all {len(clusters):,} clusters but {', '.join(others)}"
    return f"{some(names, len(names), _SHOWN)} of {counted(len(clusters), 'cluster')}"


def changes(comparisons: Sequence[Comparison]) -> list[Shared[Change]]:
    """Return each change once, those of most clusters first; two are equal when they do the same to one object."""
    pairs = ((_digest(change), (c.name, change)) for c in comparisons for change in c.plan.changes)
    shared = [(copies[0][1], _names(copies)) for copies in grouping.grouped(pairs).values()]
    return sorted(shared, key=lambda entry: (-len(entry[1]), entry[1]))


def _digest(change: Change) -> bytes:
    from hashlib import sha256  # here: it loads OpenSSL, and most commands print no change

    content = change.fields if change.what == "changed" else (change.old, change.new)
    return sha256(repr((change.what, change.ref, content)).encode(errors="surrogatepass")).digest()


def notes(comparisons: Sequence[Comparison]) -> list[Shared[Result]]:
    """Return each note once, errors first.

    Notes that differ only in their nodes and in their resource are equal: what to do is the same for all of them.
    """
    copies = [(comparison.name, note) for comparison in comparisons for note in comparison.notes]
    shared: list[Shared[Result]] = []
    clusters = [comparison.name for comparison in comparisons]
    for group in grouping.grouped((_note_key(copy[1]), copy) for copy in copies).values():
        subjects = grouping.grouped((_subject(note), (cluster, note)) for cluster, note in group)
        (_, first), *rest = subjects.items()
        others = [f"{subject} {_place(findings, clusters)}" for subject, findings in rest]
        note = _with_all_nodes(first)
        same = f"; the same for {some(others, len(others), 10)}" if others else ""
        shared.append((with_words(note, after=same), _names(group)))
    return sorted(shared, key=lambda entry: ("error", "warning", "info").index(entry[0].severity))


def _note_key(note: Result) -> tuple[object, ...]:
    """Return what notes that become one have in common."""
    return note.severity, note.rule, note.field and note.field.path, *_content(note)


def _subject(note: Result) -> Ref | str:
    """Return the resource that a note is about, else its place."""
    return note.ref or note.where.rstrip(": ")


def _place(copies: Sequence[tuple[str, Result]], clusters: Collection[str]) -> str:
    """Return on how many nodes a note is, `on 3 nodes (dev 1, stage 2)`, or `in` which clusters if one counts none."""
    counts = [(cluster, part) for cluster, note in copies if (part := sentence.counted_nodes(note.sentence))]
    if len(counts) < len(copies):
        return f"in {where(_names(copies), clusters)}"
    return f"on {sentence.total_of([(cluster, nodes.number) for cluster, nodes in counts])}"


def _content(finding: Result) -> tuple[object, ...]:
    """Return what a finding says but its nodes, where these are values in its sentence; else its text."""
    return (sentence.form(finding.sentence) if finding.sentence else finding.message), finding.remedy


def join(findings: Iterable[Result], clusters: Collection[str]) -> list[Result]:
    """Return each finding once, with tags that name those of `clusters` that have it.

    Findings whose sentences count nodes are equal when they differ in their nodes only.
    """
    groups: dict[object, dict[str, Result]] = {}
    for finding in findings:
        place, field = finding.place, finding.field
        if finding.unlisted or not (names := names_of(finding)):
            groups.setdefault((place, str(finding)) if place and place.line else id(finding), {})[""] = finding
            continue
        key = (finding.severity, finding.rule, finding.ref, field and field.path, place and (place[2:4], place.path))
        # a cluster may have several, about different nodes
        candidates = (groups.setdefault((*key, *_content(finding), at), {}) for at in count())
        group = next(group for group in candidates if str(group.get(names[0], finding)) == str(finding))
        group[names[0]] = finding
    return [_merged(group, clusters) for group in groups.values()]


def _merged(copies: Mapping[str, Result], clusters: Collection[str]) -> Result:
    """Return one finding for the clusters that have it, by their names; "" is none."""
    first = next(iter(copies.values()))
    names = dict.fromkeys(name for finding in copies.values() for name in names_of(finding))
    if not names:
        return first
    if len(copies) > 1:
        first = _with_all_nodes([*copies.items()])
    return tag_clusters(first, [*names], clusters)


def _with_all_nodes(copies: Sequence[tuple[str, Result]]) -> Result:
    """Return the first of some findings, each with its cluster, with the nodes of all; they differ in these only."""
    first = copies[0][1]
    if len(copies) == 1 or not first.sentence:
        return first
    merged = sentence.merged([(cluster, finding.sentence) for cluster, finding in copies])
    return first._replace(message=sentence.text(merged), sentence=merged)


def tag_clusters(finding: Result, names: Sequence[str], clusters: Collection[str]) -> Result:
    """Return a finding with tags that name those of `clusters` that have it."""
    tags = {**dict(finding.tags), NAMES: "\n".join(names), CLUSTERS: where(names, clusters)}
    return finding._replace(tags=tuple(tags.items()))


def lines(findings: Iterable[Result], clusters: Collection[str]) -> list[Result]:
    """Return findings for stderr, each once; of several clusters its message ends with those that have it."""
    return [f._replace(message=f"{f.message}{cluster_suffix(f)}") for f in join(findings, clusters)]


def without_note(comparison: Comparison) -> list[Effect]:
    """Return the effects that no note says, and no error of --fail-on."""
    known = {effect_in(note) for note in comparison.notes}
    failing = grouping.grouped((effect.identity, effect) for effect in comparison.failing)
    return [
        effect
        for effect in comparison.plan.effects
        if effect.identity not in known and effect not in failing.get(effect.identity, ())
    ]


def effects(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the effects without a note: a word, a sentence and the clusters, per Module and effect.

    Images differ by kernel, and the first is named.
    """
    pairs = ((_key(effect), (c.name, effect)) for c in comparisons for effect in without_note(c))
    for (ref, head, _), copies in grouping.grouped(pairs).items():
        nodes: dict[str, int] = {}
        for cluster, effect in copies:
            nodes[cluster] = nodes.get(cluster, 0) + len(effect.nodes)
        reasons = list(dict.fromkeys(effect.reason for _, effect in copies if effect.reason))
        reason = f": {reasons[0]}" if reasons else ""
        reason += f" (and {counted(len(reasons) - 1, 'other image')})" if reasons[1:] else ""
        yield copies[0][1].word, f"{ref}: {head}{sentence.total_of(list(nodes.items()))}{reason}", tuple(nodes)


def _key(effect: Effect) -> tuple[Ref, str, str]:
    """Return the Module, how the sentence about it begins (`reloaded on `), and the reason unless it is an image."""
    first, *rest = effect.sentence
    head = str(first) if rest else f"{effect.word}: "
    return effect.ref, head, "" if effect.word in ("reloaded", "gained") else effect.reason


def _names(copies: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Return the names of the clusters in (cluster, value) pairs, each once."""
    return tuple(dict.fromkeys(cluster for cluster, _ in copies))
