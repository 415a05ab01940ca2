"""The lines of a comment below its table: findings, new rights and what happens on nodes, each with its clusters."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from krmfn import Result
from krmfn.printing import counted

from .. import grouping
from ..finding import location_of, with_words
from .changes import Names, Overview
from .checked import cluster_suffix, names_of
from .grouped import tag_clusters
from .markup import inline

_RIGHTS = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_Line = tuple[tuple[str, Names], str]
"""A line with its clusters, and the severity of its finding."""


def lines(
    fleet: Overview, findings: Sequence[Result], failing: Collection[str], clusters: Sequence[str]
) -> Iterator[tuple[str, Names]]:
    """Yield the warnings about the change, new rights, what happens on the nodes, the infos about it, then all others.

    A reviewer reads what the repository has had before last. Those of the severities `failing` stand before these.
    Without `findings` only the change is told. `clusters` are all that are compared.
    """
    of_run = [finding for finding in findings if finding.severity not in failing]
    notes, others = _divided(fleet, of_run, clusters) if findings else (_notes(fleet), [])
    yield from (line for line, severity in notes if severity != "info")
    for change, names in fleet.changes if fleet.rows else ():
        if change.ref.kind in _RIGHTS and change.what not in ("deleted", "stays"):
            yield f"- **rights** {inline(f'{change.ref} is {change.what}{fleet.suffix(names)}')}\n", names
    yield from ((f"- {inline(line)}\n", names) for _, line, names in fleet.effects)
    yield from (line for line, severity in notes if severity == "info")
    yield from (line for line, severity in others if severity != "info")
    yield from (line for line, severity in others if severity == "info")


def _notes(fleet: Overview) -> list[_Line]:
    """Return the lines of the findings about the change."""
    suffixes = [(note, names, fleet.suffix(names)) for note, names in fleet.notes]
    return [((f"- {note_of(note)}{inline(suffix)}\n", names), note.severity) for note, names, suffix in suffixes]


def _divided(fleet: Overview, findings: Sequence[Result], clusters: Sequence[str]) -> tuple[list[_Line], list[_Line]]:
    """Return the lines of those findings that are about the change, and of those that are not."""
    about = {(note.severity, note.id) for note, _ in fleet.notes}
    of_change = [finding for finding in findings if (finding.severity, finding.id) in about]
    others = [finding for finding in findings if (finding.severity, finding.id) not in about]
    return [*map(_line, of_change)], [*map(_line, alike(others, clusters))]


def _line(finding: Result) -> _Line:
    return (f"- {note_of(finding)}{inline(cluster_suffix(finding))}\n", names_of(finding)), finding.severity


def alike(findings: Iterable[Result], clusters: Sequence[str]) -> Iterator[Result]:
    """Yield findings that differ in their places alone once, with the clusters of all; `clusters` are all there are."""
    for first, *rest in grouping.grouped((_but_place(finding), finding) for finding in findings).values():
        if not rest:
            yield first
            continue
        names = dict.fromkeys(name for finding in (first, *rest) for name in names_of(finding))
        counting = with_words(first, after=f"; the same in {counted(len(rest), 'other place')}")
        yield tag_clusters(counting, [*names], clusters) if names else counting


def _but_place(finding: Result) -> object:
    """Return what findings have in common that differ in their places alone; one without a place stands by itself."""
    if not (finding.place and finding.place.path):
        return id(finding)
    path = finding.field.path if finding.field else ""
    return finding.severity, finding.rule, finding.ref, path, finding.message, finding.remedy


def note_of(note: Result) -> str:
    """Return a finding with its place: what a reader opens first."""
    place = location_of(note.place)
    where = f"{inline(place)} " if place else ""
    rule = f" [{note.rule}]" if note.rule else ""
    return f"**{note.severity}** {where}{inline(note.subject + note.text)}{rule}"
