"""Which roots make a cluster: each makes its own, unless the configuration file, --cluster or engines join several."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from krmfn import ResourceList
from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from .. import VERSION, oracles
from ..finding import in_order
from ..kustomization.calls import ENTRY_POINTS, Ours
from ..kustomization.graph import NO_GRAPH
from ..options import RunOptions
from ..paths import manifests
from ..paths.excludes import excluder
from ..paths.roots import parents, within
from ..rule import Rule
from . import asides, assignment, config, config_names, engines, not_taken, unread
from .config import Config, Member
from .deployed import Cluster, Clusters
from .engine_files import Seen
from .engines import Engines
from .generated_roots import Generator
from .members import Divided, Named, Reals, is_below, join, survey_each
from .survey import Root, Scope, Survey

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


class _Request(NamedTuple):
    """What is asked for, and who decides which roots make a cluster."""

    reals: Reals
    settings: Config
    members: Named
    """The clusters of the configuration file that the PATHs touch, and those of --cluster: they decide."""
    engines: Engines
    scope: Scope

    @property
    def tops(self) -> frozenset[str]:
        """Return the real PATHs."""
        return frozenset(self.reals.values())

    @property
    def is_absolute(self) -> bool:
        """Return whether files are named by absolute paths."""
        return any(map(os.path.isabs, self.reals))


def layout(
    paths: Sequence[str],
    options: RunOptions,
    named: dict[str, list[str]],
    as_root: bool = False,
    is_old: bool = False,
) -> Clusters:
    """Return the clusters of some PATHs and those in `named` (--cluster), which go before the configuration file.

    A PATH that holds nothing is a cluster, too. With an error in the configuration file there are no clusters, since
    nobody knows which ones are meant. `as_root`: see `Scope`. `is_old`: the PATHs are a former state, in which a
    configuration file with another name is no error: a change that renames it is to be seen.
    Raises KrmfnError for paths of two repositories that both have a configuration file, and for stdin twice.
    """
    if list(paths).count("-") > 1:
        raise KrmfnError("- appears twice among the PATHs, but stdin can be read only once")
    reals = {path: path if path == "-" else os.path.realpath(path) for path in chain(paths, *named.values())}
    settings, findings = config_names.configuration(reals, options.root, is_old)
    if any(finding.severity == "error" for finding in findings):
        return Clusters([], findings, settings, paths=reals)
    request = _request_of(reals, settings, named, options, as_root)
    by_path, failures = survey_each(reals, request.scope)
    divided = _divided(request, by_path, {failure.path for failure in failures})
    findings += divided.findings
    findings += config.unused_patterns(settings, request.tops) if settings.exclude else ()
    empty = [path for path, survey in by_path.items() if not survey.roots and path in paths]
    empty_roots = [Root("files", os.path.normpath(path), reals[path], NO_GRAPH) for path in empty]
    names = {cluster.name for cluster in divided.clusters}
    return Clusters(
        [*divided.clusters, *_apart([*divided.rest, *empty_roots], names, request)],
        in_order(dict.fromkeys(findings)),
        settings,
        [*failures, *divided.failures],
        frozenset(file for survey in divided.surveys for file in survey.excluded),
        tuple(dict.fromkeys(name for survey in divided.surveys for name in survey.templates)),
        paths=reals,
        engines=request.engines,
    )


def _request_of(
    reals: Reals, settings: Config, named: Mapping[str, Sequence[str]], options: RunOptions, as_root: bool
) -> _Request:
    """Return what is asked for: what is named decides, and else the objects of engines."""
    tops = frozenset(reals.values())
    members = _relevant(settings.clusters, tops) if settings.clusters else {}
    members |= {name: tuple(Member(path, os.path.realpath(path)) for path in texts) for name, texts in named.items()}
    left_out = options.written.union(_dumps(options, members))
    exclude = excluder((*(pattern.text for pattern in settings.exclude), *options.exclude), left_out)
    ours = Ours(frozenset(ENTRY_POINTS), options.function_image, VERSION)
    seen = Seen(tops)
    engine_objects = engines.of_paths(reals, options, exclude, ours, seen)
    is_root = as_root and any(manifests.kustomization_in(real) for real in tops)
    engine_objects = engine_objects._replace(decide=not (settings.clusters or named or is_root))
    deployed = engine_objects.folders if engine_objects.decide else _unlisted(engine_objects, settings)
    marks = tops.union(deployed, (member.real for cluster in members.values() for member in cluster))
    scope = Scope(ours, options.root, exclude, marks, deployed, as_root, seen.texts)
    return _Request(reals, settings, members, engine_objects, scope)


def _unlisted(objects: Engines, settings: Config) -> frozenset[str]:
    """Return the folders that engines deploy and no cluster of the configuration file has: each is judged apart."""
    reals = {member.real for members in settings.clusters.values() for member in members}
    return frozenset(folder for folder in objects.folders if reals and not is_below(folder, reals))


def _dumps(options: RunOptions, members: Named) -> Iterator[str]:
    """Yield the dumps that are not Git's: one that the clusters list is an inventory of theirs, too."""
    reals = [member.real for cluster in members.values() for member in cluster]
    yield from (path for path in options.dumps if not any(within(path, real) for real in reals))


