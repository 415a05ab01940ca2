"""Reading of the graph: from some folders down to all that they list, each kustomization once.

Nothing is run and nothing is fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial

from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Result, error

from ..paths.disk import Disk, Target
from ..paths.manifests import KUSTOMIZATIONS
from ..paths.roots import parents, within
from . import fields, mentions, references
from .calls import Ours
from .documents import resources_in
from .graph import Graph, Kustomization, ordered
from .listed import Configs
from .references import Reference
from .texts import Texts, strictly
from .tree import is_untouched
from .workspace import Workspace

MAX_BUILDS = 100_000
"""How often kustomize may read a kustomization in one build: it reads one anew for each way that leads there."""


def read(folders: Iterable[str], root: str | None, ours: Ours, absolute: bool = False) -> Graph:
    """Return the graph of the kustomizations in `folders` and of all that they list, within `root`.

    Folders are absolute and without links, as `root` is; None sets no bound but kustomize's own. A folder without a
    kustomization is left out. Names are `absolute`, or relative to the working folder.
    """
    reader = _Reader(Disk(root, absolute))
    for folder in folders:
        reader.down(folder)
    every = list(reader.read.values())
    configs = Configs(reader.disk, ours, reader.read, reader.texts)
    plugins: list[list[Reference]] = []
    for one in every:
        one.findings.extend(_misplaced(one, reader.read))
        plugins.append(configs.read(one))
        one.findings.extend(reader.texts.wrong_in(plugins[-1]))
    known = (one for one in every if one.folder not in configs.unknown)
    texts = {one.path: configs.given(one) for one in known}
    texts = {**reader.texts.given, **texts, **configs.files()}
    for one, more in zip(every, plugins, strict=True):
        one.references.extend(more)
    files = (reference for one in every for reference in one.references if reference.kind == "file")
    copied = {reference.real for reference in files if not reference.is_yaml}
    untouched = {one.folder for one in every if is_untouched(one, reader.texts, texts, copied)}
    once = lru_cache(maxsize=None)
    remembered = once(resources_in), once(partial(ordered, reader.read))
    return Graph(reader.read, *remembered, texts, reader.disk.links, configs.names, untouched, Workspace())


def _misplaced(one: Kustomization, read: Mapping[str, Kustomization]) -> Iterator[Result]:
    """Yield a finding for each Component that is listed as a base, and each base that is listed as a Component."""
    for reference in one.bases:
        other = read.get(reference.real)
        if other and other.manifest and other.is_component != (reference.role == "component"):
            kind, where = ("Component", "components") if other.is_component else ("Kustomization", "resources")
            message = f"{reference.name} is a {kind}; list it under {where}"
            yield reference.error(message, "KRM506")


class _Reader:
    """One walk over the kustomizations below some folders: those read so far, and what is wrong with each."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.texts = Texts()
        self.read: dict[str, Kustomization] = {}
        self._builds: dict[str, int] = {}

    def down(self, top: str) -> None:
        """Read a folder's kustomization and all below it, depth first, as kustomize builds them."""
        way: list[tuple[Kustomization, Iterator[Reference]]] = []
        above: Counter[str] = Counter()  # the folders on the way, and those that hold them
        one = None if top in self.read else self._enter(top)
        while one or way:
            if one:
                way.append((one, one.bases))
                above.update(parents(one.folder))
            here, left = way[-1]
            reference, one = next(left, None), None
            if reference is None:
                way.pop()
                above.subtract(parents(here.folder))
                # how often kustomize would read what is here and below
                builds = 1 + sum(self._builds.get(base.real, 0) for base in here.bases)
                self._builds[here.folder] = min(builds, MAX_BUILDS)
                if builds >= MAX_BUILDS:
                    message = f"lists the same kustomizations {MAX_BUILDS:,} times or more; list each once"
                    here.findings.append(error(message, rule="KRM505", place=Place(here.name)))
            elif above[reference.real]:
                message = f"leads back to {reference.name}, which is being built; kustomize refuses such a cycle"
                here.findings.append(reference.error(f"{reference.text} {message}", "KRM505"))
            elif reference.real not in self.read:
                one = self._enter(reference.real)
                if one is None:
                    message = f"{reference.name} has no kustomization; add a {KUSTOMIZATIONS[0]}"
                    here.findings.append(reference.error(message, "KRM504"))

    def _enter(self, folder: str) -> Kustomization | None:
        """Read the kustomization in a folder; None when there is none."""
        names = [name for name in KUSTOMIZATIONS if self.disk.exists(folder, name)]
        if not names:
            return None
        target = self.disk.target(folder, names[0])
        problem = target.problem
        if len(names) > 1:
            problem = f"is in the same folder as {names[1]}, and kustomize accepts neither; keep one of them"
        elif not problem and not within(target.real, folder):
            problem = "is a link that leads out of its folder, where kustomize reads no files"
        found = [error(problem, rule="KRM501", place=Place(target.name))] if problem else []
        item = None if problem else self._document(target, found)
        one = self.read[folder] = Kustomization(folder, target.name, target.real, item, [], [], found)
        if item:
            found.extend(item.located(finding)._replace(ref=None) for finding in fields.findings(item))
            one.references.extend(references.read(mentions.named(item.manifest), item, folder, self.disk, found))
            found.extend(self.texts.wrong_in(one.references))
        return one

    def _document(self, target: Target, found: list[Result]) -> Item | None:
        """Return the one document of a kustomization."""
        judge = partial(strictly, rule="KRM502", is_function=False)
        items, wrong = self.texts.documents(target.real, target.name, "KRM502", judge)
        found.extend(wrong)
        if len(items) == 1 and items[0].manifest:
            return items[0]
        place, message = Place(target.name), "is not a kustomization"
        if len(items) > 1:
            place, message = items[1].file or place, "is a second document, which kustomize does not read"
        if items or not wrong:
            found.append(error(f"{message}; must be a single mapping", rule="KRM502", place=place))
        return None
