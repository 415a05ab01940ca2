"""`diff --base` in clones and work trees of every state: a sentence, and nothing is left behind or changed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import HANGS, environment, process
from tests.functions.comparing.test_base import OWN, changed, clone, commit, commit_to_main, repository, run_git
from tests.trees import config_map, plant

NOBODY = "1234567812345678123456781234567812345678"


class State(NamedTuple):
    """How a clone came to be as it is, what is asked of it, and what is said."""

    make: Callable[[Path], Path]
    """Changes a repository, and returns the work tree that is compared."""
    base: str
    path: str
    code: int
    says: str


def as_it_is(repo: Path) -> Path:
    return repo


def detached(repo: Path) -> Path:
    run_git(repo, "checkout", "--quiet", "--detach")
    return repo


def dirty(repo: Path) -> Path:
    plant(repo, {"lab/new.yaml": config_map("untracked"), "lab/staged.yaml": config_map("staged")})
    run_git(repo, "add", "lab/staged.yaml")
    (repo / "lab" / "a.yaml").unlink()
    return repo


def unborn(repo: Path) -> Path:
    run_git(repo, "checkout", "--quiet", "--orphan", "unborn")
    return repo


def new_path(repo: Path) -> Path:
    plant(repo, {"new/n.yaml": config_map("fresh")})
    return repo


def unrelated(repo: Path) -> Path:
    run_git(repo, "checkout", "--quiet", "--orphan", "alone")
    commit(repo)
    return repo


def worktree(repo: Path) -> Path:
    run_git(repo, "worktree", "add", "--quiet", "--detach", "../tree", "next")
    return repo.parent / "tree"


def lost_worktree(repo: Path) -> Path:
    tree = worktree(repo)
    repo.rename(repo.parent / "moved")
    return tree


def sparse(repo: Path, *options: str) -> Path:
    folder = clone(repo, "--sparse")
    run_git(folder, "sparse-checkout", "set", *options, "prod")
    return folder


def sparse_index(repo: Path) -> Path:
    return sparse(repo, "--sparse-index")


def submodule(repo: Path) -> Path:
    """With a submodule at the base and now."""
    inner = repository(repo.parent / "inner", {"i.yaml": config_map("inner")})
    run_git(repo, "checkout", "--quiet", "main")
    run_git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lab/inner")
    commit(repo)
    run_git(repo, "checkout", "--quiet", "-B", "next", "main")
    folder = clone(repo)
    run_git(folder, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    return folder


def inside_submodule(repo: Path) -> Path:
    submodule(repo)
    run_git(repo / "lab" / "inner", "checkout", "--quiet", "-B", "next")
    plant(repo / "lab" / "inner", {"i.yaml": config_map("other")})
    return repo / "lab" / "inner"


def no_repository(repo: Path) -> Path:
    return plant(repo.parent / "broken", {".git/x": "", "lab/a.yaml": config_map("a")})


UNSPARSE = "so the new state is not known; pass PATHs that are checked out, or run `git sparse-checkout disable`"
STATES = {
    "a revision that is nowhere": State(
        as_it_is,
        "nowhere",
        "lab",
        2,
        "error: nowhere is not a commit in this clone; fetch it (`git fetch origin nowhere:",
    ),
    "a commit that is nowhere": State(as_it_is, NOBODY, "lab", 2, f"fetch it (`git fetch origin {NOBODY}`)"),
    "a remote branch that is nowhere": State(
        as_it_is, "origin/x", "lab", 2, "fetch it (`git fetch origin x:refs/remotes/origin/x`)"
    ),
    "a branch that is remote": State(
        clone, "main", "lab", 2, "error: main is not a commit in this clone; did you mean origin/main?"
    ),
    "a detached head": State(detached, "main", "lab", 1, "created"),
    "a dirty tree": State(dirty, "main", "lab", 1, "2 created, 1 deleted"),
    "an unborn branch": State(
        unborn, "main", "lab", 2, "error: HEAD does not point to a commit in this clone; make a first commit"
    ),
    "no such path at the base": State(new_path, "main", "new", 1, "+ ConfigMap fresh\n\n1 created\n"),
    "no such path at all": State(as_it_is, "main", "nowhere", 2, "error: nowhere exists neither here nor in "),
    "no merge base": State(
        unrelated,
        "main",
        "lab",
        2,
        "HEAD and main have no commit in common; pass the branch that this one started from",
    ),
    "a worktree": State(worktree, "main", "lab", 1, "+ ConfigMap new\n"),
    "a worktree of a repository that is gone": State(lost_worktree, "main", "lab", 2, "fatal: not a git repository: "),
    "a sparse checkout": State(
        sparse, "origin/main", "lab", 2, "this is a sparse checkout without lab/a.yaml and 1 more"
    ),
    "a sparse checkout, all of it": State(sparse, "origin/main", ".", 2, UNSPARSE),
    "a sparse index": State(
        sparse_index, "origin/main", "lab", 2, "this is a sparse checkout without lab/a.yaml and 1 more"
    ),
    "what a sparse checkout has": State(sparse, "origin/main", "prod", 0, "nothing changes, 1 unchanged\n"),
    "a submodule": State(
        submodule, "HEAD", "lab", 1, ":lab/inner: is a submodule, whose files are not part of the commit\n"
    ),
    "beside a submodule": State(submodule, "HEAD", "prod", 0, "nothing changes, 1 unchanged\n"),
    "inside a submodule": State(inside_submodule, "origin/main", ".", 1, "+ ConfigMap other\n- ConfigMap inner\n"),
    "a folder that is no repository": State(no_repository, "main", "lab", 2, "fatal: not a git repository"),
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """`next` has a ConfigMap that `main` has not."""
    folder = repository(tmp_path / "repo", {"lab/a.yaml": config_map("a"), "prod/b.yaml": config_map("b")})
    commit(folder, {"lab/new.yaml": config_map("new")})
    return folder


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, those of Git's included."""
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", STATES)
def test_a_state_is_said_and_nothing_is_left(name: str, repo: Path, tmp_path: Path) -> None:
    state = STATES[name]
    folder = state.make(repo)
    before = everything(tmp_path)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = process(
        "krmfn", "diff", "--base", state.base, state.path, "--quiet", cwd=folder, TMPDIR=str(temporary), **OWN
    )
    assert (done.code, state.says in done.text + done.err) == (state.code, True), done.text + done.err
    if done.code == 2:
        assert done.out == b""
        assert done.err.startswith("error: ")
    assert everything(tmp_path) == before
    assert list(temporary.iterdir()) == []


