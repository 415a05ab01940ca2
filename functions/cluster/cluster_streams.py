"""What reaches each cluster: its roots are read, the function runs on each, and their results make one list.

Every command that works on PATHs gets its lists here, so that all of them see the same clusters.
"""

import os
from collections.abc import Collection, Sequence
from functools import partial

from krmfn import KrmfnError, ResourceList, Result
from krmfn.errors import NoData
from krmfn.printing import printable
from krmfn.results import placed

from ..command import Context
from ..paths.failures import Failure, Unreadable, log_failures, raise_alike, raise_first
from . import cluster_inputs, cluster_lists, config, layout
from .cluster_lists import Stays
from .deployed import Clusters, Lists, judge_final
from .survey import Root


def rendered(context: Context, paths: Sequence[str], stays: Stays = None, laid: Clusters | None = None) -> Clusters:
    """Return the clusters of some PATHs after the function has run on each of their roots, but for lists that stay.

    Documents are read in full where something looks into them. When one of those turns out to be no data, all is done
    again with every document read in full: what is wrong with a file is then a finding beside all others.
    Without PATHs and --cluster it is the working folder. `stays` returns True for a list on which the function is not
    to run; `laid` is the layout of the PATHs where it is known, perhaps without clusters that are not asked for.
    Raises KrmfnError when nothing can be done for any root, for one and the same reason.
    """
    laid = laid or laid_out(context, paths)
    others = [path for text in context.options.against for path in text.rpartition("=")[2].split(",")]
    if not context.in_full and "-" not in (*laid.paths, *others):  # stdin can be read once
        try:
            return _streams(context, laid, stays)
        except NoData:
            context = context._replace(in_full=True)
    return _streams(context, laid, stays)


def laid_out(context: Context, paths: Sequence[str]) -> Clusters:
    """Return which clusters the PATHs make. Raises KrmfnError as `layout` does."""
    named = config.named(context.options.cluster) if context.options.cluster else {}
    return layout.layout(paths or ([] if named else ["."]), context.options, named, context.intent.is_root_only)


def _streams(context: Context, laid: Clusters, stays: Stays) -> Clusters:
    """Do the work of `rendered`."""
    intent, options = context.intent, context.options
    context = context._replace(profiles=tuple(os.path.relpath(one.real) for one in laid.config.profiles))
    failures, findings = [*laid.failures], [*laid.findings]
    findings += cluster_inputs.in_two(context, laid.clusters) if len(laid.clusters) > 1 else ()
    builds = sum(root.kind == "kustomization" for one in laid.clusters for root in one.roots)
    read = cluster_inputs.each(context, partial(cluster_inputs.filled, context), laid.clusters, "clusters read", builds)
    failures += [failure for one in read for failure in one.failures]
    findings += [finding for one in read for finding in one.findings]
    laid = laid._replace(clusters=read, findings=findings, failures=failures)
    has_more = len(read) != 1 or bool(laid.config.clusters) or len(read[0].parts) > 1
    if has_more:
        from . import repository, shared  # here: most runs have one root
    absent = shared.absent_profiles(context, laid) if has_more else []
    if intent.judges_whole and not options.function_config:
        cluster_lists.warn_of_nothing(context, laid, absent)
    laid = shared.taken_out(intent, laid) if laid.config.clusters else laid
    if options.against or options.live:
        laid = _with_elsewhere(context, laid, [root for one in read for root in one.roots], failures)
    if has_more:
        shared.note_profiles(laid, absent)
    work = partial(cluster_lists.rendered, context, failures, stays)
    every = laid.clusters
    made = [work(every[0])] if len(every) == 1 else cluster_inputs.each(context, work, every, "clusters")
    laid = laid._replace(clusters=made, apart=[work(one) for one in laid.apart])
    for one in (one for one in made if one.is_whole):  # else what could not be read would be reported as missing
        if one.name in laid.theirs:
            from . import external

            external.join(context, one, laid.theirs[one.name])
        if intent.judges_whole:
            judge_final(one.final)
    if has_more:
        laid = shared.without_needed(laid)
        repository.check(laid, intent)
    if not (findings or any(one.lists or one.final.reported for one in (*laid.clusters, *laid.apart))):
        raise_alike(failures)  # nothing was done for any root
    return laid


