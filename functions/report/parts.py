"""What is known of each cluster of a report: its nodes joined with its Modules, conflicts, images and findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from krmfn import Item, KrmfnError, Ref, ResourceList, Result
from krmfn.ownership import Id
from krmfn.results import Field, in_order, placed

from .. import exclusivity
from ..exclusivity import Claim, Conflict
from ..exclusivity.messages import across
from ..fleet import cluster, rules
from ..fleet.cluster import Cluster
from ..fleet.coverage import Group, coverage
from ..fleet.images import Image, images
from ..rendering import function_config
from ..rendering.kinds import DEVICECONFIG, PTEMPLATE

NO_NODES = "no node is known; put a NodeInventory beside the configs (`krmfn inventory` makes one)"

CONFLICTS = 100
"""Conflicts that are shown."""
SIDES = 6
"""Claims of a conflict that are shown side by side."""


class Part(NamedTuple):
    """One cluster of a report."""

    name: str
    whole: Cluster
    groups: Sequence[Group]
    """What every node gets; none where nothing is concluded about nodes."""
    unjudged: str
    """Why nothing is concluded about nodes; "" when it is."""
    conflicts: Sequence[Conflict]
    images: Sequence[Image]
    unlisted: str
    """Why the images are not known; "" when they are."""
    bare: Sequence[Ref]
    """Configs that no Module was made of: what they select is not known."""
    findings: Sequence[Result]


def part(name: str, resources: ResourceList, domain_of: Callable[[Item], str | None]) -> Part:
    """Return what is known of a cluster, given its list after the function has run for `report`.

    `domain_of` returns the exclusivity domain of a config (see `exclusivity.Claim`).
    Raises KrmfnError when what its nodes get cannot be decided in bounded work.
    """
    whole = cluster.of_list(resources, domain_of)
    mode = function_config.read(resources)[0].exclusivity
    about_nodes = list(rules.about_input(whole.fleet, whole.drivers, whole.workloads, rules.today()))
    wrong = [str(one) for one in about_nodes if one.severity == "error"]
    wrong += filter(None, [whole.fleet.unheld(key for driver in whole.theirs for key in driver.keys)])
    unjudged = wrong[0] if wrong else "" if whole.fleet.nodes else NO_NODES
    groups = [] if unjudged else coverage(whole.fleet.nodes, whole.drivers, mode != "off", whole.theirs)
    needed, unlisted = ((), unjudged) if wrong else _images(whole, groups)
    findings = {(one.rule, one.ref, one.message): one for one in (*about_nodes, *resources.results)}
    conflicts = [] if wrong else _conflicts(whole, mode, resources)
    return Part(
        *(name, whole, groups, unjudged, conflicts, needed, unlisted),
        _bare(resources, whole),
        in_order(placed(findings.values())),
    )


def _images(whole: Cluster, groups: Sequence[Group]) -> tuple[Sequence[Image], str]:
    try:
        return images(groups, whole.drivers, whole.workloads, whole.fleet.label_keys, theirs=whole.theirs), ""
    except KrmfnError as failure:
        return (), str(failure)


def _conflicts(whole: Cluster, mode: str, resources: ResourceList) -> list[Conflict]:
    """Return the conflicts about nodes here, and those on a hub's clusters, where only selectors decide."""
    items = {item.ref.id: item for item in resources.items}
    here = [driver.joint for driver in whole.every if driver.cluster is None]
    there = [driver.joint for driver in whole.every if driver.cluster is not None]
    nodes = [exclusivity.Node(node.name, node.labels) for node in whole.fleet.nodes if node.cluster is None]
    found, _ = exclusivity.conflicts(here, nodes, mode)
    of_hub, _ = exclusivity.conflicts(there, None, "off" if mode == "off" else "selectors")
    found = sorted(filter(None, map(across, (*found, *of_hub))), key=lambda one: one.severity)
    return [*(_placed(one, items) for one in found[:CONFLICTS]), *found[CONFLICTS:]]


def _placed(conflict: Conflict, items: Mapping[Id, Item]) -> Conflict:
    """Return the conflict with the places of the selectors that are shown."""

    def at_selector(claim: Claim) -> Claim:
        item = items.get(claim.ref.id)
        if not item or not claim.place:
            return claim
        (found,) = placed([item.located(Result("", field=Field(claim.field)))])
        return claim._replace(place=found.place)

    left, right = ((*map(at_selector, claims[:SIDES]), *claims[SIDES:]) for claims in (conflict.left, conflict.right))
    return conflict._replace(left=left, right=right)


def _bare(resources: ResourceList, whole: Cluster) -> list[Ref]:
    """Return the configs of which nothing was generated: they are wrong, or a kustomization left them alone."""
    made = {driver.claim.ref.id for driver in whole.drivers}
    made |= {(group, kind, "", name) for group, kind, _, name in made}
    owners = DEVICECONFIG.owners | PTEMPLATE.owners
    return [item.ref for item in resources.items if (item.group, item.kind) in owners and item.ref.id not in made]
