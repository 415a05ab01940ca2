"""What reaches each cluster: its roots are read, the function runs on each, and their results make one list.

Every command that works on PATHs gets its lists here, so that all of them see the same clusters.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType

from krmfn import Item
from krmfn.errors import KrmfnError, NoData
from krmfn.printing import printable
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, placed
from krmfn.typed import NamedTuple

from ..command import Context
from ..paths.failures import Failure, Unreadable, log_failures, raise_alike, raise_first
from ..rendering.kinds import driven
from . import cluster_inputs, cluster_lists, config, given, layout
from .cluster_lists import Rendered
from .config import Config
from .deployed import judge_final
from .layout import Layout


class Streams(NamedTuple):
    """The clusters of some PATHs."""

    clusters: Sequence[Rendered] = ()
    findings: Sequence[Result] = ()
    """What is wrong with the configuration file and with files outside of all roots."""
    failures: Sequence[Failure] = ()
    """The PATHs and roots that could not be read."""
    config: Config = Config()
    paths: tuple[str, ...] = ()
    """The PATHs, those of --cluster among them."""
    excluded: int = 0
    """How many files were left out by `exclude`."""
    left_out: tuple[str, ...] = ()
    """The names of clusters that are not among these, since not all of them can be read."""
    theirs: Mapping[str, Rendered] = MappingProxyType({})
    """What clusters get from elsewhere, by the names of the clusters."""
    apart: Sequence[Rendered] = ()
    """The files that no cluster of the configuration file has: nothing of them is deployed."""

    @property
    def outside(self) -> list[Result]:
        """Return what is wrong in the files that no cluster has; it stops nothing."""
        return [finding for one in self.apart for finding in one.final.results]

    @property
    def is_whole(self) -> bool:
        """Return False when something was not read or not understood: the exit code is 2 then."""
        errors = any(finding.severity == "error" for finding in self.findings)
        is_read = all(one.is_whole for one in (*self.clusters, *self.apart))
        return is_read and not (self.failures or errors or self.left_out)

    @property
    def lists(self) -> dict[str, ResourceList]:
        """Return the final list of each cluster by the cluster's name."""
        return {one.cluster.name: one.final for one in self.clusters}


def rendered(
    context: Context,
    paths: Sequence[str],
    stays: Callable[[ResourceList], bool] | None = None,
    laid: Layout | None = None,
) -> Streams:
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


def laid_out(context: Context, paths: Sequence[str]) -> Layout:
    """Return which clusters the PATHs make. Raises KrmfnError as `layout` does."""
    named = config.named(context.options.cluster) if context.options.cluster else {}
    return layout.layout(paths or ([] if named else ["."]), context.options, named, context.intent.is_root_only)


def _streams(context: Context, laid: Layout, stays: Callable[[ResourceList], bool] | None) -> Streams:
    """Do the work of `rendered`."""
    if laid.config.profiles:
        context = context._replace(profiles=tuple(os.path.relpath(one.real) for one in laid.config.profiles))
    failures, findings = list(laid.failures), list(laid.findings)
    findings += cluster_inputs.in_two(context, laid.clusters) if len(laid.clusters) > 1 else ()
    read = cluster_inputs.read_all(context, laid.clusters)
    failures += [failure for one in read for failure in one.failures]
    findings += [finding for one in read for finding in one.findings]
    has_more = len(read) != 1 or bool(laid.config.clusters) or len(read[0].parts) > 1
    if has_more:
        from . import shared  # here: most runs have one root
    absent = shared.absent_profiles(context, laid.config, read) if has_more else []
    if context.intent.judges_whole and not context.options.function_config:
        cluster_lists.warn_of_nothing(laid.paths, findings, read, _driven_elsewhere(context, absent))
    read, apart = shared.taken_out(context.intent, read, laid.config) if laid.config.clusters else (read, [])
    names, others = [one.cluster.name for one in read], dict[str, Rendered]()
    if context.options.against:
        from . import external

        others = external.read(context, names, [root for one in laid.clusters for root in one.roots], failures)
    if context.options.live:
        from . import live_nodes

        live_nodes.replace_each(context, {one.cluster.name: one.lists for one in read})
    if has_more:
        shared.note_profiles([*read, *apart], laid.config, absent)
    work = partial(cluster_lists.rendered, context, failures, stays)
    made = [work(read[0])] if len(read) == 1 else cluster_inputs.each(context, work, read, "clusters")
    beyond = [work(one) for one in apart]
    for one in (one for one in made if one.is_whole):  # else what could not be read would be reported as missing
        if one.cluster.name in others:
            external.join(context, one, others[one.cluster.name])
        if context.intent.judges_whole:
            judge_final(one.final)
    if has_more:
        made = shared.without_needed(made, laid.config)
        _judge_together(context, laid.config, made, beyond)
    if not (findings or any(one.lists or one.final.reported for one in (*made, *beyond))):
        raise_alike(failures)  # nothing was done for any root
    return Streams(made, findings, failures, laid.config, (*laid.paths,), laid.excluded, theirs=others, apart=beyond)


