"""The changes of several clusters, each told once with the clusters that have it. Pure values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count

from krmfn import Ref, Result
from krmfn.printing import counted, some
from krmfn.typed import NamedTuple, TypeVar

from .. import grouping
from ..plan import Change, Comparison, Effect
from . import node_counts
from .checked import CLUSTERS, NAMES, names_of, whose

T = TypeVar("T")
Told = tuple[T, tuple[str, ...]]
"""Something, and the names of the clusters that have it, in their order."""
COLUMNS, RARE = ("gained", "lost", "reloaded", "kept"), ("blocked", "waiting", "unknown")
"""What the table of clusters counts: also where it is nothing, and only where there is some."""
_SHOWN, _OTHERS = 4, 10
"""Clusters that are named, and others that are where these are more; still more are counted."""
_KEPT = re.compile(r"version (\S+) stays")
_HEADS = {
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
    """How many nodes gain a driver, lose it, ...; what is not there is none."""
    is_known: bool
    """False: nobody knows what happens on the nodes."""

    def cells(self, columns: Sequence[str]) -> list[str]:
        """Return the numbers as a table shows them."""
        return [f"{self.numbers.get(name, 0):,}" if self.is_known else "?" for name in columns]


def rows(compared: Sequence[Comparison]) -> list[Row]:
    """Return a row per cluster."""
    made: list[Row] = []
    for one in compared:
        nodes = grouping.grouped((effect.what, effect.nodes) for effect in one.plan.effects)
        is_known = (one.knows_nodes or bool(nodes) or one.is_same) and not one.failed
        made.append(Row(one.name, {what: len(set[str]().union(*names)) for what, names in nodes.items()}, is_known))
    return made


def headline(compared: Sequence[Comparison], every: Sequence[Row]) -> str:
    """Return `78 nodes in 4 clusters reload at once, 20 keep 2.26.0`: the whole fleet in one line."""
    parts: list[str] = []
    for what, words in _HEADS.items():
        if there := [row.numbers[what] for row in every if what in row.numbers]:
            nodes = f"{sum(there):,}" if parts else f"{counted(sum(there), 'node')} in {counted(len(there), 'cluster')}"
            parts.append(f"{nodes} {words[sum(there) > 1]}")
    effects = [effect for one in compared for effect in one.plan.effects if effect.what == "kept"]
    if kept := sum(row.numbers.get("kept", 0) for row in every):
        found = (_KEPT.match(effect.reason) for effect in effects)
        versions = list(dict.fromkeys(match[1] for match in found if match))
        nodes = f"{kept:,}" if parts else counted(kept, "node")
        verb = "keep" if kept > 1 else "keeps"
        parts.append(f"{nodes} {verb} {some(versions, len(versions), 2) or 'what they have'}")
    doubtful = [row.numbers["unknown"] for row in every if "unknown" in row.numbers]
    of_some = f"{counted(sum(doubtful), 'node')} in {counted(len(doubtful), 'cluster')}" if doubtful else ""
    dark = [row.name for row in every if not row.is_known]
    of_all = f"the nodes of {where(dark, [row.name for row in every])}" if dark else ""
    names = " and ".join(filter(None, (of_some, of_all)))
    unknown = f"what happens on {names} is not known" if names else ""
    mark = "; " if any("waiting" in row.numbers for row in every) else ", "  # they may be among those before
    return "; ".join(filter(None, [mark.join(parts), unknown])) or "no node is affected"


def where(names: Sequence[str], every: Collection[str]) -> str:
    """Return which clusters: `dev, stage`, `all 40 clusters but dev, lab`, `a, b, c, d and 8 more of 40 clusters`."""
    if len(names) == len(every) > 1:
        return f"all {len(every):,} clusters"
    if len(names) <= _SHOWN:
        return ", ".join(names)
    held = {*names}
    others = [name for name in every if name not in held]
    if len(others) <= _OTHERS:
        return f"all {len(every):,} clusters but {', '.join(others)}"
    return f"{some(names, len(names), _SHOWN)} of {counted(len(every), 'cluster')}"


def changes(compared: Sequence[Comparison]) -> list[Told[Change]]:
    """Return each change once, what most clusters have first; two are one when they do the same to one object."""
    every = ((_digest(change), (one.name, change)) for one in compared for change in one.plan.changes)
    found = [(held[0][1], _names(held)) for held in grouping.grouped(every).values()]
    return sorted(found, key=lambda one: (-len(one[1]), one[1]))


def _digest(change: Change) -> bytes:
    from hashlib import sha256  # here: it loads OpenSSL, and most commands tell no change

    about = change.fields if change.what == "changed" else (change.old, change.new)
    return sha256(repr((change.what, change.ref, about)).encode(errors="surrogatepass")).digest()


def notes(compared: Sequence[Comparison]) -> list[Told[Result]]:
    """Return each note once, errors first: those that differ in nodes only, and then in the resource, are one.

    What to do is the same for all of them, and so it is said once.
    """
    every = (
        ((note.severity, note.rule, note.field and note.field.path, node_counts.alike(note.message)), (one.name, note))
        for one in compared
        for note in one.notes
    )
    found: list[Told[Result]] = []
    names = [one.name for one in compared]
    for held in grouping.grouped(every).values():
        subjects = grouping.grouped((note.ref or note.where, (cluster, note)) for cluster, note in held)
        (_, first), *others = subjects.items()
        more = [f"{subject} {_on(each, names)}" for subject, each in others]
        message = node_counts.merged([(cluster, note.message) for cluster, note in first])
        message += f"; the same for {some(map(str, more), len(more), 10)}" if more else ""
        found.append((first[0][1]._replace(message=message), _names(held)))
    return sorted(found, key=lambda one: ("error", "warning", "info").index(one[0].severity))


def _on(held: Sequence[tuple[str, Result]], every: Collection[str]) -> str:
    """Return on how many nodes of which clusters a finding is, or in which of all clusters."""
    counts = [(cluster, match) for cluster, note in held if (match := node_counts.NODES.search(note.message))]
    if len(counts) < len(held):
        return f"in {where(_names(held), every)}"
    return f"on {node_counts.total_of([(cluster, node_counts.number(match[1])) for cluster, match in counts])}"


def joined(results: Iterable[Result], every: Collection[str]) -> list[Result]:
    """Return each finding of some clusters, `every` of them by its name, once, with tags that name those that have it.

    Findings about nodes are equal when they differ in these alone.
    """
    told: dict[object, dict[str, Result]] = {}
    for one in results:
        of_file = one.place and one.place.line
        if one.unlisted or not (names := names_of(one)):
            told.setdefault((one.place, str(one)) if of_file else id(one), {})[""] = one
            continue
        text = node_counts.alike(one.message) if _is_about_nodes(one) else one.message
        about = (one.severity, one.rule, one.ref, one.field and one.field.path, one.place and one.place[2:4])
        # one cluster may say it twice, of different nodes
        same = (told.setdefault((*about, one.place and one.place.path, text, at), {}) for at in count())
        next(each for each in same if str(each.get(names[0], one)) == str(one))[names[0]] = one
    return [_named(held, every) for held in told.values()]


def _named(held: Mapping[str, Result], every: Collection[str]) -> Result:
    """Return one finding for the clusters that have it; "" is none."""
    first = next(iter(held.values()))
    names = dict.fromkeys(name for one in held.values() for name in names_of(one))
    if not names:
        return first
    if len(held) > 1 and _is_about_nodes(first):
        first = first._replace(message=node_counts.merged([(cluster, one.message) for cluster, one in held.items()]))
    return named(first, [*names], every)


def named(result: Result, names: Sequence[str], every: Collection[str]) -> Result:
    """Return a finding with tags that name the clusters that have it, of `every` cluster."""
    tags = {**dict(result.tags), NAMES: "\n".join(names), CLUSTERS: where(names, every)}
    return result._replace(tags=tuple(tags.items()))


def lines(results: Iterable[Result], every: Collection[str]) -> list[Result]:
    """Return findings for stderr, each once; of several clusters its message ends with those that have it."""
    return [one._replace(message=f"{one.message}{whose(one)}") for one in joined(results, every)]


def _is_about_nodes(result: Result) -> bool:
    return not result.rule or result.rule.startswith(("KRM3", "KRM6"))


def untold(compared: Comparison) -> list[Effect]:
    """Return the effects that no note says in the same words."""
    messages = {note.message for note in compared.notes}
    return [effect for effect in compared.plan.effects if effect.message not in messages]


def effects(compared: Sequence[Comparison]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield what happens on the nodes and no note says: a word and a sentence per Module and effect, and the clusters.

    Images differ by kernel, and the first is named.
    """
    keyed = ((_key(effect), (one.name, effect)) for one in compared for effect in untold(one))
    for (ref, head, _), held in grouping.grouped(keyed).items():
        nodes: dict[str, int] = {}
        for cluster, effect in held:
            nodes[cluster] = nodes.get(cluster, 0) + len(effect.nodes)
        reasons = list(dict.fromkeys(effect.reason for _, effect in held if effect.reason))
        why = f": {reasons[0]}" if reasons else ""
        why += f" (and {counted(len(reasons) - 1, 'other image')})" if reasons[1:] else ""
        yield held[0][1].what, f"{ref}: {head}{node_counts.total_of(list(nodes.items()))}{why}", tuple(nodes)


def _key(effect: Effect) -> tuple[Ref, str, str]:
    """Return the Module, how the sentence about it begins (`reloaded on `), and why unless it is an image."""
    found = node_counts.NODES.search(effect.message)
    head = effect.message[: found.start()] if found else f"{effect.what}: "
    return effect.ref, head, "" if effect.what in ("reloaded", "gained") else effect.reason


def _names(held: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cluster for cluster, _ in held))
