"""What is known of a cluster whose inputs are here: its nodes joined with its Modules, conflicts, images, findings."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from krmfn import KrmfnError, Ref, ResourceList, Result
from krmfn.printing import some
from krmfn.typed import NamedTuple

from .. import exclusivity
from ..chain import live_rows
from ..deviceconfig.reading import domain_of
from ..exclusivity.claim import FindPlace, local_conflict
from ..exclusivity.messages import law_of, place_of
from ..exclusivity.remedies import remedy_of
from ..finding import fact, in_order, occurrence
from ..fleet import rules, wording
from ..fleet.cluster import Cluster, of_list, with_brought
from ..fleet.coverage import Group, coverage
from ..fleet.explanation import LiveNodes, compare
from ..fleet.images import Image, images, unjudged_images, unknown_images
from ..fleet.live import Live
from ..fleet.nodes import Fleet
from ..fleet.table import Row
from ..kmm.resolution import NotJudged, resolver
from ..rendering import claims, function_config
from ..rendering.kinds import owners_among
from ..run import placed, run_of
from ..sentence import topic_of
from . import states
from .parts import CONFLICTS, SIDES, Clash, Kernel, NodeGroup, Outcome, Part, Usage, merge_groups

NO_NODES = "no node is known; put a NodeInventory beside the configs (`krmfn inventory` makes one)"


class View(NamedTuple):
    """A cluster with what its nodes get."""

    name: str
    resources: ResourceList
    cluster: Cluster
    mode: str
    """The mode of node exclusivity."""
    node_findings: Sequence[Result]
    errors: Sequence[Result]
    """Why nothing may be concluded from the nodes."""
    groups: Sequence[Group]
    bare: Sequence[Ref]
    """Its configs of which nothing was generated: they are wrong, or a kustomization left them alone."""
    live: LiveNodes | None = None
    """What a dump says, where its nodes are live."""


Move = Callable[[Fleet], Sequence[exclusivity.Node]]
"""Returns the nodes of a cluster to join."""


def join(name: str, resources: ResourceList, move: Move = lambda fleet: fleet.nodes, has_brought: bool = False) -> View:
    """Return a cluster with what its nodes get, given its list after the function has run.

    `move` returns the nodes to join. With `has_brought` what hubs bring to the cluster is among its Modules; without it
    only the hub's own cluster tells of that. Raises KrmfnError when what they get cannot be decided in bounded work.
    """
    cluster = of_list(resources, domain_of)
    mode = function_config.read(resources)[0].exclusivity
    findings = list(rules.input_findings(cluster, rules.today()))
    for driver in cluster.external:
        findings += cluster.fleet.check_labels(driver.claim, driver.keys)
    errors = [finding for finding in findings if finding.severity == "error"]
    nodes = [] if errors else move(cluster.fleet)
    cluster = with_brought(cluster) if has_brought else cluster
    groups = coverage(nodes, cluster.drivers, mode != "off", cluster.external)
    owners = {driver.claim.ref.id for driver in cluster.drivers}
    owners |= {(group, kind, "", name) for group, kind, _, name in owners}
    bare = [item.ref for item in owners_among(resources.items) if item.ref.id not in owners]
    return View(name, resources, cluster, mode, findings, errors, groups, bare)


def part(view: View) -> Part:
    """Return what the page shows of a cluster."""
    cluster, groups, resources = view.cluster, view.groups, view.resources
    unjudged = str(view.errors[0]) if view.errors else "" if cluster.fleet.nodes else NO_NODES
    needed, unlisted = ((), unjudged) if view.errors else _images(cluster, groups)
    results = (*view.node_findings, *placed(resources))
    findings = {occurrence(finding): finding for finding in results}
    # on a hub's clusters only selectors decide
    nodes = [node for node in cluster.fleet.nodes if node.cluster is None]
    full_claims = [driver.full_claim for driver in cluster.all_drivers]
    conflicts = [] if view.errors else exclusivity.conflicts(full_claims, nodes, view.mode)[0]
    conflicts = list(filter(None, map(local_conflict, conflicts)))
    find_place = _at_selector(resources)
    return Part(
        view.name,
        list(_modules(cluster, groups)),
        merge_groups(_live_groups(view, view.live) if view.live else _node_groups(cluster, groups)),
        bool(cluster.fleet.nodes),
        unjudged,
        [_clash(conflict, find_place, _remedy(conflict, results)) for conflict in conflicts[:CONFLICTS]],
        max(0, len(conflicts) - CONFLICTS),
        needed,
        unlisted,
        view.bare,
        in_order(run_of(resources).sources.placed(findings.values())),
        resources.failed,
        nodes=len(nodes),
    )


def _images(cluster: Cluster, groups: Sequence[Group]) -> tuple[Sequence[Image], str]:
    """Return the images that the nodes pull, and why not all of them are known; "" when all are."""
    try:
        needed = images(groups, cluster)
    except KrmfnError as failure:
        return (), str(failure)
    unlisted = (*unknown_images(groups, cluster.drivers), *unjudged_images(groups, cluster.drivers))
    reasons = [f"{finding.ref}: {finding.text}" for finding in unlisted]
    return needed, some(reasons, len(reasons))


def _modules(cluster: Cluster, groups: Sequence[Group]) -> Iterator[Usage]:
    """Yield what is shown of each Module, with how many of the nodes that it selects have each kernel."""
    numbers: list[Counter[str]] = [Counter() for _ in cluster.drivers]
    for group in groups:
        for outcome in group.outcomes:
            numbers[outcome.driver][group.kernel] += len(group.nodes)
    for driver, versions in zip(cluster.drivers, numbers, strict=True):
        mappings, resolve = tuple(map(wording.condition, driver.module.mappings)), resolver(driver.module)
        kernels: list[Kernel] = []
        for version, number in versions.items() if driver.loads else ():
            try:
                kernels.append(Kernel(version or None, number, resolve(version).mapping if version else None))
            except NotJudged:
                kernels.append(Kernel(None, number, None))
            except KrmfnError as failure:
                kernels.append(Kernel(version, number, None, str(failure)))
        yield Usage(driver.ref, wording.name(driver), mappings, tuple(kernels))


def _node_groups(cluster: Cluster, groups: Sequence[Group]) -> Iterator[NodeGroup]:
    """Yield the nodes of each group with what becomes of their Modules, in words."""
    drivers = cluster.all_drivers
    for group in groups:
        outcomes = []
        for outcome in group.outcomes:
            _, image, in_tree = outcome.resolution
            text = wording.image_or_reason(wording.reason(drivers, outcome), image or "", in_tree)
            mapping = wording.mapping(drivers[outcome.driver], outcome)
            outcomes.append(Outcome(outcome.driver, outcome.state, mapping, text))
        yield NodeGroup(tuple(node.name for node in group.nodes), group.kernel, tuple(outcomes))


def _live_groups(view: View, live: LiveNodes) -> Iterator[NodeGroup]:
    """Yield live nodes with what becomes of their Modules, in the words of `nodes`."""
    drivers = view.cluster.all_drivers
    all_rows = live_rows.rows(view.groups, drivers, live=live)
    for _, of_node in groupby(all_rows, lambda row: (row.cluster, row.node.name)):
        rows = list(of_node)
        yield NodeGroup((rows[0].node.name,), rows[0].node.kernel, tuple(_live_outcomes(rows)))


def _live_outcomes(rows: Iterable[Row]) -> Iterator[Outcome]:
    """Yield what becomes of the Modules on a live node."""
    for row in rows:
        if row.outcome:
            _, image, in_tree = row.outcome.resolution
            text = wording.image_or_reason(row.reason, image or "", in_tree, row.doubt)
            state = states.of_row(row.state, row.loaded, row.reason, row.doubt)
            yield Outcome(row.outcome.driver, state, row.mapping, text)


def with_dump(view: View, dump: Live) -> View:
    """Return a cluster whose nodes are those of a dump, with what the dump says about them."""
    if view.errors or not dump.nodes:
        return view
    committed = [*dump.committed[view.name].values()]
    live = compare(dump, view.groups, committed, view.cluster, view.mode != "off")
    return view._replace(live=live._replace(cluster=view.name))


def _remedy(conflict: exclusivity.Conflict, findings: Iterable[Result]) -> str:
    """Return what to do about a conflict, without the rule: its finding knows the configs, not only what they made."""
    claims = (*conflict.first, *conflict.second)
    key = law_of(conflict)[0], claims[0].ref, tuple(claim.claimant for claim in claims[1:])
    topics = (topic_of(f.sentence) for f in findings if (f.rule, f.ref, fact(f, "claimants")) == key)
    return next((str(topic.about) for topic in topics if topic), remedy_of(conflict))


def _at_selector(resources: ResourceList) -> FindPlace:
    """Return a function that finds the line of a claim's selector in the files, also of what is built."""
    sources, find_place = run_of(resources).sources, claims.at_selector([resources])
    return lambda claim: place_of(claim, find_place(claim), sources)


def _clash(conflict: exclusivity.Conflict, find_place: FindPlace, remedy: str) -> Clash:
    """Return a conflict with the selectors side by side; `find_place` returns the place of each."""
    most = SIDES // 2 if conflict.second else SIDES  # each of one with each of the others: show some of both
    visible = [*conflict.first[:most], *conflict.second[:most]]
    keys = sorted({key for claim in visible for key in claim.selector})
    labels = [{"key": key, "values": [claim.selector.get(key) for claim in visible]} for key in keys]
    rule, law = law_of(conflict)
    pairs = ((f"{claim.claimant} ({claim.external})" if claim.external else claim.claimant, claim) for claim in visible)
    sides = [{"claimant": claimant, "place": find_place(claim)} for claimant, claim in pairs]
    nodes = sorted({name for names in conflict.nodes for name in names})
    hidden = len(conflict.first) + len(conflict.second) - len(visible)
    clash = {"severity": conflict.severity, "rule": rule, "reason": f"{law}: {remedy}", "nodes": nodes}
    return {**clash, "sides": sides, "hiddenSides": hidden, "labels": labels}
