"""The pods of an input: their images, and the nodes of each DaemonSet."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from krmfn import Manifest, Ref
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..exclusivity.node import Node, Taint
from ..kmm.lookup import POD_KINDS, table, tables, text
from ..kmm.module import is_set_by_kmm
from .coverage import Group, matched
from .drivers import Driver
from .facts import PASSING, tolerates


class Workload(NamedTuple):
    """An object that makes pods."""

    ref: Ref
    pod: Manifest
    """The spec of its pods."""

    @property
    def selector(self) -> dict[str, str]:
        """The labels that its nodes must have."""
        return {str(key): str(value) for key, value in table(self.pod, "nodeSelector").items()}

    @property
    def is_placed(self) -> bool:
        """Whether its nodes are known when its selector is: a DaemonSet without affinity and without a node's name."""
        required = table(self.pod, "affinity", "nodeAffinity").get("requiredDuringSchedulingIgnoredDuringExecution")
        return self.ref.kind == "DaemonSet" and not required and not text(self.pod, "nodeName")

    def images(self) -> Iterator[tuple[str, str]]:
        """Yield the images of its containers and volumes, each with what it is for."""
        for kind, noun in (("initContainers", "init container"), ("containers", "container")):
            for _, container in tables(self.pod, kind):
                yield text(container, "image"), f"{noun} {text(container, 'name')}"
        for _, volume in tables(self.pod, "volumes"):
            yield text(table(volume, "image"), "reference"), f"volume {text(volume, 'name')}"


class Placement(NamedTuple):
    """The nodes that a DaemonSet's selector selects: where its pods run, and where taints keep them out."""

    nodes: list[Node]
    repelled: list[tuple[Node, tuple[Taint, ...]]]


def workloads(manifests: Iterable[Manifest]) -> list[Workload]:
    """Return the objects among the manifests that make pods."""
    named = ((ref(manifest), manifest) for manifest in manifests)
    return [
        Workload(own, table(manifest, *POD_KINDS[own.group, own.kind]))
        for own, manifest in named
        if (own.group, own.kind) in POD_KINDS
    ]


def placements(
    daemonsets: Sequence[Workload], groups: Sequence[Group], drivers: Sequence[Driver], held: frozenset[str] | None
) -> list[Placement | None]:
    """Return the nodes of each DaemonSet; None where they are not known: affinity, a label that is not held.

    KMM's own labels are on a node when their Module runs there. `held` are the labels that are known of every node.
    Raises KrmfnError when too many selectors share their labels to be decided in bounded work.
    """
    own = {key for driver in drivers for key in driver.set_by_kmm}
    # of a Module that is not among the drivers: known where the nodes are live ones
    foreign = {key for workload in daemonsets for key in workload.selector if key not in own and is_set_by_kmm(key)}
    foreign -= {key for key in foreign for group in groups for node in group.nodes if key in node.labels}
    selectors: dict[int, dict[str, str]] = {}
    for number, workload in enumerate(daemonsets):
        needed = workload.selector.keys() - own
        if workload.is_placed and not needed & foreign and (held is None or held.issuperset(needed)):
            selectors[number] = workload.selector
    keys = {key for selector in selectors.values() for key in selector} - own
    here = [(node, made) for group in groups for made in [_set_by_kmm(group, drivers)] for node in group.nodes]
    node_of = {node.name: node for node, _ in here if node.cluster is None}
    labels = (
        (node.name, {**{key: node.labels[key] for key in keys & node.labels.keys()}, **made})
        for node, made in here
        if node.cluster is None
    )
    found: dict[int, list[Node]] = {number: [] for number in selectors}
    for numbers, names in matched(selectors.items(), labels, "where DaemonSets run"):
        for number in numbers:
            found[number] += [node_of[name] for name in names]
    return [_placement(one, found[at]) if at in found else None for at, one in enumerate(daemonsets)]


def _placement(workload: Workload, nodes: Iterable[Node]) -> Placement:
    tolerations: Any = workload.pod.get("tolerations")

    @cache
    def untolerated(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
        lasting = (taint for taint in taints if taint.key not in PASSING)
        return tuple(taint for taint in lasting if not tolerates(tolerations, taint))

    left = [(node, untolerated(node.taints)) for node in nodes]
    return Placement([node for node, taints in left if not taints], [pair for pair in left if pair[1]])


def _set_by_kmm(group: Group, drivers: Sequence[Driver]) -> dict[str, str]:
    """Return the labels that KMM sets on the nodes of a group."""
    labels: dict[str, str] = {}
    for outcome in (*group.outcomes, *group.theirs):
        driver = drivers[outcome.driver]
        if outcome.state in ("planned", "waiting", "other version"):
            labels |= driver.labels(outcome.failure if outcome.state == "other version" else driver.module.version)
    return labels
