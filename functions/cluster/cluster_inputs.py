"""What each cluster holds: its roots read and built, before the function runs."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from krmfn import Item, KrmfnError, ResourceList, Result, error, warning
from krmfn.streams import read_stdin
from krmfn.typed import TypeVar

from ..command import Context
from ..deployments.substitution import NO_FINISH
from ..formats.checked import NAMES
from ..grouping import grouped
from ..kustomization.documents import unreadable
from ..paths import manifests
from ..paths.failures import Failure, Unreadable, failure_of
from ..paths.roots import within
from ..paths.templates import Template
from ..paths.workers import in_threads, processors
from ..rendering.kinds import COUNTING, NODES, PROFILE, driven_kinds, of_kinds
from ..run import PassedOver, note, run_of
from . import finishing
from .deployed import Cluster, Clusters, is_local
from .members import not_among_paths
from .survey import Root

T = TypeVar("T")
R = TypeVar("R")
_JOBS = 8
"""How many kustomizations are built at a time, at most, unless --jobs says so."""


def work_through(context: Context, work: Callable[[T], R], values: Sequence[T], noun: str, builds: int = 0) -> list[R]:
    """Return the results of `work` on several values, in their order, and show the progress in a line.

    With several `builds` among them, as many run at a time as --jobs says. `noun` is what the line counts.
    """
    jobs = 1 if builds <= 1 else context.options.jobs or min(_JOBS, processors())
    from .progress import progress  # imported here, as below: most runs have one value and do not come here

    with progress(context.log, len(values), noun) as step:

        def counted(value: T) -> R:
            result = work(value)
            step()
            return result

        if jobs == 1:
            return [counted(value) for value in values]
        from ..kustomization import process, sandbox

        with sandbox.many():  # threads: they wait for kustomize
            return in_threads(jobs, counted, values, process.end_all)


def read_clusters(context: Context, streams: Clusters) -> Clusters:
    """Return the clusters with what their roots hold; what cannot be read is a failure, or a finding."""
    findings, failures, clusters = [*streams.findings], [*streams.failures], streams.clusters
    if len(clusters) > 1:
        findings += _shared_roots(context, clusters)
        builds = sum(root.kind == "kustomization" for cluster in clusters for root in cluster.roots)
        clusters = work_through(context, partial(read_cluster, context), clusters, "clusters read", builds)
    else:
        clusters = [read_cluster(context, cluster) for cluster in clusters]
    for cluster in clusters:
        findings += cluster.findings
        failures += cluster.failures
    return streams._replace(clusters=clusters, findings=findings, failures=failures, sources=context.sources)


def read_cluster(context: Context, cluster: Cluster) -> Cluster:
    """Return a cluster with what its roots hold; its loose files are read as one root.

    Loose files below no PATH count only where they give no objects; otherwise there is a warning about their member.
    """
    ours = [root for root in cluster.roots if root.path not in cluster.beside]
    loose, findings = [root for root in ours if root.kind == "files"], dict[str, Result]()
    for member, root in cluster.outside:
        if _holds_only(read(context, [root])[0], COUNTING | {PROFILE}):
            loose = sorted([*loose, root], key=lambda root: root.path)
        else:
            findings[member.text] = not_among_paths(member, cluster.name)
    groups = [[root] for root in ours if root.kind != "files"] + ([loose] if loose else [])
    parts, failures, side, is_whole = list[tuple[str, ResourceList]](), list[Failure](), None, True
    for roots in groups:
        name = roots[0].name if len(roots) == 1 else cluster.name
        try:
            resources, is_sound = read(context, roots)
            if not context.intent.reads_nodes:
                resources.items = [item for item in resources.items if (item.group, item.kind) not in NODES]
        except KrmfnError as failure:
            failures.append(failure_of(name, failure)._replace(cluster=cluster.name))
            if roots[0].kind == "kustomization" and failures[-1].findings and context.intent.reads_blocked:
                from . import blocked  # imported here: few roots are

                resources = blocked.plain(roots[0])
                failures[-1] = blocked.with_words(failures[-1], resources)
                parts += [(name, resources)] if resources.items else []
            continue
        is_whole = is_whole and is_sound
        if roots is loose and len(groups) > 1 and _holds_only(resources, COUNTING | {PROFILE}):
            side = resources
        else:
            parts.append((name, resources))
    if cluster.beside:
        cluster = _with_others(context, cluster, parts)
    cluster = cluster._replace(parts=parts, side=side, findings=[*findings.values()])
    is_blocked = is_whole and any(failure.is_blocked for failure in failures)
    is_blocked = is_blocked and all(failure.is_blocked for failure in failures)
    return cluster._replace(failures=failures, is_whole=is_whole and not failures, is_blocked=is_blocked)


def _with_others(context: Context, cluster: Cluster, parts: list[tuple[str, ResourceList]]) -> Cluster:
    """Read the roots of others into `parts`, and return the cluster with what is wrong with them."""
    from . import beside  # imported here: most clusters have none

    trouble = list[Result]()
    for root in cluster.roots:
        if root.path in cluster.beside:
            try:
                resources = read(context, [root])[0]
                problems = beside.problems(context.sources.placed(resources.results), root.name)
                parts.append((root.name, beside.of_others(resources)))
            except KrmfnError as failure:
                problems = beside.not_read(failure, root.name)
            trouble += problems
    return cluster._replace(trouble=trouble)


def _holds_only(resources: ResourceList, kinds: Collection[tuple[str, str]]) -> bool:
    return all((item.group, item.kind) in kinds for item in resources.items)


def _shared_roots(context: Context, clusters: Sequence[Cluster]) -> list[Result]:
    """Return an error for each root of loose files with nodes that several clusters have: a node is in one cluster."""
    by_path = [(cluster, {root.path: root for root in cluster.roots if root.path}) for cluster in clusters]
    owners = grouped((path, (root, cluster)) for cluster, roots in by_path for path, root in roots.items())
    findings = []
    for path, pairs in owners.items():
        root, last = pairs[-1]
        if len(pairs) < 2 or root.kind != "files" or not of_kinds(read(context, [root])[0].items, NODES):
            continue
        names = [cluster.name for _, cluster in pairs]
        place = next((member.place for member in last.members if within(path, member.real)), None)
        message = (
            f"{root.name} belongs to the clusters {' and '.join(names)}, so it is not known which of them has its nodes"
        )
        tags, remedy = ((NAMES, "\n".join(names)),), "give each cluster an inventory of its own"
        findings.append(error(message, rule="KRM522", place=place, tags=tags, remedy=remedy))
    return findings


def read(context: Context, roots: Sequence[Root]) -> tuple[ResourceList, bool]:
    """Return the resources of a root, or of several roots of loose files, and whether all files could be read.

    A kustomization is built. Of the files beside it, inventories count, and a functionConfig unless the kustomization
    calls the function itself; for the others there are warnings. Each file that cannot be read is a finding.
    Raises KrmfnError for a root of which nothing can be read.
    """
    first = roots[0]
    if first.kind == "stream":
        return manifests.read("-", read_stdin("the PATH - reads resources from stdin")), True
    beside, is_whole = _read_files(context, roots)
    if first.kind != "kustomization":
        return beside, is_whole
    resources = _built(context, first)
    finishing.finish(resources.items, first)
    # a kustomization that calls the function names its functionConfig there
    kinds = NODES if run_of(resources).is_settled else COUNTING
    others = [item for item in beside.items if (item.group, item.kind) not in kinds]
    resources.items += [item for item in beside.items if (item.group, item.kind) in kinds]
    resources.report(beside.results)
    note(resources, passed_over=run_of(beside).passed_over)
    for product in (item for item in others if (item.group, item.kind) == PROFILE):
        file = product.place.path if product.place else product.name
        reason = f"{file} has a Profile for this kind, but no kustomization lists it"
        reasons = dict.fromkeys(driven_kinds([product]), (reason, "list it under `resources`"))
        note(resources, elsewhere={**run_of(resources).elsewhere, **reasons}, has_ours=True)
    message = "no kustomization lists it, so it is not deployed{}"
    remedy = "list the file under `resources`, or move it"
    deployable = [item for item in others if not is_local(item)]
    resources.report(unlisted_files(deployable, lambda _, rest: (message.format(rest), remedy)))
    return resources, is_whole


def _built(context: Context, root: Root) -> ResourceList:
    """Return what kustomize builds of a root. Raises KrmfnError when it fails, also with what an engine adds."""
    from ..kustomization import builds  # imported here: most folders need no kustomize

    try:
        return builds.build(context.options, context.sources, root.name, root.path, root.graph)
    except Unreadable:
        raise
    except KrmfnError as failure:
        if not root.editor:
            raise
        # a new error: clusters that share a build share the failure
        raise KrmfnError(failure, f"(built with what {root.editor} adds)") from failure


def _read_files(context: Context, roots: Sequence[Root]) -> tuple[ResourceList, bool]:
    """Return what the files of some roots hold, and whether all of them could be read."""
    joined, is_whole, passed_over = ResourceList(), True, list[PassedOver]()
    in_full, unchecked = context.in_full, context.unchecked
    for root in roots:
        is_named = [file.real for file in root.files] == [root.path]
        if is_named:  # by the user: it may be a pipe, or /dev/null
            name = root.files[0].name
            try:
                resources, failures = manifests.read(name, None, context.options.root, in_full, unchecked), {}
            except KrmfnError as failure:
                resources, failures = ResourceList(), {os.path.normpath(name): failure}
        else:
            resources, failures = manifests.read_files(root.files, in_full, unchecked)
        # of the files beside a kustomization nothing is deployed
        finishing.finish(resources.items, root._replace(finish=NO_FINISH) if root.kind == "kustomization" else root)
        joined.items += resources.items
        joined.function_config = joined.function_config or resources.function_config
        joined.report(resources.results)
        passed_over += run_of(resources).passed_over
        others = {} if is_named else {file: reason for file, reason in failures.items() if isinstance(reason, Template)}
        passed_over += [PassedOver(file, reason.text, reason.sentence, reason.line) for file, reason in others.items()]
        wrong = {file: reason for file, reason in failures.items() if file not in others}
        joined.report(unreadable(reason, file, "KRM523") for file, reason in wrong.items())
        is_whole = is_whole and not wrong
    packages = tuple(root.name for root in roots if root.kind == "package")
    note(joined, packages=packages, passed_over=tuple(passed_over))
    return joined, is_whole


def unlisted_files(items: Iterable[Item], message: Callable[[Item, str], tuple[str, str]]) -> Iterator[Result]:
    """Yield a warning for each file with items that are not deployed.

    `message` makes its text and its remedy of the first item of the file, and of words that say how many others are
    there.
    """
    for first, *others in grouped((item.place.path if item.place else "", item) for item in items).values():
        rest = f" (nor {'is' if len(others) == 1 else 'are'} {len(others):,} more in this file)" if others else ""
        text, remedy = message(first, rest)
        yield first.located(warning(text, rule="KRM524", remedy=remedy))
