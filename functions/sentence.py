"""Sentences about nodes as values: words, and what they count, so that those of several clusters become one."""

from collections.abc import Hashable, Iterable, Sequence

from krmfn.printing import counted, some
from krmfn.typed import NamedTuple

Sentence = tuple[Hashable, ...]
"""The parts of a message in their order, each of which says itself by `str`: words, and the classes below."""
_SHOWN = 4
"""How many clusters are named with their numbers; of more there is only the sum."""


class Nodes(NamedTuple):
    """Some nodes: `3 of the 40 nodes (a, b, c)`."""

    number: int
    names: str = ""
    """Some of their names, as the sentence has them; "" where it has none."""
    of: int = 0
    """Of how many; 0 where the sentence does not say it."""
    article: str = "the "

    def __str__(self) -> str:
        nodes = f"{self.number:,} of {self.article}{counted(self.of, 'node')}" if self.of else ""
        names = f" ({self.names})" if self.names else ""
        return f"{nodes or counted(self.number, 'node')}{names}"


class Verb(NamedTuple):
    """A verb that follows some nodes: `gets` for one of them, else `get`."""

    number: int
    single: str
    plural: str

    def __str__(self) -> str:
        return self.single if self.number == 1 else self.plural


class Aside(NamedTuple):
    """Words that a printer leaves out where its reader knows them, or has no room."""

    words: Hashable
    about: Hashable
    """What they are about, for the printer."""

    def __str__(self) -> str:
        return str(self.words)


class Topic(NamedTuple):
    """What a sentence is about, for programs: they compare this, and people do not see it."""

    about: Hashable

    def __str__(self) -> str:
        return ""


class Inventories(NamedTuple):
    """The NodeInventories of a cluster."""

    names: str

    def __str__(self) -> str:
        return self.names


def named(names: Sequence[str], of: int = 0) -> Nodes:
    """Return nodes by their names, which are in order."""
    return Nodes(len(names), some(names, len(names)), of)


def counted_nodes(sentence: Sentence) -> Nodes | None:
    """Return the first nodes that a sentence counts; None where it counts none."""
    return next((part for part in sentence if isinstance(part, Nodes)), None)


def topic_of(sentence: Sentence) -> Topic | None:
    """Return what a sentence is about; None where it does not say it."""
    return next((part for part in sentence if isinstance(part, Topic)), None)


def text(sentence: Iterable[object]) -> str:
    """Return the sentence as people read it."""
    return "".join(map(str, sentence))


def without(sentence: Sentence, *topics: Hashable) -> Sentence:
    """Return a sentence without what it says about some topics aside."""
    return tuple(part for part in sentence if not (isinstance(part, Aside) and part.about in topics))


def form(sentence: Sentence) -> Sentence:
    """Return what the sentences of two clusters have in common that differ in their nodes only."""
    return tuple(_form_of(part) for part in sentence)


def _form_of(part: object) -> object:
    if isinstance(part, Nodes):
        return Nodes, bool(part.names), bool(part.of)
    if isinstance(part, Verb):
        return Verb, part.single, part.plural
    if isinstance(part, Topic):
        return Topic
    return Inventories if isinstance(part, Inventories) else part


def merged(copies: Sequence[tuple[str, Sentence]]) -> Sentence:
    """Return one sentence for several clusters, from a (cluster, sentence) of each; all have one form."""
    if len(copies) == 1:
        return copies[0][1]
    clusters = [cluster for cluster, _ in copies]
    columns = zip(*(sentence for _, sentence in copies), strict=True)
    return tuple(_of_all(clusters, column) for column in columns)


def _of_all(clusters: Sequence[str], parts: Sequence[object]) -> object:
    """Return one part of a sentence for all clusters."""
    first = parts[0]
    if isinstance(first, Verb):
        return first._replace(number=sum(part.number for part in parts if isinstance(part, Verb)))
    if isinstance(first, Inventories):
        return "the NodeInventory of each cluster"
    if not isinstance(first, Nodes):
        return first
    counts = [part for part in parts if isinstance(part, Nodes)]
    of_all = sum(count.of for count in counts)
    numbers = [(cluster, count.number) for cluster, count in zip(clusters, counts, strict=True)]
    return total_of(numbers, f" of the {of_all:,}" if of_all else "", bool(first.names))


def total_of(numbers: Sequence[tuple[str, int]], of_all: str = "", names_clusters: bool = True) -> str:
    """Return `50 nodes (dev 4, stage 6, prod-a 40)`, `400 of the 600 nodes in 40 clusters`.

    `numbers` are those of each (cluster, nodes); `of_all` stands before `nodes`, such as ` of the 600`.
    """
    total = sum(count for _, count in numbers)
    nodes = f"{total:,}{of_all} nodes" if of_all else counted(total, "node")
    if not names_clusters:
        return nodes
    if len(numbers) > _SHOWN:
        return f"{nodes} in {len(numbers):,} clusters"
    return f"{nodes} ({', '.join(f'{cluster} {number:,}' for cluster, number in numbers)})"
