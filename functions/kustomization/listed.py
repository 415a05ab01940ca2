"""The functions that a kustomization lists: the functionConfigs behind its entries, and what each of them calls."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Field, Result, error, warning

from ..paths.disk import Disk
from . import calls, flow, mentions, references
from .calls import ANNOTATIONS, Call, Ours
from .graph import Kustomization, ordered
from .references import Reference
from .texts import RULE, Judged, Texts, given, strictly, written_out

_AS_WRITTEN = frozenset(
    {"apiVersion", "kind", "metadata", "resources", "bases", "namePrefix", "nameSuffix", "namespace"}
)
"""Fields of a kustomization whose resources keep their annotations."""


class Configs:
    """The functionConfigs of files, each read once however many kustomizations list it.

    The name by which kustomize starts a function of ours is made at random, so that nothing in a repository can call
    it.
    """

    def __init__(self, disk: Disk, ours: Ours, read: Mapping[str, Kustomization], texts: Texts) -> None:
        """Take how to read, which programs are ours, and all kustomizations, of which any folder may be listed."""
        self._disk, self._ours, self._kustomizations, self._texts = disk, ours, read, texts
        self._files: dict[str, Judged] = {}
        self._written: dict[str, list[Item]] = {}
        """The documents of the files that could be read; another kustomization may have read more, as resources."""
        self._inline: dict[str, dict[str, list[Item]]] = {}
        self._replaced: dict[int, str] = {}
        self.names: dict[str, str] = {}
        """What an annotation calls (a program, an image) to the name that stands for it in this run."""
        self.unknown: set[str] = set()
        """The folders of kustomizations that list functions which are not known before the build."""

    def read(self, one: Kustomization) -> list[Reference]:
        """Note what a kustomization calls; return what the configurations of kustomize's own plugins refer to."""
        references: list[Reference] = []
        for reference in one.references:
            if reference.role != "function":
                one.findings.extend(_patch(reference))
                continue
            for config in self._configs(one, reference):
                if calls.is_builtin(config):
                    references += self._plugin(one, config)
                else:
                    one.calls.append(call := calls.call(reference.field, config, self._ours))
                    self._rename(call)
                    one.findings.extend(_judged(call, self._ours))
        return references

    def _plugin(self, one: Kustomization, config: Item) -> list[Reference]:
        """Return what the configuration of one of kustomize's own plugins refers to."""
        mentioned = mentions.builtin(config.manifest)
        named = [*references.read(mentioned, config, one.folder, self._disk, one.findings)]
        one.findings.extend(finding for reference in named for finding in _patch(reference))
        one.findings.extend(_misspelt(config))
        message = "is an absolute path; a path is relative to the kustomization's folder"
        absolute = (reference for reference in named if reference.text.startswith("/"))
        one.findings.extend(reference.error(f"{reference.text} {message}", "KRM504") for reference in absolute)
        return named

    def _configs(self, one: Kustomization, reference: Reference) -> Iterator[Item]:
        """Yield the functionConfigs that an entry stands for."""
        if reference.kind == "inline":
            items, wrong = _written_out(reference, "KRM510", is_function=True)
            one.findings.extend(wrong)
            self._inline.setdefault(one.folder, {})[reference.field] = items
            yield from items
        elif reference.kind == "file":
            yield from self._of_file(one, reference)
        elif reference.kind == "folder":
            for listed in ordered(self._kustomizations, reference.real):
                changing = sorted(key for key, value in listed.manifest.items() if value and key not in _AS_WRITTEN)
                if changing:
                    message = (
                        f"{listed.name} may change the functions it lists ({', '.join(changing)}), so it is not known "
                        "before the build what would be called; list the files of the functions directly"
                    )
                    one.findings.append(reference.error(message, "KRM510"))
                    self.unknown.add(one.folder)
                    continue
                for inner in listed.references:
                    if inner.kind == "file":
                        yield from self._of_file(one, inner)

    def _of_file(self, one: Kustomization, reference: Reference) -> list[Item]:
        def judge(text: bytes, place: Place, column: int) -> Judged:
            judged = strictly(text, place, column, rule="KRM510", is_function=True)
            self._written[reference.real] = judged[0]
            return judged

        if reference.real not in self._files:
            self._files[reference.real] = self._texts.documents(reference.real, reference.name, "KRM510", judge)
        items, wrong = self._files[reference.real]
        one.findings.extend(wrong)
        return items

    def _rename(self, call: Call) -> None:
        """Give the annotation of one of ours the name of this run."""
        value = call.image or call.program
        annotations = flow.entries(flow.at(call.config.content.composed, "metadata.annotations"))
        node = next((annotations[key][1] for key in ANNOTATIONS if key in annotations), None)
        if value and node is not None:
            name = self.names.setdefault(value, f"krmfn-{os.urandom(12).hex()}")
            self._replaced[id(node)] = str(node.value).replace(value, name)

    def files(self) -> dict[str, bytes]:
        """Return the texts of the files as kustomize is given them, by their paths without links."""
        return {real: flow.written(items, self._replaced).encode() for real, items in self._written.items()}

    def given(self, one: Kustomization) -> bytes:
        """Return a kustomization as kustomize is given it."""
        if one.item is None:
            return b""  # it is refused
        replaced: dict[int, str] = {}
        inline = self._inline.get(one.folder, {})
        # an alias makes one node of several fields: a path counts before a function, a function before a patch
        for each in sorted(one.references, key=lambda each: (each.kind != "inline", each.role == "function")):
            text, node = "", flow.at(one.item.content.composed, each.field)
            if each.field in inline:
                text = flow.written(inline[each.field], self._replaced, on_lines=False).strip()
            elif each.kind == "inline" and each.role != "function":
                text = self._texts.patch(each)[0]
            elif each.kind in ("file", "folder") and node is not None:
                path = os.path.normpath(os.path.join(one.folder, each.text))
                # what is absolute, or goes above the root, gives way to a path that stays in a build tree
                if os.path.normpath(f"/tree{one.folder}/{each.text}") != f"/tree{path}":
                    text = str(node.value).removesuffix(each.text) + os.path.relpath(path, one.folder)
            if text:
                replaced[id(node)] = text
        return given(self._texts.read[one.path], [one.item], replaced)


