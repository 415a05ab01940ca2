"""`--help` and `--doc` of the bare functions, and what the catalogue of KRM functions demands of their metadata."""

from __future__ import annotations

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.commands import ROOT, process

every_function = pytest.mark.parametrize("name", ("deviceconfig", "ptemplate"))
LINE = {"type": "string", "pattern": "^[^\\n]+$"}
FIELDS = {
    "image": {"type": "string", "pattern": "^ghcr\\.io/"},
    "description": LINE,
    "tags": {"type": "array", "minItems": 1, "items": {"enum": ["mutator", "validator", "viewer", "generator"]}},
    "sourceURL": LINE,
    "examplePackageURLs": {"type": "array", "items": LINE},
    "license": LINE,
    "hidden": {"type": "boolean"},
}
REQUIRED = ["image", "description", "tags"]
CATALOGUE = Draft202012Validator(
    {"type": "object", "required": REQUIRED, "additionalProperties": False, "properties": FIELDS}
)
"""What the catalogue's own schema (2026) demands; of its tags those that say what a function does."""
TREE = "https://git.example.com/krmfn/tree/main/"


@every_function
def test_the_metadata_is_what_the_catalogue_takes(name: str) -> None:
    metadata = yaml.safe_load((ROOT / "functions" / name / "metadata.yaml").read_text())
    assert [error.message for error in CATALOGUE.iter_errors(metadata)] == []
    assert metadata.keys() == FIELDS.keys()
    for url in (metadata["sourceURL"], *metadata["examplePackageURLs"]):
        assert url.startswith(TREE)
        assert (ROOT / url.removeprefix(TREE)).is_dir()


@pytest.mark.parametrize(
    "change", [{"emails": []}, {"image": "gcr.io/krmfn"}, {"tags": []}, {"tags": ["driver"]}, {"hidden": "no"}]
)
def test_what_the_catalogue_refuses(change: dict[str, object]) -> None:
    metadata = yaml.safe_load((ROOT / "functions" / "deviceconfig" / "metadata.yaml").read_text())
    assert not CATALOGUE.is_valid(metadata | change)


@every_function
def test_the_help_is_laid_out_as_that_of_the_go_sdk(name: str) -> None:
    """Its short text, its long one, and its examples under a heading; ours says before and after how to call it."""
    text = process(name, "--help").text
    parts = json.loads(process(name, "--doc").out)
    assert f"\n\n{parts['short']}\n\n{parts['long']}\n\nExamples:\n{parts['examples']}\n\n" in text
    assert "it reads a ResourceList from\nstdin and writes one to stdout" in text


@every_function
def test_the_documentation_has_the_fields_of_the_go_sdk(name: str) -> None:
    documentation = json.loads(process(name, "--doc").ended(0, "").out)
    assert list(documentation)[:4] == ["short", "long", "examples", "image"]
    assert documentation.keys() == FIELDS.keys() | {"short", "long", "examples"}
    readme = (ROOT / "functions" / name / "README.md").read_text()
    for section in ("short", "long", "examples"):
        assert len(documentation[section]) > 20
        assert documentation[section] in readme
        assert "mdtogo" not in documentation[section]
    assert process(name, "--doc", "more").code == 2
