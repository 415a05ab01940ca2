"""What a clone does not have is not checked, and nothing may be called fine without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import process
from tests.functions.comparing.test_base import OWN, clone, commit, repository, run_git
from tests.trees import config_map, plant

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345\n"
SPARSE = "this is a sparse checkout without"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"lab/a.yaml": config_map("a"), "lab/b.yaml": config_map("b"), "prod/c.yaml": config_map("c"), "a.md": ""}
    folder = repository(tmp_path / "repo", files)
    run_git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder), "teams/b")
    commit(folder)
    return folder


def one_folder(repo: Path) -> Path:
    folder = clone(repo, "--sparse")
    run_git(folder, "sparse-checkout", "set", "lab")
    return folder


def one_file(repo: Path) -> Path:
    folder = clone(repo)
    run_git(folder, "sparse-checkout", "set", "--no-cone", "/lab/a.yaml")
    return folder


def in_a_worktree(repo: Path) -> Path:
    run_git(clone(repo), "worktree", "add", "--quiet", "--detach", "../tree")
    run_git(repo.parent / "tree", "sparse-checkout", "set", "lab")
    return repo.parent / "tree"


def without_the_configuration_file(repo: Path) -> Path:
    commit(repo, {".krmfn.yaml": "clusters: {all: [lab, prod]}\n"})
    return one_file(repo)


def whole_again(repo: Path) -> Path:
    folder = one_file(repo)
    run_git(folder, "sparse-checkout", "disable")
    return folder


def odd_git_files(repo: Path) -> Path:
    """What looks like a list of submodules may be anything."""
    folder = clone(repo)
    (folder / ".gitmodules").unlink()
    (folder / ".gitmodules").symlink_to("/dev/zero")
    return folder


@pytest.mark.parametrize(
    ("make", "args", "message"),
    [
        (one_folder, ["."], f"error: .: {SPARSE} prod/c.yaml, so not everything"),
        (one_folder, ["lab"], ""),
        (one_folder, [".", "--exclude", "prod", "--exclude", "/teams/b"], ""),
        (one_file, ["lab"], f"error: lab: {SPARSE} lab/b.yaml, so"),
        (one_file, ["lab/a.yaml"], ""),
        (one_file, ["--cluster", "x=lab"], f"error: lab: {SPARSE} lab/b.yaml, so"),
        (without_the_configuration_file, ["lab"], f"error: lab: {SPARSE} .krmfn.yaml, lab/b.yaml, so"),
        (in_a_worktree, ["."], f"error: .: {SPARSE} prod/c.yaml, so"),
        (whole_again, ["lab"], ""),
        (clone, ["."], "error: .: the submodule teams/b is not checked out, so not everything"),
        (clone, ["teams/b"], "error: teams/b: the submodule teams/b is not checked out"),
        (clone, ["lab"], ""),
        (clone, [".", "--exclude", "teams/b/"], ""),
        (odd_git_files, ["lab"], ""),
    ],
)
def test_what_a_clone_leaves_out_is_an_error(
    repo: Path, make: Callable[[Path], Path], args: list[str], message: str
) -> None:
    folder = make(repo)
    done = process("krmfn", "check", *args, cwd=folder, **OWN)
    assert (done.code, message in done.text) == (2 if message else 0, True), done.text
    assert bool(message) == ("[KRM523]" in done.text)
    done = process("krmfn", "render", *args, cwd=folder, **OWN)
    assert (done.code, bool(done.out)) == ((2, False) if message else (0, True)), done.err


def test_a_file_that_git_lfs_keeps_is_an_error(tmp_path: Path) -> None:
    plant(tmp_path, {"lab/a.yaml": config_map("a"), "lab/nodes.yaml": POINTER})
    says = "lab/nodes.yaml: error: is stored in Git LFS, and only a pointer to it is checked out; run `git lfs pull`"
    for path in ("lab", "lab/nodes.yaml"):
        done = process("krmfn", "check", path, cwd=tmp_path)
        assert (done.code, says in done.text) == (2, True), done.text
    done = process("krmfn", "check", "-", stdin=POINTER.encode(), cwd=tmp_path)
    assert (done.code, "is stored in Git LFS" in done.text + done.err) == (2, True)
    assert process("krmfn", "check", "lab", "--exclude", "nodes.yaml", cwd=tmp_path).code == 0
