"""Which roots make a cluster: each its own, unless the configuration file or --cluster joins several."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from krmfn.errors import KrmfnError
from krmfn.results import Field, Result, error, in_order, warning
from krmfn.rule import Rule
from krmfn.typed import NamedTuple

from ..formats.checked import NAMES
from ..kustomization.calls import ENTRY_POINTS, Ours
from ..kustomization.graph import NO_GRAPH
from ..options import RunOptions
from ..paths import roots
from ..paths.disk import shown
from ..paths.excludes import Excludes, excluder
from ..paths.failures import Failure, failure_of
from ..paths.roots import within
from . import config
from . import survey as surveys
from .config import Config, Member
from .survey import Root, Survey

RULES = (
    *config.RULES,
    Rule(
        "KRM523",
        "a file must exist, be a regular file and be valid YAML; a link must not lead out of the folder that may be "
        "read",
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


class Cluster(NamedTuple):
    """What reaches one cluster: exclusivity, duplicates, references and inventories are judged in it."""

    name: str
    """As the configuration file or --cluster calls it; for a root of its own the root's name."""
    roots: tuple[Root, ...]
    members: tuple[Member, ...] = ()
    """The paths by which the roots belong to it; none for a root of its own."""
    outside: tuple[tuple[Member, Root], ...] = ()
    """Loose files that belong to it and are not below a PATH: they count where they give no objects."""


class Layout(NamedTuple):
    """The clusters that some PATHs make."""

    clusters: list[Cluster]
    findings: list[Result]
    """What is wrong with the configuration file and with files outside of all roots."""
    config: Config
    failures: list[Failure] = []  # noqa: RUF012  # read only
    """The PATHs that are not there or may not be read."""
    excluded: int = 0
    """How many files were left out by `exclude`."""
    paths: tuple[str, ...] = ()
    """The PATHs, those of --cluster among them."""


def layout(
    paths: Sequence[str],
    ours: Ours,
    root: str | None = None,
    named: Mapping[str, Sequence[str]] | None = None,
    exclude: Excludes = Excludes(),  # noqa: B008  # a value
    itself: bool = False,
) -> Layout:
    """Return the clusters of some PATHs and of those that `named` (--cluster) joins; it goes before the file.

    `root` is what --root names, `exclude` what --exclude does, `itself` see `survey`. A PATH that holds nothing is a
    cluster, too, of nothing. With an error in the configuration file there are no clusters: which ones are meant is not
    known. Raises KrmfnError for paths of two repositories that both have a configuration file, and for stdin twice.
    """
    if list(paths).count("-") > 1:
        raise KrmfnError("- appears twice among the PATHs, but stdin can be read only once")
    named = named or {}
    every = list(dict.fromkeys([*paths, *(path for members in named.values() for path in members)]))
    settings, findings = _config(every, root)
    if any(finding.severity == "error" for finding in findings):
        return Layout([], findings, settings, paths=tuple(every))
    real = [os.path.realpath(path) for path in every if path != "-"]
    joined = {name: members for name, members in settings.clusters.items() if _is_about(members, real)}
    joined |= {name: tuple(Member(path, os.path.realpath(path)) for path in members) for name, members in named.items()}
    marks = {member.real for members in joined.values() for member in members} | {*real}
    patterns = (*(pattern.text for pattern in settings.exclude), *exclude.patterns)
    is_excluded = excluder(exclude._replace(patterns=patterns))
    surveyed, failures = _surveyed(every, lambda path: surveys.survey(path, ours, root, is_excluded, marks, itself))
    seen: dict[tuple[str, str], Root] = {}  # PATHs may lie within each other
    for one in (one for survey in surveyed.values() for one in survey.roots):
        seen.setdefault((one.kind, one.path), one)
    clusters, lonely, both = list[Cluster](), list(seen.values()), list(surveyed.values())
    if joined:
        clusters, lonely = _joined(joined, lonely)
        findings += _absent(joined, clusters, real, {failure.path for failure in failures})
        away = _away(clusters, real, "" if any(map(os.path.isabs, every)) else os.path.realpath(os.curdir))
        others, unread = _surveyed([*away], lambda path: surveys.survey(path, ours, root, is_excluded, marks))
        by_real = {away[path]: held for path, held in others.items()}
        pairs = [_with_outside(one, by_real, real) for one in clusters]
        clusters = [one for one, _ in pairs]
        findings += [finding for _, found in pairs for finding in found]
        failures, both = [*failures, *unread], [*both, *others.values()]
    lonely += [_empty(path) for path, survey in surveyed.items() if not survey.roots and path in paths]
    findings += [finding for survey in both for finding in survey.findings]
    findings += config.unused(settings, real) if settings.exclude else ()
    taken = {cluster.name for cluster in clusters}
    clusters += [Cluster(f"./{one.name}" if one.name in taken else one.name, (one,)) for one in lonely]
    excluded = {file for survey in both for file in survey.excluded}
    return Layout(clusters, in_order(dict.fromkeys(findings)), settings, failures, len(excluded), tuple(every))


def _surveyed(paths: Sequence[str], survey: Callable[[str], Survey]) -> tuple[dict[str, Survey], list[Failure]]:
    """Return what is below each path, and the paths that are not there or may not be read."""
    surveyed: dict[str, Survey] = {}
    failures: list[Failure] = []
    for path in paths:
        try:
            surveyed[path] = survey(path)
        except KrmfnError as failure:
            failures.append(failure_of(path, failure))
    return surveyed, failures


