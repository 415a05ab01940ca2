"""A full disk, no temporary folder, odd names, very many files: exit code 2 and a sentence, and nothing left behind."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.commands import COMMANDS, HANGS, Done, environment, process
from tests.examples import pairs_of
from tests.functions.comparing.test_base import commit, repository
from tests.trees import config_map, plant

BIG = config_map("big").replace("b}", f"{'y' * 3000}}}")
APP = {"app/kustomization.yaml": "resources: [big.yaml]\nnamePrefix: a-\n", "app/big.yaml": BIG}
CALLS: Mapping[str, tuple[str, ...]] = {
    "check": ("check", "app"),
    "render": ("render", "app"),
    "diff": ("diff", "--base", "HEAD", "app"),
    "ci": ("ci", "--base", "HEAD", "--out", "../results", "app"),
    "folder": ("render", "plain", "--output-dir", "../results"),
    "replace": ("render", "plain", "--output-dir", "../rendered", "--replace"),
    "report": ("report", "plain", "--output", "../results"),
}


def full(*args: str, size: int, cwd: Path, **env: str) -> Done:
    """Run krmfn where no file can have more bytes than that, as on a disk that is full.

    Python would write half a module for the next run.
    """
    done = subprocess.run(
        [COMMANDS / "krmfn", *args],
        cwd=cwd,
        env=environment(PYTHONDONTWRITEBYTECODE="1", **env),
        capture_output=True,
        timeout=HANGS,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )
    return Done(done.returncode, done.stdout, done.stderr.decode())


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder but Git's own, by their paths from there; folders as well."""
    paths = (path for path in folder.rglob("*") if ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in paths}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "tmp").mkdir()
    folder = repository(tmp_path / "repo", APP | {"plain/big.yaml": BIG})
    assert process("krmfn", *CALLS["replace"], cwd=folder).code == 0
    plant(folder, {"plain/big.yaml": BIG.replace("yy", "zz"), "app/big.yaml": BIG.replace("yy", "zz")})
    commit(folder)
    plant(folder, {"app/big.yaml": BIG.replace("yy", "ww")})
    return folder


@pytest.mark.parametrize(("name", "size"), pairs_of(CALLS, [0, 2048]))  # at once, or within a file
def test_a_full_disk_is_said_and_leaves_nothing(name: str, size: int, repo: Path) -> None:
    before = everything(repo.parent)
    done = full(*CALLS[name], size=size, cwd=repo, TMPDIR=str(repo.parent / "tmp"))
    assert (done.code, "Traceback" in done.err) == (2, False), done.err
    assert "error: " in done.err
    assert everything(repo.parent) == before


@pytest.mark.parametrize("name", ["check", "render", "diff", "ci"])
def test_without_a_temporary_folder_it_is_said_how_to_name_one(name: str, repo: Path) -> None:
    """A limit of no byte is as good as no rights: those do not bind root."""
    err = full(*CALLS[name], size=0, cwd=repo, TMPDIR=str(repo / "absent")).refused()
    assert "needs a temporary folder, but none is writable" in err
    assert "set the environment variable TMPDIR to one that is" in err


NAMES = ["a\nb", "a\rb", "a: b", "a\tb", " a", "a\x1bb", "-a", os.fsdecode(b"\xff")]


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_name_is_read_and_is_one_line_of_the_output(name: str, tmp_path: Path) -> None:
    plant(tmp_path, {f"{name}/{name}.yaml": config_map("a"), f"{name}/link.yaml": "-> /etc/hostname"})
    done = process("krmfn", "check", f"./{name}", cwd=tmp_path).ended(2)
    line, *others = done.reported.splitlines()
    assert "/link.yaml: error: is a link that leads out of" in line
    assert len(others) == 2, done.text
    assert process("krmfn", "render", f"./{name}/{name}.yaml", cwd=tmp_path).text == config_map("a")


@pytest.mark.parametrize("name", NAMES)
def test_a_kustomization_with_an_odd_name_is_built_or_refused(name: str, tmp_path: Path) -> None:
    before = {"tmp"}
    (tmp_path / "tmp").mkdir()
    plant(tmp_path, {f"{name}/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", f"{name}/a.yaml": BIG})
    before |= {entry.name for entry in tmp_path.iterdir()}
    done = process("krmfn", "render", f"./{name}", cwd=tmp_path, TMPDIR=str(tmp_path / "tmp"))
    assert done.code in (0, 2)
    assert (b"name: x-big" in done.out) is (done.code == 0), done.err
    assert done.code == 0 or done.err.count("\n") == 1, done.err
    assert {entry.name for entry in tmp_path.iterdir()} == before
    assert list((tmp_path / "tmp").iterdir()) == []
