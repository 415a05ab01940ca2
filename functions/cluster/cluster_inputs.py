"""What each cluster holds: its roots read and built, before the function runs."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from krmfn import Item, KrmfnError, ResourceList, Result, error, warning
from krmfn.streams import read_stdin
from krmfn.typed import TypeVar

from ..command import Context
from ..formats.checked import NAMES
from ..grouping import grouped
from ..kustomization.documents import unreadable
from ..options import RunOptions
from ..paths import manifests
from ..paths.failures import Failure, failure_of
from ..paths.roots import within
from ..paths.workers import processors
from ..rendering.kinds import CONFIG, COUNTING, NODES, PROFILE, driven_kinds
from ..run import note, run_of
from .deployed import Cluster, is_local
from .layout import not_given
from .survey import Root

T = TypeVar("T")
R = TypeVar("R")
_JOBS = 8
"""How many kustomizations are built at a time, at most, unless --jobs says so."""


def each(context: Context, work: Callable[[T], R], every: Sequence[T], noun: str, builds: int = 0) -> list[R]:
    """Return what `work` makes of each, in their order; with several `builds` as many at a time as --jobs says."""
    if len(every) < 2:
        return [work(one) for one in every]
    jobs = 1 if builds <= 1 else context.options.jobs or min(_JOBS, processors())
    from .progress import progress  # here, as below: one cluster is the usual case

    with progress(context.log, len(every), noun) as step:

        def counted(one: T) -> R:
            made = work(one)
            step()
            return made

        if jobs == 1:
            return [counted(one) for one in every]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(jobs) as pool:  # threads: they wait for kustomize
            try:
                return list(pool.map(counted, every))
            except KeyboardInterrupt:
                from ..kustomization import process

                process.end_all()
                raise


def filled(context: Context, cluster: Cluster) -> Cluster:
    """Return a cluster with what its roots hold, loose files as one.

    Those below no PATH count where they give no objects, and have a warning where they do.
    """
    loose, findings = [root for root in cluster.roots if root.kind == "files"], dict[str, Result]()
    for member, root in cluster.outside:
        if _holds_only(read(context, [root])[0], COUNTING | {PROFILE}):
            loose = sorted([*loose, root], key=lambda root: root.path)
        else:
            findings[member.text] = not_given(member, cluster.name)
    groups = [[root] for root in cluster.roots if root.kind != "files"] + ([loose] if loose else [])
    parts, failures, side, is_whole = list[tuple[str, ResourceList]](), list[Failure](), None, True
    for roots in groups:
        name = roots[0].name if len(roots) == 1 else cluster.name
        try:
            resources, is_sound = read(context, roots)
            if not context.intent.reads_nodes:
                resources.items = [item for item in resources.items if (item.group, item.kind) not in NODES]
        except KrmfnError as failure:
            failures.append(failure_of(name, failure)._replace(cluster=cluster.name))
            continue
        is_whole = is_whole and is_sound
        if roots is loose and len(groups) > 1 and _holds_only(resources, COUNTING | {PROFILE}):
            side = resources
        else:
            parts.append((name, resources))
    is_whole = is_whole and not failures
    found = [*findings.values()]
    return cluster._replace(parts=parts, side=side, failures=failures, findings=found, is_whole=is_whole)


def _holds_only(resources: ResourceList, kinds: Collection[tuple[str, str]]) -> bool:
    return all((item.group, item.kind) in kinds for item in resources.items)


def in_two(context: Context, clusters: Sequence[Cluster]) -> list[Result]:
    """Return an error for each root that two clusters have, unless it holds what may be shared: a functionConfig."""
    held = ((one, {root.path: root for root in one.roots if root.path}) for one in clusters)
    owners = grouped((path, (root, one)) for one, roots in held for path, root in roots.items())
    findings = []
    for path, every in owners.items():
        root, last = every[-1]
        is_shared = len(every) > 1
        if not is_shared or (root.kind == "files" and _holds_only(read(context, [root])[0], (CONFIG, PROFILE))):
            continue
        names = [one.name for _, one in every]
        member = next((one for one in last.members if within(path, one.real)), None)
        message = (
            f"{root.name} belongs to the clusters {' and '.join(names)}: which of them its objects or nodes are "
            "in is not known; give each cluster a folder of its own that lists what they share"
        )
        tags = ((NAMES, "\n".join(names)),)
        findings.append(error(message, rule="KRM522", place=member and member.place, tags=tags))
    return findings


def read(context: Context, roots: Sequence[Root]) -> tuple[ResourceList, bool]:
    """Return the resources of a root, or of several that are loose files, and whether all of their files can be read.

    A kustomization is built first; what lies beside it counts when it is not meant for the cluster: inventories, and a
    functionConfig unless the kustomization calls the function itself. Each file that cannot be read is a finding.
    Raises KrmfnError for a root of which nothing can be read.
    """
    first = roots[0]
    if first.kind == "stream":
        return manifests.read("-", read_stdin("the PATH - reads resources from stdin")), True
    beside, is_whole = _of_files(roots, context.options, context.in_full)
    if first.kind != "kustomization":
        return beside, is_whole
    from ..kustomization import builds  # here: most folders need no kustomize, nor what runs it

    resources = builds.built(context.options, first.name, first.path, first.graph)
    # a kustomization that calls the function names the functionConfig, too
    kinds_there = NODES if run_of(resources).is_settled else COUNTING
    others = [item for item in beside.items if (item.group, item.kind) not in kinds_there]
    resources.items += [item for item in beside.items if (item.group, item.kind) in kinds_there]
    resources.report(beside.results)
    for product in (item for item in others if (item.group, item.kind) == PROFILE):
        file = product.place.path if product.place else product.name
        why = f"{file} has a Profile for this kind, but no kustomization lists it; list it under `resources`"
        whys = dict.fromkeys(driven_kinds([product]), why)
        note(resources, elsewhere={**run_of(resources).elsewhere, **whys}, has_ours=True)
    message = "no kustomization lists it, so it is not deployed{}; list the file under `resources`, or move it"
    resources.report(unlisted([item for item in others if not is_local(item)], lambda _, more: message.format(more)))
    return resources, is_whole


def _of_files(roots: Sequence[Root], options: RunOptions, in_full: bool) -> tuple[ResourceList, bool]:
    """Return what the files of some roots hold, and whether all of them can be read."""
    whole, is_whole, number = ResourceList(), True, 0
    for root in roots:
        if [file.real for file in root.files] == [root.path]:  # it was named: it may be a pipe, or /dev/null
            name = root.files[0].name
            try:
                held, failures = manifests.read(name, root=options.root, in_full=in_full), {}
            except KrmfnError as failure:
                held, failures = ResourceList(), {os.path.normpath(name): failure}
        else:
            held, failures = manifests.read_files(root.files, in_full)
        whole.items += held.items
        number += run_of(held).files
        whole.function_config = whole.function_config or held.function_config
        whole.report(held.results)
        whole.report(unreadable(failure, file, "KRM523") for file, failure in failures.items())
        is_whole = is_whole and not failures
    note(whole, files=number, packages=tuple(root.name for root in roots if root.kind == "package"))
    return whole, is_whole


def unlisted(items: Iterable[Item], message: Callable[[Item, str], str]) -> Iterator[Result]:
    """Yield a warning for each file with something that is not deployed.

    `message` is given a file's first item, and words about how many more there are.
    """
    for first, *more in grouped((item.place.path if item.place else "", item) for item in items).values():
        others = f" (nor {'is' if len(more) == 1 else 'are'} {len(more):,} more in this file)" if more else ""
        yield first.located(warning(message(first, others), rule="KRM524"))
