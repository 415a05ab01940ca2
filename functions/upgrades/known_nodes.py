"""What is known of the nodes on both sides of a change: which there are, what they get, which kernels they run."""

from collections.abc import Collection, Mapping, Sequence

from krmfn import KrmfnError, ResourceList
from krmfn.ownership import Id

from ..deviceconfig.reading import domain_of
from ..fleet import rules
from ..fleet.cluster import Cluster, of_list
from ..fleet.coverage import by_driver, coverage
from ..fleet.findings import join
from ..kmm.versions import target
from ..rendering.function_config import FunctionConfig


def clusters(old: ResourceList, new: ResourceList) -> tuple[Cluster, Cluster] | None:
    """Return the cluster of each list, with the other's nodes where it has none; None when neither knows a node.

    A list whose nodes are all wrong counts as one with nodes: it is not about those of the other one.
    """
    before, after = (of_list(resources, domain_of) for resources in (old, new))
    known = [any((fleet.nodes, fleet.inventories, fleet.findings)) for fleet in (before.fleet, after.fleet)]
    if not any(known):
        return None
    if not known[0]:
        return before._replace(fleet=after.fleet), after
    return before, after if known[1] else after._replace(fleet=before.fleet)


def nodes(resources: ResourceList, config: FunctionConfig) -> Mapping[Id, Sequence[str]]:
    """Return the nodes on which Modules, and the pods of objects, run; what is not in it is not known."""
    cluster = of_list(resources, domain_of)
    problems = rules.input_findings(cluster, rules.today())
    if not cluster.fleet.nodes or any(finding.severity == "error" for finding in problems):
        return {}
    try:
        joined = join(cluster, config.exclusivity != "off", target(config.kmm_version))
    except KrmfnError:
        return {}
    names: dict[Id, list[str]] = {}
    for driver, selected in joined.drivers:
        if driver.cluster is not None:
            continue  # the nodes of its spokes are not in the list
        groups = [group for group, outcome in selected if outcome.state == "planned"]
        names[driver.ref.id] = [node.name for group in groups for node in group.nodes]
    pods = {workload.ref.id: [node.name for node in placement.nodes] for workload, placement in joined.workloads}
    return names | pods


def kernels(old: ResourceList, new: ResourceList) -> Mapping[Id, Collection[str]]:
    """Return the kernels of the nodes that each Module selects in either list; what is not in it is not known.

    Of a hub's Module they are not known, for its nodes are those of other clusters; nor where a node has not reported
    its kernel. The nodes of both lists, and all their labels that selectors use, have to be known.
    """
    known: dict[Id, set[str]] = {}
    for cluster in clusters(old, new) or ():
        try:
            groups = coverage(cluster.fleet.nodes, cluster.drivers, exclusive=False)
        except KrmfnError:
            return {}
        for driver, selected in by_driver(groups, cluster.drivers):
            if driver.cluster is None:
                versions = known.setdefault(driver.ref.id, set())
                versions.update(group.kernel.removesuffix("+") for group, _ in selected)
    return {module: versions for module, versions in known.items() if "" not in versions}
