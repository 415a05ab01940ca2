"""The functions that a kustomization lists: the functionConfigs of its entries, and what each of them calls."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from krmfn.item import Item
from krmfn.resource import Place
from krmfn.results import Field, Result, error, warning

from ..paths.disk import Disk
from . import calls, flow, mentions, references
from .calls import ANNOTATIONS, Call, Ours
from .graph import Kustomization, closure
from .references import Reference
from .texts import RULE, Judgement, Texts, build_text, inline_documents, judge_strictly

_HARMLESS = {"apiVersion", "kind", "metadata", "resources", "bases", "namePrefix", "nameSuffix", "namespace"}
"""The fields of a kustomization that do not change the annotations of its resources."""


class Configs:
    """The functionConfigs of files, each read once, even if several kustomizations list it.

    kustomize starts our functions by random names, so that nothing in a repository can call them.
    """

    def __init__(self, disk: Disk, ours: Ours, kustomizations: Mapping[str, Kustomization], texts: Texts) -> None:
        """Read with `disk` and `texts`; `ours` are our programs, and `kustomizations` all that may be listed."""
        self._disk, self._ours, self._kustomizations, self._texts = disk, ours, kustomizations, texts
        self._files: dict[str, Judgement] = {}
        self._documents: dict[str, list[Item]] = {}
        """The documents of the files that could be read; another kustomization may have read more, as resources."""
        self._inline: dict[str, dict[str, list[Item]]] = {}
        self._substitutes: dict[flow.Place, str] = {}
        self.names: dict[str, str] = {}
        """The random names of this run by what an annotation calls: a program, an image."""
        self.unknown: set[str] = set()
        """The folders of kustomizations whose functions are not known before the build."""

    def read(self, kustomization: Kustomization) -> list[Reference]:
        """Add calls and findings to a kustomization; return the references of kustomize's own plugins that it lists."""
        references: list[Reference] = []
        for reference in kustomization.references:
            if reference.role != "function":
                kustomization.findings.extend(_patch_findings(reference))
                continue
            for config in self._configs(kustomization, reference):
                if calls.is_builtin(config):
                    references += self._plugin_references(kustomization, config)
                else:
                    kustomization.calls.append(call := calls.call(reference.field, config, self._ours))
                    self._rename(call)
                    kustomization.findings.extend(_check_call(call, self._ours))
        return references

    def _plugin_references(self, kustomization: Kustomization, config: Item) -> list[Reference]:
        """Return the references in the configuration of one of kustomize's own plugins."""
        folder, findings = kustomization.folder, kustomization.findings
        named = mentions.read_plugin(mentions.usual_plugin(config.manifest))
        results = [*references.read(named, config, folder, self._disk, findings)]
        findings.extend(finding for reference in results for finding in _patch_findings(reference))
        findings.extend(_spelled_twice(config))
        for reference in results:
            if reference.text.startswith("/"):
                message = f"{reference.text} is an absolute path"
                remedy = "write it relative to the kustomization's folder"
                findings.append(reference.error(message, "KRM504", remedy))
        return results

    def _configs(self, kustomization: Kustomization, reference: Reference) -> Iterator[Item]:
        """Yield the functionConfigs of an entry: those written in it, in its file, or in the files of its folder."""
        if reference.kind == "inline":
            items, findings = _inline_resources(reference, "KRM510", is_function=True)
            kustomization.findings.extend(findings)
            self._inline.setdefault(kustomization.folder, {})[reference.field] = items
            yield from items
        elif reference.kind == "file":
            yield from self._file_configs(kustomization, reference)
        elif reference.kind == "folder":
            for base in closure(self._kustomizations, reference.real):
                fields = sorted(key for key, value in base.manifest.items() if value and key not in _HARMLESS)
                if fields:
                    message = (
                        f"{base.name} may change the functions it lists ({', '.join(fields)}), so it is not known "
                        "before the build what would be called"
                    )
                    kustomization.findings.append(
                        reference.error(message, "KRM510", remedy="list the files of the functions directly")
                    )
                    self.unknown.add(kustomization.folder)
                    continue
                for inner in base.references:
                    if inner.kind == "file":
                        yield from self._file_configs(kustomization, inner)

    def _file_configs(self, kustomization: Kustomization, reference: Reference) -> list[Item]:
        def judge(text: bytes, place: Place, column: int) -> Judgement:
            judgement = judge_strictly(text, place, column, rule="KRM510", is_function=True)
            self._documents[reference.real] = judgement[0]
            return judgement

        if reference.real not in self._files:
            self._files[reference.real] = self._texts.documents(reference.real, reference.name, "KRM510", judge)
        items, findings = self._files[reference.real]
        kustomization.findings.extend(findings)
        return items

    def _rename(self, call: Call) -> None:
        """Put a random name in place of our function in the annotation of a call."""
        value = call.image or call.program
        annotations = flow.entries(flow.node_at(call.config.content.composed, "metadata.annotations"))
        node = next((annotations[key][1] for key in ANNOTATIONS if key in annotations), None)
        if value and node is not None:
            name = self.names.setdefault(value, f"krmfn-{os.urandom(12).hex()}")
            self._substitutes[flow.place_of(call.config, node)] = str(node.value).replace(value, name)

    def build_texts(self) -> dict[str, bytes]:
        """Return the texts that kustomize gets for the files of functions, by their paths without links."""
        return {real: flow.dump(items, self._substitutes).encode() for real, items in self._documents.items()}

    def build_text(self, kustomization: Kustomization) -> bytes:
        """Return the text that kustomize gets for a kustomization."""
        if kustomization.item is None:
            return b""  # it is refused
        substitutes: dict[flow.Place, str] = {}
        inline = self._inline.get(kustomization.folder, {})
        # Aliases make one node of several fields; the last text counts: a path, else a function, else a patch.
        order = sorted(kustomization.references, key=lambda entry: (entry.kind != "inline", entry.role == "function"))
        for reference in order:
            text, node = "", flow.node_at(kustomization.item.content.composed, reference.field)
            if reference.field in inline:
                text = flow.dump(inline[reference.field], self._substitutes, on_lines=False).strip()
            elif reference.kind == "inline" and reference.role != "function":
                text = self._texts.patch(reference)[0]
            elif reference.kind in ("file", "folder") and node is not None:
                path = os.path.normpath(os.path.join(kustomization.folder, reference.text))
                # an absolute path, or one that goes above the root, is replaced by one that stays in a build tree
                if os.path.normpath(f"/tree{kustomization.folder}/{reference.text}") != f"/tree{path}":
                    text = str(node.value).removesuffix(reference.text) + os.path.relpath(path, kustomization.folder)
            if text and node is not None:
                substitutes[flow.place_of(kustomization.item, node)] = text
        return build_text(self._texts.sources[kustomization.path], [kustomization.item], substitutes)


