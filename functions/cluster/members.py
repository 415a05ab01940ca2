"""Clusters that the configuration file or --cluster names: the roots in them, and members outside of all PATHs."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from krmfn import ResourceList
from krmfn.errors import KrmfnError
from krmfn.results import Field, Result, error, warning
from krmfn.typed import NamedTuple

from ..formats.checked import NAMES
from ..paths.disk import relative
from ..paths.failures import Failure, failure_of
from ..paths.roots import parents, within
from .config import Member
from .deployed import Cluster
from .survey import Root, Scope, Survey, survey

Named = Mapping[str, Sequence[Member]]
"""The paths of clusters by the clusters' names."""
Reals = Mapping[str, str]
"""The PATHs, each with its real path; - has itself."""
_CORRECT = "correct the path, or remove it from the list"


class Divided(NamedTuple):
    """The clusters that somebody names, and what is left."""

    clusters: list[Cluster]
    rest: list[Root]
    """The roots in none of them."""
    surveys: list[Survey]
    """What was surveyed for it."""
    findings: list[Result]
    failures: list[Failure]


def survey_each(paths: Iterable[str], scope: Scope) -> tuple[dict[str, Survey], list[Failure]]:
    """Return the survey of each path, and the paths that do not exist or may not be read."""
    by_path: dict[str, Survey] = {}
    failures: list[Failure] = []
    for path in paths:
        try:
            by_path[path] = survey(path, scope)
        except KrmfnError as failure:
            failures.append(failure_of(path, failure))
    return by_path, failures


def join(named: Named, roots: Sequence[Root], reals: Reals, scope: Scope, failed: Collection[str]) -> Divided:
    """Return the clusters that are named, with their members; `failed` are the PATHs with an error of their own."""
    by_name, rest = _by_member(named, roots)
    paths = frozenset(reals.values())
    findings = [*_absent(named, by_name, paths, failed)]
    clusters = [Cluster(name, (*part,), ResourceList(), (*named[name],)) for name, part in by_name.items() if part]
    members = (member for cluster in clusters for member in cluster.members if not member.problem)
    outside = [real for real in dict.fromkeys(member.real for member in members) if not is_below(real, paths)]
    start = "" if any(map(os.path.isabs, reals)) else os.getcwd()
    inner = scope._replace(as_root=False, deployed=())
    by_path, failures = survey_each([relative(path, start) for path in outside], inner)
    surveyed = {os.path.realpath(path): survey.roots for path, survey in by_path.items()}
    clusters = [_with_outside(cluster, surveyed, paths, findings) for cluster in clusters]
    return Divided(clusters, rest, [*by_path.values()], findings, failures)


def _by_member(named: Named, roots: Sequence[Root]) -> tuple[dict[str, list[Root]], list[Root]]:
    """Return the roots of each cluster by its name, and the roots in none."""
    by_name: dict[str, list[Root]] = {name: [] for name in named}
    rest: list[Root] = []
    folders = {name: frozenset(member.real for member in members) for name, members in named.items()}
    for root in roots:
        names = [name for name in named if root.path and is_below(root.path, folders[name])]
        for name in names:
            by_name[name].append(root)
        rest += [] if names else [root]
    return by_name, rest


def is_below(path: str, folders: Collection[str]) -> bool:
    """Return True for one of some folders, and for what is below one."""
    return any(folder in folders for folder in parents(path))


def _absent(
    named: Named, roots: Mapping[str, Sequence[Root]], paths: Set[str], failed: Collection[str]
) -> Iterator[Result]:
    """Yield an error for each member of a cluster that cannot be read, or holds no root.

    `roots` are those of each cluster by its name; `failed` are the PATHs with an error of their own.
    """
    for name, members in named.items():
        for at, member in enumerate(members):
            if member.problem:
                message, hint = member.problem.after(f"{member.text}: ")
                field, tags, remedy = Field(f"clusters.{name}[{at}]"), ((NAMES, name),), hint or _CORRECT
                yield error(message, rule="KRM522", field=field, place=member.place, tags=tags, remedy=remedy)
                continue
            has_root = any(within(root.path, member.real) for root in roots[name])
            is_reported = member.place is None and member.text in failed
            if not has_root and not is_reported and is_below(member.real, paths):
                yield _holds_nothing(member, name)


def _with_outside(
    cluster: Cluster, surveyed: Mapping[str, Sequence[Root]], paths: Collection[str], findings: list[Result]
) -> Cluster:
    """Return a cluster with the loose files of its members outside of all PATHs.

    `surveyed` has the roots of each of these members by its real path. What is wrong with a member goes to `findings`.
    """
    outside: dict[str, tuple[Member, Root]] = {}
    for member in cluster.members:
        roots = surveyed.get(member.real)
        others = [root for root in roots or () if not is_below(root.path, paths)]
        outside = {root.path: (member, root) for root in others if root.kind == "files"} | outside
        if any(root.kind != "files" for root in others):
            findings.append(not_among_paths(member, cluster.name))
        elif roots == []:
            findings.append(_holds_nothing(member, cluster.name))
    return cluster._replace(outside=tuple(outside.values()))


def _holds_nothing(member: Member, cluster: str) -> Result:
    message = f"{member.text} holds nothing that would reach the cluster {cluster}"
    tags, remedy = ((NAMES, cluster),), _CORRECT
    return error(message, rule="KRM522", place=member.place, tags=tags, remedy=remedy)


def not_among_paths(member: Member, cluster: str) -> Result:
    """Return the warning about a part of a cluster that gives objects and is not checked."""
    message = f"{member.text} also belongs to the cluster {cluster}, but is not among the PATHs"
    return warning(message, rule="KRM522", place=member.place, remedy="pass it as a PATH, too")
