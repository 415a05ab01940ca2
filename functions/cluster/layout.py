"""Which roots make a cluster: each its own, unless the configuration file or --cluster joins several."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial

from krmfn import ResourceList
from krmfn.errors import KrmfnError
from krmfn.results import Field, Result, Rule, error, in_order, warning

from ..formats.checked import NAMES
from ..kustomization.calls import ENTRY_POINTS, Ours
from ..kustomization.graph import NO_GRAPH
from ..options import RunOptions
from ..paths import roots
from ..paths.disk import relative
from ..paths.excludes import excluder
from ..paths.failures import Failure, failure_of
from ..paths.roots import parents, within
from . import config
from . import survey as surveys
from .config import Config, Member
from .deployed import Cluster, Clusters
from .survey import Root, Survey

RULES = (
    *config.RULES,
    Rule(
        "KRM523",
        "a file must exist, be a regular file and be valid YAML; a link must not lead out of the folder that may be "
        "read; no .argocd-source.yaml may be there",
        good="""\
# app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: app, namespace: kmm}
""",
        bad="""\
# app.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: app
""",
        remedy="Correct the line, remove the link, or name a larger folder with --root; check out what a sparse "
        "checkout, a submodule or Git LFS leaves out, or skip it with --exclude.",
    ),
)


Named = Mapping[str, Sequence[Member]]
"""The paths of clusters by the clusters' names."""
Look = Callable[[str], Survey]
"""What surveys a PATH."""


def layout(
    paths: Sequence[str], options: RunOptions, named: Mapping[str, Sequence[str]], itself: bool = False
) -> Clusters:
    """Return the clusters of some PATHs and of those that `named` (--cluster) joins; it goes before the file.

    `itself`: see `survey`. A PATH that holds nothing is a cluster, too, of nothing. With an error in the file there are
    no clusters: which ones are meant is not known.
    Raises KrmfnError for paths of two repositories that both have a configuration file, and for stdin twice.
    """
    if list(paths).count("-") > 1:
        raise KrmfnError("- appears twice among the PATHs, but stdin can be read only once")
    every = {path: path for path in [*paths, *(path for members in named.values() for path in members)]}
    every |= {path: os.path.realpath(path) for path in every if path != "-"}
    settings, findings = _config(every, options.root)
    if any(finding.severity == "error" for finding in findings):
        return Clusters([], findings, settings, paths=every)
    real = frozenset(every.values())
    joined = _about(settings.clusters, real) if settings.clusters else {}
    joined |= {name: tuple(Member(path, os.path.realpath(path)) for path in members) for name, members in named.items()}
    marks = real.union(member.real for members in joined.values() for member in members)
    exclude = excluder((*(pattern.text for pattern in settings.exclude), *options.exclude), options.written)
    ours = Ours(frozenset(ENTRY_POINTS), options.function_image, _version)
    look = partial(surveys.survey, ours=ours, root=options.root, exclude=exclude, marks=marks)
    surveyed, failures = _surveyed(every, partial(look, itself=itself))
    seen: dict[tuple[str, str], Root] = {}  # PATHs may lie within each other
    for one in (one for survey in surveyed.values() for one in survey.roots):
        seen.setdefault((one.kind, one.path), one)
    clusters, lonely, others = list[Cluster](), list(seen.values()), list[Survey]()
    if joined:
        clusters, lonely, others = _joined(joined, lonely, every, look, findings, failures)
    findings += [finding for survey in (*surveyed.values(), *others) for finding in survey.findings]
    findings += config.unused(settings, real) if settings.exclude else ()
    empty = [path for path, survey in surveyed.items() if not survey.roots and path in paths]
    lonely += [Root("files", os.path.normpath(path), every[path], NO_GRAPH) for path in empty]
    taken = {cluster.name for cluster in clusters}
    for one in lonely:  # with the repository below it, a root of files is what no kustomization lists either
        is_apart = bool(settings.clusters) and one.kind == "files" and within(settings.folder, one.path)
        name = f"./{one.name}" if one.name in taken else one.name
        clusters.append(Cluster(name, (one,), ResourceList(), is_apart=is_apart))
    excluded = {file for survey in (*surveyed.values(), *others) for file in survey.excluded}
    return Clusters(clusters, in_order(dict.fromkeys(findings)), settings, failures, len(excluded), every)


def _surveyed(paths: Iterable[str], survey: Look) -> tuple[dict[str, Survey], list[Failure]]:
    """Return what is below each path, and the paths that are not there or may not be read."""
    surveyed: dict[str, Survey] = {}
    failures: list[Failure] = []
    for path in paths:
        try:
            surveyed[path] = survey(path)
        except KrmfnError as failure:
            failures.append(failure_of(path, failure))
    return surveyed, failures