def _judge_together(context: Context, config: Config, made: Sequence[Rendered], apart: Sequence[Rendered]) -> None:
    """Report what is wrong between the clusters of a repository, its inventories and its Applications."""
    from . import applications, inventories  # here: most runs have one root

    inventories.check([*made, *apart], config, context.intent)
    if config.clusters and context.intent.judges_whole and context.intent.judges_nodes:
        applications.check(made, apart, config)


def _driven_elsewhere(context: Context, absent: Sequence[Item]) -> frozenset[tuple[str, str]]:
    """Return the kinds of the Profiles that stand in another cluster, or in `profiles` of .krmfn.yaml."""
    kinds = driven(absent)
    if context.profiles:
        with suppress(KrmfnError):  # each root that needs them says so
            kinds |= driven(given.profiles_of(context.options, context.profiles))
    return kinds


def nothing(context: Context) -> Streams:
    """Return no cluster, for a command that is about files of its own. Raises KrmfnError for --against, about none."""
    if context.options.against:
        raise KrmfnError("--against needs a PATH to check together with it; pass a PATH, or remove --against")
    return Streams()


def whole(context: Context, paths: Sequence[str]) -> Streams:
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
    clusters = [one for one in streams.clusters if not one.cluster.is_apart] or streams.clusters
    if len(clusters) > 1:
        names = ", ".join(one.cluster.name for one in clusters)
        raise KrmfnError(f"{path} holds {len(clusters)} clusters ({names}); pass the PATH of one of them")
    (one,) = clusters
    one.final.report([*streams.findings, *streams.outside])
    return one.final


def log(context: Context, streams: Streams, notes: Collection[str] = ()) -> None:
    """Write all findings and failures, and what is left out, for a command that prints something else.

    `notes` are the errors that it prints itself, failures among them, in the words of findings.
    """
    log_left_out(context, streams)
    context.log.findings(_but([*streams.findings, *streams.outside], notes))
    context.log.findings(told(context, streams, streams.lists, notes))
    log_failures(context.log, () if notes else streams.failures)


def told(
    context: Context, streams: Streams, lists: Mapping[str, ResourceList], notes: Collection[str] = ()
) -> list[Result]:
    """Return the findings of some of the clusters, but `notes`; of several each once, with those that have it."""
    look_up(context, streams)
    found = {name: _but(resources.results, notes) for name, resources in lists.items()}
    if len(streams.clusters) < 2:
        return [one for results in found.values() for one in results]
    from ..formats import checked, grouped  # late: of one cluster nothing is told for several

    every = (one for name, results in found.items() for one in checked.of_cluster(name, results))
    return grouped.lines(every, streams.lists)


def _but(results: Sequence[Result], notes: Collection[str]) -> Sequence[Result]:
    return [one for one in placed(results) if str(one) not in notes] if notes else results


def look_up(context: Context, streams: Streams) -> None:
    """Have kustomize say where a finding of each list stands, for as many builds at a time as --jobs says.

    It runs once more for a build that was not asked at once (see `builds`); what it says is kept for the others.
    """
    if len(streams.clusters) > 1:  # before they are reported singly
        finals = [one.final for one in streams.clusters]
        lazy = [each for each in finals if any(one.place and one.place.finder for one in each.reported)]
        cluster_inputs.each(context, lambda each: each.results, lazy, "builds looked up", len(lazy))


def log_left_out(context: Context, streams: Streams) -> None:
    """Write what the configuration file leaves out: who reads the output of a pull request did not choose it."""
    if streams.excluded and streams.config.exclude:
        patterns = ", ".join(printable(pattern.text) for pattern in streams.config.exclude)
        context.log.say(f"{streams.config.name} excludes {patterns}")
