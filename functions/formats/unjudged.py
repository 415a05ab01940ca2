"""What a run has not judged, as values that every output words the same."""

from collections.abc import Iterable, Sequence

from krmfn.printing import some
from krmfn.typed import Any, Literal, NamedTuple

Kind = Literal["kinds", "files", "roots", "clusters", "areas"]
_ORDER: tuple[Kind, ...] = ("clusters", "roots", "files", "kinds", "areas")
_SHOWN = 3
"""How many files, roots, clusters or objects a line names."""

UNREAD = "unread"
"""The tag of a finding with the files or folders that were not read, a line each."""
UNTRIED = "untried"
"""The tag of a finding that says that something was not judged: what, as a noun."""


class Gap(NamedTuple):
    """Something that a run has not judged."""

    kind: Kind
    what: str
    """What is not judged, as a noun: `which nodes get a driver`."""
    why: str
    """The reason, in a few words: `no inventory`."""
    names: tuple[str, ...] = ()
    """The files, roots, clusters or objects that it is about; none where it is about all of them."""
    is_meant: bool = False
    """Whether the user wants it so, or it is shown to hold nothing of ours: it fails nothing."""


def joined(gaps: Iterable[Gap], clusters: Sequence[str] = ()) -> tuple[Gap, ...]:
    """Return each gap once, with the names of all that are alike, in the order of the kinds.

    Where these are the names of all `clusters`, none is said.
    """
    names: dict[Gap, dict[str, None]] = {}
    for gap in gaps:
        names.setdefault(gap._replace(names=()), {}).update(dict.fromkeys(gap.names))
    every = dict.fromkeys(clusters)
    merged = (gap._replace(names=() if of_gap == every else tuple(of_gap)) for gap, of_gap in names.items())
    return tuple(sorted(merged, key=lambda gap: _ORDER.index(gap.kind)))


def sentence(gap: Gap) -> str:
    """Return `which nodes get a driver (no inventory: dev, stage)`."""
    names = f": {some(gap.names, len(gap.names), _SHOWN)}" if gap.names else ""
    return f"{gap.what} ({gap.why}{names})"


def line(gaps: Sequence[Gap]) -> str:
    """Return all gaps in one line: `not judged: ...`; "" for none."""
    return f"not judged: {'; '.join(map(sentence, gaps))}" if gaps else ""


def failing(gaps: Sequence[Gap]) -> list[Gap]:
    """Return the gaps that make a run with `--fail-on unjudged` fail: those that nobody has asked for."""
    return [gap for gap in gaps if not gap.is_meant]


def as_data(gaps: Sequence[Gap]) -> list[dict[str, Any]]:
    """Return the gaps as JSON data."""
    return [
        {"kind": gap.kind, "what": gap.what, "why": gap.why, "names": list(gap.names), "meant": gap.is_meant}
        for gap in gaps
    ]
