"""What is known of a cluster whose inputs are here: its nodes joined with its Modules, conflicts, images, findings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from krmfn import KrmfnError, Ref, ResourceList, Result
from krmfn.printing import some
from krmfn.results import in_order, placed
from krmfn.typed import NamedTuple

from .. import exclusivity
from ..deviceconfig.reading import domain_of
from ..exclusivity.claim import FindPlace, local_conflict
from ..exclusivity.messages import REMEDY, law_of, line_of
from ..fleet import cluster, rules, wording
from ..fleet.coverage import Group, coverage
from ..fleet.explanation import LiveNodes
from ..fleet.images import Image, images, unknown_images
from ..fleet.nodes import Fleet
from ..kmm.resolution import resolver
from ..rendering import claims, function_config
from ..rendering.kinds import owners_among
from .parts import CONFLICTS, SIDES, Alike, Clash, Gets, Kernel, Part, Used

NO_NODES = "no node is known; put a NodeInventory beside the configs (`krmfn inventory` makes one)"


class Joined(NamedTuple):
    """A cluster with what its nodes get."""

    name: str
    resources: ResourceList
    whole: cluster.Cluster
    mode: str
    """The mode of node exclusivity."""
    about_nodes: Sequence[Result]
    wrong: Sequence[str]
    """Why nothing may be concluded from the nodes."""
    groups: Sequence[Group]
    bare: Sequence[Ref]
    """Its configs of which nothing was generated: they are wrong, or a kustomization left them alone."""
    live: LiveNodes | None = None
    """What a dump says, where its nodes are live."""


def join(
    name: str, resources: ResourceList, moved: Callable[[Fleet], Sequence[exclusivity.Node]] = lambda fleet: fleet.nodes
) -> Joined:
    """Return the join of a cluster, given its list after the function has run; `moved` returns the nodes to join.

    Raises KrmfnError when what its nodes get cannot be decided in bounded work.
    """
    whole = cluster.of_list(resources, domain_of)
    mode = function_config.read(resources)[0].exclusivity
    about_nodes = list(rules.about_input(whole, rules.today()))
    about_nodes += [one for driver in whole.external for one in whole.fleet.check_labels(driver.claim, driver.keys)]
    wrong = [str(one) for one in about_nodes if one.severity == "error"]
    nodes = [] if wrong else moved(whole.fleet)
    groups = coverage(nodes, whole.drivers, mode != "off", whole.external)
    made = {driver.claim.ref.id for driver in whole.drivers}
    made |= {(group, kind, "", name) for group, kind, _, name in made}
    bare = [item.ref for item in owners_among(resources.items) if item.ref.id not in made]
    return Joined(name, resources, whole, mode, about_nodes, wrong, groups, bare)


def part(joined: Joined) -> Part:
    """Return what is known of a cluster, given its join."""
    name, resources, whole, mode, about_nodes, wrong, groups, bare, _ = joined
    unjudged = wrong[0] if wrong else "" if whole.fleet.nodes else NO_NODES
    needed, unlisted = ((), unjudged) if wrong else _images(whole, groups)
    findings = {(one.rule, one.severity, one.ref, one.message): one for one in (*about_nodes, *resources.results)}
    nodes = [node for node in whole.fleet.nodes if node.cluster is None]
    # on a hub's clusters only selectors decide
    full_claims = [driver.full_claim for driver in whole.all_drivers]
    conflicts = [] if wrong else exclusivity.conflicts(full_claims, nodes, mode)[0]
    found = list(filter(None, map(local_conflict, conflicts)))
    where = claims.at_selector([resources])
    return Part(
        name,
        list(_modules(whole, groups)),
        alike(_nodes(whole, groups)),
        bool(whole.fleet.nodes),
        unjudged,
        [_clash(one, where) for one in found[:CONFLICTS]],
        max(0, len(found) - CONFLICTS),
        needed,
        unlisted,
        bare,
        in_order(placed(findings.values())),
        resources.failed,
    )


def _images(whole: cluster.Cluster, groups: Sequence[Group]) -> tuple[Sequence[Image], str]:
    try:
        found = images(groups, whole)
    except KrmfnError as failure:
        return (), str(failure)
    lacking = [f"{one.ref}: {one.message}" for one in unknown_images(groups, whole.drivers)]
    return found, some(lacking, len(lacking))


def _modules(whole: cluster.Cluster, groups: Sequence[Group]) -> Iterator[Used]:
    """Yield what is shown of each Module, with how many of the nodes that it selects have each kernel."""
    numbers: list[Counter[str]] = [Counter() for _ in whole.drivers]
    for group in groups:
        for outcome in group.outcomes:
            numbers[outcome.driver][group.kernel] += len(group.nodes)
    for driver, versions in zip(whole.drivers, numbers, strict=True):
        mappings, resolve = tuple(map(wording.condition, driver.module.mappings)), resolver(driver.module)
        kernels: list[Kernel] = []
        for version, number in versions.items() if driver.loads else ():
            try:
                kernels.append(Kernel(version or None, number, resolve(version).mapping if version else None))
            except KrmfnError as failure:
                kernels.append(Kernel(version, number, None, str(failure)))
        yield Used(driver.ref, wording.name(driver), mappings, tuple(kernels))


def _nodes(whole: cluster.Cluster, groups: Sequence[Group]) -> Iterator[Alike]:
    """Yield the nodes of each group with what becomes of their Modules, in words."""
    every = whole.all_drivers
    for group in groups:
        gets = []
        for one in group.outcomes:
            _, image, in_tree = one.resolution
            what = wording.image_or_reason(wording.reason(every, one), image or "", in_tree)
            gets.append(Gets(one.driver, one.state, wording.mapping(every[one.driver], one), what))
        yield Alike(tuple(node.name for node in group.nodes), group.kernel, tuple(gets))


def alike(groups: Iterable[Alike]) -> list[Alike]:
    """Return the groups, those that only differ in their nodes as one, in the order of their first names."""
    names: dict[tuple[str, tuple[Gets, ...]], list[str]] = {}
    for group in groups:
        names.setdefault((group.kernel, group.gets), []).extend(group.names)
    return sorted(Alike(tuple(sorted(members)), *key) for key, members in names.items())


def _clash(conflict: exclusivity.Conflict, where: FindPlace) -> Clash:
    """Return a conflict with the selectors side by side; `where` returns the place of each."""
    most = SIDES // 2 if conflict.right else SIDES  # each of one with each of the others: show some of both
    shown = [*conflict.left[:most], *conflict.right[:most]]
    keys = sorted({key for claim in shown for key in claim.selector})
    labels = [{"key": key, "values": [claim.selector.get(key) for claim in shown]} for key in keys]
    rule, law = law_of(conflict)
    more = len(conflict.left) + len(conflict.right) - len(shown)
    nodes = sorted({name for names in conflict.nodes for name in names})
    named = ((f"{claim.claimant}{f' ({claim.external})' if claim.external else ''}", claim) for claim in shown)
    sides = [{"who": who, "where": line_of(claim, where(claim))} for who, claim in named]
    clash = {"severity": conflict.severity, "rule": rule, "law": f"{law}: {REMEDY}", "nodes": nodes}
    return {**clash, "sides": sides, "more": more, "labels": labels}
