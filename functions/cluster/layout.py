"""Which roots make a cluster: each makes its own, unless the configuration file or --cluster joins several."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain

from krmfn import ResourceList
from krmfn.errors import KrmfnError
from krmfn.findings import in_order
from krmfn.results import Field, Result, error, warning

from .. import oracles
from ..formats.checked import NAMES
from ..kustomization.calls import ENTRY_POINTS, Ours
from ..kustomization.graph import NO_GRAPH
from ..options import RunOptions
from ..paths import manifests
from ..paths.disk import relative
from ..paths.excludes import excluder
from ..paths.failures import Failure, failure_of
from ..paths.roots import parents, within
from ..rule import Rule
from . import assignment, config, config_names, engines, not_taken, unread
from . import survey as surveys
from .config import Config, Member
from .deployed import Cluster, Clusters
from .generated_roots import Generator
from .survey import Root, Survey

RULES = (
    *config.RULES,
    *engines.RULES,
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
        held=oracles.OUR_FILES,
    ),
)


Named = Mapping[str, Sequence[Member]]
"""The paths of clusters by the clusters' names."""
Reals = Mapping[str, str]
"""The PATHs, each with its real path; - has itself."""
Surveyor = Callable[[str], Survey]
"""Returns the survey of a PATH."""


def layout(
    paths: Sequence[str],
    options: RunOptions,
    named: dict[str, list[str]],
    as_root: bool = False,
    is_old: bool = False,
) -> Clusters:
    """Return the clusters of some PATHs and those in `named` (--cluster), which go before the configuration file.

    A PATH that holds nothing is a cluster, too. With an error in the configuration file there are no clusters, since
    nobody knows which ones are meant. `as_root`: see `survey`. `is_old`: the PATHs are a former state, in which a
    configuration file with another name is no error: a change that renames it is to be seen.
    Raises KrmfnError for paths of two repositories that both have a configuration file, and for stdin twice.
    """
    if list(paths).count("-") > 1:
        raise KrmfnError("- appears twice among the PATHs, but stdin can be read only once")
    reals = {path: path if path == "-" else os.path.realpath(path) for path in chain(paths, *named.values())}
    settings, findings = config_names.configuration(reals, options.root, is_old)
    if any(finding.severity == "error" for finding in findings):
        return Clusters([], findings, settings, paths=reals)
    tops = frozenset(reals.values())
    members = _relevant(settings.clusters, tops) if settings.clusters else {}
    members |= {name: tuple(Member(path, os.path.realpath(path)) for path in texts) for name, texts in named.items()}
    marks = tops.union(member.real for cluster in members.values() for member in cluster)
    left_out = options.written.union(_dumps(options, members))
    exclude = excluder((*(pattern.text for pattern in settings.exclude), *options.exclude), left_out)
    ours = Ours(frozenset(ENTRY_POINTS), options.function_image, _version)
    engine_objects = engines.of_paths(reals, options, exclude, ours)
    # what is named decides, and else the objects of engines
    is_root = as_root and any(manifests.kustomization_in(real) for real in tops)
    engines_decide = not (settings.clusters or named or is_root)
    deployed = engine_objects.folders if engines_decide else frozenset[str]()
    surveyor = partial(surveys.survey, ours=ours, root=options.root, exclude=exclude, marks=marks | deployed)
    by_path, failures = _survey_all(reals, partial(surveyor, as_root=as_root, deployed=deployed))
    roots: dict[tuple[str, str], Root] = {}  # PATHs may lie within each other
    for root in (root for survey in by_path.values() for root in survey.roots):
        roots.setdefault((root.kind, root.path), root)
    clusters, rest, others = list[Cluster](), list(roots.values()), list[Survey]()
    if members:
        clusters, rest, others = _join(members, rest, reals, surveyor, findings, failures)
    elif deployed:
        is_absolute = any(map(os.path.isabs, reals))
        generator = None if as_root else Generator(ours, options.root, is_absolute, exclude)
        clusters, rest = assignment.assign(engine_objects, rest, tops, is_absolute, generator)
    everything = (*by_path.values(), *others)
    findings += [finding for survey in everything for finding in survey.findings]
    findings += unread.missing_submodules(everything, tops, [*chain(*members.values())], as_root)
    findings += unread.configs_in_charts(everything)
    findings += engines.findings(engine_objects, tops, engines_decide)
    if deployed:
        clusters, of_files = not_taken.settled(engine_objects, clusters, rest, [*tops])
        findings += of_files
    findings += config.unused_patterns(settings, tops) if settings.exclude else ()
    empty = [path for path, survey in by_path.items() if not survey.roots and path in paths]
    rest += [Root("files", os.path.normpath(path), reals[path], NO_GRAPH) for path in empty]
    clusters += _apart(rest, {cluster.name for cluster in clusters}, settings)
    excluded = {file for survey in everything for file in survey.excluded}
    findings = in_order(dict.fromkeys(findings))
    streams = Clusters(clusters, findings, settings, failures, frozenset(excluded), paths=reals)
    names = dict.fromkeys(name for survey in everything for name in survey.templates)
    return streams._replace(engines=engine_objects, templates=tuple(names))


