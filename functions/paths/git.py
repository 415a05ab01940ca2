"""A commit's files, read from Git's object database into a folder.

The author of a pull request chooses what is in the commits, and the clone's configuration may name programs. So only
plumbing runs (rev-parse, merge-base, rev-list, ls-tree, ls-files, cat-file): no hook, filter, text conversion or
network, and nothing is written to the repository. What Git would have to fetch first is reported as missing.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, NamedTuple, cast

from krmfn.errors import KrmfnError

from .files import POINTER

_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # the same for versions of Git that do not know GIT_NO_LAZY_FETCH
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
MISSING = "is missing from this clone, which was made with `git clone --filter`; clone without a filter"
_DISTRUST = "detected dubious ownership"
LINK, _SUBMODULE = "120000", "160000"
_CHUNK = 1 << 20


class Entry(NamedTuple):
    """A file, link or submodule of a commit."""

    mode: str
    object: str
    path: str
    """From the root of the repository."""


Read = Callable[[str, int], "bytes | str"]
"""Returns the content of an object by its name, or, when it has more bytes than the number, a sentence that says so."""


def entries(root: str, commit: str, absent: Collection[str]) -> list[Entry]:
    """Return all files, links and submodules of a commit. Raises KrmfnError when Git cannot list them."""
    done = call(root, "ls-tree", "-r", "-z", "--full-tree", commit)
    if done.returncode and absent:
        raise KrmfnError(f"the list of files of the commit {commit} {MISSING}")
    rows = (line.replace("\t", " ", 1).split(" ", 3) for line in output(done).split("\0") if line)
    return [Entry(mode, name, path) for mode, _, name, path in rows]


def remotes(root: str) -> frozenset[str]:
    """Return the URLs of a work tree's remotes; none where there is no repository, no remote, or no Git.

    Argo CD's private copy has no repository: ARGOCD_APP_SOURCE_REPO_URL says the URL there.
    """
    if url := os.environ.get("ARGOCD_APP_SOURCE_REPO_URL"):
        return frozenset({url})
    if not os.path.lexists(os.path.join(root, ".git")):
        return frozenset()
    try:
        done = call(root, "config", "--get-regexp", r"^remote\..*\.url$")
    except KrmfnError:
        return frozenset()
    lines = done.stdout.decode(errors="replace").splitlines() if not done.returncode else []
    return frozenset(line.partition(" ")[2] for line in lines)


def missing_objects(root: str, commit: str) -> set[str]:
    """Return the names of a commit's objects that are not in this clone, such as those of `git clone --filter`."""
    lines = run(root, "rev-list", "--objects", "--missing=print", "--no-walk", commit).splitlines()
    return {line[1:] for line in lines if line.startswith("?")}


def write(read: Read, listing: Iterable[Entry], absent: Collection[str], folder: str, limit: int) -> dict[str, str]:
    """Write entries of a commit below a folder, in their order; return why the skipped ones are, by their paths.

    `absent` are the names of missing objects, `limit` is the number of bytes that may be written in all. Links are
    written last, so that nothing is written through one; those that lead out of the folder are skipped. Raises
    KrmfnError when the folder cannot be written.
    """
    skipped: dict[str, str] = {}
    links: list[tuple[str, str]] = []
    for entry in listing:
        problem = MISSING if entry.object in absent else _unwritable(entry)
        data = problem or read(entry.object, limit)
        if isinstance(data, str):
            skipped[entry.path] = data
            continue
        limit -= len(data)
        if entry.mode == LINK:
            links.append((entry.path, os.fsdecode(data)))
        elif data.startswith(POINTER):
            skipped[entry.path] = "is stored in Git LFS, so the commit contains only a pointer to it"
        else:
            _write(folder, entry.path, data)
    for path, target in links:
        if _leads_out(path, target):
            skipped[path] = f"is a link to {target}, which leads out of the repository"
        else:
            _write(folder, path, target)
    return skipped


