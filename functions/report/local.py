"""What is known of a cluster whose inputs are here: its nodes joined with its Modules, conflicts, images, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from krmfn import Item, KrmfnError, Ref, ResourceList, Result
from krmfn.resource import Place
from krmfn.results import Field, in_order, placed

from .. import exclusivity
from ..exclusivity import Claim, Conflict
from ..exclusivity.messages import REMEDY, across, law_of
from ..fleet import cluster, rules, wording
from ..fleet.cluster import Cluster
from ..fleet.coverage import Group, Outcome, coverage
from ..fleet.drivers import Driver
from ..fleet.facts import Node
from ..fleet.images import Image, images
from ..kmm.lookup import text
from ..kmm.resolution import resolver
from ..rendering import function_config
from ..rendering.kinds import DEVICECONFIG, PTEMPLATE
from .parts import CONFLICTS, SIDES, Alike, Clash, Gets, Kernel, Part, Pulled, Side, Used

NO_NODES = "no node is known; put a NodeInventory beside the configs (`krmfn inventory` makes one)"


class Joined(NamedTuple):
    """A cluster with what its nodes get."""

    whole: Cluster
    mode: str
    """The mode of node exclusivity."""
    about_nodes: Sequence[Result]
    wrong: Sequence[str]
    """Why nothing may be concluded from the nodes."""
    groups: Sequence[Group]


def join(
    resources: ResourceList,
    domain_of: Callable[[Item], str | None],
    moved: Callable[[Sequence[Node]], Sequence[Node]] = lambda nodes: nodes,
) -> Joined:
    """Return the join of a cluster, given its list after the function has run for `report` or `nodes`.

    `domain_of` returns the exclusivity domain of a config (see `exclusivity.Claim`); `moved` what the nodes shall be.
    Raises KrmfnError when what its nodes get cannot be decided in bounded work.
    """
    whole = cluster.of_list(resources, domain_of)
    mode = function_config.read(resources)[0].exclusivity
    about_nodes = list(rules.about_input(whole.fleet, whole.drivers, whole.workloads, rules.today()))
    wrong = [str(one) for one in about_nodes if one.severity == "error"]
    wrong += filter(None, [whole.fleet.unheld(key for driver in whole.theirs for key in driver.keys)])
    nodes = [] if wrong else moved(whole.fleet.nodes)
    groups = coverage(nodes, whole.drivers, mode != "off", whole.theirs)
    return Joined(whole, mode, about_nodes, wrong, groups)


def part(name: str, resources: ResourceList, domain_of: Callable[[Item], str | None]) -> Part:
    """Return what is known of a cluster; see `join`."""
    return part_of(name, resources, join(resources, domain_of))


def part_of(name: str, resources: ResourceList, joined: Joined) -> Part:
    """Return what is known of a cluster, given its list and its join."""
    whole, mode, about_nodes, wrong, groups = joined
    unjudged = wrong[0] if wrong else "" if whole.fleet.nodes else NO_NODES
    needed, unlisted = ((), unjudged) if wrong else _images(whole, groups)
    findings = {(one.rule, one.ref, one.message): one for one in (*about_nodes, *resources.results)}
    conflicts = [] if wrong else _conflicts(whole, mode)
    return Part(
        name,
        [used(driver, versions) for driver, versions in zip(whole.drivers, _versions(whole, groups), strict=True)],
        alike(_nodes(whole, groups)),
        bool(whole.fleet.nodes),
        unjudged,
        [_clash(_placed(one, resources)) for one in conflicts[:CONFLICTS]],
        max(0, len(conflicts) - CONFLICTS),
        [pulled(image) for image in needed],
        unlisted,
        _bare(resources, whole),
        in_order(placed(findings.values())),
        resources.failed,
    )


def _images(whole: Cluster, groups: Sequence[Group]) -> tuple[Sequence[Image], str]:
    try:
        return images(groups, whole.drivers, whole.workloads, whole.fleet.label_keys, theirs=whole.theirs), ""
    except KrmfnError as failure:
        return (), str(failure)


def _conflicts(whole: Cluster, mode: str) -> list[Conflict]:
    """Return the conflicts about nodes here, and those on a hub's clusters, where only selectors decide."""
    here = [driver.joint for driver in whole.every if driver.cluster is None]
    there = [driver.joint for driver in whole.every if driver.cluster is not None]
    nodes = [exclusivity.Node(node.name, node.labels) for node in whole.fleet.nodes if node.cluster is None]
    found, _ = exclusivity.conflicts(here, nodes, mode)
    of_hub, _ = exclusivity.conflicts(there, None, "off" if mode == "off" else "selectors")
    return sorted(filter(None, map(across, (*found, *of_hub))), key=lambda one: one.severity)


