"""What the product asks of findings: their facts, their order, which two are copies of one."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from krmfn import Place, Result
from krmfn.results import NODES, Facts
from krmfn.typed import Any, Protocol

Locate = Callable[[Result], Result]
"""Returns a finding with its place, as readers know that."""
_NAMED = 20
"""How many nodes the fact names; their number is a fact of its own."""


class Origin(Protocol):
    """What an object is made from."""

    def moved(self, finding: Result) -> Result | None:
        """Return a finding about the object at the field that it comes from; None where there is none."""


def node_facts(names: Sequence[str]) -> Facts:
    """Return the facts of a finding about nodes, given their names in order: some names, and how many they are."""
    return (NODES, tuple(names[:_NAMED])), ("nodeCount", len(names))


def facts_of(data: Mapping[str, Any]) -> Facts:
    """Return the facts of a finding from JSON data, in which a tuple is a list."""
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in data.items())


def fact(finding: Result, name: str) -> str | int | tuple[str, ...]:
    """Return a fact of a finding by its name; "" when it has none of this name."""
    return dict(finding.facts).get(name, "")


def with_words(finding: Result, before: str = "", after: str = "") -> Result:
    """Return a finding with more words around its message."""
    sentence = tuple(part for part in (before, *finding.sentence, after) if part != "") if finding.sentence else ()
    return finding._replace(message=f"{before}{finding.message}{after}", sentence=sentence)


def location_of(place: Place | None) -> str:
    """Return a place as people read it: `a.yaml:3:7`; "" without a file."""
    if not (place and place.path):
        return ""
    return ":".join([place.path, *(str(number) for number in (place.line, place.column) if number)])


def subjects(finding: Result) -> list[str]:
    """Return the resource and the path of the field, as far as a finding is about them."""
    return [str(part) for part in (finding.ref, finding.field and finding.field.path) if part]


def occurrence(finding: Result) -> tuple[Any, ...]:
    """Return the identity of a finding with severity and place: equal for two copies of one finding of a run."""
    return finding.severity, finding.identity, finding.place and (finding.place.path, *finding.place[2:4])


def without_copies(findings: Iterable[Result], known: Iterable[Result]) -> list[Result]:
    """Return the findings that are no copies of known ones."""
    names = {occurrence(finding) for finding in known}
    return [finding for finding in findings if occurrence(finding) not in names]


def in_order(findings: Iterable[Result]) -> list[Result]:
    """Return findings by file, line and column, those that stand in no file first; of one place in their old order."""
    return sorted(findings, key=_position)


def _position(finding: Result) -> tuple[Any, ...]:
    return (finding.place.path, *finding.place[2:4]) if finding.place else ("", 0, 0)
