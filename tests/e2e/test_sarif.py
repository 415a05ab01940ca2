"""Our SARIF logs against the official JSON Schema of SARIF 2.1.0, as Microsoft publishes it on npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from krmfn_functions.formats.servers import sarif

from tests.commands import COMMANDS, HANGS, ROOT
from tests.functions.formats.test_ci import CHECKED, CLEAN, NASTY, nasty, printed

from .engines import EXAMPLES, absent, run

PACKAGE = "@microsoft/jest-sarif"
SCHEMA = ROOT / ".tools" / "sarif-schema-2.1.0.json"
INSIDE = "package/lib/schemas/sarif-2.1.0-rtm.5.json"


@pytest.fixture(scope="module")
def validator(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The schema, kept in .tools for the next run."""
    if not SCHEMA.exists():
        npm = shutil.which("npm")
        if not npm:
            absent("SARIF schema", f"install npm, which fetches {PACKAGE}")
        folder = tmp_path_factory.mktemp("npm")
        command = [npm, "pack", "--silent", PACKAGE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANGS, check=False)
        if done.returncode:
            absent("SARIF schema", f"npm pack {PACKAGE} failed: {done.stderr.strip()[-300:]}")
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            file = archive.extractfile(INSIDE)
            assert file
            SCHEMA.parent.mkdir(exist_ok=True)
            SCHEMA.write_bytes(file.read())
    schema = json.loads(SCHEMA.read_bytes())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def problems(validator: Any, text: str) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(json.loads(text))]


def test_the_schema_is_one_that_refuses(validator: Any) -> None:
    assert problems(validator, "{}")
    assert problems(validator, sarif(CHECKED).replace('"level": "note"', '"level": "info"'))


@pytest.mark.parametrize("checked", [CHECKED, CLEAN, *map(nasty, NASTY)])
def test_a_log_fits_the_schema(validator: Any, checked: Any) -> None:
    assert problems(validator, printed(sarif(checked))) == []


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_the_log_of_an_example_fits_the_schema(validator: Any, name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(EXAMPLES / name, tmp_path / name)
    for path in [*folder.rglob("kustomization.yaml"), *folder.rglob(".krmfn.yaml")]:
        path.unlink()
    done = run(COMMANDS / "krmfn", "check", folder, "--format", "sarif", "--namespace", "kmm")
    assert done.code in (0, 1), done.err
    assert problems(validator, done.out.decode()) == []