def _patch_findings(reference: Reference) -> list[Result]:
    """Return the findings about an inline patch in a field that may also hold its path; [] for anything else."""
    is_inline = reference.kind == "inline" and reference.role == "merge"
    return _inline_resources(reference, RULE, is_function=False)[1] if is_inline else []


def _spelled_twice(config: Item) -> Iterator[Result]:
    """Yield an error for each field of a plugin of kustomize that is there in the usual case and in another one."""
    usual = mentions.usual_plugin(config.manifest)
    entries = mentions.entries(usual, "replacements")
    for path, mapping in [("", usual), *((f"{path}.", entry) for path, entry in entries)]:
        for key in mapping:
            name = mentions.BUILTIN.get(key.casefold(), key)
            if name != key:
                message = f"kustomize reads this field as {name}, which is here, too"
                yield config.located(error(message, rule=RULE, field=Field(f"{path}{key}"), remedy="remove one"))


def _check_call(call: Call, ours: Ours) -> Iterator[Result]:
    """Yield a finding for a call of a function that is not ours, is in the wrong field, or has another version."""
    ref, place = call.config.ref, call.config.place
    if call.mistake:
        message, remedy = call.mistake.after(f"{call.field}: ")
        yield error(message, rule="KRM510", ref=ref, place=place, remedy=remedy)
    elif not call.field.startswith("transformers"):
        is_generator = call.field.startswith("generators")
        reason = "a generator receives no resources" if is_generator else "kustomize refuses a validator's output"
        yield error(f"{call.field}: {reason}", rule="KRM511", ref=ref, place=place, remedy="list it under transformers")
    elif version := calls.other_version(call, ours):
        message = f"{call.field}: calls version {version}, but {ours.version} runs here and may render differently"
        remedy = f"call {ours.version} there, or run krmfn {version} here"
        yield warning(message, rule="KRM513", ref=ref, place=place, remedy=remedy)


def _inline_resources(reference: Reference, rule: str, is_function: bool) -> Judgement:
    """Return the resources in an inline text, and the findings about it, those of `rule` if it is not YAML.

    kustomize first reads such a text as resources and, when it finds none in it, takes it for a path
    (api/internal/target/kusttarget.go, api/internal/builtins/PatchStrategicMergeTransformer.go). So it has to be a
    resource for every reader.
    """

    def judge(text: bytes, place: Place, column: int) -> Judgement:
        items, findings = judge_strictly(text, place, column, rule=rule, is_function=is_function)
        for item in items:
            if not item.kind or not (item.name or item.kind.endswith("List")):  # GetValidatedMetadata in rnode.go
                message = (
                    f"{reference.field} has no {'metadata.name' if item.kind else 'kind'}, and kustomize reads the "
                    "text of such a resource as a path"
                )
                findings.append(
                    error(
                        message,
                        rule=RULE,
                        field=Field(reference.field),
                        place=item.place,
                        remedy="add it, or move the resource into a file",
                    )
                )
        return items, findings

    return inline_documents(reference, judge)
