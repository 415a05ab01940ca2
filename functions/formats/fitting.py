"""Parts of a text that has a limit: what fits, and what is left out."""

from collections import Counter
from collections.abc import Iterable

from krmfn import printing
from krmfn.typed import NamedTuple

from .changes import Names
from .markup import inline

_SHORT = 30
"""Characters of a cluster's name in a line that says how much is left out."""


class Part(NamedTuple):
    """The text of a part of a comment that fits, and what is left out."""

    text: str
    cut: int
    """How many entries are left out."""
    clusters: Counter[str]
    """How many of these each cluster has."""


def fit(entries: Iterable[tuple[str, Names]], room: int) -> Part:
    """Return the texts that fit into `room` characters; one that does not is left out, and the next one tried."""
    texts: list[str] = []
    cut, clusters = 0, Counter[str]()
    for entry, names in entries:
        if len(entry) <= room:
            texts.append(entry)
            room -= len(entry)
        else:
            cut += 1
            clusters.update(names)
    return Part("".join(texts), cut, clusters)


def omissions(part: Part, most: int) -> str:
    """Return how many entries of each cluster are left out: ` (dev 3, stage 2)`; "" for none."""
    if not part.clusters:
        return ""
    named = [f"{inline(name[:_SHORT])} {number:,}" for name, number in part.clusters.items()]
    return f" ({printing.some(named, len(named), most)})"


def section(part: Part, rest: str, title: str = "") -> str:
    """Return a part with its title, and `rest` where something is cut; "" where there is nothing."""
    return f"\n{title}{part.text}{rest if part.cut else ''}" if part.text or part.cut else ""
