"""One cluster as an input describes it: its nodes, Modules and workloads, and the nodes of each DaemonSet."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from krmfn import Item, Manifest, Ref, ResourceList
from krmfn.ownership import Id, mark_of
from krmfn.resource import ref, split
from krmfn.typed import Any, NamedTuple

from ..exclusivity import Claim
from ..exclusivity.node import Node, Taint
from ..kmm.lookup import POD_KINDS, members, table, tables, text
from ..kmm.module import MODULE_KINDS, is_set_by_kmm
from ..run import origin_of, run_of
from . import nodes
from .coverage import Group, matches
from .drivers import Driver, Drivers, driver
from .facts import PASSING, tolerates

CONFIGS = ("DeviceConfig", "RenderDeviceConfigs", "Ptemplate")
_GROUPS = ("krmfn.dev", "example.com", "pt.example.com")
"""The API groups of these kinds."""


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
        """Whether its selector alone says where it runs: a DaemonSet with neither node affinity nor a node's name."""
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


class Cluster(NamedTuple):
    """The nodes, Modules and workloads of a cluster, which `coverage`, `images` and `rules.check` join."""

    fleet: nodes.Fleet
    drivers: Drivers = ()
    workloads: Sequence[Workload] = ()
    external: Drivers = ()
    """Modules from elsewhere (--against, a hub): they may exclude those here, and pods here may wait for them."""

    @property
    def all_drivers(self) -> list[Driver]:
        """All Modules; the `driver` of an outcome is a position in this list."""
        return [*self.drivers, *self.external]