def _config(paths: Mapping[str, str], root: str | None) -> tuple[Config, list[Result]]:
    """Return the one configuration file of the repositories that hold the paths, and what is wrong with it."""
    folders: dict[str, bool] = {}
    aside: dict[str, None] = {}
    for path, real in paths.items():
        if path != "-":
            folder = real if os.path.isdir(real) else os.path.realpath(os.path.dirname(path) or ".")
            top = roots.root_of(folder, root) or folder
            folders.setdefault(top, os.path.isabs(path))
            files = (os.path.join(above, config.NAME) for above in parents(folder) if len(above) > len(top))
            for file in filter(os.path.lexists, files):
                aside[file if os.path.isabs(path) else os.path.relpath(file)] = None
    read = [config.read(folder, absolute) for folder, absolute in folders.items()]
    present = [one for one in read if one[0].name] or [(Config(), [])]
    if len(present) > 1:
        names = " and ".join(settings.name for settings, _ in present)
        raise KrmfnError(f"{names} both define clusters; pass the PATHs of one repository at a time")
    [(settings, findings)] = present
    return settings, [*findings, *map(config.not_read, aside)]


def _about(named: Named, paths: Collection[str]) -> dict[str, Sequence[Member]]:
    """Return the clusters that are about some (real) paths: another cluster's stale line must not stop this one."""
    above = {folder for path in paths for folder in parents(path)}
    pairs = ((name, [one.real for one in members]) for name, members in named.items())
    about = {name for name, reals in pairs if any(real in above or _is_below(real, paths) for real in reals)}
    return {name: members for name, members in named.items() if name in about}


def _is_below(path: str, folders: Collection[str]) -> bool:
    return any(folder in folders for folder in parents(path))


def _joined(
    named: Named, every: list[Root], names: Mapping[str, str], look: Look, wrong: list[Result], unread: list[Failure]
) -> tuple[list[Cluster], list[Root], list[Survey]]:
    """Return the clusters that are named, the roots that are in none of them, and what is below members elsewhere.

    `names` are the PATHs, and `look` surveys one; what is wrong with members goes to `wrong` and `unread`.
    """
    held: dict[str, list[Root]] = {name: [] for name in named}
    lonely: list[Root] = []
    reals = {name: frozenset(member.real for member in members) for name, members in named.items()}
    for one in every:
        of_one = [name for name, folders in reals.items() if one.path and _is_below(one.path, folders)]
        for name in of_one:
            held[name].append(one)
        lonely += [] if of_one else [one]
    paths = frozenset(names.values())
    wrong += _absent(named, held, paths, {failure.path for failure in unread})
    clusters = [Cluster(name, (*own,), ResourceList(), (*named[name],)) for name, own in held.items() if own]
    members = (member for one in clusters for member in one.members if not member.problem)
    away = [real for real in dict.fromkeys(member.real for member in members) if not _is_below(real, paths)]
    here = "" if any(map(os.path.isabs, names)) else os.getcwd()
    surveyed, failures = _surveyed([relative(path, here) for path in away], look)
    unread += failures
    beyond = {os.path.realpath(path): survey.roots for path, survey in surveyed.items()}
    clusters = [_with_outside(one, beyond, paths, wrong) for one in clusters]
    return clusters, lonely, list(surveyed.values())


def _absent(named: Named, held: Mapping[str, Sequence[Root]], paths: Set[str], failed: Set[str]) -> Iterator[Result]:
    """Yield an error for each path of a cluster that cannot be read, or holds no root; not of those that `failed`."""
    for name, members in named.items():
        for at, member in enumerate(members):
            if member.problem:
                message, field = f"{member.text}: {member.problem}", Field(f"clusters.{name}[{at}]")
                yield error(message, rule="KRM522", field=field, place=member.place, tags=((NAMES, name),))
                continue
            is_there = any(within(one.path, member.real) for one in held[name])
            is_said = member.place is None and member.text in failed
            if not is_there and not is_said and _is_below(member.real, paths):
                yield _holds_nothing(member, name)


def _with_outside(
    cluster: Cluster, surveyed: Mapping[str, Sequence[Root]], paths: Collection[str], findings: list[Result]
) -> Cluster:
    """Return a cluster with the loose files of members that are below no PATH; what is wrong with these is a finding.

    `surveyed` has the roots of each of these members by its real path.
    """
    outside: dict[str, tuple[Member, Root]] = {}
    for member in cluster.members:
        held = surveyed.get(member.real)
        beyond = [root for root in held or () if not _is_below(root.path, paths)]
        outside = {root.path: (member, root) for root in beyond if root.kind == "files"} | outside
        if any(root.kind != "files" for root in beyond):
            findings.append(not_given(member, cluster.name))
        elif held == []:
            findings.append(_holds_nothing(member, cluster.name))
    return cluster._replace(outside=tuple(outside.values()))


def _holds_nothing(member: Member, cluster: str) -> Result:
    message = f"{member.text} holds nothing that would reach the cluster {cluster}"
    return error(message, rule="KRM522", place=member.place, tags=((NAMES, cluster),))


def not_given(member: Member, cluster: str) -> Result:
    """Return the warning about a part of a cluster that gives objects and is not looked at."""
    message = f"{member.text} also belongs to the cluster {cluster}, but is not among the PATHs"
    return warning(message, rule="KRM522", place=member.place)


def _version() -> str:
    from importlib.metadata import version  # here: it takes 10 ms, and few kustomizations name one

    return version("krmfn")