def test_a_sparse_checkout_is_no_deletion(repo: Path) -> None:
    """The files are in HEAD: who merges this deletes nothing."""
    folder = sparse(repo)
    (folder / "prod" / "b.yaml").unlink()
    done = process("krmfn", "diff", "--base", "origin/main", "prod", "--format", "json", cwd=folder, **OWN)
    assert changed(done) == {"b": "deleted"}, "a file that a person has removed is one"


def test_a_repository_of_somebody_else(repo: Path, tmp_path: Path) -> None:
    """As in a container of a CI server: the clone belongs to another user than the one of the job."""
    script = f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"\n'
    plant(tmp_path, {"bin/git": script})
    path = f"{tmp_path}/bin:{environment()['PATH']}"
    trust = f"git config --global --add safe.directory {repo}"
    assert process("krmfn", "diff", "--base", "main", "lab", cwd=repo, PATH=path, **OWN).refused() == (
        f"error: {repo} belongs to another user, so Git does not read it; if you trust its content, run: {trust}\n"
    )


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda number: number.name
)
def test_an_interrupt_leaves_nothing(number: signal.Signals, repo: Path, tmp_path: Path) -> None:
    """While the base stands in its temporary folder: a kustomize that does not end holds the run there."""
    commit_to_main(repo, {"lab/kustomization.yaml": "resources: [a.yaml]\n"})
    plant(repo, {"lab/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: b-\n"})  # what is the same is not built
    started, written = tmp_path / "started", tmp_path / "written"
    script = (
        f"#!/bin/sh\necho $$ > {written}\n{shutil.which('mv')} {written} {started}\nexec {shutil.which('sleep')} 600\n"
    )
    plant(tmp_path, {"bin/kustomize": script})
    (tmp_path / "tmp").mkdir()
    env = environment(**OWN, TMPDIR=str(tmp_path / "tmp"), KRMFN_CONFINE="off")
    # A shell that runs the tests in the background lets its children ignore some signals.
    handler = "default_int_handler" if number == signal.SIGINT else "SIG_DFL"
    code = (
        f"import signal; signal.signal({number}, signal.{handler}); from krmfn_functions.__main__ import krmfn; krmfn()"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, "diff", "--base", "main", "lab"],
        cwd=repo,
        env={**env, "PATH": f"{tmp_path / 'bin'}:{env['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        until(started.exists)
        assert any(path.name.startswith("krmfn-") for path in (tmp_path / "tmp").iterdir())
        os.kill(running.pid, number)
        output, _ = running.communicate(timeout=HANGS)
    finally:
        running.kill()
    assert (running.returncode, output) == (130, b"interrupted\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds, a minute at most."""
    end = time.monotonic() + HANGS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