def of_list(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> Cluster:
    """Return the cluster that a list describes after the function has run.

    `domain_of` returns the exclusivity domain of a config (see `exclusivity.Claim`).
    """
    pods = [item.manifest for item in resources.items if (item.group, item.kind) in POD_KINDS and not item.is_local]
    other_list = run_of(resources).external
    local = workloads(pods)
    drivers = with_consumers([pair[1] for pair in _drivers(resources, domain_of)], local)
    external = external_drivers(other_list, domain_of) if other_list else ()
    return Cluster(nodes.read(resources), drivers, local, external)


def with_consumers(drivers: Drivers, workloads: Iterable[Workload]) -> list[Driver]:
    """Return drivers with the DaemonSets that wait for the labels which KMM sets for them."""
    consumers = dict[str, dict[tuple[str, str], Manifest]]()
    for workload in workloads:
        for key in workload.selector if workload.is_placed else ():
            consumers.setdefault(key, {})[workload.ref.namespace, workload.ref.name] = workload.pod
    of_drivers = ([consumers.get(key, {}) for key in driver.set_by_kmm] for driver in drivers)
    return [
        driver._replace(consumers={name: pod for pods in of_driver for name, pod in pods.items()})
        for driver, of_driver in zip(drivers, of_drivers, strict=True)
    ]


def with_brought(cluster: Cluster) -> Cluster:
    """Return a cluster with the Modules that hubs bring to it among its own."""
    brought = [driver for driver in cluster.external if driver.through_hub]
    rest = [driver for driver in cluster.external if not driver.through_hub]
    return cluster._replace(drivers=[*cluster.drivers, *brought], external=rest) if brought else cluster


def external_drivers(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> list[Driver]:
    """Return the drivers of the Modules in a list from elsewhere (--against); `domain_of` as for `of_list`.

    A Module whose config is not in the list claims its nodes by itself.
    """
    items = {item.ref.id: item for item in resources.items}
    drivers = []
    for module, external in _drivers(resources, domain_of):
        if not (config := items.get(external.claim.ref.id)):
            external = driver(module.manifest, None, module.place)
        if id(module) in run_of(resources).origins:  # its hub has brought it to this cluster
            external = external._replace(cluster=None)
        place, origin = (config or module).field_place(external.claim.field), origin_of(resources, module)
        drivers.append(external._replace(claim=external.claim._replace(place=place, external=origin)))
    return drivers


def _drivers(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> list[tuple[Item, Driver]]:
    """Return the Modules of a list, each with its driver."""
    modules = [item for item in resources.items if (item.group, item.kind) in MODULE_KINDS and not item.is_local]
    kinds = {*CONFIGS, *(mark.owner[1] for item in modules if (mark := mark_of(item.annotations)))}
    configs = {item.ref.id: item for kind in sorted(kinds) for item in resources.where(kind=kind)} if modules else {}
    return [(item, _driver(item, configs, domain_of)) for item in modules]


def _driver(item: Item, configs: dict[Id, Item], domain_of: Callable[[Item], str | None]) -> Driver:
    """Return the driver of a Module, with the claim of the config that it is made from, if any."""
    by_hand = driver(item.manifest, None, item.place)
    if (mark := mark_of(item.annotations)) is None:
        return by_hand
    group, kind, namespace, name = mark.owner
    config = configs.get(mark.owner) or configs.get((group, kind, "", name))
    owner = (config.ref if config else Ref(f"{group}/v1alpha1", kind))._replace(namespace=namespace, name=name)
    pool = item.ref.name.removeprefix(f"{name}-") if group == "krmfn.dev" and item.ref.name != name else ""
    domain, place = (domain_of(config), config.place) if config else (None, item.place)
    if group not in _GROUPS:  # a kind that a Profile drives: generated objects name the Profile
        domain = item.annotations.get("krmfn.dev/profile", "").partition("@")[0]
    claim = Claim(owner, by_hand.selector, "spec.nodeSelector", domain, by_hand.module.loads, pool, place)
    return by_hand._replace(claim=claim)


def label_keys(resources: ResourceList, selectors: Mapping[tuple[str, str], str] = MappingProxyType({})) -> set[str]:
    """Return the node labels that selectors in a list use, whether the function could render it or not.

    `selectors` are the paths of those of further kinds, by group and kind.
    """
    keys: set[str] = set()
    for item in resources.items:
        if (item.group, item.kind) in MODULE_KINDS:
            keys |= driver(item.manifest).keys
        elif (item.group, item.kind) in POD_KINDS or item.kind in CONFIGS:
            keys.update(_selector_keys(item.manifest, item.kind == "Ptemplate"))
        if path := selectors.get((item.group, item.kind), ""):
            keys.update(map(str, table(item.manifest, *split(path))))
    return {key for key in keys if not is_set_by_kmm(key)}


def _selector_keys(value: Any, is_ptemplate: bool) -> Iterator[str]:
    """Yield the keys of every nodeSelector in a manifest; in a Ptemplate those of each `selector`, too."""
    for key, entry in members(value):
        if key == "nodeSelector" or (is_ptemplate and key == "selector"):
            yield from map(str, entry if isinstance(entry, dict) else ())
        else:
            yield from _selector_keys(entry, is_ptemplate)


def workloads(manifests: Iterable[Manifest]) -> list[Workload]:
    """Return the objects among the manifests that make pods."""
    refs = ((ref(manifest), manifest) for manifest in manifests)
    pods = ((pod_ref, manifest, POD_KINDS.get((pod_ref.group, pod_ref.kind))) for pod_ref, manifest in refs)
    return [Workload(pod_ref, table(manifest, *path)) for pod_ref, manifest, path in pods if path]


def placements(cluster: Cluster, groups: Sequence[Group]) -> list[tuple[Workload, Placement | None]]:
    """Return the workloads, each with its nodes, given the coverage of a cluster.

    None stands for nodes that are not known: the workload is no DaemonSet, has affinity, or selects by a label that the
    inventories do not hold. KMM's own labels are on a node when their Module runs there.
    Raises KrmfnError when too many selectors share their labels to be decided in bounded work.
    """
    drivers, held = cluster.all_drivers, cluster.fleet.label_keys
    of_drivers = {key for driver in drivers for key in driver.set_by_kmm}
    # set for a Module that is not among the drivers: known where the nodes are live ones
    foreign_keys = {key for pods in cluster.workloads for key in pods.selector if is_set_by_kmm(key)} - of_drivers
    foreign_keys -= {key for key in foreign_keys for group in groups for node in group.nodes if key in node.labels}
    selectors: dict[int, dict[str, str]] = {}
    for number, workload in enumerate(cluster.workloads):
        needed = workload.selector.keys() - of_drivers
        if workload.is_placed and not needed & foreign_keys and (held is None or held.issuperset(needed)):
            selectors[number] = workload.selector
    keys = {key for selector in selectors.values() for key in selector} - of_drivers
    local = [(group, _set_by_kmm(group, drivers)) for group in groups if group.nodes[0].cluster is None]
    labelled = [(node, of_kmm) for group, of_kmm in local for node in group.nodes]
    node_of = {node.name: node for node, _ in labelled}
    labels = (
        (node.name, {key: node.labels[key] for key in keys & node.labels.keys()} | of_kmm) for node, of_kmm in labelled
    )
    nodes_of: dict[int, list[Node]] = {number: [] for number in selectors}
    for numbers, names in matches(selectors.items(), labels, "where DaemonSets run"):
        for number in numbers:
            nodes_of[number] += [node_of[name] for name in names]
    return [
        (workload, _placement(workload, nodes_of[number]) if number in nodes_of else None)
        for number, workload in enumerate(cluster.workloads)
    ]


def _placement(workload: Workload, selected: Iterable[Node]) -> Placement:
    """Return the nodes that a workload selects, divided by whether it tolerates their lasting taints."""
    tolerations: Any = workload.pod.get("tolerations")

    @cache
    def untolerated(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
        lasting = (taint for taint in taints if taint.key not in PASSING)
        return tuple(taint for taint in lasting if not tolerates(tolerations, taint))

    pairs = [(node, untolerated(node.taints)) for node in selected]
    return Placement([node for node, taints in pairs if not taints], [pair for pair in pairs if pair[1]])


def _set_by_kmm(group: Group, drivers: Drivers) -> dict[str, str]:
    """Return the labels that KMM sets on the nodes of a group."""
    labels: dict[str, str] = {}
    for outcome in (*group.outcomes, *group.external):
        driver = drivers[outcome.driver]
        if outcome.state in ("planned", "waiting", "other version"):
            labels |= driver.labels(outcome.failure if outcome.state == "other version" else driver.module.version)
    return labels
