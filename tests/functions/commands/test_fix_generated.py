"""`check --fix` over generated mistakes: what has one correction gets it, and nothing else changes by a byte.

An oracle of its own says how many names of the schema are one letter away: the distance by the table, not by slices.
"""

from __future__ import annotations

import json
import string
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from krmfn.yamltext.simple import scalar
from tests.commands import ROOT, process
from tests.examples import EXAMPLES
from tests.functions.commands.test_fix import UNUSED, content
from tests.trees import plant

WRITTEN = """\
# the cards of the lab
apiVersion: krmfn.dev/v1alpha1
kind: DeviceConfig
metadata:
  name: gpu  # not the maker's
  namespace: kmm
spec:
  moduleName: gpu
  driverImage: registry.example.com/gpu
  driverVersion: "1.10"   # with every digit
  nodeSelector: {example.com/card: "1"}
  imagePullSecrets: ["pull"]
  dirName: /opt
  firmwarePath: '/lib/firmware'
  upgrade: {ordered: true}
  inTreeModulesToRemove: [nouveau]
  parameters: ["debug=1"]
  modulesLoadingOrder: [gpu, gpu-core]
  kernelMappings:
  - regexp: ".*"
    build:
      dockerfileConfigMap: {name: dockerfile}
  tolerations:
  - key: example.com/card
    operator: Exists
  daemonSets:
  # what counts
  - name: metrics
    image: registry.example.com/metrics:1.0
    args: ["1.10", "y", plain]
    env:
    - name: LEVEL
      value: "2"
    ports:
    - {name: http, containerPort: 8080}
"""
SETTINGS = """\
apiVersion: krmfn.dev/v1alpha1
kind: RenderDeviceConfigs
metadata: {name: settings}
spec:
  defaults: {imagePullPolicy: Always}
  exclusivity: {mode: selectors}
"""
INNOCENT = WRITTEN.replace("gpu", "nic").replace('card: "1"', 'card: "2"')
SCHEMAS = {
    name: json.loads((ROOT / f"schemas/{name}.schema.json").read_text())
    for name in ("deviceconfig", "renderdeviceconfigs")
}


class Mistake(NamedTuple):
    """A file with one mistake."""

    right: str
    wrong: str
    has_one_correction: bool


def distance(word: str, other: str) -> int:
    """Return how many letters are added, left out, changed or swapped between two words, in any case."""
    word, other = word.lower(), other.lower()
    table = {(-1, column): column + 1 for column in range(-1, len(other))}
    table |= {(row, -1): row + 1 for row in range(len(word))}
    for row, letter in enumerate(word):
        for column, partner in enumerate(other):
            steps = [table[row - 1, column] + 1, table[row, column - 1] + 1]
            steps.append(table[row - 1, column - 1] + (letter != partner))
            if row and column and letter == other[column - 1] and word[row - 1] == partner:
                steps.append(table[row - 2, column - 2] + 1)
            table[row, column] = min(steps)
    return table[len(word) - 1, len(other) - 1]


def keys(node: Any, schema: Any, root: Any) -> Iterator[tuple[Any, list[str], list[str]]]:
    """Yield the node of each key that a schema knows, with all that it knows there, and those that are there."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if node.id == "sequence":
        for entry in node.value:
            yield from keys(entry, schema.get("items", {}), root)
    if node.id == "mapping" and "properties" in schema:
        for key, value in node.value:
            if key.value in schema["properties"]:
                if schema.get("additionalProperties") is False:
                    yield key, [*schema["properties"]], [other.value for other, _ in node.value]
                yield from keys(value, schema["properties"][key.value], root)


def strings(node: Any, path: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield each quoted value that would be no text without its quotes, where a mend may touch it."""
    is_quoted = node.id == "scalar" and node.style in ("'", '"') and type(scalar(node.value)) is not str
    if is_quoted and "nodeSelector" not in path:
        yield node
    for entry in node.value if node.id != "scalar" else ():
        key, value = entry if isinstance(entry, tuple) else (None, entry)
        yield from strings(value, (*path, key.value) if key else path)


def replaced(text: str, node: Any, new: str) -> str:
    return text[: node.start_mark.index] + new + text[node.end_mark.index :]


@st.composite
def misspelt(draw: st.DrawFn, name: str) -> str:
    """A key with a letter added, left out, changed or swapped."""
    at, letter = draw(st.integers(0, len(name) - 1)), draw(st.sampled_from(string.ascii_letters))
    return draw(
        st.sampled_from(
            [
                name[:at] + letter + name[at:],
                name[:at] + name[at + 1 :],
                name[:at] + letter + name[at + 1 :],
                name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
            ]
        )
    )


@st.composite
def mistakes(draw: st.DrawFn) -> Mistake:
    """A mistake in a field, a value or an annotation, in each style of YAML."""
    name, text = draw(st.sampled_from([("deviceconfig", WRITTEN)] * 3 + [("renderdeviceconfigs", SETTINGS)]))
    style = draw(st.sampled_from(["written", "block", "flow", "json"]))
    if style != "written":
        data = yaml.safe_load(text.replace('"y"', '"yes"'))  # PyYAML writes y without quotes
        styles = {"block": False, "flow": True}
        text = json.dumps(data) if style == "json" else yaml.safe_dump(data, default_flow_style=styles[style])
    root = yaml.compose(text)
    kind = draw(st.sampled_from(["key", "key", "key", "value", "entry"]))
    if kind == "entry" and name == "deviceconfig" and style == "written":
        entry = f"  annotations:\n    krmfn.dev/ignore: '{UNUSED}'\n"
        return Mistake(text, text.replace("  namespace: kmm\n", f"  namespace: kmm\n{entry}"), True)
    values = [*strings(root)]
    if kind == "value" and values:
        node = draw(st.sampled_from(values))
        return Mistake(replaced(text, node, f'"{node.value}"'), replaced(text, node, node.value), True)
    key, known, present = draw(st.sampled_from([*keys(root, SCHEMAS[name], SCHEMAS[name])][2:]))
    wrong = draw(misspelt(key.value).filter(lambda word: word not in known and word not in present))
    is_identity = key.value in ("metadata", "name", "namespace") and key.start_mark.index < text.index("spec")
    near = [other for other in known if distance(wrong, other) < 2]
    quote = '"' if style == "json" else ""
    return Mistake(text, replaced(text, key, f"{quote}{wrong}{quote}"), near == [key.value] and not is_identity)


@settings(max_examples=min(500, max(5, EXAMPLES // 4)))  # each runs the program: 500 with the examples of CI
@given(mistake=mistakes())
def test_a_mistake_with_one_correction_gets_it_and_nothing_else_changes(mistake: Mistake) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = plant(Path(name), {"a.yaml": mistake.wrong, "b.yaml": INNOCENT})
        done = process("krmfn", "check", ".", "--fix", cwd=folder)
        files = content(folder)
    assert files["b.yaml"] == INNOCENT
    if mistake.has_one_correction:
        assert files["a.yaml"] == mistake.right, done
    else:
        assert files["a.yaml"] == mistake.wrong, done
