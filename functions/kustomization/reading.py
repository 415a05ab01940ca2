"""Read the graph: from some folders down to all that they list, each kustomization once.

No program is run, and nothing is fetched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Result, error

from ..paths.disk import Disk, Target
from ..paths.manifests import KUSTOMIZATIONS
from ..paths.roots import parents, within
from . import fields, mentions, references, spelling
from .calls import Ours
from .configs import Configs
from .documents import documents
from .graph import Graph, Kustomization, Lookups
from .references import Reference
from .texts import NOT_EDITED, Edit, Judgement, Texts, judge_strictly
from .tree import is_untouched
from .workspace import Workspace

MAX_BUILDS = 100_000
"""How often kustomize may read a kustomization in one build: it reads it again for each path that leads to it."""


def read(
    folders: Iterable[str],
    root: str | None,
    ours: Ours,
    absolute: bool = False,
    edited: Mapping[str, Edit] = NOT_EDITED,
) -> Graph:
    """Return the graph of the kustomizations in `folders` and of all that they list, within `root`.

    Folders are absolute and without links, as is `root`; without one only kustomize's own bound applies. A folder
    without a kustomization is skipped. Names are `absolute`, or relative to the working folder. The texts in `edited`
    stand for those of files, by the files' paths; of a kustomization there need be no file.
    """
    reader = _Reader(Disk(root, absolute), edited)
    for folder in folders:
        reader.walk(folder)
    kustomizations = list(reader.kustomizations.values())
    configs = Configs(reader.disk, ours, reader.kustomizations, reader.texts)
    plugin_references: list[list[Reference]] = []
    for kustomization in kustomizations:
        kustomization.findings.extend(_misplaced(kustomization, reader.kustomizations))
        plugin_references.append(configs.read(kustomization))
        kustomization.findings.extend(reader.texts.findings(plugin_references[-1]))
    texts = {base.path: configs.build_text(base) for base in kustomizations if base.folder not in configs.unknown}
    texts = {**reader.texts.build_texts, **texts, **configs.build_texts()}
    for kustomization, additions in zip(kustomizations, plugin_references, strict=True):
        kustomization.references.extend(additions)
    files = (reference for base in kustomizations for reference in base.references if reference.kind == "file")
    copied = {reference.real for reference in files if not reference.is_yaml}
    untouched = {base.folder for base in kustomizations if is_untouched(base, reader.texts, texts, copied)}
    return Graph(reader.kustomizations, Lookups(), texts, reader.disk.links, configs.names, untouched, Workspace())


def _misplaced(kustomization: Kustomization, kustomizations: Mapping[str, Kustomization]) -> Iterator[Result]:
    """Yield a finding for each Component that is listed as a base, and each base that is listed as a Component."""
    for reference in kustomization.bases:
        base = kustomizations.get(reference.real)
        if base and base.manifest and base.is_component != (reference.role == "component"):
            kind, field = ("Component", "components") if base.is_component else ("Kustomization", "resources")
            message = f"{reference.name} is a {kind}"
            yield reference.error(message, "KRM506", remedy=f"list it under {field}")


def _judge(text: bytes, place: Place, column: int) -> Judgement:
    """Return the document of a kustomization, its fields in the usual case, and the findings about its text."""
    items, findings = judge_strictly(text, place, column, rule="KRM502", is_function=False)
    if len(items) != 1 or items[0].content.composed is None:
        return items, findings
    item, first = items[0], (items[0].file or place).line
    usual = spelling.usual_text(item.text.decode(), item.content.composed, fields.RULES).encode()
    return ([*documents(place.path, usual, first, column)] if usual != item.text else items), findings


class _Reader:
    """One walk over the kustomizations below some folders: those read so far, with the findings about each."""

    def __init__(self, disk: Disk, edited: Mapping[str, Edit]) -> None:
        self.disk = disk
        self._edited = edited
        self.texts = Texts(edited)
        self.kustomizations: dict[str, Kustomization] = {}
        self._builds: dict[str, int] = {}

    def walk(self, top: str) -> None:
        """Read a folder's kustomization and all below it, depth first, as kustomize builds them."""
        stack: list[tuple[Kustomization, Iterator[Reference]]] = []
        ancestors: Counter[str] = Counter()  # the folders in the stack, and those above them
        kustomization = None if top in self.kustomizations else self._enter(top)
        while kustomization or stack:
            if kustomization:
                stack.append((kustomization, kustomization.bases))
                ancestors.update(parents(kustomization.folder))
            parent, bases = stack[-1]
            reference, kustomization = next(bases, None), None
            if reference is None:
                stack.pop()
                ancestors.subtract(parents(parent.folder))
                # how often kustomize would read this kustomization and those below it
                builds = 1 + sum(self._builds.get(base.real, 0) for base in parent.bases)
                self._builds[parent.folder] = min(builds, MAX_BUILDS)
                if builds >= MAX_BUILDS:
                    message = f"lists the same kustomizations {MAX_BUILDS:,} times or more"
                    parent.findings.append(
                        error(message, rule="KRM505", place=Place(parent.name), remedy="list each once")
                    )
            elif ancestors[reference.real]:
                message = f"leads back to {reference.name}, which is being built, and kustomize refuses such a cycle"
                remedy = "remove it from the list, or move what both need into a folder of its own"
                parent.findings.append(reference.error(f"{reference.text} {message}", "KRM505", remedy))
            elif reference.real not in self.kustomizations:
                kustomization = self._enter(reference.real)
                if kustomization is None:
                    message = f"{reference.name} has no kustomization"
                    parent.findings.append(reference.error(message, "KRM504", remedy=f"add a {KUSTOMIZATIONS[0]}"))

    def _enter(self, folder: str) -> Kustomization | None:
        """Read the kustomization in a folder; None when there is none."""
        names = [name for name in KUSTOMIZATIONS if self.disk.exists(folder, name)]
        path = f"{folder}/{KUSTOMIZATIONS[0]}"
        generated = None if names else self._edited.get(path)
        if not (names or generated):
            return None
        target = Target(generated.name, path) if generated else self.disk.target(folder, names[0])
        problem = target.problem
        if len(names) > 1:
            problem = f"is in the same folder as {names[1]}, and kustomize accepts neither"
        elif not problem and not within(target.real, folder):
            problem = "is a link that leads out of its folder, where kustomize reads no files"
        remedy = "keep one of the two" if len(names) > 1 else "write the file itself" if problem else ""
        findings = [error(problem, rule="KRM501", place=Place(target.name), remedy=remedy)] if problem else []
        item = None if problem else self._document(target, findings)
        kustomization = Kustomization(folder, target.name, target.real, item, [], [], findings)
        self.kustomizations[folder] = kustomization
        if item:
            findings.extend(item.located(finding)._replace(ref=None) for finding in fields.findings(item))
            named = mentions.read(item.content.manifest)
            kustomization.references.extend(references.read(named, item, folder, self.disk, findings))
            findings.extend(self.texts.findings(kustomization.references))
        return kustomization

    def _document(self, target: Target, findings: list[Result]) -> Item | None:
        """Return the document of a kustomization; None, with a finding, when it has not exactly one."""
        items, text_findings = self.texts.documents(target.real, target.name, "KRM502", _judge)
        findings.extend(text_findings)
        if len(items) == 1 and items[0].content.manifest:
            return items[0]
        place, message = Place(target.name), "is not a kustomization"
        if len(items) > 1:
            place, message = items[1].file or place, "is a second document, which kustomize does not read"
        if items or not text_findings:
            findings.append(error(f"{message}; must be a single mapping", rule="KRM502", place=place))
        return None
