"""What reaches each cluster: its roots are read, the function runs on each, and their results make one list.

Every command that works on PATHs gets its lists here, so that all of them see the same clusters.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

from krmfn import Item, KrmfnError, ResourceList
from krmfn.errors import NoData

from ..command import Context
from ..paths import workers
from ..paths.failures import Failure, Unreadable, raise_alike, raise_first
from ..paths.unchecked import Unchecked
from ..run import placed
from . import asked, cluster_inputs, cluster_lists, complete, config, layout, other_tools
from .cluster_lists import Skip
from .deployed import Cluster, Clusters


def render(context: Context, paths: Sequence[str], skips: Skip = None, streams: Clusters | None = None) -> Clusters:
    """Return the clusters of some PATHs after the function has run on each list of their roots that it does not skip.

    Documents are read in full only where something needs their data. If one of those turns out to be no data, all is
    done again with every document read in full, so that the file has a finding beside all others.
    Large texts are worked with before it is known whether they are YAML (see `_rendered_ahead`).
    Without PATHs and --cluster the PATH is the working folder. `skips` returns True for a list on which the function
    must not run; `streams` are the clusters of the PATHs as `layout_of` returns them, perhaps only some of them.
    Raises KrmfnError when nothing can be done for any root, and for all of them for the same reason.
    """
    streams = streams or layout_of(context, paths)
    others = [path for text in context.options.against for path in text.rpartition("=")[2].split(",")]
    if not context.in_full and "-" not in (*streams.paths, *others):  # stdin can be read only once
        try:
            return _rendered_ahead(context, streams, skips) or _render(context, streams, skips)
        except NoData:
            context = context._replace(in_full=True)
    return _render(context, streams, skips)


def _rendered_ahead(context: Context, streams: Clusters, skips: Skip) -> Clusters | None:
    """Return what `_render` does, while a second process checks the large texts; None when that has to be done again.

    That is when one of them is not YAML, or nobody knows. What follows from such a text is told to nobody, not even as
    an error. Where something is built nothing is done ahead: it would be built again.
    """
    roots = (root for cluster in (*streams.clusters, *streams.unassigned) for root in cluster.roots)
    if any(root.kind == "kustomization" for root in roots) or not workers.has_room():
        return None
    unchecked = Unchecked()
    read = _tried(partial(cluster_inputs.read_clusters, context._replace(unchecked=unchecked), streams))
    with workers.second_process(unchecked.are_sound) if unchecked else nullcontext(lambda: True) as is_passed:
        rendered = _tried(partial(_judged, context, read, skips)) if isinstance(read, Clusters) else read
        if not is_passed():
            return None
    if isinstance(rendered, Exception):
        raise rendered
    return rendered


def _tried(work: Callable[[], Clusters]) -> Clusters | Exception:
    """Return the result of the work, or its error, which is not raised before it is known whether it counts."""
    try:
        return work()
    except Exception as failure:
        return failure


def layout_of(context: Context, paths: Sequence[str]) -> Clusters:
    """Return which clusters the PATHs make. Raises KrmfnError as `layout` does."""
    named = config.parse_all(context.options.cluster) if context.options.cluster else {}
    intent = context.intent
    paths = paths or ([] if named else ["."])
    streams = layout.layout(paths, context.options, named, intent.is_root_only, intent.is_old)
    if intent.asks_about_ours and not (named or intent.is_old):
        from . import foreign  # imported here: other commands show all that there is

        return foreign.without(context, streams)
    return streams


def asked_of(context: Context, paths: Sequence[str]) -> Clusters:
    """Return the clusters of some PATHs as `layout_of` does: those that are asked for (see `asked`)."""
    return asked.only(context.options, layout_of(context, paths))


def _render(context: Context, streams: Clusters, skips: Skip) -> Clusters:
    """Do the work of `render`, with documents read as the context says."""
    return _judged(context, cluster_inputs.read_clusters(context, streams), skips)


def _judged(context: Context, streams: Clusters, skips: Skip) -> Clusters:
    """Return clusters whose roots were read after the function has run, judged as a whole."""
    intent, options = context.intent, context.options
    context = context._replace(profiles=tuple(os.path.relpath(member.real) for member in streams.config.profiles))
    clusters, failures = streams.clusters, [*streams.failures]
    has_several = len(clusters) != 1 or bool(streams.config.clusters or streams.unasked) or len(clusters[0].parts) > 1
    streams = _ready(context, streams, has_several)
    if options.against or options.has_live_nodes:
        streams = _with_elsewhere(context, streams, failures)
    hubs = None
    if has_several:
        from . import repository, shared, spokes, unasked_hubs  # imported here: most runs have one root

        hubs = unasked_hubs.read(context, streams)
        spokes.note_each((*streams.clusters, *hubs.clusters), streams.config.labels, hubs.profiles)
    work = partial(cluster_lists.render_cluster, context, failures, skips)
    clusters = _all_rendered(context, work, streams)
    unassigned = [work(cluster) for cluster in streams.unassigned]
    streams = streams._replace(clusters=clusters, unassigned=unassigned, failures=failures)
    complete.judge(context, streams, hubs)
    streams = _without_errors_of_others(streams)
    if options.has_live_nodes and intent.judges_nodes:
        from . import live_claims

        live_claims.check_each(context, clusters)
    _check_engines(streams, context)
    if has_several:
        streams = shared.without_needed(streams)
        repository.check(streams, intent)
    is_done = any(cluster.lists or cluster.final.results for cluster in (*streams.clusters, *streams.unassigned))
    if not streams.findings and not is_done:
        raise_alike(failures)
    return streams


def _ready(context: Context, streams: Clusters, has_several: bool) -> Clusters:
    """Return the clusters with what is wrong before the function runs, and with the Profiles that are not here."""
    intent, absent = context.intent, list[Item]()
    if has_several:
        from . import shared  # imported here: most runs have one root

        absent = shared.absent_profiles(context, streams)
    has_strangers = streams.foreign > 0 or (streams.is_repository and bool(streams.excluded))
    is_of_strangers = has_strangers and not streams.config.name
    if intent.judges_whole and not (context.options.function_config or is_of_strangers):
        cluster_lists.warn_of_nothing(context, streams, absent)
    streams = other_tools.judge(context, streams, absent)
    if has_several:
        streams = shared.without_unassigned(streams) if intent.runs_function else streams
        shared.note_profiles(streams, absent)
    return streams


def _all_rendered(context: Context, work: Callable[[Cluster], Cluster], streams: Clusters) -> Sequence[Cluster]:
    """Return the clusters after the work, several of them with the progress on stderr."""
    former = streams.clusters
    clusters = (
        [*map(work, former)] if len(former) < 2 else cluster_inputs.work_through(context, work, former, "clusters")
    )
    if streams.engines.deployments:
        from . import deployers  # imported here: few repositories have engines' objects

        deployers.note_each(clusters, streams.engines.top)
    return clusters


def _without_errors_of_others(streams: Clusters) -> Clusters:
    """Return the clusters in which the errors of roots of others are one warning each."""
    if not any(cluster.beside for cluster in streams.clusters):
        return streams
    from . import beside  # imported here: most clusters have none

    return streams._replace(clusters=[*map(beside.counted_once, streams.clusters)])


def _check_engines(streams: Clusters, context: Context) -> None:
    """Report how engines deploy the clusters, unless they are a former state or are rendered for an engine now."""
    intent, is_named = context.intent, bool(streams.config.clusters or context.options.cluster)
    if not intent.is_check:
        return
    if streams.engines.deployments or streams.engines.templates:
        from . import engine_additions, engine_checks, fleet_bundles, flux_unbuilt, named

        if is_named:
            named.report_unlisted(streams)
            streams = named.with_deployments(streams)
        engine_checks.check(streams, streams.engines.top)
        flux_unbuilt.check(streams, streams.engines.top)
        fleet_bundles.check(streams, streams.engines.top)
        engine_additions.check(streams, streams.engines.top)
    elif not is_named and streams.is_repository and streams.clusters[1:]:
        from . import engine_checks

        engine_checks.check_apart(streams)


def _with_elsewhere(context: Context, streams: Clusters, failures: list[Failure]) -> Clusters:
    """Return the clusters with what --against gives them, and with live nodes; what cannot be read is in `failures`."""
    from . import external, live_nodes

    if context.options.against:
        names = [cluster.name for cluster in streams.clusters]
        streams = streams._replace(external=external.read(context, names, "-" in streams.paths, failures))
    if context.options.has_live_nodes:
        lists = {cluster.name: cluster.inputs for cluster in streams.clusters}
        is_other = streams.unasked and live_nodes.is_any_of_others(context.options, lists)
        live_nodes.replace_each(context, lists, asked.inputs_of_others(context, streams) if is_other else {})
    return streams


def no_clusters(context: Context) -> Clusters:
    """Return no cluster, for a command that reads no PATH. Raises KrmfnError for --against, which needs one."""
    if context.options.against:
        raise KrmfnError("--against needs a PATH to check together with it; pass a PATH, or remove --against")
    return Clusters()


def render_all(context: Context, paths: Sequence[str]) -> Clusters:
    """Return the clusters of some PATHs, all of them complete.

    Raises Unreadable where something cannot be read, and KrmfnError where nothing can be done.
    """
    streams = render(context, paths)
    raise_first(streams.failures)
    if not streams.is_whole:
        results = [finding for cluster in streams.clusters for finding in placed(cluster.final)]
        raise Unreadable([*streams.findings, *streams.unassigned_findings(), *results])
    return streams


def render_single(context: Context, path: str) -> ResourceList:
    """Return the final list of a PATH that is one cluster.

    Raises KrmfnError for several clusters, and as `render_all` does.
    """
    streams = render_all(context, [path])
    clusters = [cluster for cluster in streams.clusters if not cluster.is_unassigned] or streams.clusters
    if len(clusters) > 1:
        names = ", ".join(cluster.name for cluster in clusters)
        raise KrmfnError(f"{path} holds {len(clusters)} clusters ({names}); pass the PATH of one of them")
    (cluster,) = clusters
    cluster.final.report([*streams.findings, *streams.unassigned_findings()])
    return cluster.final
