"""The functions that a kustomization lists: the functionConfigs behind its entries, and what each of them calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Field, Result, error, warning
from krmfn.typed import NamedTuple

from ..paths.disk import Disk, Target
from . import ambiguity, calls, mentions, references
from .calls import Call, Ours
from .documents import unreadable
from .entries import Entries
from .graph import Graph, Kustomization
from .references import Reference

FIELDS = ("generators", "transformers", "validators")
"""The fields of a kustomization that list functions, and kustomize's own plugins."""

_AS_WRITTEN = frozenset(
    {"apiVersion", "kind", "metadata", "resources", "bases", "namePrefix", "nameSuffix", "namespace"}
)
"""Fields of a kustomization whose resources keep their annotations."""


class Listed(NamedTuple):
    """What the entries of one kustomization stand for."""

    calls: list[Call]
    references: list[Reference]
    """What the configurations of kustomize's own plugins refer to."""
    findings: list[Result]


class Configs:
    """The functionConfigs of files, each read once however many kustomizations list it."""

    def __init__(self, disk: Disk, ours: Ours, graph: Graph) -> None:
        """Take how to read, which programs are ours, and all kustomizations, of which any folder may be listed."""
        self._disk, self._ours, self._graph = disk, ours, graph
        self._read: dict[str, tuple[list[Item], list[Result]]] = {}
        self.entries = Entries()
        self.unknown: set[str] = set()
        """The folders of kustomizations that list functions which are not known before the build."""

    def listed(self, folder: str, named: Iterable[Reference]) -> Listed:
        """Return what the references of the kustomization in `folder` call."""
        out = Listed([], [], [])
        for reference in named:
            if not reference.field.startswith(FIELDS):
                out.findings.extend(_patches(reference))
                continue
            for config in self._configs(folder, reference, out.findings):
                if calls.is_builtin(config):
                    more, wrong = references.read(mentions.builtin(config.manifest), config, folder, self._disk)
                    out.references.extend(more)
                    out.findings.extend(wrong)
                    out.findings.extend(finding for one in more for finding in _patches(one))
                    out.findings.extend(_misspelt(config))
                    out.findings.extend(_absolute(one) for one in more if one.text.startswith("/"))
                else:
                    out.calls.append(calls.call(reference.field, config, self._ours))
                    self.entries.call(out.calls[-1])
                    out.findings.extend(_judged(out.calls[-1], self._ours))
        return out

    def _configs(self, folder: str, reference: Reference, findings: list[Result]) -> Iterator[Item]:
        """Yield the functionConfigs that an entry stands for."""
        if reference.kind == "inline":
            items, wrong = written_out(reference, "KRM510", is_function=True)
            findings.extend(wrong)
            self.entries.add(folder, reference.field, "", items)
            yield from items
        elif reference.kind == "file":
            yield from self._of_file(reference, findings)
        elif reference.kind == "folder":
            for one in self._graph.below(reference.real):
                changing = sorted(key for key, value in one.manifest.items() if value and key not in _AS_WRITTEN)
                if changing:
                    findings.append(_changing(one, reference, changing))
                    self.unknown.add(folder)
                    continue
                for inner in one.references:
                    if inner.kind == "file":
                        yield from self._of_file(inner, findings)

    def _of_file(self, reference: Reference, findings: list[Result]) -> list[Item]:
        if reference.real not in self._read:
            try:
                text = self._disk.read(Target(reference.name, reference.real))
            except KrmfnError as failure:
                findings.append(unreadable(failure, reference.name, "KRM510"))
                return []
            self._read[reference.real] = ambiguity.read(text, Place(reference.name, line=1), "KRM510")
            self.entries.add("", "", reference.real, self._read[reference.real][0])
        items, wrong = self._read[reference.real]
        findings.extend(wrong)
        return items


def _patches(reference: Reference) -> list[Result]:
    """Return what is wrong with a patch that is written out where its path may stand."""
    if reference.kind != "inline" or not reference.field.startswith(("patchesStrategicMerge[", "paths[")):
        return []
    return written_out(reference, ambiguity.RULE, is_function=False)[1]


def _misspelt(config: Item) -> Iterator[Result]:
    """Yield an error for each field of a plugin of kustomize's that it finds by its letters in any case."""
    entries = mentions.entries(config.manifest, "replacements")
    for path, mapping in [("", config.manifest), *((f"{path}.", entry) for path, entry in entries)]:
        for key in mapping:
            name = mentions.BUILTIN.get(key.casefold(), key)
            if name != key:
                message = f"kustomize reads this field as {name}; write {name}"
                yield config.located(error(message, rule=ambiguity.RULE, field=Field(f"{path}{key}")))


def _absolute(reference: Reference) -> Result:
    message = f"{reference.text} is an absolute path; a path is relative to the kustomization's folder"
    return error(message, rule="KRM504", field=Field(reference.field), place=reference.place)


def _changing(one: Kustomization, reference: Reference, changing: list[str]) -> Result:
    message = (
        f"{one.name} may change the functions it lists ({', '.join(changing)}), so it is not known before the build "
        "what would be called; list the files of the functions directly"
    )
    return error(message, rule="KRM510", field=Field(reference.field), place=reference.place)


def _judged(call: Call, ours: Ours) -> Iterator[Result]:
    """Yield what is wrong with a call: a function that is not ours, or one in a place where it has no effect."""
    ref, place = call.config.ref, call.config.place
    if not call.program:
        yield error(f"{call.field}: {call.problem}", rule="KRM510", ref=ref, place=place)
    elif not call.field.startswith("transformers"):
        why = "a generator receives no resources" if call.field[0] == "g" else "kustomize refuses a validator's output"
        yield error(f"{call.field}: {why}; list it under transformers", rule="KRM511", ref=ref, place=place)
    elif version := calls.other_version(call, ours):
        message = f"{call.field}: calls version {version}, but {ours.version()} runs here and may render differently"
        yield warning(message, rule="KRM513", ref=ref, place=place)


def written_out(reference: Reference, rule: str, is_function: bool) -> tuple[list[Item], list[Result]]:
    """Return the resources in a text that is written out, and what is wrong with it; `rule`: what no YAML breaks.

    kustomize first reads such a text as resources and, when it finds none in it, takes it for a path
    (api/internal/target/kusttarget.go, api/internal/builtins/PatchStrategicMergeTransformer.go). So it has to be a
    resource for every reader.
    """
    place = reference.place or Place()
    text, head = reference.text.encode(errors="surrogatepass"), place._replace(line=reference.first)
    items, findings = ambiguity.read(text, head, rule, reference.column, is_function)
    findings += [_nameless(item, reference) for item in items if not _is_resource(item)]
    if not reference.column:  # quoted or folded: its lines are not those of the file
        findings = [finding._replace(field=Field(reference.field), place=place) for finding in findings]
        for item in items:
            item.file = place._replace(finder=partial(_there, place))
    return items, findings


def _is_resource(item: Item) -> bool:
    """Return True for what kustomize takes for a resource (GetValidatedMetadata in kyaml/yaml/rnode.go)."""
    return bool(item.kind) and (bool(item.name) or item.kind.endswith("List"))


def _nameless(item: Item, reference: Reference) -> Result:
    message = (
        f"{reference.field} has no {'metadata.name' if item.kind else 'kind'}, and kustomize reads the text of such "
        "a resource as a path; add it, or move the resource into a file"
    )
    return error(message, rule=ambiguity.RULE, field=Field(reference.field), place=item.place)


def _there(place: Place, result: Result) -> Result:
    return result._replace(place=place)
