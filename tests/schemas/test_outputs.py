"""What krmfn prints as JSON under a format's name fits that format's schema, and the schemas let nothing else pass."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from schema_outputs import OUTPUTS

from tests.commands import ROOT, process
from tests.examples import pairs_of
from tests.functions.comparing.test_base import repository
from tests.trees import altered

FOLDER = ROOT / "schemas" / "outputs"
SCHEMAS = {path.stem.partition("-")[0]: json.loads(path.read_text()) for path in FOLDER.glob("*.json")}
REGISTRY: Registry[Any] = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)
EXAMPLES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir())


def problems(name: str, document: Any) -> list[str]:
    validator = Draft202012Validator(SCHEMAS[name], registry=REGISTRY)
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(document)]


def test_every_format_that_the_code_names_has_a_schema() -> None:
    texts = [path.read_text() for path in (ROOT / "functions").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r'"krmfn\.dev/(\w+)/v1"', text)}
    assert named == set(OUTPUTS) == set(SCHEMAS)
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(("example", "name"), pairs_of(EXAMPLES, ["check", "nodes"]))
def test_an_example_fits(name: str, example: str) -> None:
    folder = f"examples/{example}"
    done = process("krmfn", name, folder, "--root", folder, "--format", "json")  # the example's own .krmfn.yaml
    if done.text or done.code < 2:
        assert problems(name, json.loads(done.text)) == []


def test_findings_of_all_kinds_fit() -> None:
    """Without a place, without a rule, in a stream, turned off, and more than are listed."""
    many = "---\n".join(f"kind: A\nmetadata: {{name: a{number}}}\n" for number in range(1_100))
    for text in (many, "a: [\n", "kind: DeviceConfig\napiVersion: krmfn.dev/v1alpha1\nmetadata: {}\nspec: {x: 1}\n"):
        done = process("krmfn", "check", "-", "--format", "json", stdin=text.encode())
        if done.text:
            document = json.loads(done.text)
            assert problems("check", document) == []
            assert document["findings"]


def test_the_result_of_ci_fits(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    for name in ("quickstart", "one-cluster"):
        shutil.copytree(ROOT / "examples" / name, folder / name)
    repository(folder, {})
    altered(folder / "quickstart" / "deviceconfig.yaml", "1.16.2", "1.17.0")
    for number, args in enumerate((["quickstart"], ["one-cluster", "quickstart", "--base", "HEAD"])):
        process("krmfn", "ci", *args, "--out", f"results{number}", cwd=folder)
        document = json.loads((folder / f"results{number}" / "result.json").read_text())
        assert problems("ci", document) == []
        assert ("diff" in document) == (number == 1)
    assert document["diff"]["changes"]


@pytest.mark.parametrize("name", sorted(OUTPUTS))
def test_nothing_else_fits(name: str) -> None:
    """A key more, a key less or another format is a mistake that readers must hear of."""
    assert problems(name, {}) != []
    other = {key: value for key, value in SCHEMAS[name]["properties"].items() if key != "format"}
    assert any("format" in problem for problem in problems(name, {"format": "krmfn.dev/other/v1", **other}))
    document = json.loads(process("krmfn", "check", "examples/conflict", "--format", "json").text)
    assert problems("check", {**document, "more": 1}) != []
    document["findings"][0]["line"] = "10"
    assert problems("check", document) != []
