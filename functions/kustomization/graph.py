"""The graph: every kustomization below some folders, what each reads, which functions each lists, what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain

from krmfn.resource import Manifest
from krmfn.results import Result
from krmfn.typed import TYPE_CHECKING, NamedTuple

from ..kmm.lookup import table, text
from ..run import Replacement, Transformed
from .mentions import entries

if TYPE_CHECKING:
    from krmfn.item import Item

    from ..paths.disk import File
    from .calls import Call
    from .references import Reference
    from .workspace import Workspace

_IMAGE = ("name", "newName", "newTag", "digest")


class Kustomization(NamedTuple):
    """A kustomization or component as it stands in its folder."""

    folder: str
    """The folder, absolute and without links."""
    name: str
    """The file's path as people are shown it."""
    path: str
    """The file's path, absolute and without links."""
    item: Item | None
    """Its document; None when it cannot be read. Read only."""
    references: list[Reference]
    """What its fields refer to, and what the configurations of kustomize's own plugins refer to."""
    calls: list[Call]
    """The functions it lists, kustomize's own plugins aside."""
    findings: list[Result]

    @property
    def manifest(self) -> Manifest:
        """Return its fields; {} when it cannot be read."""
        return self.item.manifest if self.item else {}

    @property
    def is_component(self) -> bool:
        """Return True for a Component, which counts only where another kustomization lists it."""
        return self.manifest.get("kind") == "Component"

    @property
    def bases(self) -> Iterator[Reference]:
        """Yield the references to other kustomizations."""
        return (one for one in self.references if one.kind == "folder")


class Graph(NamedTuple):
    """Kustomizations by their folders (absolute, without links). Read only."""

    kustomizations: Mapping[str, Kustomization]
    resources: Callable[[File], list[Item]]
    """Returns the resources in a file, those of a List one by one; [] when it cannot be read any more."""
    below: Callable[..., list[Kustomization]]
    """Returns what a build of some folders reads: a folder's kustomization, then those that it lists, each once.

    It knows what it was asked before: each build asks ten times.
    """
    texts: Mapping[str, bytes] = {}
    """What kustomize is given of each file that it reads as YAML, by the file's path without links."""
    links: Mapping[str, str] = {}
    """The links that were followed: the place of each, in a folder without links, and where it leads."""
    names: Mapping[str, str] = {}
    """The functions of ours that are called (a program, an image), and the names that stand for them in the texts."""
    untouched: Collection[str] = ()
    """The folders of those that leave annotations alone, and whose texts can be changed for a build."""
    workspace: Workspace | None = None
    """Where all that is untouched is built."""

    def findings(self, folder: str) -> list[Result]:
        """Return what is wrong with the kustomizations of a build."""
        return [finding for one in self.below(folder) for finding in one.findings]

    def calls(self, folder: str) -> list[Call]:
        """Return the functions that a build calls, those of the outermost kustomization first."""
        return [call for one in self.below(folder) for call in one.calls]

    def is_untouched(self, folder: str) -> bool:
        """Return True when nothing in a build sees or sets annotations, and its texts can be changed for it."""
        is_whole = not self.kustomizations[folder].is_component
        return is_whole and all(one.folder in self.untouched for one in self.below(folder))

    def transformed(self, folder: str) -> Transformed:
        """Return what a build does to all resources; what its patches and plugins do is not in it."""
        return transformed(one.manifest for one in self.below(folder))


def ordered(kustomizations: Mapping[str, Kustomization], *folders: str) -> list[Kustomization]:
    """Return the kustomization of each folder, and behind it those that it lists, each once."""
    order: dict[str, Kustomization] = {}
    left = [*reversed(folders)]
    while left:
        one = kustomizations.get(left.pop())
        if one and one.folder not in order:
            order[one.folder] = one
            left.extend(reversed([base.real for base in one.bases]))
    return list(order.values())


NO_GRAPH = Graph({}, lambda _: [], lambda *_: [])


def transformed(kustomizations: Iterable[Manifest]) -> Transformed:
    """Return what some kustomizations do together; what has another type than kustomize takes counts as absent."""
    return joined(map(_by, kustomizations))


def joined(builds: Iterable[Transformed]) -> Transformed:
    """Return what several builds do together."""
    fields = zip(*builds, strict=True)
    return Transformed(*(tuple(dict.fromkeys(filter(None, chain(*values)))) for values in fields))


def _by(one: Manifest) -> Transformed:
    prefix, suffix, namespace = ((text(one, name),) for name in ("namePrefix", "nameSuffix", "namespace"))
    return Transformed(prefix, suffix, namespace, (*_images(one),), (*_labels(one),))


def _images(one: Manifest) -> Iterator[Replacement]:
    for field in ("images", "imageTags"):
        for _, entry in entries(one, field):
            if text(entry, "name"):
                yield Replacement(*(text(entry, key) for key in _IMAGE))


def _labels(one: Manifest) -> Iterator[tuple[str, str]]:
    groups = [table(one, "commonLabels"), *(table(entry, "pairs") for _, entry in entries(one, "labels"))]
    for pairs in groups:
        yield from ((key, value) for key, value in pairs.items() if isinstance(value, str))
