"""What a run has not judged, as values that every output words the same."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from krmfn.printing import counted, some
from krmfn.typed import Any, Literal, NamedTuple

Kind = Literal["kinds", "files", "roots", "clusters", "areas"]
_ORDER: tuple[Kind, ...] = ("clusters", "roots", "files", "kinds", "areas")
_COUNTED: dict[Kind, str] = {"files": "file"}
"""What is counted in a gap where nothing is named, in the singular, by its kind."""
_SHOWN = 3
"""How many files, roots, clusters or objects a line names."""

UNREAD = "unread"
"""The tag of a finding with the files or folders that were not read, a line each."""
UNTRIED = "untried"
"""The tag of a finding that says that something was not judged: what, as a noun."""


class Gap(NamedTuple):
    """Something that a run has not judged."""

    kind: Kind
    subject: str
    """What is not judged, as a noun: `which nodes get a driver`."""
    reason: str
    """The reason, in a few words: `no inventory`."""
    names: tuple[str, ...] = ()
    """The files, roots, clusters or objects that it is about; none where it is about all of them."""
    number: int = 0
    """How many there are, of a kind that is counted where they are not named."""
    is_meant: bool = False
    """Whether the user wants it so, or it is shown to hold nothing of ours: it fails nothing."""

    @property
    def is_of_clusters(self) -> bool:
        """Return True where `names` are clusters."""
        return self.kind in ("clusters", "areas")


def joined(gaps: Iterable[Gap], clusters: Sequence[str] = ()) -> tuple[Gap, ...]:
    """Return each gap once, with the names of all that are alike, by kinds.

    Names of clusters are in the order of `clusters`; where these are all of them, none is said.
    """
    names, numbers = dict[Gap, dict[str, None]](), Counter[Gap]()
    for gap in gaps:
        key = gap._replace(names=(), number=0)
        names.setdefault(key, {}).update(dict.fromkeys(gap.names))
        numbers[key] += gap.number
    merged = []
    for key, of_gap in names.items():
        known = [name for name in clusters if name in of_gap] if key.is_of_clusters else []
        others = [name for name in of_gap if name not in known]
        is_every = key.is_of_clusters and len(known) == len(clusters) and not others
        merged.append(key._replace(names=() if is_every else (*known, *others), number=numbers[key]))
    return tuple(sorted(merged, key=lambda gap: (_ORDER.index(gap.kind), gap.subject, gap.reason)))


def of_each(gaps: Iterable[Gap], clusters: Sequence[str]) -> Iterator[Gap]:
    """Yield the gaps of some clusters, with their names also where a gap is about all of them."""
    for gap in gaps:
        is_about_all = gap.is_of_clusters and not gap.names
        yield gap._replace(names=tuple(clusters)) if is_about_all else gap


def sentence(gap: Gap) -> str:
    """Return `which nodes get a driver (no inventory: dev, stage)`, `3 files (excluded)`."""
    names = f": {some(gap.names, len(gap.names), _SHOWN)}" if gap.names else ""
    noun = counted(gap.number, _COUNTED[gap.kind]) if gap.number and gap.kind in _COUNTED else gap.subject
    return f"{noun} ({gap.reason}{names})"


def line(gaps: Sequence[Gap]) -> str:
    """Return all gaps in one line: `not judged: ...`; "" for none."""
    return f"not judged: {'; '.join(map(sentence, gaps))}" if gaps else ""


def failing(gaps: Sequence[Gap]) -> list[Gap]:
    """Return the gaps that make a run with `--fail-on unjudged` fail: those that nobody has asked for."""
    return [gap for gap in gaps if not gap.is_meant]


def as_data(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    """Return the gaps as JSON data."""
    return [
        {"kind": gap.kind, "subject": gap.subject, "reason": gap.reason, "names": list(gap.names)}
        | {"number": gap.number or len(gap.names), "meant": gap.is_meant}
        for gap in gaps
    ]
