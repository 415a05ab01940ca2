"""Each file of `krmfn ci`, opened by its reader: the schemas of SARIF and JUnit, a browser, what GitHub takes."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.commands import HANGS, ROOT, Done, environment, execute
from tests.functions.comparing.test_base import repository
from tests.gitops.pull_requests import config, inert
from tests.trees import altered, plant

from .engines import absent, copy_of, find, run
from .test_report import opened
from .test_sarif import problems, validator

__all__ = ["validator"]
SCHEMA = ROOT / ".tools" / "junit-10.xsd"
SOURCE = "pytest==8.4.2"
"""Its source holds the schema of Jenkins' xUnit plugin, against which pytest holds its own reports."""
COMMENT, SUMMARY, RESULTS, SARIF = 65_536, 1 << 20, 25_000, 10 << 20
"""What GitHub takes: characters of a comment, bytes of a summary, findings and bytes (gzip) of a SARIF log."""


@pytest.fixture(scope="module")
def junit_schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The schema, kept in .tools for the next run."""
    if not SCHEMA.exists():
        folder = tmp_path_factory.mktemp("pytest")
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "pytest", SOURCE]
        done = subprocess.run(pip, cwd=folder, capture_output=True, text=True, timeout=HANGS, check=False)
        if done.returncode:
            absent("JUnit schema", f"pip download {SOURCE} failed: {done.stderr.strip()[-300:]}")
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            (name,) = [name for name in archive.getnames() if name.endswith("/junit-10.xsd")]
            file = archive.extractfile(name)
            assert file
            SCHEMA.write_bytes(file.read())
    return SCHEMA


def judged(schema: Path, report: Path) -> Done:
    validate = find("xmlschema-validate", "tests/e2e/install makes it with pip")
    return execute(validate, "--schema", schema, report, env=environment())


EDITS = {
    "nothing": ("", ""),
    "a selector that selects nothing": ("example.com/card: gpu", "example.com/card: gpus"),
    "a mapping less": ("el9_6", "el9_7"),
    "an unknown field": ("spec:\n", "spec:\n  dirNmae: /opt\n"),
}


@pytest.fixture(params=EDITS)
def results(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of results about the fleet of the examples with one edit."""
    repo = repository(copy_of("one-cluster", tmp_path), {})
    old, new = EDITS[request.param]
    altered(repo / "gpu.yaml", old, new)
    done = run("krmfn", "ci", "--base", "main", "--out", "results", cwd=repo)
    assert done.code in (0, 1), done.err
    return repo / "results"


def test_each_file_is_opened_by_its_reader(results: Path, validator: Any, junit_schema: Path, tmp_path: Path) -> None:
    assert problems(validator, (results / "findings.sarif").read_text()) == []
    judged(junit_schema, results / "junit.xml").ended(0)
    _, page = opened(find("chromium", "install the Debian package chromium"), results / "report.html", tmp_path)
    assert "4 of 4 nodes" in page.text
    inert((results / "comment.md").read_text())
    result = json.loads((results / "result.json").read_text())
    assert result["exit"] == int(result["check"]["summary"]["error"] > 0)


def test_the_schema_is_one_that_refuses(junit_schema: Path, tmp_path: Path) -> None:
    report = tmp_path / "junit.xml"
    report.write_text('<testsuite name="a" tests="1" failures="0" errors="0"><testcase name="b" line="1"/></testsuite>')
    assert judged(junit_schema, report).code != 0


def test_what_github_takes_is_not_exceeded(validator: Any, junit_schema: Path, tmp_path: Path) -> None:
    """Of a repository with more findings and more changes than any of its readers would take."""
    import gzip

    wrong = "".join(f"  field{at}: a\n" for at in range(999))
    repo = repository(tmp_path / "repo", {})
    for at in range(30):
        plant(repo, {f"c{at}/gpu.yaml": config(f"gpu{at}", label=f"l{at}") + wrong})
    for at in range(2_000):
        (repo / f"c{at % 30}" / f"m{at}.yaml").write_text(config(f"m{at}", label=f"m{at}"))
    run("krmfn", "ci", "--base", "main", "--out", "results", "--cluster", "one=.", cwd=repo).ended(1)
    results = repo / "results"
    sarif = (results / "findings.sarif").read_text()
    assert len(json.loads(sarif)["runs"][0]["results"]) <= RESULTS
    assert len(gzip.compress(sarif.encode())) <= SARIF
    assert problems(validator, sarif) == []
    assert len((results / "comment.md").read_text()) <= COMMENT
    assert (results / "comment.md").stat().st_size <= SUMMARY
    judged(junit_schema, results / "junit.xml").ended(0)
