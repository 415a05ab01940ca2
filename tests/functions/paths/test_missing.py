"""What a clone does not have is not checked, and nothing may be called fine without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.comparing.test_base import OWN, clone, commit, repository, run_git
from tests.trees import config_map, plant

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345\n"
ONE_FILE = "set --no-cone /lab/a.yaml"
SPARSE = "this is a sparse checkout without"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"lab/a.yaml": config_map("a"), "lab/b.yaml": config_map("b"), "prod/c.yaml": config_map("c"), "a.md": ""}
    folder = repository(tmp_path / "repo", files)
    run_git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder), "teams/b")
    commit(folder)
    return folder


def sparse(*commands: str, tree: str = "") -> Callable[[Path], Path]:
    """Return what clones a repository, into a work tree beside it if there is a name, with parts of its files."""

    def cloned(repo: Path) -> Path:
        folder = clone(repo)
        if tree:
            run_git(folder, "worktree", "add", "--quiet", "--detach", f"../{tree}")
            folder = repo.parent / tree
        for command in commands:
            run_git(folder, "sparse-checkout", *command.split())
        return folder

    return cloned


def without_the_configuration_file(repo: Path) -> Path:
    commit(repo, {".krmfn.yaml": "clusters: {all: [lab, prod]}\n"})
    return sparse(ONE_FILE)(repo)


def odd_git_files(repo: Path) -> Path:
    """What looks like a list of submodules may be anything."""
    folder = clone(repo)
    (folder / ".gitmodules").unlink()
    (folder / ".gitmodules").symlink_to("/dev/zero")
    return folder


CLONES: dict[str, Callable[[Path], Path]] = {
    "whole": clone,
    "whole again": sparse(ONE_FILE, "disable"),
    "one folder": sparse("set lab"),
    "one folder in a work tree": sparse("set lab", tree="tree"),
    "one file": sparse(ONE_FILE),
    "no configuration file": without_the_configuration_file,
    "odd files of git": odd_git_files,
}


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("one folder", ["."], f"error: .: {SPARSE} prod/c.yaml, so not everything"),
        ("one folder", ["lab"], ""),
        ("one folder", [".", "--exclude", "prod", "--exclude", "/teams/b"], ""),
        ("one file", ["lab"], f"error: lab: {SPARSE} lab/b.yaml, so"),
        ("one file", ["lab/a.yaml"], ""),
        ("one file", ["--cluster", "x=lab"], f"error: lab: {SPARSE} lab/b.yaml, so"),
        ("no configuration file", ["lab"], f"error: lab: {SPARSE} .krmfn.yaml, lab/b.yaml, so"),
        ("one folder in a work tree", ["."], f"error: .: {SPARSE} prod/c.yaml, so"),
        ("whole again", ["lab"], ""),
        ("whole", ["teams/b"], "error: teams/b: the submodule teams/b is not checked out"),
        ("whole", ["lab"], ""),
        ("whole", [".", "--exclude", "teams/b/"], ""),
        ("odd files of git", ["lab"], ""),
    ],
)
def test_what_a_clone_leaves_out_is_an_error(repo: Path, name: str, args: list[str], message: str) -> None:
    folder = CLONES[name](repo)
    done = process("krmfn", "check", *args, cwd=folder, **OWN)
    assert (done.code, message in done.text) == (2 if message else 0, True), done.text
    assert bool(message) == ("[KRM523]" in done.text)
    done = process("krmfn", "render", *args, cwd=folder, **OWN)
    assert (done.code, bool(done.out)) == ((2, False) if message else (0, True)), done.err


def test_a_file_that_git_lfs_keeps_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/a.yaml": config_map("a"), "lab/nodes.yaml": POINTER})
    says = "lab/nodes.yaml: error: is stored in Git LFS, and only a pointer to it is checked out; run `git lfs pull`"
    for path in ("lab", "lab/nodes.yaml"):
        assert says in process("krmfn", "check", path, cwd=tmp_path).ended(2).text
    done = process("krmfn", "check", "-", stdin=POINTER, cwd=tmp_path).ended(2)
    assert "is stored in Git LFS" in done.text + done.err
    assert process("krmfn", "check", "lab", "--exclude", "nodes.yaml", cwd=tmp_path).code == 0
