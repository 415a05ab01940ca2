"""What each cluster holds: its roots read and built, before the function runs."""

import os
from collections.abc import Callable, Sequence
from functools import partial

from krmfn.errors import KrmfnError
from krmfn.resourcelist import ResourceList
from krmfn.results import Result, error, placed
from krmfn.typed import NamedTuple, TypeVar

from ..command import Context
from ..formats.checked import NAMES
from ..paths.failures import Failure, failure_of
from ..paths.roots import parents, within
from ..paths.workers import processors
from ..rendering.kinds import CONFIG, COUNTING, NODES, PROFILE
from . import inputs
from .inputs import Read
from .layout import Cluster, not_given
from .survey import Root

T = TypeVar("T")
R = TypeVar("R")
_JOBS = 8
"""How many kustomizations are built at a time, at most, unless --jobs says so."""


class Inputs(NamedTuple):
    """What was read for one cluster."""

    cluster: Cluster
    parts: list[Read]
    """What the function runs on, one by one."""
    side: Read | None
    """Loose files that hold nothing but inventories and functionConfigs: they count for each of the parts."""
    failures: list[Failure]
    is_whole: bool
    findings: Sequence[Result] = ()
    """What is wrong with the cluster's entry in the configuration file."""

    @property
    def lists(self) -> list[ResourceList]:
        """Return the lists of all that was read."""
        return [part.resources for part in (*self.parts, *filter(None, [self.side]))]


def read_all(context: Context, every: Sequence[Cluster]) -> list[Inputs]:
    """Return what each cluster's roots hold, in their order; kustomize builds as many at a time as --jobs says."""
    builds = sum(root.kind == "kustomization" for cluster in every for root in cluster.roots)
    return each(context, partial(_read, context), every, "clusters read", builds)


def look_up(context: Context, lists: Sequence[ResourceList]) -> None:
    """Have kustomize say where a finding of each list stands, for as many builds at a time as --jobs says.

    It runs once more for a build that was not asked at once (see `builds`); what it says is kept for the others.
    """
    lazy = (next((one for one in each.results if one.place and one.place.finder), None) for each in lists)
    found = [one for one in lazy if one]
    each(context, lambda one: placed([one]), found, "builds looked up", len(found))


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


def _read(context: Context, cluster: Cluster) -> Inputs:
    """Return what the roots of a cluster hold, loose files as one."""
    outside, findings = _outside(context, cluster) if cluster.outside else ((), ())
    loose = [root for root in cluster.roots if root.kind == "files"]
    loose = sorted([*loose, *outside], key=lambda root: root.path) if outside else loose
    groups = [[root] for root in cluster.roots if root.kind != "files"] + ([loose] if loose else [])
    parts: list[Read] = []
    failures: list[Failure] = []
    side: Read | None = None
    for roots in groups:
        name = roots[0].name if len(roots) == 1 else cluster.name
        try:
            read = inputs.read(context.options, roots, name, context.in_full)
            if not context.intent.reads_nodes:
                held = read.resources.items
                held[:] = [item for item in held if (item.group, item.kind) not in NODES]
        except KrmfnError as failure:
            failures.append(failure_of(name, failure)._replace(cluster=cluster.name))
            continue
        if roots is loose and len(groups) > 1 and _only_counts(read.resources):
            side = read
        else:
            parts.append(read)
    every = [*parts, side] if side else parts
    return Inputs(cluster, parts, side, failures, not failures and all(one.is_whole for one in every), findings)


def _outside(context: Context, cluster: Cluster) -> tuple[list[Root], list[Result]]:
    """Return the loose files below no PATH that count for a cluster, and a warning for a member that gives objects."""
    kept: list[Root] = []
    findings: dict[str, Result] = {}
    for member, root in cluster.outside:
        if _only_counts(inputs.read(context.options, [root], root.name, context.in_full).resources):
            kept.append(root)
        else:
            findings[member.text] = not_given(member, cluster.name)
    return kept, list(findings.values())


def in_two(context: Context, clusters: Sequence[Cluster]) -> list[Result]:
    """Return an error for each root that two clusters have, unless it holds what may be shared: a functionConfig."""
    owners: dict[str, list[Cluster]] = {}
    roots = {root.path: root for cluster in clusters for root in cluster.roots if root.path}
    for cluster in clusters:
        for path in dict.fromkeys(root.path for root in cluster.roots):
            owners.setdefault(path, []).append(cluster)
    findings = []
    for path, every in owners.items():
        if len(every) == 1 or _is_shared(context, roots[path]):
            continue
        names = [one.name for one in every]
        member = next((one for one in every[-1].members if within(path, one.real)), None)
        message = (
            f"{roots[path].name} belongs to the clusters {' and '.join(names)}: which of them its objects or nodes are "
            "in is not known; give each cluster a folder of its own that lists what they share"
        )
        tags = ((NAMES, "\n".join(names)),)
        findings.append(error(message, rule="KRM522", place=member and member.place, tags=tags))
    return findings


def _is_shared(context: Context, root: Root) -> bool:
    if root.kind != "files":
        return False
    held = inputs.read(context.options, [root], root.name, context.in_full).resources.items
    return all((item.group, item.kind) in (CONFIG, PROFILE) for item in held)


def _only_counts(resources: ResourceList) -> bool:
    """Return True when a list holds nothing that is deployed and nothing that something is made from."""
    return all((item.group, item.kind) in COUNTING | {PROFILE} for item in resources.items)


def warn_of_nothing(context: Context, paths: Sequence[str], read: Sequence[Inputs]) -> None:
    """Report each PATH below which there is nothing for the function; a root without any is none of its business."""
    below: dict[str, list[Inputs]] = {}
    for one in read:
        tops = dict[str, None]()
        for root in one.cluster.roots:
            tops |= dict.fromkeys(parents(root.path) if root.path else ("-",))
        for top in tops:
            below.setdefault(top, []).append(one)
    for path in paths:
        held = below.get(path if path == "-" else os.path.realpath(path), ())
        lists = [resources for one in held for resources in one.lists]
        if lists:
            lists[0].report(inputs.nothing_of_ours(context.options, path, lists))
