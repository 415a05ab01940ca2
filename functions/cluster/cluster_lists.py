"""One cluster after the function: what each of its roots gives, and all of that as one list."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError, ResourceList, Result, warning
from krmfn.errors import NoData
from krmfn.printing import some

from .. import terminal
from ..command import Context
from ..formats.checked import Checked
from ..kmm.module import MODULE_GROUP, MODULE_KIND, MODULE_KINDS
from ..kustomization import graph
from ..paths.failures import Failure, failure_of
from ..paths.roots import parents, within
from ..rendering import function_config, recognition
from ..rendering.kinds import CONFIG, NODES, OWNERS, PROFILE, driven_kinds, of_kinds
from ..rendering.undriven import any_of_ours
from ..run import note, placed, run_of
from ..settings import Settings
from . import function_runs, kmm_crds
from .deployed import Cluster, Clusters, with_results
from .root_files import number_of_files

MODULE = (MODULE_GROUP, MODULE_KIND)
Skip = Callable[[ResourceList], bool] | None
"""Returns True for a list on which the function must not run; None where it runs on all lists."""
_SELECTOR_RULES = ("KRM302", "KRM304")
"""Rules about nodes that two selectors may share, though none of the known nodes has the labels of both."""

_DESTINATIONS = {"argocd": "spec.destination", "flux": "spec.kubeConfig", "fleet": "spec.targets"}
"""The field of an engine's object that says which cluster it deploys to."""


def render_cluster(context: Context, failures: list[Failure], skips: Skip, cluster: Cluster) -> Cluster:
    """Return a cluster after the function has run on its lists; where it cannot run, the failure goes to `failures`."""
    parts = [part for _, part in cluster.parts]
    nodes = [of_kinds(part.items, NODES) for part in parts] if len(parts) > 1 else []
    crds = kmm_crds.known(context.options.kmm_crd, parts, cluster.side)
    counts: list[Checked] = []
    lists: list[ResourceList] = []
    roots: dict[int, str] = {}
    for at, (name, resources) in enumerate(cluster.parts):
        note(resources, sources=context.sources)  # it may get items of other parts
        if run_of(resources).is_beside:
            counts.append(_count(resources))
            roots.update((id(item), name) for item in resources.items)
            lists.append(resources)
            continue
        side = _side_of(cluster, resources)
        if (context.profiles or context.options.function_config) and not run_of(resources).is_settled:
            known = [*resources.items, *side]
            resources.items.extend(function_runs.more_profiles(context.options, context.profiles, known))
        count = _count(resources)
        resources.items.extend(item for items in (*nodes[:at], *nodes[at + 1 :], side) for item in items)
        # a user who names the cluster, or the place of its Profiles, expects krmfn to render something there
        note(resources, crds=crds)
        is_named = bool(cluster.members or context.options.profiles_from)
        if is_named or (nodes and any(map(any_of_ours, parts))):
            note(resources, has_ours=True)
        if failure := _run(context, skips, name, resources):
            failures.append(failure)
            continue
        counts.append(_with_function_config(count, resources, side))
        roots.update((id(item), name) for item in resources.items)
        lists.append(_with_hints(resources, name) if run_of(resources).is_settled else resources)
    is_whole = cluster.is_whole and len(lists) == len(parts)
    if cluster.side:
        counts.append(_count(cluster.side))
    is_final = len(lists) == 1 and not cluster.side and is_whole
    final = lists[0] if is_final else _final(lists, cluster, is_whole)
    note(final, roots=roots if len(lists) > 1 else {}, sources=context.sources)
    return cluster._replace(lists=tuple(lists), final=final, counts=total(counts), is_whole=is_whole)


def _side_of(cluster: Cluster, resources: ResourceList) -> Sequence[Item]:
    """Return what stands beside the roots of a cluster and counts for this list of one of them."""
    side = cluster.side.items if cluster.side else []
    if side and (run_of(resources).is_settled or resources.where(kind=CONFIG[1], group=CONFIG[0])):
        return of_kinds(side, NODES)  # the root has its own functionConfig
    return side


