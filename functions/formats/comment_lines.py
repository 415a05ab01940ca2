"""The lines of a comment below its table: findings, new rights and what happens on nodes, each with its clusters."""

from collections.abc import Collection, Iterator, Sequence

from krmfn import Result

from ..finding import location_of
from .changes import Names, Overview
from .checked import cluster_suffix, names_of
from .markup import inline

_RIGHTS = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_Line = tuple[tuple[str, Names], str]
"""A line with its clusters, and the severity of its finding."""


def lines(fleet: Overview, findings: Sequence[Result], failing: Collection[str]) -> Iterator[tuple[str, Names]]:
    """Yield the warnings about the change, new rights, what happens on the nodes, the infos about it, then all others.

    A reviewer reads what the repository has had before last. Those of the severities `failing` stand before these.
    Without `findings` only the change is told.
    """
    of_run = [finding for finding in findings if finding.severity not in failing]
    notes, others = _divided(fleet, of_run) if findings else (_notes(fleet), [])
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


def _divided(fleet: Overview, findings: Sequence[Result]) -> tuple[list[_Line], list[_Line]]:
    """Return the lines of those findings that are about the change, and of those that are not."""
    about = {(note.severity, note.id) for note, _ in fleet.notes}
    of_change: list[_Line] = []
    others: list[_Line] = []
    for finding in findings:
        line = f"- {note_of(finding)}{inline(cluster_suffix(finding))}\n", names_of(finding)
        (of_change if (finding.severity, finding.id) in about else others).append((line, finding.severity))
    return of_change, others


def note_of(note: Result) -> str:
    """Return a finding with its place: what a reader opens first."""
    place = location_of(note.place)
    where = f"{inline(place)} " if place else ""
    rule = f" [{note.rule}]" if note.rule else ""
    return f"**{note.severity}** {where}{inline(note.subject + note.text)}{rule}"