def _dumps(options: RunOptions, members: Mapping[str, Sequence[Member]]) -> Iterator[str]:
    """Yield the dumps that are not Git's: one that the clusters list is an inventory of theirs, too."""
    reals = [member.real for cluster in members.values() for member in cluster]
    yield from (path for path in options.dumps if not any(within(path, real) for real in reals))


def _apart(roots: Sequence[Root], names: Collection[str], settings: Config) -> Iterator[Cluster]:
    """Yield a cluster for each root that nothing deploys; `names` are those of the other clusters.

    With clusters in the configuration file loose files at the top of the repository, or above it, are in none.
    """
    for root in roots:
        is_unassigned = bool(settings.clusters) and root.kind == "files" and within(settings.folder, root.path)
        name = f"./{root.name}" if root.name in names else root.name
        yield Cluster(name, (root,), ResourceList(), is_unassigned=is_unassigned)


def _survey_all(paths: Iterable[str], surveyor: Surveyor) -> tuple[dict[str, Survey], list[Failure]]:
    """Return the survey of each path, and the paths that do not exist or may not be read."""
    by_path: dict[str, Survey] = {}
    failures: list[Failure] = []
    for path in paths:
        try:
            by_path[path] = surveyor(path)
        except KrmfnError as failure:
            failures.append(failure_of(path, failure))
    return by_path, failures


def _relevant(named: Named, paths: Collection[str]) -> dict[str, Sequence[Member]]:
    """Return the clusters with a member that is above, at or below one of the (real) paths.

    Others are passed over: a stale line of another cluster must not stop these.
    """
    above = {folder for path in paths for folder in parents(path)}
    reals = {name: [member.real for member in members] for name, members in named.items()}
    names = (name for name in named if any(real in above or _is_below(real, paths) for real in reals[name]))
    return {name: named[name] for name in names}


def _is_below(path: str, folders: Collection[str]) -> bool:
    return any(folder in folders for folder in parents(path))


def _join(
    named: Named, roots: list[Root], reals: Reals, surveyor: Surveyor, findings: list[Result], failures: list[Failure]
) -> tuple[list[Cluster], list[Root], list[Survey]]:
    """Return the clusters that are named, the roots in none of them, and the surveys of members outside of all PATHs.

    What is wrong with members goes to `findings` and `failures`.
    """
    by_name: dict[str, list[Root]] = {name: [] for name in named}
    rest: list[Root] = []
    folders = {name: frozenset(member.real for member in members) for name, members in named.items()}
    for root in roots:
        names = [name for name in named if root.path and _is_below(root.path, folders[name])]
        for name in names:
            by_name[name].append(root)
        rest += [] if names else [root]
    paths = frozenset(reals.values())
    findings += _absent(named, by_name, paths, {failure.path for failure in failures})
    clusters = [Cluster(name, (*part,), ResourceList(), (*named[name],)) for name, part in by_name.items() if part]
    members = (member for cluster in clusters for member in cluster.members if not member.problem)
    outside = [real for real in dict.fromkeys(member.real for member in members) if not _is_below(real, paths)]
    start = "" if any(map(os.path.isabs, reals)) else os.getcwd()
    by_path, unread = _survey_all([relative(path, start) for path in outside], surveyor)
    failures += unread
    surveyed = {os.path.realpath(path): survey.roots for path, survey in by_path.items()}
    clusters = [_with_outside(cluster, surveyed, paths, findings) for cluster in clusters]
    return clusters, rest, list(by_path.values())


def _absent(named: Named, roots: Mapping[str, Sequence[Root]], paths: Set[str], failed: Set[str]) -> Iterator[Result]:
    """Yield an error for each member of a cluster that cannot be read, or holds no root.

    `roots` are those of each cluster by its name; `failed` are the PATHs with an error of their own.
    """
    for name, members in named.items():
        for at, member in enumerate(members):
            if member.problem:
                message, field = f"{member.text}: {member.problem}", Field(f"clusters.{name}[{at}]")
                yield error(message, rule="KRM522", field=field, place=member.place, tags=((NAMES, name),))
                continue
            has_root = any(within(root.path, member.real) for root in roots[name])
            is_reported = member.place is None and member.text in failed
            if not has_root and not is_reported and _is_below(member.real, paths):
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
        others = [root for root in roots or () if not _is_below(root.path, paths)]
        outside = {root.path: (member, root) for root in others if root.kind == "files"} | outside
        if any(root.kind != "files" for root in others):
            findings.append(not_among_paths(member, cluster.name))
        elif roots == []:
            findings.append(_holds_nothing(member, cluster.name))
    return cluster._replace(outside=tuple(outside.values()))


def _holds_nothing(member: Member, cluster: str) -> Result:
    message = f"{member.text} holds nothing that would reach the cluster {cluster}"
    return error(message, rule="KRM522", place=member.place, tags=((NAMES, cluster),))


def not_among_paths(member: Member, cluster: str) -> Result:
    """Return the warning about a part of a cluster that gives objects and is not checked."""
    message = f"{member.text} also belongs to the cluster {cluster}, but is not among the PATHs"
    return warning(message, rule="KRM522", place=member.place)


def _version() -> str:
    from importlib.metadata import version  # imported here: it takes 10 ms, and few kustomizations name one

    return version("krmfn")
