"""`check --fix` over generated mistakes in patches, strategic and JSON 6902, in files and in a kustomization.yaml.

Each patch is written in one of the styles of YAML. What has one correction gets it, and no other byte changes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.commands import process
from tests.examples import EXAMPLES
from tests.functions.commands.test_fix import content
from tests.functions.commands.test_fix_generated import (
    INNOCENT,
    SCHEMAS,
    WRITTEN,
    distance,
    keys,
    misspelt,
    replaced,
    strings,
)
from tests.trees import plant

SCHEMA = SCHEMAS["deviceconfig"]
CONFIG = yaml.safe_load(WRITTEN.replace('"y"', '"31"'))
"""Of what is no text without its quotes kustomize takes `y` as text, so that this one is no mistake."""
KEPT = ("moduleName", "driverImage", "driverVersion", "nodeSelector")
"""The fields of the base; a patch brings all others."""
HEAD = {key: CONFIG[key] for key in ("apiVersion", "kind", "metadata")}
BASE = yaml.safe_dump({**HEAD, "spec": {key: CONFIG["spec"][key] for key in KEPT}}, sort_keys=False)
BROUGHT = {key: value for key, value in CONFIG["spec"].items() if key not in KEPT}
TARGET = "{kind: DeviceConfig, name: gpu}"


class Mistake(NamedTuple):
    """A patch with one mistake, and how it is used."""

    right: str
    wrong: str
    has_one_correction: bool


def operations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Operations that bring what a strategic patch does: whole fields, or some of their parts after the others."""
    brought = {key: value for key, value in BROUGHT.items() if key != "upgrade"}
    parts = [{"op": "add", "path": f"/spec/{key}", "value": value} for key, value in brought.items()]
    parts.append({"op": "replace", "path": "/spec/driverVersion", "value": "1.10"})
    if draw(st.booleans()):
        parts.append({"op": "add", "path": "/spec/daemonSets/0/command", "value": ["run", "1.10"]})
    return parts


def text_of(data: Any, style: str) -> str:
    if style == "json":
        return json.dumps(data)
    if style == "flow" and isinstance(data, list):  # kustomize takes what begins with a bracket for JSON
        rows = (yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=1000) for entry in data)
        return "".join(f"- {row}" for row in rows)
    return yaml.safe_dump(data, default_flow_style=style == "flow", sort_keys=False, width=100)


class Named(NamedTuple):
    """A key that a patch writes: the whole of a node, or the last word of the path of an operation."""

    node: Any
    name: str
    known: list[str]
    present: list[str]


def schema_at(path: list[str]) -> Any:
    """Return the schema of a field."""
    schema = SCHEMA
    for part in path:
        while "$ref" in schema:
            schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
        schema = schema["items"] if part.isdigit() else schema["properties"][part]
    while "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def of_operations(root: Any) -> Iterator[Named]:
    """Yield the names that operations add, and the keys below their values.

    Without those that a later operation needs: then nothing is built, and nobody knows a field.
    """
    paths = [value.value for node in root.value for key, value in node.value if key.value == "path"]
    for node in root.value:
        entries = {key.value: value for key, value in node.value}
        path = entries["path"].value.split("/")[1:]
        above = schema_at(path[:-1])
        is_needed = any(other.startswith(f"{entries['path'].value}/") for other in paths)
        if entries["op"].value == "add" and above.get("additionalProperties") is False and not is_needed:
            present = [*CONFIG["spec"]] if len(path) == 2 else []
            yield Named(entries["path"], path[-1], [*above["properties"]], present)
        yield from (Named(key, key.value, *rest) for key, *rest in keys(entries["value"], schema_at(path), SCHEMA))


@st.composite
def mistakes(draw: st.DrawFn) -> tuple[Mistake, bool]:
    """A mistake in a patch, and whether it is one of operations."""
    is_json = draw(st.booleans())
    data = operations(draw) if is_json else {**HEAD, "spec": BROUGHT}
    text = text_of(data, draw(st.sampled_from(["block", "block", "flow", "json"])))
    root = yaml.compose(text)
    values = [*strings(root)]
    if draw(st.sampled_from(["key", "key", "value"])) == "value":
        node = draw(st.sampled_from(values))
        return Mistake(replaced(text, node, f'"{node.value}"'), replaced(text, node, node.value), True), is_json
    names = (
        [*of_operations(root)] if is_json else [Named(k, k.value, *rest) for k, *rest in keys(root, SCHEMA, SCHEMA)][2:]
    )
    name = draw(st.sampled_from(names))
    wrong = draw(misspelt(name.name).filter(lambda word: word and word not in {*name.known, *name.present}))
    end = name.node.end_mark.index - (name.node.style in ("'", '"'))
    start = end - len(name.name)
    near = [other for other in name.known if distance(wrong, other) < 2]
    if near == ["spec"]:
        event("spec itself")
    # the name of what it patches, and `spec`, which the object has already, so that its finding names no mend
    is_kept = not is_json and name.node.start_mark.index <= text.index("spec") + 1
    return Mistake(text, text[:start] + wrong + text[end:], near == [name.name] and not is_kept), is_json


def kustomization(patch: str, is_json: bool, form: str) -> dict[str, str]:
    """The files that use a patch: it is a file, or stands in the kustomization.yaml; `patches` or the older key."""
    head = "resources: [a.yaml, b.yaml]\n# what the lab has otherwise\n"
    block = "".join(f"    {line}\n" for line in patch.splitlines())
    older = "patchesJson6902" if is_json else "patchesStrategicMerge"
    if form == "file":
        return {"p.yaml": patch, "kustomization.yaml": f"{head}patches:\n- {{path: p.yaml, target: {TARGET}}}\n"}
    if form == "inline":
        return {"kustomization.yaml": f"{head}patches:\n- target: {TARGET}\n  patch: |\n{block}"}
    entry = (
        f"- {{path: p.yaml, target: {TARGET[:-1]}, group: krmfn.dev, version: v1alpha1}}}}\n"
        if is_json
        else "- p.yaml\n"
    )
    return {"p.yaml": patch, "kustomization.yaml": f"{head}{older}:\n{entry}"}


@settings(max_examples=min(500, max(5, EXAMPLES // 4)))  # each runs kustomize: 500 with the examples of CI
@given(mistake=mistakes(), form=st.sampled_from(["file", "inline", "older"]))
def test_a_mistake_in_a_patch_gets_its_one_correction_and_nothing_else_changes(
    mistake: tuple[Mistake, bool], form: str
) -> None:
    (right, wrong, has_one_correction), is_json = mistake
    files = {"a.yaml": BASE, "b.yaml": INNOCENT}
    with tempfile.TemporaryDirectory() as name:
        folder = plant(Path(name), {**files, **kustomization(wrong, is_json, form)})
        done = process("krmfn", "check", ".", "--fix", cwd=folder)
        after = content(folder)
    expected = right if has_one_correction else wrong
    event(f"{'JSON 6902' if is_json else 'strategic'}, {form}, one correction: {has_one_correction}")
    assert after == {**files, **kustomization(expected, is_json, form)}, (done, wrong)