def _placed(conflict: Conflict, resources: ResourceList) -> Conflict:
    """Return the conflict with the places of the selectors that are shown."""
    refs = {claim.ref for claim in (*conflict.left[:SIDES], *conflict.right[:SIDES])}
    items = {item.ref.id: item for item in resources.items if item.ref in refs}

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


def used(driver: Driver, versions: Mapping[str, int]) -> Used:
    """Return what is shown of a Module, given how many of the nodes that it selects have each kernel."""
    mappings = tuple(map(_mapping, driver.module.mappings))
    kernels = tuple(_resolved(driver, versions)) if driver.loads else ()
    return Used(driver.ref, wording.name(driver), mappings, kernels)


def _versions(whole: Cluster, groups: Sequence[Group]) -> list[Counter[str]]:
    """Return, for each Module, how many of the nodes that it selects have each kernel."""
    numbers: list[Counter[str]] = [Counter() for _ in whole.drivers]
    for group in groups:
        for outcome in group.outcomes:
            numbers[outcome.driver][group.kernel] += len(group.nodes)
    return numbers


def _resolved(driver: Driver, versions: Mapping[str, int]) -> Iterator[Kernel]:
    resolve = resolver(driver.module)
    for version, number in versions.items():
        try:
            yield Kernel(version, number, resolve(version).mapping if version else None)
        except KrmfnError as failure:
            yield Kernel(version, number, None, str(failure))


def _mapping(entry: Mapping[str, object]) -> str:
    kind = "literal" if text(entry, "literal") else "regexp"
    return f"{kind} {text(entry, kind)}"


def _nodes(whole: Cluster, groups: Sequence[Group]) -> Iterator[Alike]:
    every = whole.every
    for group in groups:
        gets = tuple(_got(every, outcome) for outcome in group.outcomes)
        yield Alike(tuple(node.name for node in group.nodes), group.kernel, gets)


def _got(drivers: Sequence[Driver], outcome: Outcome) -> Gets:
    """Return what becomes of a Module, in words."""
    driver, resolution = drivers[outcome.driver], outcome.resolution
    what = in_words(wording.reason(drivers, outcome), resolution.image or "", resolution.in_tree)
    return Gets(outcome.driver, outcome.state, wording.mapping(driver, outcome), what)


def in_words(reason: str, image: str, in_tree: Sequence[str]) -> str:
    """Return why there is no driver, or the image and what is removed before it is loaded."""
    first = f"removes {', '.join(in_tree)} first" if in_tree else ""
    return "; ".join(filter(None, (reason, image, first))) or "plugin only"


def alike(groups: Iterable[Alike]) -> list[Alike]:
    """Return the groups, those that only differ in their nodes as one, in the order of their first names."""
    names: dict[tuple[str, tuple[Gets, ...]], list[str]] = {}
    for group in groups:
        names.setdefault((group.kernel, group.gets), []).extend(group.names)
    made = [Alike(tuple(sorted(members)), *key) for key, members in names.items()]
    return sorted(made)


def pulled(image: Image) -> Pulled:
    """Return what is shown of an image."""
    return Pulled(image.name, image.nodes, image.built, tuple((need.ref, need.purpose) for need in image.needs))


def _clash(conflict: Conflict) -> Clash:
    claims = [*conflict.left, *conflict.right]
    if conflict.right:  # each of one with each of the others: show some of both
        claims = [*conflict.left[: SIDES // 2], *conflict.right[: SIDES // 2]]
    shown = claims[:SIDES]
    keys = sorted({key for claim in shown for key in claim.selector})
    labels = [(key, [claim.selector.get(key) for claim in shown]) for key in keys]
    rule, law = law_of(conflict)
    more = len(conflict.left) + len(conflict.right) - len(shown)
    nodes = sorted({name for names in conflict.nodes for name in names})
    return Clash(conflict.severity, rule, f"{law}: {REMEDY}", nodes, [_side(claim) for claim in shown], more, labels)


def _side(claim: Claim) -> Side:
    pool = f"pool {claim.pool} of " if claim.pool else ""
    place = claim.place or Place()
    side = f" ({claim.theirs})" if claim.theirs else ""
    return Side(f"{pool}{claim.ref}{side}", f"{place.path}:{place.line}" if place.line else place.path)
