"""From what objects declare to deployments: whose cluster a Kustomization or Application acts on.

An object without a destination acts on the cluster that it is in: the one of the folder that holds its file, if
something deploys that; else that of the folder on which its engine was started by hand.
"""

import posixpath
from collections.abc import Iterator, Sequence
from functools import lru_cache

from krmfn.printing import some

from ..grouping import grouped
from . import argocd, fleet, flux, names, shapes
from .above import all_below, inherited
from .deployment import Declaration, Declared, Deployment, Directory, EngineObject, Problem, Repository, covers
from .globs import matches

_CLUSTERS = ("clusters", "cluster")
"""Folders whose subfolders are a cluster each, by the habit of Flux's documentation."""


def declared_by(objects: Sequence[EngineObject], repository: Repository) -> list[Declared]:
    """Return what the objects of each engine declare; what kustomizations list decides nothing of it."""
    return [read(objects, repository) for read in (argocd.declared, flux.declared, fleet.declared)]


def deployments(
    objects: Sequence[EngineObject], declared: Sequence[Declared], repository: Repository
) -> tuple[list[Deployment], list[Problem]]:
    """Return which root reaches which cluster, in the order of the objects, and what is wrong or not known.

    `declared` is what the objects declare.
    """
    problems = [*shapes.problems(objects), *(problem for engine in declared for problem in engine.problems)]
    order = {item.origin: at for at, item in enumerate(objects)}
    declarations = sorted(_existing(declared, repository), key=lambda declaration: order[declaration.source])
    holders = _Holders(declarations, repository)
    reached: dict[Deployment, None] = {}
    for declaration in declarations:
        clusters = [declaration.target] if declaration.target else holders.clusters(declaration.file)
        reached.update(dict.fromkeys(Deployment(declaration.path, cluster, declaration) for cluster in clusters))
    reached.update(dict.fromkeys(_everywhere([*reached])))
    paths = {deployment.path for deployment in reached}
    reached.update(dict.fromkeys(home for home in holders.homes() if home.path not in paths))
    return list(reached), [*problems, *holders.problems]


def _everywhere(reached: Sequence[Deployment]) -> Iterator[Deployment]:
    """Yield what is for every cluster of an engine once for each of its clusters that something else names.

    Of several Argo CDs nobody knows which clusters each of them has; Fleet has those of a namespace.
    """
    of_argocd = [deployment for deployment in reached if deployment.declaration.engine == "argocd"]
    instances = [*{deployment.cluster for deployment in of_argocd if not deployment.declaration.target}]
    named = (deployment for deployment in reached if not deployment.declaration.unknown)
    known = dict.fromkeys((_instance(deployment), deployment.cluster) for deployment in named)
    for deployment in reached:
        engine, unknown = deployment.declaration.engine, deployment.declaration.unknown
        if unknown and unknown == names.EVERY.get(engine) and not (engine == "argocd" and instances[1:]):
            instance = _instance(deployment)
            yield from (deployment._replace(cluster=cluster) for other, cluster in known if other == instance)


def _instance(deployment: Deployment) -> tuple[str, str]:
    """Return what tells apart the installations of an engine."""
    declaration = deployment.declaration
    return declaration.engine, declaration.source.ref.namespace if declaration.engine == "fleet" else ""


def _existing(declared: Sequence[Declared], repository: Repository) -> Iterator[Declaration]:
    """Yield the declarations whose folder is in the repository: another branch may hold the others."""
    folders = {".", *repository.folders}
    for engine in declared:
        yield from (declaration for declaration in engine.declarations if declaration.path in folders)