def _patch(reference: Reference) -> list[Result]:
    """Return what is wrong with a patch that is written out where its path may stand."""
    is_written_out = reference.kind == "inline" and reference.role == "merge"
    return _written_out(reference, RULE, is_function=False)[1] if is_written_out else []


def _misspelt(config: Item) -> Iterator[Result]:
    """Yield an error for each field of a plugin of kustomize's that it finds by its letters in any case."""
    entries = mentions.entries(config.manifest, "replacements")
    for path, mapping in [("", config.manifest), *((f"{path}.", entry) for path, entry in entries)]:
        for key in mapping:
            name = mentions.BUILTIN.get(key.casefold(), key)
            if name != key:
                message = f"kustomize reads this field as {name}; write {name}"
                yield config.located(error(message, rule=RULE, field=Field(f"{path}{key}")))


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


def _written_out(reference: Reference, rule: str, is_function: bool) -> Judged:
    """Return the resources in a text that is written out, and what is wrong with it; `rule`: what no YAML breaks.

    kustomize first reads such a text as resources and, when it finds none in it, takes it for a path
    (api/internal/target/kusttarget.go, api/internal/builtins/PatchStrategicMergeTransformer.go). So it has to be a
    resource for every reader.
    """

    def judge(text: bytes, place: Place, column: int) -> Judged:
        items, findings = strictly(text, place, column, rule=rule, is_function=is_function)
        for item in items:
            if not item.kind or not (item.name or item.kind.endswith("List")):  # GetValidatedMetadata in rnode.go
                message = (
                    f"{reference.field} has no {'metadata.name' if item.kind else 'kind'}, and kustomize reads the "
                    "text of such a resource as a path; add it, or move the resource into a file"
                )
                findings.append(error(message, rule=RULE, field=Field(reference.field), place=item.place))
        return items, findings

    return written_out(reference, judge)
