"""The lines of a comment below its table: findings, new rights and what happens on nodes, each with its clusters."""

from collections.abc import Collection, Iterator, Sequence

from krmfn import Result

from .changes import Names, Overview
from .checked import Known, cluster_suffix, known, names_of
from .markup import inline

_RIGHTS = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
_Line = tuple[tuple[str, Names], str]
"""A line with its clusters, and the severity of its finding."""


def lines(fleet: Overview, findings: Sequence[Result], is_alone: bool = False) -> Iterator[tuple[str, Names]]:
    """Yield the warnings about the change, new rights, what happens on the nodes, the infos about it, then all others.

    The `findings` are those of the run that nothing else has told; with `is_alone` only the change is told.
    """
    notes, others = (_notes(fleet), []) if is_alone else _divided(fleet, findings)
    yield from (line for line, severity in notes if severity != "info")
    for change, names in fleet.changes if fleet.rows else ():
        if change.ref.kind in _RIGHTS and change.what not in ("deleted", "stays"):
            yield f"- **rights** {inline(f'{change.ref} is {change.what}{fleet.suffix(names)}')}\n", names
    yield from ((f"- {inline(line)}\n", names) for _, line, names in fleet.effects)
    yield from (line for line, severity in notes if severity == "info")
    yield from (line for line, severity in others if severity != "info")
    yield from (line for line, severity in others if severity == "info")


def without_old(
    fleet: Overview, findings: Sequence[Result], former: Collection[Known]
) -> tuple[list[Result], list[Result]]:
    """Return the findings that the base does not have, as far as that is known, and those that it has, too.

    What is about the change is none that it has.
    """
    about = _about(fleet)
    new: list[Result] = []
    old: list[Result] = []
    for finding in findings:
        is_old = known(finding) in former and (finding.severity, finding.id) not in about
        (old if is_old else new).append(finding)
    return new, sorted(old, key=lambda finding: finding.severity == "info")


def _notes(fleet: Overview) -> list[_Line]:
    """Return the lines of the findings about the change."""
    suffixes = [(note, names, fleet.suffix(names)) for note, names in fleet.notes]
    return [((f"- {note_of(note)}{inline(suffix)}\n", names), note.severity) for note, names, suffix in suffixes]


def _divided(fleet: Overview, findings: Sequence[Result]) -> tuple[list[_Line], list[_Line]]:
    """Return the lines of those findings that are about the change, and of those that are not."""
    about = _about(fleet)
    of_change: list[_Line] = []
    others: list[_Line] = []
    for finding in findings:
        line = line_of(finding), names_of(finding)
        (of_change if (finding.severity, finding.id) in about else others).append((line, finding.severity))
    return of_change, others


def _about(fleet: Overview) -> set[tuple[str, str]]:
    return {(note.severity, note.id) for note, _ in fleet.notes}


def line_of(finding: Result) -> str:
    """Return a finding with its clusters as an item of a list."""
    return f"- {note_of(finding)}{inline(cluster_suffix(finding))}\n"


def note_of(note: Result) -> str:
    """Return a finding with its place: what a reader opens first."""
    where = f"{inline(note.where.removesuffix(': '))} " if note.where else ""
    rule = f" [{note.rule}]" if note.rule else ""
    return f"**{note.severity}** {where}{inline(note.subject + note.text)}{rule}"
