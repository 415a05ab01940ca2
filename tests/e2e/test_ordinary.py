"""Ordinary repositories: what kustomize builds of them is what `render` prints, and `check` has nothing to say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.builders import CONFIG
from tests.ordinary import LITERAL, LOOSE, OTHERS, POD, SHAPES
from tests.trees import COMPONENT, config_map, function, plant

from .engines import find, must, path_of, run

A = "resources: [a.yaml]\n"
CALLED = "resources: [config.yaml, a.yaml]\ntransformers: [function.yaml]\n"
CM = config_map("a")
OPERATIONS = '[{"op": "replace", "path": "/data/a", "value": "c"}]'
IN_YAML = "# set by hand\n- op: replace\n  path: /data/a\n  value: c\n- {op: add, path: /data/b, value: '---'}\n"
MERGE = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: c\n"
TARGET = "target: {kind: ConfigMap, name: a}"


OFFLINE = {"KUBECONFIG": "/dev/null"}


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


RESOURCES = {name: {"kustomization.yaml": A, "a.yaml": text} for name, text in LOOSE.items()}
"""Resources in each shape, read by kustomize."""
READ: Mapping[str, Callable[[str], str]] = {"plain": lambda text: text, **SHAPES}
"""The shapes of what krmfn itself reads."""


def listed(fields: str, files: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, str]:
    """Return a kustomization of one ConfigMap with further fields and files."""
    return {"kustomization.yaml": A + fields, "a.yaml": CM, **files}


KUSTOMIZATIONS: dict[str, Mapping[str, str]] = {
    "JSON": {"kustomization.yaml": "resources: [a.json]\n", "a.json": json.dumps({**json.loads(POD)}, indent=2)},
    "Windows": {"kustomization.yaml": crlf("# lab\nresources:\n- a.yaml\nnamePrefix: lab-\n"), "a.yaml": crlf(CM)},
    "BOM": {"kustomization.yaml": f"\ufeff{A}", "a.yaml": CM},
    "a divider first": {"kustomization.yaml": f"---\n{A}", "a.yaml": CM},
    "a divider with a comment": {"kustomization.yaml": f"--- # lab\n{A}", "a.yaml": CM},
    "a licence first": {"kustomization.yaml": f"# Copyright\n\n---\n# lab\n{A}", "a.yaml": CM},
    "a banner": {"kustomization.yaml": f"{'#' * 80}\n# lab\n{'#' * 80}\n{A}", "a.yaml": CM},
    "an end": {"kustomization.yaml": f"{A}...\n", "a.yaml": CM},
    "a kustomization in JSON": {"kustomization.yaml": '{"resources": ["a.yaml"]}', "a.yaml": CM},
    "comments in Unicode": {"kustomization.yaml": f"# für das Labor – 実験 🚀\n{A}", "a.yaml": CM},
    "anchors": listed("commonAnnotations: &a {a: b}\nlabels:\n- pairs: *a\n"),
    "an anchor's name again": listed("namePrefix: &a a-\nnameSuffix: &a -b\ncommonAnnotations: {a: *a}\n"),
    "fields in another case": listed(
        "NamePrefix: a-\nImages: [{Name: b, NEWTAG: '2'}]\ncommonlabels: {Team: B}\nvars:\n"
        "- {name: V, objref: {Kind: ConfigMap, name: a, apiversion: v1}, fieldref: {fieldpath: data.a}}\n"
        "transformers:\n- |\n    apiVersion: builtin\n    kind: PatchTransformer\n    metadata: {name: b}\n"
        "    Path: b.yaml\n    Target: {kind: ConfigMap}\n",
        {"b.yaml": '[{"op": "add", "path": "/data/c", "value": "$(V)"}]\n'},
    ),
    "merge keys": listed("configMapGenerator:\n- &g\n  name: b\n  literals: [a=b]\n- <<: *g\n  name: c\n"),
    "a linked base": {
        "kustomization.yaml": "resources: [base]\n",
        "base": "-> other",
        "other/kustomization.yaml": A,
        "other/a.yaml": CM,
    },
    "a linked folder inside": {
        "kustomization.yaml": "resources: [base]\n",
        "base/kustomization.yaml": "resources: [linked/a.yaml]\n",
        "base/linked": "-> real",
        "base/real/a.yaml": CM,
    },
    "a linked file": {"kustomization.yaml": A, "a.yaml": "-> b.yaml", "b.yaml": CM},
    "a component": listed(
        "components: [part]\n",
        {
            "part/kustomization.yaml": f"{COMPONENT}patches: [{{path: b.yaml, {TARGET}}}]\n",
            "part/b.yaml": OPERATIONS,
        },
    ),
    "an inline JSON patch": {"kustomization.yaml": f"{A}patches:\n- {TARGET}\n  patch: '{OPERATIONS}'\n", "a.yaml": CM},
    "an inline JSON patch in lines": listed(f"patches:\n- {TARGET}\n  patch: |-\n{indented(IN_YAML)}"),
    "a folded JSON patch": listed(f"patches:\n- {TARGET}\n  patch: >-\n    {OPERATIONS}\n"),
    "an inline JSON patch of old": listed(
        f"patchesJson6902:\n- target: {{version: v1, kind: ConfigMap, name: a}}\n  patch: |\n{indented(IN_YAML)}"
    ),
    "JSON patches in files": listed(
        f"patches:\n- {{path: b.json, {TARGET}}}\n- {{path: c.yaml, {TARGET}}}\n"
        "patchesJson6902:\n- {path: c.yaml, target: {version: v1, kind: ConfigMap, name: a}}\n",
        {"b.json": OPERATIONS, "c.yaml": f"---\n{IN_YAML}"},
    ),
    "a patch in several documents": {
        "kustomization.yaml": f"{A}patches: [{{path: b.yaml}}]\n",
        "a.yaml": f"{CM}---\n{config_map('b')}",
        "b.yaml": f"# first\n---\n{MERGE}--- # second\n{MERGE.replace('name: a', 'name: b')}",
    },
    "inline patches": listed(
        f"patches:\n- patch: |-\n{indented(MERGE)}- patch: {json.dumps(MERGE)}\n"
        "- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}'\n"
    ),
    "a patch that deletes": {
        "kustomization.yaml": f"{A}patches:\n- patch: |\n    $patch: delete\n{indented(config_map('b'))}",
        "a.yaml": f"{CM}---\n{config_map('b')}",
    },
    "merge patches of old": listed(
        f"patchesStrategicMerge:\n- b.yaml\n- |-\n{indented(MERGE)}"
        "- '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}'\n",
        {"b.yaml": crlf(MERGE)},
    ),
    "transformers of kustomize": listed(
        "transformers:\n- b.yaml\n- |-\n    apiVersion: builtin\n    kind: LabelTransformer\n"
        "    metadata: {name: b}\n    labels: {a: b}\n    fieldSpecs: [{path: metadata/labels, create: true}]\n"
        "- '{apiVersion: builtin, kind: AnnotationsTransformer, metadata: {name: c}, annotations: {a: b}, fieldSpecs: "
        "[{path: metadata/annotations, create: true}]}'\n",
        {
            "b.yaml": "# Copyright\n---\napiVersion: builtin\nkind: PrefixTransformer\nmetadata:\n  name: a # ours\n"
            "prefix: lab-\nfieldSpecs:\n- path: metadata/name\n---\n# none\n---\napiVersion: builtin\n"
            "kind: PatchTransformer\nmetadata:\n  name: d\n"
            f"target: {{kind: ConfigMap}}\npatch: |-\n{indented(IN_YAML)}",
        },
    ),
    "a merge transformer": listed(
        f"transformers:\n- |\n    apiVersion: builtin\n"
        "    kind: PatchStrategicMergeTransformer\n"
        f"    metadata: {{name: a}}\n    paths: [b.yaml]\n    patches: |\n{indented(indented(MERGE))}",
        {"b.yaml": MERGE},
    ),
    "Windows transformers": {
        "kustomization.yaml": crlf(f"{A}transformers:\n- b.yaml\n"),
        "a.yaml": CM,
        "b.yaml": crlf(
            "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: a}\nprefix: a-\n"
            "fieldSpecs: [{path: metadata/name}]\n---\napiVersion: builtin\nkind: SuffixTransformer\n"
            "metadata: {name: a}\nsuffix: -a\nfieldSpecs: [{path: metadata/name}]\n"
        ),
    },
    "a transformer with anchors": listed(
        "transformers: [b.yaml]\n",
        {
            "b.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata:\n  name: &n lab\nlabels:\n  &k app: *n\n"
            "fieldSpecs:\n- &f {path: metadata/labels, create: true}\n- <<: *f\n  path: metadata/annotations\n",
        },
    ),
    "generators": {
        "kustomization.yaml": "generators:\n- b.yaml\nconfigMapGenerator:\n- name: a\n  files: [a.txt, b=c.yaml]\n"
        "  literals: ['a=b', 'c={}', 'd=http://example.com/{x}']\nsecretGenerator:\n- {name: b, envs: [a.env]}\n",
        "a.txt": "---# no document\r\n--- x\n...\n",
        "c.yaml": "a: !vault x\n---x\n",
        "a.env": "A=---\n",
        "b.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: b}\nname: c\nliterals: ['a={b}']\n",
    },
    "replacements": listed(
        "replacements:\n- path: b.yaml\n- source: {kind: ConfigMap, fieldPath: data.a}\n"
        "  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.c], options: {create: true}}]\n",
        {
            "b.yaml": "source: {kind: ConfigMap, fieldPath: metadata.name}\n"
            "targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b], options: {create: true}}]\n",
        },
    ),
    "nothing but other YAML beside": {"kustomization.yaml": A, "a.yaml": CM, **OTHERS},
}
"""Kustomizations as people write them."""


@pytest.mark.parametrize("name", [*RESOURCES, *KUSTOMIZATIONS])
def test_what_kustomize_builds_is_what_is_rendered(kustomize: str, tmp_path: Path, name: str) -> None:
    folder = plant(tmp_path / "app", {**RESOURCES, **KUSTOMIZATIONS}[name])
    assert must("krmfn", "render", folder) == must(kustomize, "build", folder)


def test_a_check_has_nothing_to_say(kustomize: str, tmp_path: Path) -> None:
    folders = [*RESOURCES.values(), *KUSTOMIZATIONS.values(), *(called(name) for name in READ)]
    names = [plant(tmp_path / str(number), files).name for number, files in enumerate(folders)]
    run("krmfn", "check", *names, cwd=tmp_path).ended(0)


def called(name: str) -> dict[str, str]:
    """A kustomization that calls us, with the function and what it reads in a shape."""
    ours = {"config.yaml": CONFIG, "function.yaml": function("exec: {path: krmfn}")}
    return {"kustomization.yaml": CALLED, "a.yaml": LITERAL} | {at: READ[name](text) for at, text in ours.items()}


@pytest.mark.parametrize("name", READ)
def test_a_function_of_ours_is_called_as_in_the_plainest_shape(
    kustomize: str, tmp_path: Path, plain: bytes, name: str
) -> None:
    assert must("krmfn", "render", plant(tmp_path / "app", called(name))) == plain


@pytest.fixture(scope="module")
def plain(kustomize: str, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What is rendered in the plainest shape."""
    out = must("krmfn", "render", plant(tmp_path_factory.mktemp("plain") / "app", called("plain")))
    assert b"kind: Module" in out
    return out


def test_kubectl_reads_every_file(tmp_path: Path) -> None:
    kubectl = find("kubectl", "tests/e2e/install makes it with go")
    for name, text in LOOSE.items():
        files = plant(tmp_path / name, {"a.yaml": text})
        must(kubectl, "label", "--local", "--output=name", "--filename", files, "a=b", env=path_of() | OFFLINE)
