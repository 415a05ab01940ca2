"""Kustomizations that leave annotations alone: only these are built with kustomize's notes of origins at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.kustomization import builds, kustomize, provenance, reading, workspace
from krmfn_functions.kustomization.traces import Trace, origins_of

from krmfn.item import LOCAL
from tests.trees import COMPONENT, OURS, config_map, plant

PLAIN = config_map("own")
NOTED = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n  annotations:\n    a/b: \"c\"\n    d: 'e'\n"
MERGE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {a: b}\n"
TARGET = "target: {kind: ConfigMap}"


def listed(text: str = PLAIN, fields: str = "", **files: str) -> dict[str, str]:
    """Return a kustomization with these fields, the one resource that it lists, and other files."""
    return {"kustomization.yaml": f"resources: [own.yaml]\n{fields}", "own.yaml": text, **files}


def patched(patch: str, options: str = "") -> dict[str, str]:
    return listed(PLAIN, f"patches: [{{path: p{options}}}]\n", p=patch)


UNTOUCHED = {
    "resources": listed(),
    "strings": listed(NOTED),
    "in one line": listed("apiVersion: v1\nkind: A\nmetadata: {annotations: {a/b: 'c', d: \"e\"}, name: own}\n"),
    "a base": {"kustomization.yaml": "resources: [b]\n", "b/Kustomization": "resources: [c]\n", "b/c": PLAIN},
    "a patch": patched(MERGE),
    "names": patched("- {op: add, path: /metadata/labels, value: {a: b}}\n", f", {TARGET}"),
    "inline": listed(fields="patches:\n- patch: '" + MERGE.replace("\n", "\n\n    ").rstrip() + "'\n"),
    "generated": {
        "kustomization.yaml": "configMapGenerator: [{name: a, files: [text]}]\nnamePrefix: a-\n",
        "text": "metadata:\n  annotations: 1\n",
    },
}
EVERY = {
    **UNTOUCHED,
    "what no cluster gets": {
        "kustomization.yaml": "resources: [own.yaml, a.yaml, b.yaml]\nnamePrefix: a-\n",
        "own.yaml": NOTED.replace("a/b", LOCAL),
        "a.yaml": f"apiVersion: v1\nkind: A\nmetadata: {{annotations: {{{LOCAL}: 'false', z: 'x'}}, name: own}}\n",
        "b.yaml": f"apiVersion: v1\nkind: B\nmetadata: {{annotations: {{{LOCAL}: 'true'}}, name: own}}\n",
    },
}
"""The same, and marked resources, which a plain `kustomize build` drops."""


HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n"
TOUCHED = {
    "a number": listed(f"{HEAD}  annotations:\n    a: 1\n"),
    "a word that may be a truth value": listed(f"{HEAD}  annotations:\n    a: yes\n"),
    "none": listed(f"{HEAD}  annotations: {{}}\n"),
    "a number in one line": listed("apiVersion: v1\nkind: A\nmetadata: {name: own, annotations: {a: 'b', c: 1}}\n"),
    "null": listed(f"{HEAD}  annotations:\n"),
    "an anchor": listed(f"{HEAD}  annotations: &a\n    a: 'b'\n"),
    "a merge": listed(f"{HEAD}  annotations:\n    <<: {{a: 'b'}}\n"),
    "an escape": listed(f'{HEAD}  "annotation\\x73":\n    a: "1"\n'),
    "a tag": listed(f"{HEAD}  !!binary YW5ub3RhdGlvbnM=:\n    a: '1'\n"),
    "a note of its own": listed(f"{HEAD}  annotations:\n    {provenance.ORIGIN}: 'b'\n"),
    "a mark that is spelled twice": listed(NOTED.replace("a/b", LOCAL).replace("own", f"own # {LOCAL}")),
    "a mark in a template": listed(
        f"{HEAD}spec:\n  template:\n    metadata:\n      annotations:\n        {LOCAL}: 'true'\n"
    ),
    "a mark in a file that is copied": listed(
        NOTED.replace("a/b", LOCAL), "configMapGenerator: [{name: a, files: [own.yaml]}]\n"
    ),
    "a kustomization in braces": {**listed(), "kustomization.yaml": "{resources: [own.yaml]}\n"},
    "one that ends without a line": {**listed(), "kustomization.yaml": "resources: [own.yaml]"},
    "one with a division behind it": listed(fields="\n---\n# resources: [own.yaml]\n"),
    "one that kustomize would call empty": {"kustomization.yaml": "resources: []\n"},
    "a component": {**listed(), "kustomization.yaml": f"{COMPONENT}resources: [own.yaml]\n"},
    "a large file": listed(PLAIN + "# \n" * 100_000),
    "of all": listed(fields="commonAnnotations: {a: b}\n"),
    "of a generator": {"kustomization.yaml": "configMapGenerator: [{name: a, options: {annotations: {a: b}}}]\n"},
    "of what is generated": {"kustomization.yaml": "generatorOptions: {annotations: {a: b}}\n"},
    "a selector": patched(MERGE, ", target: {annotationSelector: a}"),
    "a merge of annotations": patched("apiVersion: v1\nkind: A\nmetadata: {name: own, annotations: {a: b}}\n"),
    "a replacement of all": patched(f"{MERGE}$patch: replace\n"),
    "a patch without metadata": patched("data: {a: b}\n", f", {TARGET}"),
    "a path to annotations": patched("- {op: remove, path: /metadata/annotations/a}\n", f", {TARGET}"),
    "a path to the metadata": patched("- {op: replace, path: /metadata, value: {name: own}}\n", f", {TARGET}"),
    "a path to everything": patched("- {op: replace, path: '', value: {}}\n", f", {TARGET}"),
    "a copy of the metadata": patched("- {op: copy, from: /metadata, path: /data}\n", f", {TARGET}"),
    "an alias as a path": patched("- {op: test, x: &p /metadata, path: *p}\n", f", {TARGET}"),
    "labels with fields": listed(fields="labels: [{pairs: {a: b}, fields: [{path: metadata/annotations}]}]\n"),
    "notes that are asked for": listed(fields="buildMetadata: [originAnnotations]\n"),
    "a replacement": listed(
        fields="replacements: [{path: r}]\n", r="source: {kind: ConfigMap, fieldPath: metadata}\ntargets: []\n"
    ),
    "a base": {"kustomization.yaml": "resources: [b]\n", "b/kustomization.yaml": "commonAnnotations: {a: b}\n"},
    "something remote": {"kustomization.yaml": "resources: ['https://github.com/a/b?ref=c']\n"},
    "a file that is not there": {"kustomization.yaml": "resources: [own.yaml]\n"},
}


def is_untouched(folder: Path) -> bool:
    top = str(folder.resolve())
    return reading.read([top], top, OURS).is_untouched(top)


@pytest.mark.parametrize("files", EVERY.values(), ids=EVERY)
def test_these_leave_annotations_alone(files: dict[str, str], tmp_path: Path) -> None:
    assert is_untouched(plant(tmp_path, files))


@pytest.mark.parametrize("files", TOUCHED.values(), ids=TOUCHED)
def test_these_may_not(files: dict[str, str], tmp_path: Path) -> None:
    assert not is_untouched(plant(tmp_path, files))


NOTES = f"    {provenance.ORIGIN}: |\n      path: a.yaml\n    {provenance.TRANSFORMATIONS}: |\n      - a\n"


def test_notes_are_taken_off_and_nothing_else() -> None:
    for mine in ("", "    a: b\n", "    z: |\n      config\n"):
        first, last = (mine, "") if mine.startswith("    a") else ("", mine)
        stream = f"kind: A\nmetadata:\n  annotations:\n{first}{NOTES}{last}  name: a\n"
        rest = f"  annotations:\n{mine}" if mine else ""
        assert provenance.without_notes(stream.encode()) == f"kind: A\nmetadata:\n{rest}  name: a\n".encode()


def test_a_note_in_an_unknown_form_is_not_certain() -> None:
    assert provenance.without_notes(b'metadata:\n  annotations:\n    config.kubernetes.io/origin: "a: \\x01"\n') is None


@pytest.mark.parametrize(("number", "is_noted"), [(20, True), (60, False)])
def test_many_patches_of_many_resources_are_built_without_notes(
    number: int, is_noted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kustomize's work with notes is the number of resources times the square of the number of patches."""
    names = [f"own{at}" for at in range(number)]
    patches = "".join(f"- path: p{at}\n" for at in range(number))
    files = {f"{name}.yaml": PLAIN.replace("own", name) for name in names}
    files |= {f"p{at}": MERGE.replace("own", name) for at, name in enumerate(names)}
    files["kustomization.yaml"] = f"resources: [{', '.join(f'{name}.yaml' for name in names)}]\npatches:\n{patches}"
    top = str(plant(tmp_path, files).resolve())
    asked = list[bool]()

    def build(call: kustomize.BuildCall) -> kustomize.Output:
        asked.append(call.shared is not None)
        return kustomize.Output(b"")

    monkeypatch.setattr(kustomize, "build", build)
    with workspace.open_workspace(None) as shared:
        graph = reading.read([top], top, OURS)._replace(workspace=shared)
        _, trace = builds._output(Trace(top, top, graph, kustomize.Decision(()), (), 1))
        origins_of(trace)
    assert asked == [is_noted]
