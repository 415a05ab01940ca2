"""One cluster as an input describes it: its nodes, its Modules, its pods; the nodes of each DaemonSet."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from krmfn import Item, Manifest, Ref, ResourceList
from krmfn.ownership import Id, mark_of
from krmfn.resource import ref
from krmfn.typed import Any, NamedTuple

from ..exclusivity import Claim
from ..exclusivity.node import Node, Taint
from ..kmm.lookup import POD_KINDS, members, table, tables, text
from ..kmm.module import MODULE_KINDS, is_set_by_kmm
from ..run import run_of
from . import nodes
from .coverage import Group, matched
from .drivers import Driver, driver
from .facts import PASSING, tolerates

CONFIGS = ("DeviceConfig", "RenderDeviceConfigs", "Ptemplate")
_OWN = ("krmfn.dev", "example.com", "pt.example.com")
"""The groups of our own kinds."""


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


class Cluster(NamedTuple):
    """What is joined: see `coverage`, `images` and `rules.check`."""

    fleet: nodes.Fleet
    drivers: Sequence[Driver] = ()
    workloads: Sequence[Workload] = ()
    external: Sequence[Driver] = ()
    """Modules that stand elsewhere (--against): they may exclude those here, and pods here may wait for them."""

    @property
    def all_drivers(self) -> list[Driver]:
        """All Modules; what outcomes say of a driver is its position among these."""
        return [*self.drivers, *self.external]


def of_list(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> Cluster:
    """Return the cluster that a list describes after the function has run.

    `domain_of` returns the exclusivity domain of a config (see `exclusivity.Claim`).
    """
    pods = [item.manifest for item in resources.items if (item.group, item.kind) in POD_KINDS and not item.is_local]
    external = run_of(resources).external
    drivers = [one for _, one in _drivers(resources, domain_of)]
    return Cluster(
        nodes.read(resources), drivers, workloads(pods), external_drivers(external, domain_of) if external else ()
    )


def external_drivers(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> list[Driver]:
    """Return the Modules of a list that stands elsewhere; `domain_of` as for `of_list`.

    A Module whose config is not in the list claims its nodes by itself.
    """
    items = {item.ref.id: item for item in resources.items}
    drivers = []
    for module, one in _drivers(resources, domain_of):
        config = items.get(one.claim.ref.id)
        own = one if config else driver(module.manifest, None, module.place)
        place = (config or module).field_place(own.claim.field)
        drivers.append(own._replace(claim=own.claim._replace(place=place, external="from --against")))
    return drivers


def _drivers(resources: ResourceList, domain_of: Callable[[Item], str | None]) -> list[tuple[Item, Driver]]:
    """Return the Modules of a list, each with its view."""
    modules = [item for item in resources.items if (item.group, item.kind) in MODULE_KINDS and not item.is_local]
    kinds = {*CONFIGS, *(mark.owner[1] for item in modules if (mark := mark_of(item.annotations)))}
    configs = {item.ref.id: item for kind in sorted(kinds) for item in resources.select(kind)} if modules else {}
    return [(item, driver(item.manifest, _claim(item, configs, domain_of), item.place)) for item in modules]


def _claim(item: Item, configs: dict[Id, Item], domain_of: Callable[[Item], str | None]) -> Claim | None:
    """Return the claim of the config that a Module is made from; None for one that is written by hand."""
    if (mark := mark_of(item.annotations)) is None:
        return None
    group, kind, namespace, name = mark.owner
    config = configs.get(mark.owner) or configs.get((group, kind, "", name))
    owner = (config.ref if config else Ref(f"{group}/v1alpha1", kind))._replace(namespace=namespace, name=name)
    own = driver(item.manifest)
    pool = item.ref.name.removeprefix(f"{name}-") if group == "krmfn.dev" and item.ref.name != name else ""
    domain, place = (domain_of(config), config.place) if config else (None, item.place)
    if group not in _OWN:  # a kind of a Profile's: what it has made names it
        domain = item.annotations.get("krmfn.dev/profile", "").partition("@")[0]
    return Claim(owner, own.selector, "spec.nodeSelector", domain, own.module.loads, pool, place)


def label_keys(resources: ResourceList) -> set[str]:
    """Return the node labels that selectors in a list use, whether the function could render it or not."""
    keys: set[str] = set()
    for item in resources.items:
        if (item.group, item.kind) in MODULE_KINDS:
            keys |= driver(item.manifest).keys
        elif (item.group, item.kind) in POD_KINDS or item.kind in CONFIGS:
            keys.update(_selected(item.manifest, item.kind == "Ptemplate"))
    return {key for key in keys if not is_set_by_kmm(key)}


def _selected(value: Any, whole: bool = False) -> Iterator[str]:
    """Yield the keys of every nodeSelector in a manifest; with `whole` of its spec.selector, too."""
    for key, entry in members(value):
        if key == "nodeSelector" or (whole and key == "selector"):
            yield from map(str, entry if isinstance(entry, dict) else ())
        else:
            yield from _selected(entry, whole)


def workloads(manifests: Iterable[Manifest]) -> list[Workload]:
    """Return the objects among the manifests that make pods."""
    named = ((ref(manifest), manifest) for manifest in manifests)
    pods = ((own, manifest, POD_KINDS.get((own.group, own.kind))) for own, manifest in named)
    return [Workload(own, table(manifest, *path)) for own, manifest, path in pods if path]


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
    local = (group for group in groups if group.nodes[0].cluster is None)
    here = [(node, made) for group in local for made in [_set_by_kmm(group, drivers)] for node in group.nodes]
    node_of = {node.name: node for node, _ in here}
    labels = (
        (node.name, {**{key: node.labels[key] for key in keys & node.labels.keys()}, **made}) for node, made in here
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
    for outcome in (*group.outcomes, *group.external):
        driver = drivers[outcome.driver]
        if outcome.state in ("planned", "waiting", "other version"):
            labels |= driver.labels(outcome.failure if outcome.state == "other version" else driver.module.version)
    return labels
