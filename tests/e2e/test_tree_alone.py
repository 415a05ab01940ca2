"""krmfn's refusals are switched off: the build tree alone keeps foreign programs from running, and requests from going.

The kernel's bounds are off, too. The programs have absolute paths: what a repository holds cannot be run in the tree.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from krmfn_functions.command_line import main
from krmfn_functions.kustomization import builds
from krmfn_functions.kustomization.graph import Graph
from krmfn_functions.kustomization.kustomize import Decision

from tests.examples import EXAMPLES
from tests.trees import function, plant

from .engines import path_of
from .kustomizations import planted as repositories
from .test_planted import FILES
from .test_tricks import CALLED, FIELDS, NAMES, OURS, connections, fetched, planted

__all__ = ["connections"]


def _decide(graph: Graph, folder: str, flags: object = (), allow_remote: bool = False) -> Decision:
    return Decision((), tuple(call for call in graph.calls(folder) if call.program))


@pytest.fixture(autouse=True)
def unrefused(kustomize: str) -> Iterator[None]:
    """Take every kustomization for one that may be built."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builds, "decide", _decide)
        patch.setenv("PATH", path_of()["PATH"])
        patch.setenv("KRMFN_CONFINE", "off")
        yield


def rendered(folder: Path) -> int:
    """Render a folder in this process, with the path of a program outside of the tree in place of its own."""
    for path in [file for file in folder.rglob("*") if file.is_file() and file.name != "planted"]:
        path.write_bytes(path.read_bytes().replace(b"./planted", f"{folder.parent}/planted".encode()))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return main.main(["render", "--include-inputs", "--allow-empty", "."])


def test_what_is_ours_is_built(tmp_path: Path) -> None:
    assert rendered(plant(tmp_path / "app", {**OURS, "kustomization.yaml": CALLED})) == 0


@pytest.mark.parametrize("place", ["kustomization", "component"])
@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("trick", NAMES)
def test_no_program_is_run(tmp_path: Path, trick: str, field: str, place: str) -> None:
    app = planted(tmp_path / "app", trick, field, place)
    rendered(app)
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_no_program_of_a_repository_is_run(tmp_path: Path, files: dict[str, str]) -> None:
    common = {"own.yaml": OURS["config.yaml"], "ours.yaml": function("exec: {path: krmfn}")}
    folder = plant(tmp_path / "app", {**common, **files})
    program = f"#!/bin/sh\n: >'{tmp_path}/marker'\nexec /bin/cat\n"
    plant(tmp_path, dict.fromkeys(("app/planted", "app/plantedList", "planted"), program))
    rendered(folder)
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize("trick", fetched(""))
def test_nothing_is_fetched(tmp_path: Path, connections: tuple[str, list[str]], trick: str) -> None:
    address, came = connections
    text = fetched(address)[trick]
    text = f"resources: [config.yaml]\n{text}" if "function.yaml" in text else f"{CALLED}{text}"
    rendered(plant(tmp_path / "app", {**OURS, "kustomization.yaml": text}))
    assert came == []


@settings(max_examples=max(EXAMPLES // 4, 20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=repositories())
def test_nothing_that_is_generated_is_run(files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = plant(Path(os.path.realpath(temporary), "app"), files)
        plant(Path(temporary), {"planted": f"#!/bin/sh\n: > {temporary}/trace\ncat\n"})
        rendered(folder)
        assert not Path(temporary, "trace").exists(), files
