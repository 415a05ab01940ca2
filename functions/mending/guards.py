"""Which files may be mended: regular ones below the roots of the PATHs, reached by no link, as Git has them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha1, sha256

from krmfn.errors import KrmfnError
from krmfn.printing import some

from ..paths import files, git, roots


def is_mendable(path: str, tops: Collection[str]) -> bool:
    """Return True for a regular file below one of the folders, which have no links, that is reached by no link."""
    real = os.path.realpath(path)
    return os.path.isfile(real) and any(roots.inside(real, top) and not _has_link(path, top) for top in tops)


def tops(paths: Iterable[str], root: str | None) -> list[str]:
    """Return the folders, or files, outside of which nothing is fixed, for PATHs without links."""
    return [roots.root_of(path if os.path.isdir(path) else os.path.dirname(path), root) or path for path in paths]


def _has_link(path: str, top: str) -> bool:
    """Return True when a part of a path below `top` is a link; `top` itself may be reached by one."""
    path = os.path.abspath(path)
    while os.path.realpath(path) != top or os.path.isfile(path):
        if os.path.islink(path):
            return True
        if path == (path := os.path.dirname(path)):
            return False
    return False


def check_committed(paths: Iterable[str]) -> None:
    """Raise KrmfnError for files that are not as the last commit has them: a mend could not be told from other work.

    Files outside of a Git work tree are as nobody has them.
    """
    changed = sorted(path for path in paths if is_changed(path))
    if changed:
        files = some(map(os.path.relpath, changed), len(changed))
        raise KrmfnError(f"nothing is fixed: {files} is not as it was committed; commit it first, or pass --force")


def is_changed(path: str) -> bool:
    """Return True when a file in a Git work tree is not the one of HEAD, or not the one of the index."""
    top = next((folder for folder in roots.parents(os.path.dirname(path)) if _is_work_tree(folder)), "")
    if not top:
        return False
    name = os.path.relpath(path, top)
    known = {*_names(git.run(top, "ls-files", "-z", "-s", "--", f":(literal){name}"), 1)}
    committed = git.call(top, "ls-tree", "-z", "HEAD", "--", name)
    known |= {*_names(os.fsdecode(committed.stdout), 2)} if not committed.returncode else {""}
    data = files.read_regular(path, path)
    return known != {_object_name(data, len(next(iter(known), "")))}


def _is_work_tree(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _names(listing: str, column: int) -> Iterator[str]:
    """Yield the names of objects in a listing of Git; one empty name where there is none."""
    yield from [line.split("\t")[0].split(" ")[column] for line in listing.split("\0") if line] or [""]


def _object_name(data: bytes, length: int) -> str:
    """Return the name that Git gives to a file's content (gitformat-hash: SHA-1, or SHA-256 with 64 digits)."""
    digest = (sha256 if length == 64 else sha1)(f"blob {len(data)}\0".encode() + data)
    return digest.hexdigest()
