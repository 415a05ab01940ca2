"""What of a whole repository concerns krmfn: clusters without anything of ours are counted, neither built nor judged.

Who names a folder asks about it; who names a repository asks what in it concerns krmfn. It is decided before any build,
by the bytes of all files that a build of the roots would read.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from krmfn import KrmfnError, ResourceList, Result, warning
from krmfn.printing import counted, some

from ..command import Context
from ..formats.unjudged import UNREAD
from ..kustomization.graph import NO_GRAPH
from ..paths import manifests
from ..paths.roots import parents, within
from ..rendering.kinds import driven_kinds
from . import beside, engine_words, function_runs, spokes
from .deployed import Cluster, Clusters
from .root_files import files_below, files_of_cluster, files_of_root
from .survey import Root
from .word_reader import Reader

_REPOSITORY = ".git"


def without(context: Context, streams: Clusters) -> Clusters:
    """Return the clusters without those that hold nothing of ours, which are counted.

    It does so where a PATH is a whole repository. A cluster of the configuration file is never left out, nor what is
    below another PATH. Where nothing is left, there is one cluster that holds nothing.
    """
    tops = repositories(streams)
    if not tops or context.options.everything:
        return streams
    reader, streams = _reader(streams), streams._replace(is_repository=True)
    named = [real for real in streams.paths.values() if real not in tops]
    strange, words = _others(context, streams, reader, named)

    def holds(path: str) -> bool:
        return reader.holds(path) or reader.holds(path, words)

    deployments, top = streams.engines.deployments, streams.engines.top
    is_added_to = engine_words.roots(deployments, top, words, lambda *place: any(map(holds, files_below(*place))))
    others = [cluster for cluster in strange if not any(map(is_added_to, cluster.roots))]
    strange = _without_applications(streams, others)
    if context.intent.judges_whole and not words and _has_only_nodes(context, streams, reader, is_added_to):
        strange = [cluster for cluster in streams.clusters if not _is_asked_for(streams, cluster, named)]
    strange_ids = {*map(id, strange)}
    kept = [cluster for cluster in streams.clusters if id(cluster) not in strange_ids]

    def is_ours(root: Root) -> bool:
        is_named = any(within(root.path, path) for path in named)
        return is_named or any(map(holds, files_of_root(root))) or is_added_to(root)

    kept, unbuilt = _divided(streams, kept, is_ours)
    unneeded = (*unbuilt, *(root for cluster in strange for root in cluster.all_roots))
    left_out = {path for root in unneeded for path in files_of_root(root)}.difference(*map(files_of_cluster, kept))
    if not left_out and not strange:
        return streams._replace(clusters=kept)
    findings, named_templates = _findings(streams, kept, reader, words), _templates(streams, kept, holds)
    kept = kept or [_empty(tops[0])]
    streams = streams._replace(clusters=kept, findings=findings, templates=named_templates)
    number = sum(not os.path.isdir(path) for path in left_out)  # a root without files is its folder
    return streams._replace(foreign=number, has_flux=reader.has_flux)


def _reader(streams: Clusters) -> Reader:
    """Return a reader that has the texts that were read already."""
    loose = (file for cluster in streams.clusters for root in cluster.all_roots for file in root.files)
    return Reader({file.real: file.text for file in loose if file.text})


def repositories(streams: Clusters) -> list[str]:
    """Return the PATHs that are whole repositories."""
    return [real for real in streams.paths.values() if os.path.lexists(os.path.join(real, _REPOSITORY))]


def concerns_nobody(context: Context, sides: Sequence[Clusters]) -> Callable[[Root], bool]:
    """Return a function that returns whether a root of one of some sides holds nothing of ours, and gets nothing."""
    reader = Reader()
    words = set[str]().union(*(_others(context, side, reader, [])[1] for side in sides))

    def holds(path: str) -> bool:
        return reader.holds(path) or reader.holds(path, words)

    def is_any_ours(folder: Root, path: str) -> bool:
        return any(map(holds, files_below(folder, path)))

    engines = [side.engines for side in sides]
    added = [engine_words.roots(engine.deployments, engine.top, words, is_any_ours) for engine in engines]
    return lambda root: not (any(map(holds, files_of_root(root))) or any(is_added_to(root) for is_added_to in added))


def _others(context: Context, streams: Clusters, reader: Reader, named: list[str]) -> tuple[list[Cluster], set[str]]:
    """Return the clusters that hold nothing of ours, and the kinds that the Profiles and hubs in any of them add."""
    strange = [cluster for cluster in streams.clusters if not reader.concerns(files_of_cluster(cluster))]
    strange = [cluster for cluster in strange if not _is_asked_for(streams, cluster, named)]
    has_hub = reader.has_hub or spokes.are_of_hubs(_outside(context, streams))
    words = _driven(context, streams, reader.products) | ({spokes.MANAGED[0]} if has_hub else set())
    others = [cluster for cluster in strange if not words or not reader.concerns(files_of_cluster(cluster), words)]
    return others, words


def _empty(top: str) -> Cluster:
    """Return the one cluster of a repository that holds nothing of ours."""
    root = Root("files", os.path.relpath(top), top, NO_GRAPH)
    return Cluster(root.name, (root,), ResourceList())


def _has_only_nodes(context: Context, streams: Clusters, reader: Reader, is_added_to: Callable[[Root], bool]) -> bool:
    """Return True where Nodes are all that a repository has of ours, and nothing elsewhere may be for them."""
    options = context.options
    is_elsewhere = bool(options.against) or options.has_live_nodes
    has_added = any(is_added_to(root) for cluster in streams.clusters for root in cluster.roots)
    return not (reader.has_more or has_added or is_elsewhere)


def _is_asked_for(streams: Clusters, cluster: Cluster, named: Collection[str]) -> bool:
    """Return True for a cluster of the configuration file, of stdin, or with a root below one of some PATHs."""
    if cluster.members or (cluster.is_unassigned and streams.config.clusters):
        return True
    roots = cluster.roots
    return any(root.kind == "stream" or any(within(root.path, path) for path in named) for root in roots)


def _without_applications(streams: Clusters, strange: Sequence[Cluster]) -> list[Cluster]:
    """Return those of some clusters in which no object of an engine deploys a cluster that is not among them."""
    ids = {*map(id, strange)}
    others = (cluster for cluster in streams.clusters if id(cluster) not in ids)
    sources = _sources(streams, {root.path for cluster in others for root in cluster.roots})
    return [cluster for cluster in strange if sources.isdisjoint(files_of_cluster(cluster))]


def _sources(streams: Clusters, folders: Collection[str]) -> set[str]:
    """Return the paths of the files with the engines' objects that deploy some folders."""
    top = streams.engines.top
    declared = (reached.declaration for reached in streams.engines.deployments if reached.real(top) in folders)
    return {os.path.join(top, declaration.file) for declaration in declared}


