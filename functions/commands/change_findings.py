"""What --fail-on makes of a change: errors about its effects on nodes, each told once and at its place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from krmfn import Ref, Result, error
from krmfn.typed import NamedTuple

from ..finding import with_words
from ..formats.checked import tag_cluster
from ..grouping import grouped
from ..kmm.module import HUB_KIND, MODULE_KINDS
from ..plan import OF_NODES, UNKNOWN_NODES, Comparison, Effect, effect_in, not_as_reviewed
from ..run import run_of
from ..sentence import Topic, topic_of

_EFFECTS = {"lost": "lost", "reload": "reloaded", "blocked": "blocked"}
"""Words about nodes, with the effects of a change that they name; what is not known may be any of them."""

_UNLOADS = ("lost", "reload")
"""Words that also fail for a Module that an engine deletes, makes anew or does not apply."""


class Raised(NamedTuple):
    """An error that --fail-on makes of a change."""

    error: Result
    note: Result | None = None
    """The note that says the same."""
    effect: Effect | None = None
    """The effect that it is about."""


def change_errors(comparisons: Sequence[Comparison], words: Collection[str]) -> list[Raised]:
    """Return the errors that `words` of --fail-on make of changes, and of what is not known about them."""
    return [raised for comparison in comparisons for raised in _change_errors(comparison, words)]


def without_failing(comparisons: Sequence[Comparison], errors: Iterable[Raised]) -> list[Comparison]:
    """Return comparisons without the notes that --fail-on has made errors of: each is one finding, and told once.

    `errors` are those of `change_errors`.
    """
    raised = list(errors)
    known = grouped((note.ref, note) for _, note, _ in raised if note)
    effects = tuple(effect for _, _, effect in raised if effect)
    results: list[Comparison] = []
    for comparison in comparisons:
        notes = [note for note in comparison.notes if note not in known.get(note.ref, ())]
        results.append(comparison._replace(notes=notes, failing=effects))
    return results


def with_failing(comparisons: Sequence[Comparison], words: Collection[str]) -> list[Comparison]:
    """Return comparisons with the errors that `words` of --fail-on make, in place of the notes that say the same."""
    results: list[Comparison] = []
    for comparison in comparisons:
        errors = list(_change_errors(comparison, words))
        (rest,) = without_failing([comparison], errors)
        results.append(rest._replace(notes=[*(raised.error for raised in errors), *rest.notes]))
    return results


class _Notes(NamedTuple):
    """The notes of a comparison by what they are about: there may be thousands, and as many errors."""

    of_objects: Mapping[Ref | None, Sequence[Result]]
    of_topics: Mapping[Topic, Result]
    """The first about each."""


def _notes_of(comparison: Comparison) -> _Notes:
    """Return the notes of a comparison by what they are about."""
    of_topics: dict[Topic, Result] = {}
    for note in comparison.notes:
        if topic := topic_of(note.sentence):
            of_topics.setdefault(topic, note)
    return _Notes(grouped((note.ref, note) for note in comparison.notes), of_topics)


def _at_note(notes: Sequence[Result], finding: Result, effect: Effect | None) -> Raised | None:
    """Return an error about a Module with the place of a note about it, and the rule of one that says its effect.

    A reader has to know where to look, and what to do. `notes` are those about the Module; None without such a place.
    """
    if note := next((note for note in notes if effect and effect_in(note) == effect.identity), None):
        at_note = finding._replace(rule=note.rule, field=note.field, place=note.place, remedy=note.remedy)
        return Raised(at_note, note)
    place = next((note.place for note in notes if note.place), None)
    return Raised(finding._replace(place=place)) if place else None


def _at_causes(comparison: Comparison, findings: Sequence[Result]) -> list[Result]:
    """Return errors about Modules with the places of what changes them; all at once, since there may be thousands."""
    from ..upgrades.notes import at_their_causes  # here: few commands compare

    if not (comparison.sides and findings):
        return [*findings]
    locate = run_of(comparison.sides[1]).sources.located
    return [locate(finding) for finding in at_their_causes(findings, *comparison.sides)]


def _raised(comparison: Comparison, word: str, kind: str) -> Iterator[tuple[Result, Effect | None]]:
    """Yield an error for each thing that `word` of --fail-on is about, and the effect that a note may say, too."""
    for effect in comparison.plan.effects:
        if effect.word in (kind, "unknown"):
            yield error(effect.sentence, ref=effect.ref, facts=effect.facts), effect
    for harm in comparison.by_former_labels:
        if harm.word == kind:
            yield error((*harm.sentence, ", as long as they have their former labels"), ref=harm.ref), None
    for finding in comparison.unapplied if word in _UNLOADS else ():
        if finding.ref:
            yield error((not_as_reviewed(finding).topic, finding.text), ref=finding.ref), None


def _change_errors(comparison: Comparison, words: Collection[str]) -> Iterator[Raised]:
    """Yield the errors about the change of one cluster."""
    name, plan, notes = comparison.name, comparison.plan, _notes_of(comparison)
    has_notes = any(note.severity != "info" for note in comparison.notes)
    if "change" in words and (plan.changes or plan.effects or has_notes):
        yield Raised(error(f"{name or 'the cluster'} changes (--fail-on change)"))
    if "lost" in words:
        for reason, topic in comparison.doubtful:
            parts = (*([topic] if topic else ()), f"{reason} (--fail-on lost)")
            (finding,) = tag_cluster(name, [error(parts)])
            yield Raised(finding, notes.of_topics.get(topic) if topic else None)
    has_modules = any((change.ref.group, change.ref.kind) in MODULE_KINDS for change in plan.changes)
    for word, kind in _EFFECTS.items():
        if word not in words:
            continue
        errors = [*_raised(comparison, word, kind)]
        at_notes = [_at_note(notes.of_objects.get(about.ref, ()), about, effect) for about, effect in errors]
        others = [about for (about, _), at_note in zip(errors, at_notes, strict=True) if not at_note]
        located = iter(_at_causes(comparison, others))
        for (_, effect), at_note in zip(errors, at_notes, strict=True):
            raised = at_note or Raised(next(located))
            (finding,) = tag_cluster(name, [with_words(raised.error, after=f" (--fail-on {word})")])
            yield Raised(finding, raised.note, effect)
        of_hub = next((change.ref for change in plan.changes if change.ref.kind == HUB_KIND), None)
        spokes = run_of(comparison.sides[1]).spokes if comparison.sides else ()
        if of_hub and comparison.knows_nodes and not spokes:
            message = f"what happens on the nodes of its spokes is not known (--fail-on {word})"
            yield from map(Raised, tag_cluster(name, [error(message, ref=of_hub)]))
        if has_modules and not comparison.knows_nodes and kind not in comparison.spared:
            yield _unknown(comparison, notes.of_topics.get(OF_NODES), word)


def _unknown(comparison: Comparison, note: Result | None, word: str) -> Raised:
    """Return the error that what happens on the nodes is not known, at the place of the note that says it."""
    reason = (": ", *comparison.doubt) if comparison.doubt else ("; add a NodeInventory (`krmfn inventory`)",)
    parts = (f"{UNKNOWN_NODES} (--fail-on {word})", *reason)
    (finding,) = tag_cluster(comparison.name, [error(parts, place=note.place if note else None)])
    return Raised(finding, note)