def _divided(request: _Request, by_path: Mapping[str, Survey], failed: Collection[str]) -> Divided:
    """Return the clusters that somebody names, and the rest; `failed` are the PATHs that cannot be surveyed."""
    by_place: dict[tuple[str, str], Root] = {}  # PATHs may lie within each other
    for root in (root for survey in by_path.values() for root in survey.roots):
        by_place.setdefault((root.kind, root.path), root)
    divided = Divided([], [*by_place.values()], [], [], [])
    scope = request.scope
    if request.members:
        divided = join(request.members, divided.rest, request.reals, scope, failed)
    elif request.engines.decide and scope.deployed:
        generator = None if scope.as_root else Generator(scope.ours, scope.root, request.is_absolute, scope.exclude)
        assigned = assignment.assign(request.engines, divided.rest, request.tops, request.is_absolute, generator)
        divided = Divided(*assigned, [], [], [])
    surveys = [*by_path.values(), *divided.surveys]
    findings = [*divided.findings, *(finding for survey in surveys for finding in survey.findings)]
    findings += unread.missing_submodules(surveys, request.tops, [*chain(*request.members.values())], scope.as_root)
    findings += unread.configs_in_charts(surveys)
    findings += engines.findings(request.engines, request.tops)
    clusters = divided.clusters
    if request.engines.decide and scope.deployed:
        clusters, of_files = not_taken.settled(request.engines, clusters, divided.rest, [*request.tops])
        findings += of_files
    return Divided(clusters, divided.rest, surveys, findings, divided.failures)


def _apart(roots: Sequence[Root], names: Collection[str], request: _Request) -> Iterator[Cluster]:
    """Yield a cluster for each root that nothing deploys; `names` are those of the other clusters.

    With clusters in the configuration file loose files at the top of the repository, or above it, are in none. Without
    them that is so where all that they hold is about the other clusters.
    """
    settings, has_others = request.settings, len(roots) + len(names) > 1
    for root in roots:
        if settings.clusters:
            is_unassigned = root.kind == "files" and within(settings.folder, root.path)
        else:
            is_unassigned = has_others and asides.is_aside(root, request.engines.top)
        name = f"./{root.name}" if root.name in names else root.name
        yield Cluster(name, (root,), ResourceList(), is_unassigned=is_unassigned)


def _relevant(named: Named, paths: Collection[str]) -> dict[str, Sequence[Member]]:
    """Return the clusters with a member that is above, at or below one of the (real) paths.

    Others are passed over: a stale line of another cluster must not stop these.
    """
    above = {folder for path in paths for folder in parents(path)}
    reals = {name: [member.real for member in members] for name, members in named.items()}
    names = (name for name in named if any(real in above or is_below(real, paths) for real in reals[name]))
    return {name: named[name] for name in names}