def _divided(
    streams: Clusters, clusters: Sequence[Cluster], is_ours: Callable[[Root], bool]
) -> tuple[list[Cluster], list[Root]]:
    """Return clusters that know which of their roots are of others, and the roots that need not be built."""
    folders = {root.path for cluster in clusters for root in cluster.roots if is_ours(root)}
    sources = _sources(streams, folders)
    divided = [
        beside.divided(
            c, lambda root: root.path in folders or not sources.isdisjoint(files_of_root(root)), files_of_root
        )
        for c in clusters
    ]
    return [cluster for cluster, _ in divided], [root for _, roots in divided for root in roots]


def _outside(context: Context, streams: Clusters) -> list[str]:
    """Return the files of --function-config, and the Profiles of the configuration file: they count in each cluster."""
    return [*context.options.function_config, *(member.real for member in streams.config.profiles)]


def _knows(reader: Reader, finding: Result) -> bool:
    """Return True for a finding about a file that is there, none of whose words is ours."""
    return _is_at_file(finding) and not reader.holds(_real(finding))


def _is_at_file(finding: Result) -> bool:
    return os.path.isfile(_real(finding))


def _real(finding: Result) -> str:
    """Return the path of the file that a finding is about, without links; "" for none."""
    return os.path.realpath(finding.place.path) if finding.place else ""


