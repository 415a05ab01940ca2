"""A kustomize on PATH that is a version manager's shim, or another script."""

from __future__ import annotations

from pathlib import Path

import pytest
from krmfn_functions.kustomization import process

from krmfn import KrmfnError
from tests.trees import plant

ASDF = '#!/usr/bin/env bash\n# asdf-plugin: kustomize 5.8.2\nexec asdf exec "kustomize" "$@"\n'


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in front of PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def programs(folder: Path, **texts: str) -> str:
    plant(folder, texts)
    for name in texts:
        (folder / name).chmod(0o755)
    return str(folder / "kustomize")


@pytest.mark.parametrize("text", ["\x7fELF", '#!/bin/sh\nexec /opt/kustomize "$@"\n', ""])
def test_what_runs_by_itself_is_run(path: Path, text: str) -> None:
    program = programs(path, kustomize=text)
    assert process.program(program) == program
    assert process.program(str(path / "absent")) == str(path / "absent")


def test_a_version_manager_is_asked(path: Path) -> None:
    real = programs(path / "real", kustomize="")
    shim = programs(path, kustomize=ASDF, asdf=f'#!/bin/sh\ntest "$*" = "which kustomize" && echo {real}\n')
    assert process.program(shim) == real
    (path / "asdf").rename(path / "mise")
    (path / "kustomize").unlink()
    (path / "kustomize").symlink_to("mise")
    assert process.program(shim) == real


@pytest.mark.parametrize("answer", ["echo no version is set >&2; exit 1", "echo kustomize", "echo /absent"])
def test_a_version_manager_without_an_answer_is_an_error(path: Path, answer: str) -> None:
    shim = programs(path, kustomize=ASDF, asdf=f"#!/bin/sh\n{answer}\n")
    with pytest.raises(KrmfnError, match=r"belongs to asdf, and `asdf which kustomize` found no program: "):
        process.program(shim)


def test_another_script_is_an_error_that_says_what_to_do(path: Path) -> None:
    shim = programs(path, kustomize='#!/usr/bin/env python3\nprint("kustomize")\n')
    with pytest.raises(KrmfnError, match=r"is a script, .*; put the folder of the program"):
        process.program(shim)
