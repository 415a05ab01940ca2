"""Names of fields in any case: what kustomize takes for a field is that field here, too."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from krmfn_functions.kustomization import fields, reading
from krmfn_functions.kustomization.spelling import usual_manifest, usual_text

from krmfn.yamltext import load
from tests.trees import OURS, config_map, plant

USUAL = """\
resources: [a.yaml, http://example.com/a] # ours
namePrefix: "a-"
commonLabels: {Resources: namePrefix}
"images": [{name: b, newTag: '2'}]
patches:
- path: b.yaml
  target: {kind: Pod, labelSelector: a=b}
vars:
- name: V
  objref: {kind: ConfigMap, name: a, apiVersion: v1}
  fieldref: {fieldPath: data.a}
configMapGenerator:
- name: c
  files: [c.txt]
  options: {labels: {Files: d}, disableNameSuffixHash: true}
replacements:
- source: {kind: ConfigMap, name: a, fieldPath: data.a}
  targets: [{select: {kind: Pod}, fieldPaths: [spec.a]}]
"""


def spelled(text: str, data: st.DataObject) -> str:
    """Return the text with the case of each field's name as it is drawn."""
    root = load.compose(text.encode())
    assert root
    for start, end in sorted(places(root, fields.RULES)):
        name = "".join(data.draw(st.sampled_from([c.lower(), c.upper()])) for c in text[start:end])
        text = text[:start] + name + text[end:]
    return text


def places(node: yaml.Node, rules: dict[str, object]) -> list[tuple[int, int]]:
    """Return where the names of fields stand, by the schema."""
    if isinstance(node, yaml.SequenceNode):
        return [place for entry in node.value for place in places(entry, rules.get("items", {}))]  # type: ignore[arg-type]
    found: list[tuple[int, int]] = []
    if isinstance(node, yaml.MappingNode) and (known := rules.get("properties")):
        for key, value in node.value:
            found.append((key.start_mark.index + bool(key.style), key.end_mark.index - bool(key.style)))
            found += places(value, known[key.value])  # type: ignore[index]
    return found


@given(st.data())
def test_the_case_of_a_field_does_not_count(data: st.DataObject) -> None:
    text = spelled(USUAL, data)
    root = load.compose(text.encode())
    assert usual_text(text, root, fields.RULES) == USUAL


@pytest.mark.parametrize("text", ["Resources: []\nresources: []\n", '"r\\x45sources": []\n', "other: {Resources: 1}\n"])
def test_what_is_not_one_field_in_another_case_stays(text: str) -> None:
    assert usual_text(text, load.compose(text.encode()), fields.RULES) == text


def test_of_two_spellings_in_a_manifest_both_stay() -> None:
    assert usual_manifest({"PATH": 1, "Path": 2, "FILES": 3}, {"path": "path", "files": "files"}) == {
        "PATH": 1,
        "Path": 2,
        "files": 3,
    }


def test_a_field_in_another_case_has_its_place_and_its_file(tmp_path: Path) -> None:
    files = {"a/kustomization.yaml": "# lab\n---\nRESOURCES:\n- a.yaml\n- ../../b\n", "a/a.yaml": config_map("a")}
    folder = str((plant(tmp_path, files) / "a").resolve())
    graph = reading.read([folder], folder, OURS)
    (kustomization,) = graph.kustomizations.values()
    assert kustomization.references[0].real == f"{folder}/a.yaml"
    assert [(f.place.line, f.place.column) for f in graph.findings(folder) if f.place] == [(5, 3)]
