"""What the engines' objects in a repository say: its files are read, and given to the room `deployments`."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from krmfn import Item, KrmfnError, Manifest, Result, warning
from krmfn.printing import counted
from krmfn.resource import Place
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from .. import oracles
from ..deployments import argocd, config_maps, elsewhere, fleet, flux, forks, generators, overrides
from ..deployments.deployment import Deployment, EngineObject, Problem, Repository
from ..deployments.elsewhere import Elsewhere
from ..deployments.holders import declared_by, deployments
from ..grouping import grouped
from ..kustomization.calls import Ours
from ..options import RunOptions
from ..paths import disk, files, manifests
from ..paths.disk import File
from ..paths.excludes import Excluder
from ..paths.roots import root_of, within
from ..rule import Rule
from . import engine_files
from .engine_files import Seen

GROUPS = frozenset({argocd.GROUP, fleet.GROUP, *flux.GROUPS})
"""The API groups of the objects of engines."""
_HYDRATED = "hydrate-with-krmfn"
_CHART = "Chart.yaml"


class Engines(NamedTuple):
    """What the engines' objects in a repository deploy."""

    top: str = ""
    """The root of the repository, absolute and without links."""
    deployments: Sequence[Deployment] = ()
    problems: Sequence[Problem] = ()
    urls: frozenset[str] = frozenset()
    """The remotes of the repository; none where they are not known."""
    forks: Sequence[Problem] = ()
    """What is wrong where the objects may name the repository that this one is a fork of."""
    templates: Sequence[str] = ()
    """Templates and values of which Helm makes objects of engines, by paths from the root: nobody reads them."""
    data: Mapping[config_maps.Key, Manifest] = {}  # read only
    """The data of the ConfigMaps that hold variables of Flux, by the deployment and the name in it."""
    elsewhere: Sequence[Elsewhere] = ()
    """The objects that deploy something from elsewhere: other repositories, charts, images."""
    decide: bool = True
    """Whether they say which clusters there are; else `.krmfn.yaml` or --cluster does, or there is one root alone."""

    @property
    def folders(self) -> frozenset[str]:
        """The folders that are deployed, absolute and without links."""
        return frozenset(deployment.real(self.top) for deployment in self.deployments)


def of_paths(paths: Mapping[str, str], options: RunOptions, exclude: Excluder, ours: Ours, seen: Seen) -> Engines:
    """Return what the engines' objects in the repository of some PATHs say, each given with its real path.

    Outside of a repository only a folder that is a PATH is looked into: the neighbours of a file may be a whole disk.
    The texts of small files go to `seen`. Raises KrmfnError when --root is not a folder.
    """
    first = next((real for path, real in paths.items() if path != "-"), "")
    folder = first if os.path.isdir(first) else os.path.dirname(first)
    top = (root_of(folder, options.root) or (folder if folder == first else "")) if folder else ""
    if not os.path.isdir(top):
        return Engines()
    paths_below, templates, objects = _read(top, exclude, seen)
    if not objects:
        return Engines(top, templates=templates)
    from ..paths import git

    urls = git.remotes(top) if options.remotes is None else options.remotes
    repository = _repository(top, paths_below, objects)._replace(urls=urls)
    declared = declared_by(objects, repository)
    folders = {declaration.path for of_engine in declared for declaration in of_engine.declarations}
    repository = repository._replace(listed=_listed(top, paths_below, folders, ours)[0])
    reached, problems = deployments(objects, declared, repository)
    maps = engine_files.config_maps_of(top, paths_below, reached)
    if maps:  # those in folders on which an engine was started by hand, too
        listed, changing = _listed(top, paths_below, {deployment.path for deployment in reached}, ours)
        repository = repository._replace(listed=listed, changing=changing)
    values = config_maps.data(reached, maps, repository)
    others = elsewhere.sources(objects, declared, repository)
    return Engines(top, reached, problems, urls, [*forks.problems(objects, repository)], templates, values, others)


def _read(top: str, exclude: Excluder, seen: Seen) -> tuple[list[str], list[str], list[EngineObject]]:
    """Return the files below the root of a repository (absolute, without links), and the objects of engines in them.

    Between them are those files of which Helm makes objects of engines. Files that cannot be read are passed over: the
    roots that have them report it.
    """
    listing, _ = disk.files_below(File(top, top), lambda name: True, top, manifests.KUSTOMIZATIONS)
    paths = [path for path in (disk.relative(file.name, top) for file in listing) if not exclude(top, path)]
    templates = [*engine_files.templates(top, paths)]
    names = [path for path in paths if path.endswith(manifests.SUFFIXES) and path not in templates]
    texts = engine_files.texts(top, names, seen)
    templates += engine_files.values_of_apps(top, names, texts)
    return paths, templates, [item for path, text in texts.items() for item in _objects(path, text)]


def findings(engines: Engines, tops: Collection[str]) -> Iterator[Result]:
    """Yield what is wrong with the engines' objects below some (real) PATHs, or cannot be known of them.

    What is unknown of many objects alike stands at the first. Whether this is a fork matters only where these objects
    decide which clusters there are.
    """
    problems = (*engines.problems, *(engines.forks if engines.decide else ()))
    files = [os.path.join(engines.top, problem.source.place.path) for problem in problems]
    below = [problem for problem, file in zip(problems, files, strict=True) if any(within(file, top) for top in tops)]
    keys = ((problem.message if problem.is_of_many else id(problem), problem) for problem in below)
    for first, *others in grouped(keys).values():
        ref, place = first.source
        place = place._replace(path=os.path.relpath(os.path.join(engines.top, place.path)))
        message = f"{first.message} ({counted(len(others), 'other')} alike)" if others else first.message
        yield warning(message, rule="KRM543", ref=ref, place=place, remedy=first.remedy)