def _run(context: Context, skips: Skip, name: str, resources: ResourceList) -> Failure | None:
    """Run the function on a list that is not skipped; return why it cannot run. Raises NoData (see `render`)."""
    try:
        if context.intent.runs_function and not (skips and skips(resources)):
            function_runs.apply(context.options, context.intent, name, resources)
    except KrmfnError as failure:
        if isinstance(failure, NoData) and not (context.in_full or name == "-"):
            raise
        return failure_of(name, failure)
    return None


def _with_function_config(count: Checked, resources: ResourceList, side: Sequence[Item]) -> Checked:
    """Return the count of a list with its functionConfig, unless that stands beside and is counted there."""
    config = run_of(resources).config_item
    if resources.function_config and not any(item is config for item in side):
        return count._replace(kinds={**count.kinds, "functionConfig": count.kinds["functionConfig"] or 1})
    return count


def _with_hints(resources: ResourceList, path: str) -> ResourceList:
    """Return the list of a kustomization that calls krmfn, with a hint in each error about selectors.

    The call does not see the nodes beside the kustomization, so it could only compare selectors.
    """
    node = next((item for item in resources.items if (item.group, item.kind) in NODES), None)
    if not node or not any(finding.rule in _SELECTOR_RULES for finding in resources.results):
        return resources
    file = node.place.path if node.place else "the input"
    hint = (
        f"{path} calls krmfn, which does not see the nodes in {file} there: list that file under `resources` there, "
        "with the annotation config.kubernetes.io/local-config"
    )
    findings = list[Result]()
    for finding in resources.results:
        is_hinted = finding.rule in _SELECTOR_RULES and finding.severity == "error"
        remedy = "; ".join(filter(None, (finding.remedy, hint))) if is_hinted else finding.remedy
        findings.append(finding._replace(remedy=remedy))
    return with_results(resources, findings)


def _final(parts: Sequence[ResourceList], cluster: Cluster, is_whole: bool) -> ResourceList:
    """Return the parts of a cluster as one list: each item once, with what is wrong between the parts."""
    lists = [*parts, *([cluster.side] if cluster.side else [])]
    configured = [part for part in parts if part.function_config]
    is_one = bool(configured) and all(part.function_config == configured[0].function_config for part in configured)
    items = {id(item): item for resources in lists for item in resources.items}
    final = ResourceList(items.values(), configured[0].function_config if is_one else None, failed=not is_whole)
    runs = [run_of(resources) for resources in lists]
    note(
        final,
        settings=run_of(parts[0]).settings if parts else Settings(),
        packages=tuple(name for run in runs for name in run.packages),
        transformed=graph.joined(run.transformed for run in runs),
        is_settled=True,
        names_kmm=bool(parts) and all(function_config.read(part)[0].names_kmm for part in parts),
        spokes=runs[0].spokes if runs else (),
        turned_off=sum(run.turned_off for run in runs),
        driven=frozenset[tuple[str, str]]().union(*(run.driven for run in runs)),
        kept=frozenset[tuple[str, str]]().union(*(run.kept for run in runs)),
    )
    for resources in lists:
        final.report(placed(resources))
        final.changes.extend(resources.changes)
    if is_one:
        note(final, config_item=run_of(configured[0]).config_item)
    if len(parts) > 1:
        from ..final.root_conflicts import check_roots  # imported here: most clusters have one root

        final.report(check_roots(parts, _deployed_by(cluster)))
    return final


def _deployed_by(cluster: Cluster) -> str:
    """Return which objects of engines bring the roots to this cluster, where there are several; else ""."""
    sources = {deployment.declaration.source.place.path: deployment for deployment in cluster.deployments}
    if len(sources) < 2:
        return ""
    field = _DESTINATIONS.get(cluster.deployments[0].declaration.engine, "clusters")
    return f"or correct `{field}`: {some([*sources], len(sources), 2)} deploy to {cluster.name}"


