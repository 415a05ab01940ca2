"""Findings about the nodes of a list: what each gets, once everything is generated."""

from collections.abc import Sequence

from krmfn import Item, ResourceList

from ..fleet import drivers as fleet_drivers
from ..fleet import nodes, rules
from ..fleet.cluster import Cluster, workloads
from ..fleet.drivers import Driver
from ..fleet.nodes import Fleet
from ..kmm.lookup import POD_KINDS
from ..kmm.module import LABELS, MODULE_KINDS
from ..kmm.versions import target
from . import claims
from .function_config import FunctionConfig
from .generated import Finding, Rendered


def check(
    resources: ResourceList, rendered: Rendered, handwritten: Sequence[Item], config: FunctionConfig
) -> tuple[Fleet, list[Finding]]:
    """Return the nodes, and the findings KRM601 to KRM612, and KRM630, each with the resource that may turn it off."""
    fleet, objects = nodes.read(resources), rendered.objects
    claims_by_module = {claim.module: claim for claim in rendered.claims}
    owners = {obj.ref: obj.owner for obj in objects}
    drivers: list[Driver] = []
    for obj in objects:
        if (obj.ref.group, obj.ref.kind) in MODULE_KINDS:
            claim = claims_by_module.get((obj.ref.namespace or obj.owner.namespace, obj.ref.name))
            drivers.append(fleet_drivers.driver(obj.manifest, claim)._replace(origin=obj.origin))
    ids = {obj.ref.id for obj in objects}
    unmanaged = [item for item in handwritten if item.ref.id not in ids]
    drivers += [fleet_drivers.driver(item.manifest, None, item.place) for item in unmanaged]
    # only pods that wait for a Module matter
    waiting = (item for item in resources.items if (item.group, item.kind) in POD_KINDS and item.mentions(LABELS))
    consumers = [item for item in waiting if item.ref.id not in ids and not item.is_local]
    pods = workloads([*(obj.manifest for obj in objects), *(item.manifest for item in consumers)])
    owners_by_label = {driver.ready: driver.claim.ref for driver in drivers}
    for workload in pods:
        for key in workload.selector.keys() & owners_by_label.keys():
            owners.setdefault(workload.ref, owners_by_label[key])
    kmm = target(config.kmm_version)
    results = rules.check(Cluster(fleet, drivers, pods), rules.today(), config.exclusivity != "off", kmm)
    items = {obj.owner: obj.item for obj in objects} | {item.ref: item for item in (*handwritten, *consumers)}
    findings: list[Finding] = []
    for result in results:
        item = items.get(result.ref) if result.ref else None
        if item and result.place in (None, item.place):
            # the result has the place of the config; the config knows that of each of its fields
            result = item.located(result._replace(place=None))
        owner = owners.get(result.ref, result.ref) if result.ref else None
        findings.append((owner, claims.as_advice(resources, result)))
    return fleet, findings
