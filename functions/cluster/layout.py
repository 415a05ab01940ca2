"""Which roots make a cluster: each its own, unless the configuration file or --cluster joins several."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from krmfn.errors import KrmfnError
from krmfn.results import Result, error, in_order, warning
from krmfn.rule import Rule

from ..kustomization.calls import ENTRY_POINTS, Ours
from ..kustomization.graph import NO_GRAPH
from ..options import RunOptions
from ..paths import roots
from ..paths.disk import within
from ..paths.excludes import Excludes, excluder
from ..paths.failures import Failure, failure_of
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


def parse(text: str) -> tuple[str, list[str]]:
    """Return the name and the paths of an option `--cluster NAME=PATH,PATH`. Raises KrmfnError for another form."""
    name, sign, paths = text.partition("=")
    parts = [part for part in paths.split(",") if part]
    if not name or not sign or not parts:
        raise KrmfnError(f"--cluster {text!r} must be NAME=PATH or NAME=PATH,PATH")
    return name, parts


def named(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the paths of each cluster by its name, from options --cluster. Raises KrmfnError for a name twice."""
    found: dict[str, list[str]] = {}
    for name, paths in map(parse, texts):
        if name in found:
            both = ",".join((*found[name], *paths))
            raise KrmfnError(
                f"--cluster names {name} twice; give one of the two clusters another name, or write "
                f"--cluster {name}={both} if they are one"
            )
        found[name] = paths
    return found


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
    if any(finding.rule == "KRM521" for finding in findings):
        return Layout([], findings, settings)
    joined = dict(settings.clusters)
    joined |= {name: tuple(Member(path, os.path.realpath(path)) for path in members) for name, members in named.items()}
    marks = {member.real for members in joined.values() for member in members}
    marks |= {os.path.realpath(path) for path in every if path != "-"}
    patterns = (*(pattern.text for pattern in settings.exclude), *exclude.patterns)
    is_excluded = excluder(exclude._replace(patterns=patterns))
    surveyed, failures = _surveyed(every, lambda path: surveys.survey(path, ours, root, is_excluded, marks, itself))
    findings += [finding for survey in surveyed.values() for finding in survey.findings]
    excluded = {file for survey in surveyed.values() for file in survey.excluded}
    seen: dict[tuple[str, str], Root] = {}  # PATHs may lie within each other
    for one in (one for survey in surveyed.values() for one in survey.roots):
        seen.setdefault((one.kind, one.path), one)
    clusters, lonely = _joined(joined, list(seen.values()))
    lonely += [_empty(path) for path, survey in surveyed.items() if not survey.roots and path in paths]
    failed = {failure.path for failure in failures}
    real = [os.path.realpath(path) for path in every if path != "-"]
    findings += _absent(joined, clusters, real, failed)
    findings += config.unused(settings, real)
    taken = {cluster.name for cluster in clusters}
    clusters += [Cluster(f"./{one.name}" if one.name in taken else one.name, (one,)) for one in lonely]
    return Layout(clusters, in_order(dict.fromkeys(findings)), settings, failures, len(excluded))


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
    """Return the one configuration file of the repositories that hold the paths."""
    folders: dict[str, bool] = {}
    for path in paths:
        if path != "-":
            folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
            folders.setdefault(roots.root_of(folder, root) or os.path.realpath(folder), os.path.isabs(path))
    read = [config.read(folder, absolute) for folder, absolute in folders.items()]
    present = [one for one in read if one[0].name]
    if len(present) > 1:
        names = " and ".join(settings.name for settings, _ in present)
        raise KrmfnError(f"{names} both define clusters; pass the PATHs of one repository at a time")
    return present[0] if present else (Config(), [])


def _joined(named: Mapping[str, Sequence[Member]], every: Sequence[Root]) -> tuple[list[Cluster], list[Root]]:
    """Return the clusters that are named, and the roots that are in none of them."""
    clusters: list[Cluster] = []
    lonely = list(every)
    for name, members in named.items():
        parts = [one for one in every if any(within(one.path, member.real) for member in members if one.path)]
        if parts:
            clusters.append(Cluster(name, tuple(parts)))
            lonely = [one for one in lonely if one not in parts]
    return clusters, lonely


def _absent(
    named: Mapping[str, Sequence[Member]], clusters: Sequence[Cluster], paths: Sequence[str], failed: Collection[str]
) -> list[Result]:
    """Return a finding for each path of a cluster that holds no root, or that is not among the PATHs.

    Of an option's path that has `failed` it is said already.
    """
    findings: list[Result] = []
    by_name = {cluster.name: cluster for cluster in clusters}
    for name, members in named.items():
        cluster = by_name.get(name)
        for member in members:
            is_there = cluster and any(within(one.path, member.real) for one in cluster.roots)
            if is_there or (member.place is None and member.text in failed):
                continue
            if any(within(member.real, path) for path in paths):
                message = f"{member.text} holds nothing that would reach the cluster {name}"
                findings.append(error(message, rule="KRM522", place=member.place))
            elif cluster:
                message = f"{member.text} also belongs to the cluster {name}, but is not among the PATHs"
                findings.append(warning(message, rule="KRM522", place=member.place))
    return findings


def ours(options: RunOptions) -> Ours:
    """Return the programs that a kustomization may call."""
    return Ours(frozenset(ENTRY_POINTS), options.function_image, _version)


def _version() -> str:
    from importlib.metadata import version  # here: it takes 10 ms, and few kustomizations name one

    return version("krmfn")
