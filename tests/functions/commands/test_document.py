"""`--doc` of the bare functions, and what the catalogue of KRM functions demands of their metadata."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from tests.commands import ROOT, process

FUNCTIONS = ("deviceconfig", "ptemplate")
every_function = pytest.mark.parametrize("name", FUNCTIONS)
FIELDS = {"image", "description", "tags", "sourceURL", "examplePackageURLs", "license", "hidden"}
"""What metadata-schema.json of the catalogue knows; it allows nothing else."""
REQUIRED = {"image", "description", "tags"}


@every_function
def test_the_metadata_is_what_the_catalogue_takes(name: str) -> None:
    metadata = yaml.safe_load((ROOT / "functions" / name / "metadata.yaml").read_text())
    assert metadata.keys() >= REQUIRED
    assert metadata.keys() <= FIELDS
    assert re.match(r"ghcr\.io/", metadata["image"])
    assert {"mutator", "validator", "viewer", "generator"}.issuperset(metadata["tags"])
    assert metadata["tags"]
    assert isinstance(metadata["description"], str)


@every_function
def test_the_documentation_has_the_fields_of_the_go_sdk(name: str) -> None:
    done = process(name, "--doc")
    assert (done.code, done.err) == (0, "")
    shown = json.loads(done.out)
    assert shown.keys() == FIELDS | {"short", "long", "examples"}
    readme = (ROOT / "functions" / name / "README.md").read_text()
    for section in ("short", "long", "examples"):
        assert len(shown[section]) > 20
        assert shown[section] in readme
        assert "mdtogo" not in shown[section]
    assert process(name, "--doc", "more").code == 2