def _empty(path: str) -> Root:
    """Return the root of a PATH that holds nothing."""
    return Root("files", os.path.normpath(path), os.path.realpath(path), NO_GRAPH)


def _config(paths: Sequence[str], root: str | None) -> tuple[Config, list[Result]]:
    """Return the one configuration file of the repositories that hold the paths, and what is wrong with it."""
    folders: dict[str, bool] = {}
    aside: dict[str, None] = {}
    for path in paths:
        if path != "-":
            folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
            top = roots.root_of(folder, root) or folder
            folders.setdefault(top, os.path.isabs(path))
            while len(folder) > len(top):
                if os.path.lexists(file := os.path.join(folder, config.NAME)):
                    aside[file if os.path.isabs(path) else os.path.relpath(file)] = None
                folder = os.path.dirname(folder)
    read = [config.read(folder, absolute) for folder, absolute in folders.items()]
    present = [one for one in read if one[0].name]
    if len(present) > 1:
        names = " and ".join(settings.name for settings, _ in present)
        raise KrmfnError(f"{names} both define clusters; pass the PATHs of one repository at a time")
    settings, findings = present[0] if present else (Config(), [])
    return settings, [*findings, *map(config.not_read, aside)]


def _is_about(members: Sequence[Member], paths: Sequence[str]) -> bool:
    """Return True when a cluster's entry is about some (real) paths: what it says of others is none of their business.

    Another cluster's stale line must not stop this one.
    """
    return any(within(member.real, path) or within(path, member.real) for member in members for path in paths)


def _joined(named: Mapping[str, Sequence[Member]], every: Sequence[Root]) -> tuple[list[Cluster], list[Root]]:
    """Return the clusters that are named, and the roots that are in none of them."""
    clusters: list[Cluster] = []
    taken: set[int] = set()
    for name, members in named.items():
        parts = [one for one in every if any(within(one.path, member.real) for member in members if one.path)]
        if parts:
            clusters.append(Cluster(name, tuple(parts), tuple(members)))
            taken |= set(map(id, parts))
    return clusters, [one for one in every if id(one) not in taken]


def _absent(
    named: Mapping[str, Sequence[Member]], clusters: Sequence[Cluster], paths: Sequence[str], failed: Collection[str]
) -> Iterator[Result]:
    """Yield an error for each path of a cluster that cannot be read, or that holds no root.

    Of an option's path that has `failed` it is said already.
    """
    by_name = {cluster.name: cluster for cluster in clusters}
    for name, members in named.items():
        for at, member in enumerate(members):
            if member.problem:
                message, field = f"{member.text}: {member.problem}", Field(f"clusters.{name}[{at}]")
                yield error(message, rule="KRM522", field=field, place=member.place, tags=((NAMES, name),))
                continue
            roots = by_name[name].roots if name in by_name else ()
            is_there = any(within(one.path, member.real) for one in roots)
            if is_there or (member.place is None and member.text in failed):
                continue
            if any(within(member.real, path) for path in paths):
                yield _holds_nothing(member, name)


def _away(clusters: Sequence[Cluster], paths: Sequence[str], here: str) -> dict[str, str]:
    """Return the members that are below no PATH, as people are shown them, and their real paths."""
    every = (member for one in clusters for member in one.members if not member.problem)
    reals = dict.fromkeys(member.real for member in every)
    return {shown(real, here): real for real in reals if not any(within(real, path) for path in paths)}


def _with_outside(
    cluster: Cluster, surveyed: Mapping[str, Survey], paths: Sequence[str]
) -> tuple[Cluster, list[Result]]:
    """Return a cluster with the loose files of members that are below no PATH, and what is wrong with such members."""
    outside: dict[str, tuple[Member, Root]] = {}
    findings: list[Result] = []
    for member in cluster.members:
        held = surveyed[member.real].roots if member.real in surveyed else None
        beyond = [root for root in held or () if not any(within(root.path, path) for path in paths)]
        outside = {root.path: (member, root) for root in beyond if root.kind == "files"} | outside
        if any(root.kind != "files" for root in beyond):
            findings.append(not_given(member, cluster.name))
        elif held == []:
            findings.append(_holds_nothing(member, cluster.name))
    return cluster._replace(outside=tuple(outside.values())), findings


def _holds_nothing(member: Member, cluster: str) -> Result:
    message = f"{member.text} holds nothing that would reach the cluster {cluster}"
    return error(message, rule="KRM522", place=member.place, tags=((NAMES, cluster),))


def not_given(member: Member, cluster: str) -> Result:
    """Return the warning about a part of a cluster that gives objects and is not looked at."""
    message = f"{member.text} also belongs to the cluster {cluster}, but is not among the PATHs"
    return warning(message, rule="KRM522", place=member.place)


def ours(options: RunOptions) -> Ours:
    """Return the programs that a kustomization may call."""
    return Ours(frozenset(ENTRY_POINTS), options.function_image, _version)


def _version() -> str:
    from importlib.metadata import version  # here: it takes 10 ms, and few kustomizations name one

    return version("krmfn")