def _count(resources: ResourceList) -> Checked:
    """Return how many resources a list has before the function runs, and of which kinds; note those of its Profiles.

    RenderDeviceConfigs count as functionConfig.
    """
    if profiles := resources.where(kind=PROFILE[1], group=PROFILE[0]):
        note(resources, driven=driven_kinds(profiles), kept=driven_kinds(profiles, kept=True))
    owners = OWNERS | run_of(resources).driven
    items = (item for item in resources.items if (item.ref.group, item.kind) in owners)
    configs = [(item.ref, Result("", ref=item.ref, place=item.place)) for item in items]
    counts, kinds = Counter((item.group, item.kind) for item in resources.items), Counter[str]()
    for pair in (*sorted(owners), CONFIG, *([PROFILE] if profiles else []), *MODULE_KINDS):
        kinds["functionConfig" if pair == CONFIG else pair[1]] += counts[pair]
    kinds["functionConfig"] += bool(resources.function_config)
    return Checked((), len(resources.items), configs, kinds)


def total(parts: Sequence[Checked]) -> Checked:
    """Return the counts of several lists together, in their order; it has no findings."""
    configs = [config for part in parts for config in part.configs]
    kinds = Counter[str]()
    for part in parts:
        kinds.update(part.kinds)
    resources, turned_off = sum(part.resources for part in parts), sum(part.turned_off for part in parts)
    return Checked((), resources, configs, kinds, turned_off=turned_off)


def warn_of_nothing(context: Context, streams: Clusters, absent: Sequence[Item]) -> None:
    """Report each PATH below which the function has nothing to do: the user may have meant another one.

    PATHs below which something could not be read, or is wrong, are passed over. `absent` are Profiles of clusters that
    are not here.
    """
    places = (finding.place for finding in streams.findings if finding.place and finding.severity != "info")
    broken = {os.path.realpath(os.path.dirname(place.path)) for place in places}
    below: dict[str, list[Cluster]] = {}
    for cluster in streams.clusters:
        for top in {top for root in cluster.roots for top in (parents(root.path) if root.path else ("-",))}:
            below.setdefault(top, []).append(cluster)
    kinds = OWNERS | {CONFIG, PROFILE, *MODULE_KINDS} | driven_kinds(absent)
    if context.profiles:
        with suppress(KrmfnError):  # each root that needs them reports it
            kinds |= driven_kinds(function_runs.profiles_of(context.options, context.profiles))
    *names, last = dict.fromkeys(kind for _, kind in (*sorted(OWNERS), CONFIG, MODULE))
    choice = f"{', '.join(names)} or {last}"
    for path, real in streams.paths.items():
        clusters = below.get(real, ())
        lists = [part for cluster in clusters for part in cluster.inputs]
        is_unread = any(cluster.failures for cluster in clusters) or any(within(folder, real) for folder in broken)
        present = {(item.group, item.kind) for part in lists for item in part.items}
        if any(part.mentioning(MODULE_GROUP) for part in lists):
            continue  # KMM's other objects, also inside others, are judged
        if any(kind == "DeviceConfig" for _, kind in present):
            continue  # a vendor's: KRM107 says what becomes of it
        if any(cluster.name in streams.config.labels for cluster in clusters):
            continue  # a spoke may hold its nodes alone
        if is_unread or not lists or present & kinds or any(part.failed or part.function_config for part in lists):
            continue
        if any(_has_similar_kind(part) for part in lists):
            continue  # KRM108 says what they should be
        extent = terminal.extent(sum(len(part.items) for part in lists), number_of_files(clusters))
        message = f"no {choice} is in {path} ({extent}), so there is nothing to do"
        lists[0].report([warning(message, rule="KRM109", remedy="check that this is the right PATH")])


def _has_similar_kind(resources: ResourceList) -> bool:
    """Return True for a list with a resource whose kind or group is similar to one of ours, and which is none."""
    pairs = {(item.api_version, item.kind) for item in resources.items}
    return any(recognition.mistake(*pair) for pair in pairs)
