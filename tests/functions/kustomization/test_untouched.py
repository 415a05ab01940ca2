"""What leaves annotations alone, so that kustomize may note origins at once; all else is built without them first."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.kustomization import provenance, reading

from krmfn.item import LOCAL
from tests.trees import COMPONENT, OURS, config_map, plant

PLAIN = config_map("own")
NOTED = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n  annotations:\n    a/b: \"c\"\n    d: 'e'\n"
MERGE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata: {a: b}\n"
TARGET = "target: {kind: ConfigMap}"

UNTOUCHED = {
    "resources": {"kustomization.yaml": "resources: [own.yaml]\n", "own.yaml": PLAIN},
    "strings": {"kustomization.yaml": "resources: [own.yaml]\n", "own.yaml": NOTED},
    "in one line": {
        "kustomization.yaml": "resources: [own.yaml]\n",
        "own.yaml": "apiVersion: v1\nkind: A\nmetadata: {annotations: {a/b: 'c', d: \"e\"}, name: own}\n",
    },
    "a base": {"kustomization.yaml": "resources: [b]\n", "b/Kustomization": "resources: [c]\n", "b/c": PLAIN},
    "a patch": {"kustomization.yaml": "resources: [own.yaml]\npatches: [{path: p}]\n", "own.yaml": PLAIN, "p": MERGE},
    "names": {
        "kustomization.yaml": f"resources: [own.yaml]\npatches: [{{path: p, {TARGET}}}]\n",
        "own.yaml": PLAIN,
        "p": "- {op: add, path: /metadata/labels, value: {a: b}}\n",
    },
    "inline": {
        "kustomization.yaml": "resources: [own.yaml]\npatches:\n- patch: '"
        + MERGE.replace("\n", "\n\n    ").rstrip()
        + "'\n",
        "own.yaml": PLAIN,
    },
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


def resource(text: str) -> dict[str, str]:
    return {"kustomization.yaml": "resources: [own.yaml]\n", "own.yaml": text}


def patched(text: str, rest: str = "") -> dict[str, str]:
    return {
        "kustomization.yaml": f"resources: [own.yaml]\npatches: [{{path: p{rest}}}]\n",
        "own.yaml": PLAIN,
        "p": text,
    }


HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: own\n"
TOUCHED = {
    "a number": resource(f"{HEAD}  annotations:\n    a: 1\n"),
    "a word that may be a truth value": resource(f"{HEAD}  annotations:\n    a: yes\n"),
    "none": resource(f"{HEAD}  annotations: {{}}\n"),
    "a number in one line": resource("apiVersion: v1\nkind: A\nmetadata: {name: own, annotations: {a: 'b', c: 1}}\n"),
    "null": resource(f"{HEAD}  annotations:\n"),
    "an anchor": resource(f"{HEAD}  annotations: &a\n    a: 'b'\n"),
    "a merge": resource(f"{HEAD}  annotations:\n    <<: {{a: 'b'}}\n"),
    "an escape": resource(f'{HEAD}  "annotation\\x73":\n    a: "1"\n'),
    "a tag": resource(f"{HEAD}  !!binary YW5ub3RhdGlvbnM=:\n    a: '1'\n"),
    "a note of its own": resource(f"{HEAD}  annotations:\n    {provenance.ORIGIN}: 'b'\n"),
    "a mark that is spelled twice": resource(NOTED.replace("a/b", LOCAL).replace("own", f"own # {LOCAL}")),
    "a mark in a template": resource(
        f"{HEAD}spec:\n  template:\n    metadata:\n      annotations:\n        {LOCAL}: 'true'\n"
    ),
    "a mark in a file that is copied": {
        "kustomization.yaml": "resources: [own.yaml]\nconfigMapGenerator: [{name: a, files: [own.yaml]}]\n",
        "own.yaml": NOTED.replace("a/b", LOCAL),
    },
    "a kustomization in braces": {**resource(PLAIN), "kustomization.yaml": "{resources: [own.yaml]}\n"},
    "one that ends without a line": {**resource(PLAIN), "kustomization.yaml": "resources: [own.yaml]"},
    "one with a division behind it": {
        **resource(PLAIN),
        "kustomization.yaml": "resources: [own.yaml]\n\n---\n# resources: [own.yaml]\n",
    },
    "one that kustomize would call empty": {"kustomization.yaml": "resources: []\n"},
    "a component": {**resource(PLAIN), "kustomization.yaml": f"{COMPONENT}resources: [own.yaml]\n"},
    "a large file": resource(PLAIN + "# \n" * 100_000),
    "of all": {**resource(PLAIN), "kustomization.yaml": "resources: [own.yaml]\ncommonAnnotations: {a: b}\n"},
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
    "labels with fields": {
        **resource(PLAIN),
        "kustomization.yaml": "labels: [{pairs: {a: b}, fields: [{path: metadata/annotations}]}]\n",
    },
    "notes that are asked for": {
        **resource(PLAIN),
        "kustomization.yaml": "resources: [own.yaml]\nbuildMetadata: [originAnnotations]\n",
    },
    "a replacement": {
        **resource(PLAIN),
        "kustomization.yaml": "resources: [own.yaml]\nreplacements: [{path: r.yaml}]\n",
        "r.yaml": "source: {kind: ConfigMap, fieldPath: metadata}\ntargets: []\n",
    },
    "a base": {"kustomization.yaml": "resources: [b]\n", "b/kustomization.yaml": "commonAnnotations: {a: b}\n"},
    "something remote": {"kustomization.yaml": "resources: ['https://github.com/a/b?ref=c']\n"},
    "a file that is not there": {"kustomization.yaml": "resources: [own.yaml]\n"},
}


def is_untouched(folder: Path) -> bool:
    top = str(folder.resolve())
    return reading.read([top], top, OURS).is_untouched(top)


@pytest.mark.parametrize("name", EVERY)
def test_these_leave_annotations_alone(name: str, tmp_path: Path) -> None:
    assert is_untouched(plant(tmp_path, EVERY[name]))


@pytest.mark.parametrize("name", TOUCHED)
def test_these_may_not(name: str, tmp_path: Path) -> None:
    assert not is_untouched(plant(tmp_path, TOUCHED[name]))


NOTES = f"    {provenance.ORIGIN}: |\n      path: a.yaml\n    {provenance.TRANSFORMATIONS}: |\n      - a\n"


def test_notes_are_taken_off_and_nothing_else() -> None:
    for mine in ("", "    a: b\n", "    z: |\n      config\n"):
        first, last = (mine, "") if mine.startswith("    a") else ("", mine)
        stream = f"kind: A\nmetadata:\n  annotations:\n{first}{NOTES}{last}  name: a\n"
        rest = f"  annotations:\n{mine}" if mine else ""
        assert provenance.without_notes(stream.encode()) == f"kind: A\nmetadata:\n{rest}  name: a\n".encode()


def test_a_note_in_an_unknown_form_is_not_certain() -> None:
    assert provenance.without_notes(b'metadata:\n  annotations:\n    config.kubernetes.io/origin: "a: \\x01"\n') is None