def _driven(context: Context, streams: Clusters, products: Sequence[str]) -> set[str]:
    """Return the kinds of the configs that any known Profile is for: one in the files `products`, or a named one."""
    profiles = tuple(os.path.relpath(member.real) for member in streams.config.profiles)
    kinds = set[tuple[str, str]]()
    for path in products:
        with suppress(KrmfnError):  # it is reported when its cluster is read
            kinds |= driven_kinds(manifests.read(path).items)
    with suppress(KrmfnError):  # as above
        kinds |= driven_kinds(function_runs.profiles_of(context.options, profiles))
    return {kind for _, kind in kinds}


def _findings(streams: Clusters, kept: Sequence[Cluster], reader: Reader, words: Collection[str]) -> list[Result]:
    """Return the findings of the survey; those about files of others are one warning that counts them."""
    if not kept:
        rest = [finding for finding in streams.findings if not _knows(reader, finding)]
        # a part that a clone leaves out may hold anything: what is said of it stays
        is_there = [not finding.place or os.path.exists(finding.place.path) for finding in rest]
        gone = [finding for finding, is_present in zip(rest, is_there, strict=True) if not is_present]
        return [*(f for f, is_present in zip(rest, is_there, strict=True) if is_present), *_counted(gone)]
    our_folders = _folders(kept)
    strange_findings = [finding for finding in streams.findings if _is_of_others(finding, our_folders, reader, words)]
    ids = {*map(id, strange_findings)}
    return [*(finding for finding in streams.findings if id(finding) not in ids), *_counted(strange_findings)]


def _templates(streams: Clusters, kept: Sequence[Cluster], holds: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the templates without a kind that stand in folders of ours, or hold one of our words."""
    folders = _folders(kept) if streams.templates else set()
    reals = ((name, os.path.realpath(name)) for name in streams.templates)
    return tuple(name for name, real in reals if os.path.dirname(real) in folders or holds(real))


def _folders(clusters: Sequence[Cluster]) -> set[str]:
    """Return the folders in which, or below which, the files of some clusters stand."""
    paths = {path for cluster in clusters for path in files_of_cluster(cluster)}
    return {folder for path in paths for folder in parents(os.path.dirname(path))}


def _is_of_others(finding: Result, our_folders: Collection[str], reader: Reader, words: Collection[str]) -> bool:
    """Return True for an error about a file that no cluster of ours has, and in which none of our words stands."""
    if finding.severity != "error" or not finding.place or not _knows(reader, finding):
        return False
    real = os.path.realpath(finding.place.path)
    return os.path.dirname(real) not in our_folders and not reader.concerns([real], words)


def _counted(findings: Iterable[Result]) -> Iterator[Result]:
    """Yield one warning for what cannot be read in files that do not concern krmfn."""
    errors = [finding for finding in findings if finding.severity == "error" and finding.place]
    names = [*dict.fromkeys(os.path.normpath(finding.place.path) for finding in errors if finding.place)]
    if names:
        subject = "this cannot be read" if len(names) == 1 else f"{counted(len(names), 'file')} cannot be read"
        listed = f" ({some(names, len(names))})" if names[1:] else ""
        message = f"{subject}, and nothing in it is krmfn's{listed}"
        yield warning(
            message,
            rule="KRM534",
            place=errors[0].place,
            tags=((UNREAD, "\n".join(names)),),
            remedy=f"add it to `exclude` in .krmfn.yaml: [{names[0]}]",
        )
