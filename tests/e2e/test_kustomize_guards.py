"""The table of gitops/kustomize on functions that are skipped: each line is done, and does what the page says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import ROOT, Done

from .engines import EXAMPLES, find, path_of, run
from .flux_engine import library

PAGE = (ROOT / "docs" / "engines" / "kustomize.md").read_text()
SECTION = PAGE.partition("## What keeps the function from being skipped")[2].partition("##")[0]
LINES = [line for line in SECTION.splitlines() if line.startswith(("| `", "| Flux"))]
ROWS = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in LINES]
FLUX = {"kind": "Kustomization", "metadata": {"name": "lab", "namespace": "flux-system"}, "spec": {}}


def calls(row: str, folder: Path) -> Callable[[], Done]:
    """Return what a line of the table does, on an example of its own."""
    if row == "Flux":
        question = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", **FLUX}
        return lambda: library("build", folder, folder / "kustomize-transformer", "strict", question=question)
    program, *args = row.strip("`").split()
    if program in ("kpt", "kubectl"):
        find(program, "tests/e2e/install")
    example = folder / ("kpt-package" if program == "kpt" else "kustomize-transformer")
    return lambda: run(program, *args, example, env=path_of() | {"KUBECONFIG": "/dev/null"})


@pytest.mark.parametrize(("called", "does", "says"), ROWS, ids=[row[0].strip("`") for row in ROWS])
def test_a_function_is_run_or_refused_or_skipped_as_the_page_says(
    called: str, does: str, says: str, tmp_path: Path
) -> None:
    for name in ("kustomize-transformer", "kpt-package"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    done = calls(called, tmp_path)()
    is_made = b"kind: Module" in done.out
    if does == "is run":
        assert (done.code, is_made) == (0, True), done.err
    elif does == "**is skipped**":
        assert (done.code, is_made, done.err, says) == (0, False, "", "nothing"), done.err
    else:
        assert does.startswith("stops the ")
        err = re.sub(r"\s+", " ", done.err)
        assert done.code != 0 and not is_made and says.strip("` ") in err, err
        assert not any("Module" in path.read_text() for path in (tmp_path / "kpt-package").glob("kmm_*.yaml"))


def test_the_page_names_every_way_there_is() -> None:
    assert len(ROWS) == 10
