"""The graph: the kustomizations below some folders, with the files, functions and findings of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from krmfn.resource import Manifest
from krmfn.results import Result
from krmfn.typed import TYPE_CHECKING, NamedTuple

from ..kmm.lookup import table, text
from ..run import Replacement, Transformed
from .calls import BLOCKING
from .documents import resources_in
from .mentions import entries

if TYPE_CHECKING:
    from krmfn.item import Item

    from ..paths.disk import File
    from .calls import Call
    from .references import Reference
    from .workspace import Workspace

_IMAGE = ("name", "newName", "newTag", "digest")


class Kustomization(NamedTuple):
    """A kustomization or component of a folder."""

    folder: str
    """The folder, absolute and without links."""
    name: str
    """The file's path as messages name it."""
    path: str
    """The file's path, absolute and without links."""
    item: Item | None
    """Its document, which must not be changed; None when it cannot be read."""
    references: list[Reference]
    """The references in its fields, and in the configurations of kustomize's own plugins."""
    calls: list[Call]
    """The functions it lists, kustomize's own plugins aside."""
    findings: list[Result]

    @property
    def manifest(self) -> Manifest:
        """Return its data, which is only read; {} when it cannot be."""
        return self.item.content.manifest if self.item else {}

    @property
    def is_component(self) -> bool:
        """Return True for a Component, which counts only where another kustomization lists it."""
        return self.manifest.get("kind") == "Component"

    @property
    def bases(self) -> Iterator[Reference]:
        """Yield the references to other kustomizations."""
        return (reference for reference in self.references if reference.kind == "folder")


class Lookups:
    """What was looked up in a graph, which each build needs ten times."""

    def __init__(self) -> None:
        self._resources: dict[File, list[Item]] = {}
        self._below: dict[tuple[str, ...], list[Kustomization]] = {}

    def resources(self, file: File) -> list[Item]:
        """Return what `documents.resources_in` says of a file."""
        if file not in self._resources:
            self._resources[file] = resources_in(file)
        return self._resources[file]

    def below(self, kustomizations: Mapping[str, Kustomization], folders: tuple[str, ...]) -> list[Kustomization]:
        """Return what `closure` says of some folders."""
        if folders not in self._below:
            self._below[folders] = closure(kustomizations, *folders)
        return self._below[folders]


class Graph(NamedTuple):
    """Kustomizations by their folders (absolute, without links). Nothing in it may be changed."""

    kustomizations: Mapping[str, Kustomization]
    lookups: Lookups
    texts: Mapping[str, bytes] = {}
    """The text that kustomize gets for each file that it reads as YAML, by the file's path without links."""
    links: Mapping[str, str] = {}
    """The links that were followed: the path of each, in a folder without links, and its target."""
    names: Mapping[str, str] = {}
    """Our functions that are called (a program, an image), with the random names that they have in the texts."""
    untouched: Collection[str] = ()
    """The folders of kustomizations that do not touch annotations, and whose texts can be changed for a build."""
    workspace: Workspace | None = None
    """The workspace in which the untouched ones are built."""

    def resources(self, file: File) -> list[Item]:
        """Return the resources in a file, the items of a List one by one; [] when it cannot be read any more."""
        return self.lookups.resources(file)

    def below(self, *folders: str) -> list[Kustomization]:
        """Return the kustomizations that a build of some folders reads (see `closure`)."""
        return self.lookups.below(self.kustomizations, folders)

    def findings(self, folder: str) -> list[Result]:
        """Return the findings about the kustomizations of a build."""
        return [finding for kustomization in self.below(folder) for finding in kustomization.findings]

    def calls(self, folder: str) -> list[Call]:
        """Return the functions that a build calls, beginning with those of the outermost kustomization."""
        return [call for kustomization in self.below(folder) for call in kustomization.calls]

    def is_untouched(self, folder: str) -> bool:
        """Return True when nothing in a build reads or sets annotations, and its texts can be changed for it."""
        folders = {kustomization.folder for kustomization in self.below(folder)}
        return not self.kustomizations[folder].is_component and folders.issubset(self.untouched)

    def transformed(self, folder: str) -> Transformed:
        """Return what a build changes in all resources, its patches and plugins aside."""
        return transformed(kustomization.manifest for kustomization in self.below(folder))


def closure(kustomizations: Mapping[str, Kustomization], *folders: str) -> list[Kustomization]:
    """Return the kustomization of each folder, and after it those that it lists, each once."""
    order: dict[str, Kustomization] = {}
    stack = [*reversed(folders)]
    while stack:
        kustomization = kustomizations.get(stack.pop())
        if kustomization and kustomization.folder not in order:
            order[kustomization.folder] = kustomization
            stack.extend(reversed([base.real for base in kustomization.bases]))
    return list(order.values())


NO_GRAPH = Graph({}, Lookups())


def transformed(kustomizations: Iterable[Manifest]) -> Transformed:
    """Return the changes of some kustomizations together; fields of a wrong type count as absent."""
    return joined(map(_changes, kustomizations))


def joined(builds: Iterable[Transformed]) -> Transformed:
    """Return the changes of several builds together."""
    fields = zip(*builds, strict=True)
    return Transformed(*(tuple(dict.fromkeys(filter(None, chain(*values)))) for values in fields))


def _changes(manifest: Manifest) -> Transformed:
    prefix, suffix, namespace = ((text(manifest, name),) for name in ("namePrefix", "nameSuffix", "namespace"))
    return Transformed(prefix, suffix, namespace, (*_images(manifest),), (*_labels(manifest),))


def _images(manifest: Manifest) -> Iterator[Replacement]:
    for field in ("images", "imageTags"):
        for _, entry in entries(manifest, field):
            if text(entry, "name"):
                yield Replacement(*(text(entry, key) for key in _IMAGE))


def _labels(manifest: Manifest) -> Iterator[tuple[str, str]]:
    groups = [table(manifest, "commonLabels"), *(table(entry, "pairs") for _, entry in entries(manifest, "labels"))]
    for pairs in groups:
        yield from ((key, value) for key, value in pairs.items() if isinstance(value, str))


def unlisted(kustomization: Kustomization) -> Iterator[Result]:
    """Yield the findings of a kustomization that no root builds: what cannot be built of a Component is no error then.

    Whoever lists it gets the error.
    """
    is_told = False
    for finding in kustomization.findings:
        if not (kustomization.is_component and finding.rule in BLOCKING):
            yield finding
        elif not is_told:
            is_told = True
            message = "no kustomization lists this Component, so it is neither built nor judged"
            yield finding._replace(message=message, severity="info", field=None, remedy="")
