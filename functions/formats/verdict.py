"""The verdict of a run, made once: what every output of the run says the same. Pure values."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from krmfn import Result
from krmfn.typed import Any, NamedTuple

from ..plan import Comparison
from . import grouped
from .changes import summary as objects_of
from .checked import Checked, names_of
from .findings import summary
from .unjudged import Gap, joined
from .unjudged import as_data as gaps_as_data

_LOADING = ("Module", "ManagedClusterModule")
"""The kinds by which KMM loads something on nodes."""


class Nodes(NamedTuple):
    """How many nodes of a cluster, or of all, are in which state, and how many of them a change touches."""

    known: int = 0
    """Nodes of which it is known what they get."""
    unknown: int = 0
    """Nodes that are there, and were not evaluated."""
    planned: int = 0
    """Nodes that are planned to get a driver."""
    waiting: int = 0
    """Nodes that get it later: they wait for a label, or the node is not ready."""
    gained: int = 0
    lost: int = 0
    reloaded: int = 0
    kept: int = 0

    def plus(self, other: "Nodes") -> "Nodes":
        """Return the numbers of both together."""
        return Nodes(*map(sum, zip(self, other, strict=True)))


class OfCluster(NamedTuple):
    """What is told of one cluster."""

    name: str
    errors: int
    warnings: int
    infos: int
    nodes: Nodes
    is_judged: bool
    """Whether it is known what its nodes get."""


class Verdict(NamedTuple):
    """What a run comes to."""

    errors: int
    warnings: int
    infos: int
    nodes: Nodes = Nodes()
    clusters: tuple[OfCluster, ...] = ()
    headline: str = ""
    """The change in one line; "" where nothing is compared."""
    knows_change: bool = True
    """Whether it is known of all nodes what the change does to them."""
    not_judged: tuple[Gap, ...] = ()
    """What nobody has looked at."""

    @property
    def unjudged(self) -> list[OfCluster]:
        """Return the clusters of which it is not known what their nodes get."""
        return [cluster for cluster in self.clusters if not cluster.is_judged]


class Told(NamedTuple):
    """What a run tells: its verdict, and the findings and changes that the verdict counts."""

    verdict: Verdict
    findings: Sequence[Result]
    """Each once, with tags that name the clusters that have it."""
    comparisons: Sequence[Comparison] = ()


def verdict(
    checked: Checked, nodes: Mapping[str, Nodes], unjudged: Sequence[str], comparisons: Sequence[Comparison] = ()
) -> Verdict:
    """Return the verdict of a run.

    `checked` has all findings, those about the change, too; `nodes` are the numbers of each cluster as it will be, and
    `unjudged` the names of those whose nodes were not evaluated.
    """
    rows = {row.name: row for row in grouped.rows(comparisons)}
    by_cluster = _by_cluster(checked.results, nodes)
    alone = next(iter(rows), "")  # a single comparison has no name
    clusters = []
    for name, numbers in nodes.items():
        row = rows.get(name) or (rows.get(alone) if len(nodes) == 1 else None)
        changed = {word: row.numbers.get(word, 0) for word in grouped.COLUMNS} if row else {}
        errors, warnings, infos = summary(by_cluster[name]).values()
        numbers = numbers._replace(**changed)
        clusters.append(OfCluster(name, errors, warnings, infos, numbers, name not in unjudged))
    total = Nodes()
    for cluster in clusters:
        total = total.plus(cluster.nodes)
    errors, warnings, infos = summary(checked.results).values()
    knows_change = all(row.is_known and "unknown" not in row.numbers for row in rows.values())
    change = headline(comparisons)
    return Verdict(errors, warnings, infos, total, tuple(clusters), change, knows_change, tuple(checked.not_judged))


def of_change(comparisons: Sequence[Comparison]) -> tuple[Gap, ...]:
    """Return what is not known of a change: sides that cannot be rendered, nodes whose former state is not known."""
    return joined(_gaps(comparisons), [comparison.name for comparison in comparisons])


def _gaps(comparisons: Sequence[Comparison]) -> Iterator[Gap]:
    for comparison, row in zip(comparisons, grouped.rows(comparisons), strict=True):
        names = (comparison.name,)
        if comparison.unbuilt:
            yield Gap("roots", "what changes in roots of others", "not built", comparison.unbuilt, is_meant=True)
        if comparison.failed or any(change.what == "unknown" for change in comparison.plan.changes):
            yield Gap("clusters", "what changes", "a side cannot be rendered", names)
        elif not row.is_known and _has_modules(comparison):
            yield Gap("clusters", "what the change does on nodes", "they are not known", names)
        elif "unknown" in row.numbers:
            yield Gap("clusters", "what the change does on some nodes", "their former state is not known", names)


def _has_modules(comparison: Comparison) -> bool:
    """Return whether a side has a Module, so that something may happen on nodes; also where a side is not known."""
    sides = comparison.sides
    return sides is None or any(item.kind in _LOADING for side in sides for item in side.items)


def _by_cluster(results: Sequence[Result], clusters: Collection[str]) -> dict[str, list[Result]]:
    """Return the findings of each cluster; a single one has those that name no cluster, too."""
    by_cluster: dict[str, list[Result]] = {name: [] for name in clusters}
    alone = clusters if len(clusters) == 1 else ()
    for result in results:
        for name in {*(names_of(result) or alone)} & by_cluster.keys():
            by_cluster[name].append(result)
    return by_cluster


def headline(comparisons: Sequence[Comparison]) -> str:
    """Return the change in one line: of several clusters what happens on nodes, of one what happens to objects, too.

    It is "" for no comparison.
    """
    if len(comparisons) < 2:
        return objects_of(comparisons[0]) if comparisons else ""
    return grouped.headline(comparisons, grouped.rows(comparisons))


def as_data(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON data."""
    clusters = [
        {"name": c.name, "errors": c.errors, "warnings": c.warnings, "infos": c.infos, "nodes": c.nodes._asdict()}
        | {"judged": c.is_judged}
        for c in verdict.clusters
    ]
    counts = {"errors": verdict.errors, "warnings": verdict.warnings, "infos": verdict.infos}
    head = {**counts, "nodes": verdict.nodes._asdict(), "headline": verdict.headline or None}
    return {**head, "clusters": clusters, "notJudged": gaps_as_data(verdict.not_judged)}
