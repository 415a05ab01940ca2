"""What `check` says about the nodes of a list: which get what, once everything is generated."""

from collections.abc import Sequence

from krmfn import Item, ResourceList

from ..fleet import nodes, rules
from ..fleet.cluster import Cluster, workloads
from ..fleet.drivers import Driver, driver
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
    """Return the nodes, and the findings KRM601 to KRM611, each with the resource that may turn it off."""
    fleet, wanted = nodes.read(resources), rendered.objects
    claim_of = {claim.module: claim for claim in rendered.claims}
    owner_of = {one.ref: one.owner for one in wanted}
    drivers: list[Driver] = []
    for one in wanted:
        if (one.ref.group, one.ref.kind) in MODULE_KINDS:
            claim = claim_of.get((one.ref.namespace or one.owner.namespace, one.ref.name))
            drivers.append(driver(one.manifest, claim)._replace(origin=one.origin))
    ids = {one.ref.id for one in wanted}
    drivers += [driver(item.manifest, None, item.place) for item in handwritten if item.ref.id not in ids]
    # only pods that wait for a Module are asked about
    waiting = (item for item in resources.items if (item.group, item.kind) in POD_KINDS and item.mentions(LABELS))
    others = [item for item in waiting if item.ref.id not in ids and not item.is_local]
    pods_of = workloads([*(one.manifest for one in wanted), *(item.manifest for item in others)])
    waits_for = {one.ready: one.claim.ref for one in drivers}
    for workload in pods_of:
        for key in workload.selector.keys() & waits_for.keys():
            owner_of.setdefault(workload.ref, waits_for[key])
    kmm = target(config.kmm_version)
    results = rules.check(Cluster(fleet, drivers, pods_of), rules.today(), config.exclusivity != "off", kmm)
    items = {one.owner: one.item for one in wanted} | {item.ref: item for item in (*handwritten, *others)}
    found: list[Finding] = []
    for result in results:
        item = items.get(result.ref) if result.ref else None
        if item and result.place in (None, item.place):
            # a driver knows where its config stands, and the config where each of its fields does
            result = item.located(result._replace(place=None))
        owner = owner_of.get(result.ref, result.ref) if result.ref else None
        found.append((owner, claims.advised(resources, result)))
    return fleet, found
