"""What readers of YAML divide or read differently in a kustomization and its functions is refused; all else is not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from krmfn_functions.kustomization import reading, texts
from krmfn_functions.kustomization.builds import decide
from krmfn_functions.kustomization.documents import documents

from krmfn.results import Result
from tests.trees import COMPONENT, OURS, config_map, function, plant

NL, CR, NEL, LS, PS = "\n", "\r", "\x85", "\u2028", "\u2029"
GOOD = function("exec: {path: krmfn}")
EVIL = function("exec: {path: ./evil}")
BUILTIN = "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\nlabels: {a: b}\n"
FLOW = '{"apiVersion": "builtin", "kind": "LabelTransformer", "metadata": {"name": "a"}, "labels": {"a": "b"}}'
LINES = "apiVersion: builtin\nkind: LabelTransformer\nlabels: {a: b}\n"
LISTED = "transformers: [f.yaml]\n"


def findings(folder: Path, files: dict[str, str]) -> list[Result]:
    """Return the errors that keep the folder from being built, whichever flags a user may give for kustomize."""
    for name, text in files.items():
        plant(folder, {name: ""})
        (folder / name).write_bytes(text.encode())
    graph = reading.read([str(folder)], None, OURS)
    flags = ("--enable-alpha-plugins", "--enable-exec", "--enable-helm", "--load-restrictor=LoadRestrictionsNone")
    return list(decide(graph, str(folder.resolve()), flags).refused)


def rules(folder: Path, files: dict[str, str]) -> set[str]:
    return {result.rule for result in findings(folder, files)}


FILES = {
    "a divider with a comment close to it": f"{BUILTIN}---# x:\n{EVIL}",
    "a divider with U+00A0 before a comment": f"{BUILTIN}---\u00a0# x:\n{EVIL}",
    "a carriage return alone behind a divider": f"{BUILTIN}---\r# c\r{EVIL}",
    "two documents parted by dots": f"{GOOD}...\n{EVIL}",
    "two documents parted by dots and a comment": f"{GOOD}... # the end\n# not yet\n{EVIL}",
    "a directive": f"%TAG !! tag:example.com,2000:\n---\n{GOOD}",
    "two marks of byte order": f"\ufeff\ufeff{GOOD}aapiVersion: builtin\nkkind: LabelTransformer\n",
    "a mark of byte order inside": f"{GOOD}# {'x' * 400}\ufeff\n# apiVersion: builtin\n",
    "kind twice": f"{GOOD}kind: Other\n",
    "kind twice, once quoted": f"{GOOD}'kind': Other\n",
    "a tag that makes a word": "apiVersion: !!binary YnVpbHRpbg==\nkind: LabelTransformer\nmetadata: {name: a}\n",
    "a tag of one's own": f"{BUILTIN}more: !mine a\n",
    "a merge": f"x: &x {{kind: Other}}\n<<: *x\n{GOOD}",
    "an alias": "x: &x builtin\napiVersion: *x\nkind: LabelTransformer\nmetadata: {name: a}\n",
    "an alias for the name": "apiVersion: &a builtin\nkind: LabelTransformer\nmetadata: {name: *a}\n",
    "a key that is an alias": f"x: &kind a\ny: &items b\n*kind : List\n*items : [{json.dumps({'kind': 'A'})}]\n{GOOD}",
    "a key behind a question mark that is an alias": f"x: {{&kind a: b}}\n? *kind\n: List\n{GOOD}",
    "a field of a plugin in two cases": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: a}\n"
    "PATH: http://127.0.0.1/\npath: b.yaml\n",
    "a field of a replacement in two cases": "apiVersion: builtin\nkind: ReplacementTransformer\n"
    "metadata: {name: a}\nreplacements: [{Path: http://127.0.0.1/, path: b.yaml}]\n",
    **{f"a comment that ends with {mark!r}": f"{BUILTIN}# {mark}{EVIL}" for mark in (CR, NEL, LS, PS)},
    **{f"text that ends with {mark!r}": f"{BUILTIN}a: 'b{mark}c'\n" for mark in (CR, NEL, LS, PS)},
}
ENTRIES = {
    "lines without a name": LINES,
    "braces without a name": '{"apiVersion": "builtin", "kind": "LabelTransformer"}',
    "braces without a kind": '{"apiVersion": "builtin", "metadata": {"name": "a"}}',
    "a name that is no string": '{"apiVersion": "builtin", "kind": "LabelTransformer", "metadata": {"name": 1}}',
    **{f"keys parted by {mark!r}": EVIL.replace(NL, mark) for mark in (CR, NEL, LS, PS)},
    "a path with a tab": "a\tb.yaml",
    "a path with a mark of byte order": "\ufeffa.yaml",
    "a divider with a comment": f"{BUILTIN}---# x:\n{EVIL}",
    "kind twice": f"{GOOD}kind: Other\n",
}
FIELDS = ("transformers", "generators", "validators")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_a_function_that_readers_read_differently_is_refused(tmp_path: Path, field: str, text: str) -> None:
    results = findings(tmp_path, {"kustomization.yaml": f"{field}: [f.yaml]\n", "f.yaml": text})
    places = [result.place for result in results if result.rule == "KRM517"]
    assert places and all(place and place.path and place.line for place in places)


OTHER_CASES = {
    "PatchTransformer": "PATH: http://127.0.0.1/",
    "ConfigMapGenerator": "file\u017f: [http://127.0.0.1/]",
    "ReplacementTransformer": "Replacements: [{Path: http://127.0.0.1/}]",
}
"""The kinds of plugins with a field that is not spelled in the usual case, and leads out of the repository."""


@pytest.mark.parametrize("kind", OTHER_CASES)
def test_a_field_of_a_plugin_counts_in_any_case(tmp_path: Path, kind: str) -> None:
    """kustomize decodes it as JSON, and Go takes the names of fields in any case."""
    text = f"apiVersion: builtin\nkind: {kind}\nmetadata: {{name: a}}\n{OTHER_CASES[kind]}\n"
    assert rules(tmp_path, {"kustomization.yaml": "transformers: [f.yaml]\n", "f.yaml": text}) == {"KRM509"}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_that_may_be_a_path_and_a_resource_is_refused(tmp_path: Path, field: str, text: str) -> None:
    listing = f"{field}: [{json.dumps(text)}]\n"
    assert "KRM517" in rules(tmp_path, {"kustomization.yaml": listing})
    files = {"kustomization.yaml": "components: [c]\n", "c/kustomization.yaml": COMPONENT + listing}
    assert "KRM517" in rules(tmp_path / "b", files)


@pytest.mark.parametrize(
    "text", ["kind: aList", "!a/b/c/d kind: ../../proc/self/aList", '"\\x6bind": aList', "&a 'kind' : aList # a.yaml"]
)
def test_an_entry_that_is_a_list_with_one_key_is_no_path(tmp_path: Path, text: str) -> None:
    """kustomize runs a program of that kind, which may lead out of the folder in which it looks for plugins."""
    files = {"kustomization.yaml": f"transformers: [f.yaml, {json.dumps(text)}]\n", "f.yaml": GOOD}
    assert rules(tmp_path, {**files, os.path.normpath(text): BUILTIN}) & {"KRM504", "KRM517"}


@pytest.mark.parametrize("text", [FLOW, BUILTIN], ids=["flow", "block"])
def test_an_entry_whose_text_is_also_a_file_is_refused(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, {"kustomization.yaml": f"transformers: [{json.dumps(text)}]\n"}) == set()
    assert rules(tmp_path, {text: EVIL}) == {"KRM517"}


@pytest.mark.parametrize(
    "text", ["# f.yaml", "---", "~", "null", "[]", "[ ]", "!!null f.yaml", "&a", "&a []", "null # f.yaml", " ~ "]
)
def test_an_entry_that_kustomize_passes_over_is_refused(tmp_path: Path, text: str) -> None:
    files = {"kustomization.yaml": f"transformers: [{json.dumps(text)}]\n", text: GOOD}
    assert rules(tmp_path, files) == {"KRM504"}


def test_a_function_file_that_two_kustomizations_list_is_refused_in_both(tmp_path: Path) -> None:
    files = {f"{name}/kustomization.yaml": LISTED for name in "ab"}
    plant(tmp_path, {**files, "a/f.yaml": FILES["kind twice"], "b/f.yaml": "-> ../a/f.yaml"})
    graph = reading.read([str(tmp_path / "a"), str(tmp_path / "b")], None, OURS)
    for name in "ab":
        assert "KRM517" in {finding.rule for finding in graph.findings(str((tmp_path / name).resolve()))}


KUSTOMIZATIONS = {
    **{f"a comment that ends with {mark!r}": f"# c{mark}{LISTED}namePrefix: a\n" for mark in (CR, NEL, LS)},
    "a divider with a comment": "namePrefix: a\n---# x:\ntransformers: [f.yaml]\n",
    "dots": "namePrefix: a\n...\ntransformers: [f.yaml]\n",
    "a tag": "namePrefix: !!binary YQ==\n",
    "a tag of one's own": "namePrefix: !a b\n",
    "two marks of byte order": "\ufeff\ufeffnamePrefix: a\n#transformers: [f.yaml]\n",
    "a mark of byte order inside": f"namePrefix: a # {'x' * 470}\ufeff\n#transformers: [f.yaml]\n",
    "a directive": "%YAML 1.1\n---\nnamePrefix: a\n",
}


@pytest.mark.parametrize("text", KUSTOMIZATIONS.values(), ids=KUSTOMIZATIONS)
def test_a_kustomization_that_readers_read_differently_is_refused(tmp_path: Path, text: str) -> None:
    results = findings(tmp_path, {"kustomization.yaml": text, "f.yaml": EVIL})
    assert any(result.rule == "KRM517" and result.place and result.place.line for result in results)


URL = "http://127.0.0.1:1/{x}"
REMOTE = {
    "patchesStrategicMerge": f"patchesStrategicMerge: ['{URL}']",
    "patches": f"patches: [{{path: '{URL}'}}]",
    "patchesJson6902": f"patchesJson6902: [{{path: '{URL}', target: {{kind: A, name: a}}}}]",
    "replacements": f"replacements: [{{path: '{URL}'}}]",
    "configurations": f"configurations: ['{URL}']",
    "crds": f"crds: ['{URL}']",
    "openapi": f"openapi: {{path: '{URL}'}}",
    "files": f"configMapGenerator: [{{name: a, files: ['a={URL}']}}]",
    "envs": f"secretGenerator: [{{name: a, envs: ['{URL}']}}]",
    "transformers": f"transformers: ['{URL}']",
    "a repository": "transformers: ['https://example.com/a/b?{x}']",
    "resources": f"resources: ['{URL}']",
    "components": "components: ['https://example.com/{a}/b']",
}
PLUGINS = {
    "paths": ("PatchStrategicMergeTransformer", f"paths: ['{URL}']"),
    "path": ("PatchTransformer", f"path: '{URL}'"),
    "json path": ("PatchJson6902Transformer", f"path: '{URL}'"),
    "targetFilePath": ("ValueAddTransformer", f"targetFilePath: '{URL}'"),
    "replacements": ("ReplacementTransformer", f"replacements: [{{path: '{URL}'}}]"),
    "files": ("ConfigMapGenerator", f"files: ['{URL}']"),
    "env": ("SecretGenerator", f"env: '{URL}'"),
    "valuesFile": ("HelmChartInflationGenerator", f"name: a\nvaluesFile: '{URL}'"),
    "additionalValuesFiles": ("HelmChartInflationGenerator", f"name: a\nadditionalValuesFiles: ['{URL}']"),
}


@pytest.mark.parametrize("text", REMOTE.values(), ids=REMOTE)
def test_a_url_is_looked_for_before_anything_else(tmp_path: Path, text: str) -> None:
    assert "KRM509" in rules(tmp_path, {"kustomization.yaml": text})


@pytest.mark.parametrize(("kind", "fields"), PLUGINS.values(), ids=PLUGINS)
def test_a_url_in_a_plugin_is_looked_for(tmp_path: Path, kind: str, fields: str) -> None:
    plugin = f"apiVersion: builtin\nkind: {kind}\nmetadata: {{name: a}}\n{fields}\n"
    assert "KRM509" in rules(tmp_path, {"kustomization.yaml": LISTED, "f.yaml": plugin})


@pytest.mark.parametrize(
    "text", ["a: {b: c}", "- {kind: A}", "kind: A\nspec: {}", "{kind: A", "apiVersion: v1\nmetadata: {name: a}"]
)
def test_a_patch_that_kustomize_takes_for_a_path_is_refused(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, {"kustomization.yaml": f"patchesStrategicMerge: [{json.dumps(text)}]\n"})
    plugin = {"apiVersion": "builtin", "kind": "PatchStrategicMergeTransformer", "metadata": {"name": "a"}}
    files = {"kustomization.yaml": LISTED, "f.yaml": json.dumps(plugin | {"paths": [text]})}
    assert rules(tmp_path, files) == {"KRM517"}


def test_a_plugin_by_another_name_is_no_function_of_ours(tmp_path: Path) -> None:
    text = GOOD.replace("krmfn.dev/v1alpha1", "/builtin") + "files: [http://127.0.0.1/]\n"
    plant(tmp_path, {"kustomization.yaml": LISTED, "f.yaml": text})
    (call,) = reading.read([str(tmp_path)], None, OURS).calls(str(tmp_path.resolve()))
    assert call.mistake
    assert (call.program, "begins with a slash" in call.mistake.message) == ("", True)


HONEST = {
    "helm's comments": (LISTED, f"--- # Source: a.yaml\n{GOOD}---\n{BUILTIN}--- \n"),
    "lines of Windows": ("transformers: [f.yaml]\r\n", f"{GOOD}---\n{BUILTIN}".replace(NL, "\r\n")),
    "a mark of byte order": ("\ufefftransformers: [f.yaml]\n", f"\ufeff{GOOD}"),
    "the end": ("transformers: [f.yaml]\n...\n", f"{GOOD}...\n---\n{BUILTIN}...\n# the end\n"),
    "comments": ("# caf\u00e9 \u2713\n\ntransformers: [f.yaml]\n", f"# \u00fc\n{GOOD}# --- no divider\n"),
    "aliases": ("transformers: &l [f.yaml]\nresources: []\n", f"{BUILTIN}a: &a [b]\nc: *a\n"),
    "core tags": ("transformers: !!seq [!!str f.yaml]\n", BUILTIN.replace("a: b", "a: !!str b")),
    "JSON": ('{"transformers": ["f.yaml"]}', FLOW),
    "lines in an entry": (f"transformers:\n- |\n{''.join(f'  {line}{NL}' for line in GOOD.splitlines())}", ""),
    "a comment and a divider in an entry": (f"transformers: [{json.dumps(f'# the plugin{NL}---{NL}{BUILTIN}')}]\n", ""),
    "braces in an entry": (f"transformers: ['{FLOW}']\n", ""),
    "several documents in an entry": (f"transformers: [{json.dumps(BUILTIN + '---' + NL + GOOD)}]\n", ""),
    "a patch that is written out": (
        "patchesStrategicMerge:\n- |-\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data: {b: null}\n",
        "",
    ),
    "a list of patches": (
        "patchesStrategicMerge: ['{apiVersion: v1, kind: ConfigMapList, items: []}']\nresources: [r.yaml]\n",
        "",
    ),
    "a JSON patch": ('patches: [{target: {kind: A}, patch: \'[{"op": "remove", "path": "/a"}]\'}]\n', ""),
    "names with spaces and colons": ("resources: [r.yaml]\ntransformers: ['a: b.yaml']\n", ""),
}


@pytest.mark.parametrize(("kustomization", "function_"), HONEST.values(), ids=HONEST)
def test_what_all_readers_read_alike_is_built(tmp_path: Path, kustomization: str, function_: str) -> None:
    files = {"kustomization.yaml": kustomization, "r.yaml": config_map("a"), "a: b.yaml": BUILTIN}
    assert findings(tmp_path, {**files, "f.yaml": function_} if function_ else files) == []


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        (b"kind: A\na: b & c\n", True),
        (b"kind: A\na: |\n  &x\n  !y *z\n  <<: d\n", True),
        (b"kind: A\na: &x 1\n", False),
        (b"kind: A\na: !!str 1\n", False),
        (b"kind: A\na: {<<: {b: c}}\n", False),
    ],
)
def test_only_what_has_a_mark_is_written_anew(text: bytes, is_same: bool) -> None:
    assert (texts.build_text(text, list(documents("a", text, 1, 0, is_composed=False))) == text) is is_same