@contextmanager
def objects(root: str) -> Iterator[Read]:
    """Run `git cat-file --batch` during the block; yield its reader, which raises KrmfnError for an unknown object."""
    command, pipe = _command(root, "cat-file", "--batch"), subprocess.PIPE
    with subprocess.Popen(
        command, env=_environment(root), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as process:
        requests, replies = cast("tuple[IO[bytes], IO[bytes]]", (process.stdin, process.stdout))

        def read(name: str, limit: int) -> bytes | str:
            requests.write(f"{name}\n".encode())
            requests.flush()
            head = replies.readline().split()
            if len(head) != 3:
                raise KrmfnError(
                    f"git cat-file cannot read the object {name}; run `git fsck` to see what is wrong with the clone"
                )
            size = int(head[2])
            if size <= limit:
                return replies.read(size + 1)[:-1]
            rest = size + 1
            while rest > 0:
                rest -= len(replies.read(min(rest, _CHUNK))) or rest
            return f"is too large ({size:,} bytes): raise the limit with KRMFN_MAX_BYTES"

        try:
            yield read
        finally:
            process.kill()


def _unwritable(entry: Entry) -> str:
    """Return why an entry cannot be written; "" when it can."""
    if entry.mode == _SUBMODULE:
        return "is a submodule, whose files are not part of the commit"
    parts = entry.path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return "has a name that no work tree can have"
    return ""


def _leads_out(path: str, target: str) -> bool:
    """Return True for a link whose target, as text, is not below the folder; readers resolve the links inside it."""
    destination = os.path.normpath(os.path.join(os.path.dirname(path), target))
    return target.startswith("/") or "\0" in target or not target or destination.split("/")[0] == ".."


def _write(folder: str, path: str, content: bytes | str) -> None:
    """Write a file, or a link to a text."""
    name = os.path.join(folder, path)
    try:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        if isinstance(content, str):
            os.symlink(content, name)
        else:
            with open(name, "xb") as file:
                file.write(content)
    except OSError as failure:
        raise KrmfnError(f"{path} of the base cannot be written to {folder}: {failure.strerror}") from failure


def run(root: str, *arguments: str) -> str:
    """Return what a command of Git prints in the work tree at `root`. Raises KrmfnError when it fails."""
    return output(call(root, *arguments))


def output(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what Git printed. Raises KrmfnError with Git's messages when it failed."""
    if done.returncode:
        messages = done.stderr.decode(errors="replace").strip().splitlines()
        if any(_DISTRUST in line for line in messages):
            raise KrmfnError(
                f"{done.args[2]} belongs to another user, so Git does not read it; if you trust its content, run: "
                f"git config --global --add safe.directory {shlex.quote(done.args[2])}"
            )
        raise KrmfnError(f"git {done.args[8]} failed in {done.args[2]}:", *messages)
    return os.fsdecode(done.stdout)


def call(root: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command of Git in the work tree at `root`. Raises KrmfnError when there is no Git."""
    try:
        command, null = _command(root, *arguments), subprocess.DEVNULL
        return subprocess.run(command, env=_environment(root), stdin=null, capture_output=True, check=False)
    except OSError as failure:
        purpose = "it is needed for --base, and to see what a sparse checkout leaves out"
        raise KrmfnError(f"git cannot be run: {failure.strerror}; {purpose}") from failure


def _command(root: str, *arguments: str) -> list[str]:
    """Return a command of Git; it does not take a committed folder that looks like a bare repository for one."""
    settings = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")
    return ["git", "-C", root, "--no-pager", *settings, *arguments]


def _environment(root: str) -> dict[str, str]:
    """Return the environment of Git: without the variables that a hook sets, and for the repository at `root` only."""
    names = [name for name in os.environ if not name.startswith("GIT_") or name.startswith("GIT_CONFIG")]
    variables = {name: os.environ[name] for name in names}
    return {**variables, **_ENVIRONMENT, "GIT_CEILING_DIRECTORIES": os.path.dirname(root)}
