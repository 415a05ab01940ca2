"""What hubs bring to their spokes: there it counts as what the cluster gets from elsewhere, beside --against.

A hub makes a Module of each ManagedClusterModule on the clusters that it selects, with its name and in its namespace.
Source: KMM v2.6.0 and main (de3f8c9), internal/manifestwork/manifestwork.go.
"""

from collections.abc import Iterator, Mapping, Sequence

from krmfn import Item, ResourceList, Result, error

from .. import oracles
from ..kmm.lookup import table
from ..kmm.module import HUB_GROUP, HUB_KIND, MODULE_GROUP, MODULE_KIND, module_of
from ..rule import Rule
from ..run import Spoke, note, run_of
from .deployed import Cluster

Brought = Mapping[str, Sequence[tuple[Item, str]]]
"""The ManagedClusterModules that reach each spoke, by its name, each with the name of its hub."""


def join_each(clusters: Sequence[Cluster]) -> None:
    """Note for each cluster what the hubs among all bring there, and report what is wrong between the two."""
    brought = _by_spoke(clusters)
    _note_doubts(clusters)
    for cluster in clusters if brought else ():
        if cluster.name in brought:
            _join(cluster, brought[cluster.name])


def _by_spoke(clusters: Sequence[Cluster]) -> Brought:
    """Return what the hubs among some clusters bring to the others; nothing of a hub with errors reaches them."""
    brought: dict[str, list[tuple[Item, str]]] = {}
    for hub in clusters:
        spokes = run_of(hub.final).spokes if not hub.final.failed else ()
        items = hub.final.where(kind=HUB_KIND, group=HUB_GROUP, local=False) if spokes else []
        for spoke in spokes:
            brought.setdefault(spoke.name, []).extend((item, hub.name) for item in items if _reaches(item, spoke))
    return brought


def _note_doubts(clusters: Sequence[Cluster]) -> None:
    """Note for each spoke of a hub with errors that nobody knows what it brings there."""
    doubts: dict[str, list[str]] = {}
    for hub in clusters:
        for spoke in run_of(hub.final).spokes if hub.final.failed else ():
            doubts.setdefault(spoke.name, []).append(f"the hub {hub.name} has errors (krmfn check)")
    for cluster in clusters if doubts else ():
        if cluster.name in doubts:
            note(cluster.final, hub_doubts=(*run_of(cluster.final).hub_doubts, *doubts[cluster.name]))


def _reaches(item: Item, spoke: Spoke) -> bool:
    """Return True where the cluster has all labels that a ManagedClusterModule asks for."""
    labels = {str(key): str(value) for key, value in table(item.manifest, "spec", "selector").items()}
    return labels.items() <= dict(spoke.labels).items()


def _join(cluster: Cluster, brought: Sequence[tuple[Item, str]]) -> None:
    """Note what hubs bring to a cluster as resources from elsewhere, and report what is wrong between the two."""
    from ..deviceconfig.reading import domain_of  # here: few clusters are spokes
    from ..final.root_conflicts import conflicts
    from ..fleet.cluster import external_drivers
    from ..rendering import function_config

    final = cluster.final
    items = ResourceList(item for item, _ in brought)
    note(items, origins={id(item): _origin(item, hub) for item, hub in brought})
    note(final, external=joined(run_of(final).external or ResourceList(), items))
    final.report(_twins(final, brought))
    lists = [part for part in cluster.lists if function_config.read(part)[0].exclusivity != "off"]
    claims = [driver.full_claim for driver in external_drivers(items, domain_of) if driver.module.loads]
    if lists and claims and not final.failed:
        final.report(conflicts(lists, claims))


def _origin(item: Item, hub: str) -> str:
    """Return in words where an item is from."""
    if not (mark := item.mark):
        return f"from the hub {hub}"
    _, kind, namespace, name = mark.owner
    return f"from the hub {hub}, generated from {kind} {namespace}/{name}"


def joined(external: ResourceList, brought: ResourceList | None) -> ResourceList:
    """Return a list from elsewhere together with what a hub has brought of another one."""
    origins = run_of(brought).origins if brought is not None else {}
    if brought is None or not origins:
        return external
    both = ResourceList([*external.items, *(item for item in brought.items if id(item) in origins)])
    note(both, origins=origins)
    return both


def others(external: ResourceList | None) -> ResourceList | None:
    """Return what a list from elsewhere has that no hub has brought; None for none."""
    if external is None:
        return None
    origins = run_of(external).origins
    return ResourceList(item for item in external.items if id(item) not in origins)


def _twins(final: ResourceList, brought: Sequence[tuple[Item, str]]) -> Iterator[Result]:
    """Yield an error per Module of a cluster that has the name of one which a hub brings there."""
    modules = {(item.ref.namespace, item.ref.name): item for item in final.where(kind=MODULE_KIND, group=MODULE_GROUP)}
    for item, hub in brought:
        module = module_of(item.manifest)
        twin = modules.get((module.ref.namespace, module.ref.name)) if module and modules else None
        if twin:
            problem = f"is brought here by the hub {hub}, too ({item.ref}): each overwrites the other's"
            yield twin.located(error(problem, rule="KRM631", remedy="remove or rename one of the two"))


_HUB = """\
# .krmfn.yaml
clusters:
  hub: [hub.yaml]
  lab: {paths: [lab.yaml], labels: {tier: lab}}
---
# hub.yaml
apiVersion: hub.kmm.sigs.x-k8s.io/v1beta1
kind: ManagedClusterModule
metadata: {name: gpu}
spec:
  spokeNamespace: kmm
  selector: {tier: lab}
  moduleSpec:
    selector: {example.com/gpu: "true"}
    moduleLoader:
      container:
        modprobe: {moduleName: gpu}
        kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/gpu:$KERNEL_FULL_VERSION"}]
---
# lab.yaml
apiVersion: kmm.sigs.x-k8s.io/v1beta1
kind: Module
metadata: {name: NAME, namespace: kmm}
spec:
  selector: {example.com/nic: "true"}
  moduleLoader:
    container:
      modprobe: {moduleName: nic}
      kernelMappings: [{regexp: ^.+$, containerImage: "registry.example.com/nic:$KERNEL_FULL_VERSION"}]
"""
RULES = (
    Rule(
        "KRM631",
        "a Module must not be both on a spoke and brought there by its hub",
        good=_HUB.replace("NAME", "nic"),
        bad=_HUB.replace("NAME", "gpu"),
        remedy="Remove one of the two, or rename one: a hub's Module has the name of its ManagedClusterModule, in its "
        "`spokeNamespace`.",
        held=oracles.HUB,
    ),
)
"""The rule about what hubs bring to clusters with known labels."""