def _with_elsewhere(context: Context, laid: Clusters, roots: Sequence[Root], failures: list[Failure]) -> Clusters:
    """Return the clusters with what they get from elsewhere (--against); live nodes (--live) are put into their lists.

    `roots` are all that is read here. What cannot be read goes to `failures`.
    """
    from . import external, live_nodes

    names = [one.name for one in laid.clusters]
    laid = laid._replace(theirs=external.read(context, names, roots, failures)) if context.options.against else laid
    if context.options.live:
        live_nodes.replace_each(context, {one.name: one.read for one in laid.clusters})
    return laid


def nothing(context: Context) -> Clusters:
    """Return no cluster, for a command that is about files of its own. Raises KrmfnError for --against, about none."""
    if context.options.against:
        raise KrmfnError("--against needs a PATH to check together with it; pass a PATH, or remove --against")
    return Clusters()


def whole(context: Context, paths: Sequence[str]) -> Clusters:
    """Return the clusters of some PATHs.

    Raises Unreadable where something cannot be read, and KrmfnError where nothing can be done.
    """
    streams = rendered(context, paths)
    raise_first(streams.failures)
    if not streams.is_whole:
        raise Unreadable(
            [*streams.findings, *streams.outside, *(each for one in streams.clusters for each in one.final.results)]
        )
    return streams


def only(context: Context, path: str) -> ResourceList:
    """Return the final list of a PATH that is one cluster. Raises KrmfnError as `whole`, and for several clusters."""
    streams = whole(context, [path])
    clusters = [one for one in streams.clusters if not one.is_apart] or streams.clusters
    if len(clusters) > 1:
        names = ", ".join(one.name for one in clusters)
        raise KrmfnError(f"{path} holds {len(clusters)} clusters ({names}); pass the PATH of one of them")
    (one,) = clusters
    one.final.report([*streams.findings, *streams.outside])
    return one.final


def log(context: Context, streams: Clusters, notes: Collection[str] = ()) -> None:
    """Write all findings and failures, and what is left out, for a command that prints something else.

    `notes` are the errors that it prints itself, failures among them, in the words of findings.
    """
    log_left_out(context, streams)
    context.log.findings(_but([*streams.findings, *streams.outside], notes))
    context.log.findings(told(context, streams, streams.lists, notes))
    log_failures(context.log, () if notes else streams.failures)


def told(context: Context, streams: Clusters, lists: Lists, notes: Collection[str] = ()) -> list[Result]:
    """Return the findings of some of the clusters, but `notes`; of several each once, with those that have it."""
    look_up(context, streams)
    found = {name: _but(resources.results, notes) for name, resources in lists.items()}
    if len(streams.clusters) < 2:
        return [one for results in found.values() for one in results]
    from ..formats import checked, grouped  # late: of one cluster nothing is told for several

    every = (one for name, results in found.items() for one in checked.tag_cluster(name, results))
    return grouped.lines(every, streams.lists)


def _but(results: Sequence[Result], notes: Collection[str]) -> Sequence[Result]:
    return [one for one in placed(results) if str(one) not in notes] if notes else results


def look_up(context: Context, streams: Clusters) -> None:
    """Have kustomize say where a finding of each list stands, for as many builds at a time as --jobs says.

    It runs once more for a build that was not asked at once (see `builds`); what it says is kept for the others.
    """
    if len(streams.clusters) > 1:  # before they are reported singly
        finals = [one.final for one in streams.clusters]
        lazy = [each for each in finals if any(one.place and one.place.finder for one in each.reported)]
        cluster_inputs.each(context, lambda each: each.results, lazy, "builds looked up", len(lazy))


def log_left_out(context: Context, streams: Clusters) -> None:
    """Write what the configuration file leaves out: who reads the output of a pull request did not choose it."""
    if streams.excluded and streams.config.exclude:
        patterns = ", ".join(printable(pattern.text) for pattern in streams.config.exclude)
        context.log.say(f"{streams.config.name} excludes {patterns}")
