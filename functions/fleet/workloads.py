"""The pods of an input: their images, and the nodes of each DaemonSet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    placed = {number: Placement([], []) for number in selectors}
    keys = {key for selector in selectors.values() for key in selector}
    labels_of: dict[str, Mapping[str, str]] = {}
    node_of: dict[str, Node] = {}
    for group in groups:
        set_by_kmm = _set_by_kmm(group, drivers)
        for node in group.nodes:
            if node.cluster is None:
                labels = {key: value for key, value in node.labels.items() if key in keys and key not in own}
                node_of[node.name] = node
                labels_of[node.name] = {**labels, **set_by_kmm}
    for numbers, names in matched(selectors.items(), labels_of.items(), "where DaemonSets run"):
        for number in numbers:
            _place(placed[number], daemonsets[number], [node_of[name] for name in names])
    return [placed.get(number) for number in range(len(daemonsets))]


def _place(placement: Placement, workload: Workload, nodes: list[Node]) -> None:
    tolerations: Any = workload.pod.get("tolerations")

    @cache
    def untolerated(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
        lasting = (taint for taint in taints if taint.key not in PASSING)
        return tuple(taint for taint in lasting if not tolerates(tolerations, taint))

    for node in nodes:
        if left := untolerated(node.taints):
            placement.repelled.append((node, left))
        else:
            placement.nodes.append(node)


def _set_by_kmm(group: Group, drivers: Sequence[Driver]) -> dict[str, str]:
    """Return the labels that KMM sets on the nodes of a group."""
    labels: dict[str, str] = {}
    for outcome in (*group.outcomes, *group.theirs):
        driver = drivers[outcome.driver]
        if outcome.state in ("planned", "waiting", "other version"):
            labels |= driver.labels(outcome.failure if outcome.state == "other version" else driver.module.version)
    return labels