def _objects(path: str, text: bytes) -> list[EngineObject]:
    """Return the objects of engines in a text, and the Secrets and settings of Argo CD."""
    try:
        items = manifests.read_stream(text, path).items
    except KrmfnError:
        return []
    objects = []
    for item in items:
        if is_of_engine(item):
            with suppress(KrmfnError):
                first = next(iter(item.manifest), "")
                objects.append(EngineObject(item.ref, item.manifest, item.field_place(first) or Place(path)))
    return objects


def is_of_engine(item: Item) -> bool:
    """Return True for an object of an engine, and for a Secret or the settings of Argo CD."""
    is_secret = item.kind == "Secret" and item.mentions("argocd.argoproj.io/secret-type")
    is_settings = item.kind == "ConfigMap" and item.ref.name == overrides.CONFIG_MAP
    return item.group in GROUPS or is_secret or is_settings


def _repository(top: str, paths: Sequence[str], objects: Sequence[EngineObject]) -> Repository:
    """Return what the engines see of the files of a repository, but for what kustomizations list."""
    folders = sorted(_folders([*paths, *_hidden(top, paths)]))
    named = {
        name: frozenset(os.path.dirname(path) or "." for path in paths if os.path.basename(path) == name)
        for name in (_CHART, _HYDRATED)
    }
    bundles = {
        os.path.dirname(path) or ".": (_data(top, path) or [{}])[0]
        for name in fleet.BUNDLES
        for path in paths
        if os.path.basename(path) == name
    }
    patterns = [pattern for item in objects for pattern in generators.file_patterns(item.manifest)]
    parameters = {path: _data(top, path) for path in generators.parameter_files(paths, patterns)}
    return Repository(frozenset(), folders, {}, named[_CHART], named[_HYDRATED], bundles, parameters)


def _listed(
    top: str, paths: Sequence[str], folders: Collection[str], ours: Ours
) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Return the files that the kustomizations in some folders read, and which of these may change a ConfigMap.

    One that nothing deploys is not looked into.
    """
    from ..kustomization import reading  # imported here: most repositories have no object of an engine

    names = [path for path in paths if os.path.basename(path) in manifests.KUSTOMIZATIONS]
    tops = [folder for folder in (os.path.dirname(path) or "." for path in names) if folder in folders]
    graph = reading.read([os.path.normpath(os.path.join(top, folder)) for folder in tops], top, ours, True)
    listed, changing = dict[str, frozenset[str]](), set[str]()
    for folder in tops:
        nodes = graph.below(os.path.normpath(os.path.join(top, folder)))
        references = (reference for node in nodes for reference in node.references if reference.kind == "file")
        listed[folder] = frozenset(os.path.relpath(reference.real, top) for reference in references)
        changing |= {folder} if any(config_maps.may_change(node.manifest) for node in nodes) else set()
    return listed, frozenset(changing)


def _hidden(top: str, paths: Sequence[str]) -> Iterator[str]:
    """Yield a hidden file of each folder beside some paths that has no other file: engines may apply it."""
    known = {os.path.dirname(path) for path in paths}
    for folder in sorted({"", *_folders(paths)}):
        with suppress(OSError):
            for entry in os.scandir(os.path.join(top, folder)):
                if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
                    continue
                path = f"{folder}/{entry.name}".lstrip("/")
                if path not in known:
                    yield from (f"{path}/{name}" for name in os.listdir(entry.path) if _is_hidden(name))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") and name.endswith(manifests.SUFFIXES)


def _folders(paths: Iterable[str]) -> set[str]:
    """Return the folders that some files are in, and those above them; the root is none of them."""
    folders = set[str]()
    for path in paths:
        folder = os.path.dirname(path)
        while folder and folder not in folders:
            folders.add(folder)
            folder = os.path.dirname(folder)
    return folders


def _data(top: str, path: str) -> list[Manifest]:
    """Return the mappings in the first document of a file, or in a list there; [] where it is not readable."""
    from krmfn.yamltext import documents, load  # here, as above

    with suppress(KrmfnError):
        text = files.read_regular(os.path.join(top, path), path, max_bytes())
        first = next(iter(documents.documents(text)), None)
        content = load.read(first.text) if first else None
        return [row for row in (content if isinstance(content, list) else [content]) if isinstance(row, dict)]
    return []


_APPLICATION = """\
# apps/lab.yaml
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: lab, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/fleet.git, path: lab, plugin: {name: krmfn}}
  destination: {name: lab, namespace: kmm}
---
# lab/config.yaml
kind: DeviceConfig
"""
RULES = (
    Rule(
        "KRM543",
        "an Application, ApplicationSet, Kustomization of Flux or GitRepo of Fleet should say which folder it deploys, "
        "and to which cluster",
        good=_APPLICATION,
        bad=_APPLICATION.replace(", path: lab", ""),
        remedy="Name the folder in the object; where only its engine knows the clusters, name them under `clusters` in "
        ".krmfn.yaml.",
        held=oracles.ENGINE_KINDS,
        severities=("warning", "error"),
    ),
)
"""The rule about objects of engines."""