class _Holders:
    """The clusters of files with engines' objects, by the declarations that deploy these files."""

    def __init__(self, declarations: Sequence[Declaration], repository: Repository) -> None:
        self._declarations, self._repository = declarations, repository
        self._by_path = grouped((declaration.path, at) for at, declaration in enumerate(declarations))
        self._listing = grouped((file, path) for path, listed in repository.listed.items() for file in listed)
        self._holding = lru_cache(maxsize=None)(self._holding_of)
        self.problems: list[Problem] = []
        self._known, self._above = self._search()
        local = [declaration for declaration in declarations if not declaration.target]
        ends = {end: declaration for declaration in local for end in self._ends(declaration.file)}
        self._names = self._names_of(ends)

    def clusters(self, file: str) -> list[str]:
        """Return the clusters that the objects in a file are in."""
        ends = (self._names[self._folder(end)] for end in self._ends(file))
        return list(dict.fromkeys([*self._known.get(file, ()), *ends]))

    def homes(self) -> Iterator[Deployment]:
        """Yield the folders on which Flux was started, each with its cluster: nothing in the repository says so."""
        sources: dict[str, Declaration] = {}
        for declaration in self._declarations:
            if declaration.engine == "flux" and not declaration.target:
                for end in self._ends(declaration.file):
                    sources.setdefault(self._folder(end), declaration)
        for folder, declaration in sources.items():
            home = Declaration(folder, "none", "raw", declaration.source)
            yield Deployment(folder, self._names[folder], home)

    def _ends(self, file: str) -> list[str]:
        """Return the files above a file that nothing deploys."""
        return self._above.get(file, [])

    def _search(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """Return the named clusters that each file reaches, and the files above it that nothing deploys.

        Of a circle, in which each file is deployed by another one, it is the first by its name, and that is said.
        """
        files = dict.fromkeys(declaration.file for declaration in self._declarations)
        holding = {file: [holder for holder in self._holding(file) if holder.file != file] for file in files}
        pairs = [(holder, file) for file, holders in holding.items() for holder in holders]
        below = grouped(dict.fromkeys((holder.file, file) for holder, file in pairs if not holder.target))
        known = inherited(below, dict.fromkeys((holder.target, file) for holder, file in pairs if holder.target))
        ends = inherited(below, ((file, file) for file, holders in holding.items() if not holders))
        for first in sorted(file for file in files if file not in known and file not in ends):
            if first not in ends:
                circle = [file for file in all_below(below, [first]) if file not in known and file not in ends]
                ends |= {file: [first] for file in circle}
                self._report_circle(first, circle)
        return known, ends

    def _report_circle(self, first: str, files: Sequence[str]) -> None:
        """Report files whose objects deploy each other, at the object in the first file."""
        source = next(declaration.source for declaration in self._declarations if declaration.file == first)
        message = (
            f"{some(sorted(files), len(files))} deploy each other, so it is not known in which cluster they are: apply "
            "one of them by hand, and name its cluster under `clusters` in .krmfn.yaml"
        )
        self.problems.append(Problem(source, message))

    def _holding_of(self, file: str) -> list[Declaration]:
        """Return the declarations that deploy a file: those of the folders above it, and of what lists it."""
        paths = dict.fromkeys([*_folders_above(file), *self._listing.get(file, ())])
        numbers = sorted(number for path in paths for number in self._by_path.get(path, ()))
        holding = (self._declarations[number] for number in numbers)
        return [declaration for declaration in holding if reads(declaration, file, self._repository)]

    def _folder(self, file: str) -> str:
        """Return the folder on which an engine was started that reads a file which nothing else deploys."""
        started = [declaration.path for declaration in self._holding(file) if declaration.engine == "flux"]
        folder = min(started, key=len) if started else posixpath.dirname(file) or "."
        parts = folder.split("/")
        for at, part in enumerate(parts[:-1]):
            if part in _CLUSTERS:
                return "/".join(parts[: at + 2])
        return folder

    def _names_of(self, ends: dict[str, Declaration]) -> dict[str, str]:
        """Return the name of the cluster of each such folder: of Flux the folder's, of Argo CD `in-cluster`."""
        folders = {self._folder(file): declaration for file, declaration in ends.items()}
        by_flux = {self._folder(other.file) for other in self._declarations if other.engine == "flux"}
        by_folder = names.of_folders(folders)
        others = [folder for folder in folders if folder not in by_flux]
        if len(others) == 1:
            by_folder[others[0]] = names.LOCAL
        elif others:
            by_folder |= {folder: f"{names.LOCAL}-{names.key_of(by_folder[folder])}" for folder in others}
            message = (
                f"Applications in {some(others, len(others))} are for the cluster of their Argo CD: is it one, or are "
                f"there {len(others)}? Name them under `clusters` in .krmfn.yaml; {len(others)} are assumed"
            )
            self.problems.append(Problem(folders[others[0]].source, message))
        return by_folder


def _folders_above(file: str) -> list[str]:
    """Return the folders that a file is in, the root of the repository among them."""
    parts = file.split("/")
    return [".", *("/".join(parts[:number]) for number in range(1, len(parts) + 1))]


def reads(declaration: Declaration, file: str, repository: Repository) -> bool:
    """Return True where an engine applies what stands in a file."""
    if declaration.path in repository.listed and not declaration.directory.is_named:
        return file in repository.listed[declaration.path]
    if not covers(declaration.path, file):
        return False
    return (
        declaration.engine != "argocd"
        or declaration.how != "raw"
        or applies(declaration.directory, posixpath.relpath(file, declaration.path))
    )


def applies(directory: Directory, file: str) -> bool:
    """Return True for a file, seen from its folder, that Argo CD applies where there is no kustomization.

    Source: Argo CD 3.2, reposerver/repository/repository.go, getPotentiallyValidManifestFile.
    """
    if "/" in file and not directory.recurse:
        return False
    included = not directory.include or matches(file, directory.include)
    return included and not (directory.exclude and matches(file, directory.exclude))
