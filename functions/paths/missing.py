"""What Git has below a folder and the work tree has not: what a sparse checkout leaves out, submodules not fetched.

Nothing below the folder would miss it: a check without an inventory, or without one of two configs, finds nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from krmfn.counts import some

from . import roots

Predicate = Callable[[str], bool]
CONFIG = ".krmfn.yaml"
"""Says which roots make a cluster, so that it counts wherever it is left out."""
_LONGEST = 1 << 20


def below(folder: str, is_excluded: Predicate, is_read: Predicate) -> Iterator[str]:
    """Yield a sentence about what is not there below a folder, which is absolute and without links.

    `is_excluded` is asked of absolute paths (with a slash at the end of folders), `is_read` of the last names of files.
    Raises KrmfnError when Git cannot be asked what a sparse checkout leaves out.
    """
    root = roots.root_of(folder)
    if root is None or not os.path.lexists(os.path.join(root, ".git")):
        return
    if os.path.exists(os.path.join(_git_folder(root), "info", "sparse-checkout")):
        gone = [
            name
            for name in _left_out(root, folder)
            if name == CONFIG or (is_read(os.path.basename(name)) and not is_excluded(os.path.join(root, name)))
        ]
        if gone:
            yield (
                f"this is a sparse checkout without {some(gone, len(gone), 2)}, so not everything that will be "
                "deployed is checked; pass PATHs that are checked out, skip the others with --exclude, or run `git "
                "sparse-checkout disable`"
            )
    for name in _submodules(root):
        path = os.path.join(root, name)
        if (
            _overlap(path, folder)
            and not is_excluded(f"{path}/")
            and not (os.path.isdir(path) and any(os.scandir(path)))
        ):
            yield (
                f"the submodule {name} is not checked out, so not everything that will be deployed is checked; run "
                f"`git submodule update --init`, or skip it with --exclude {name}"
            )


def _left_out(root: str, folder: str) -> list[str]:
    from . import history  # here: a sparse checkout is rare, and what runs Git is slow to load

    return history.left_out(root, os.path.relpath(folder, root), CONFIG)


def _overlap(path: str, folder: str) -> bool:
    both = f"{path}/", f"{folder.rstrip('/')}/"
    return both[0].startswith(both[1]) or both[1].startswith(both[0])


def _git_folder(root: str) -> str:
    """Return Git's folder of a work tree: .git, or where a file of that name says it is."""
    path = os.path.join(root, ".git")
    return os.path.join(root, _text(path).removeprefix("gitdir:").strip()) if os.path.isfile(path) else path


def _submodules(root: str) -> list[str]:
    """Return the paths of a work tree's submodules, from its root."""
    fields = (line.partition("=") for line in _text(os.path.join(root, ".gitmodules")).split("\n"))
    names = [value.strip().strip('"') for key, _, value in fields if key.strip() == "path"]
    return [os.path.normpath(name) for name in names if name]


def _text(path: str) -> str:
    """Return the text of a regular file that is no link; "" for anything else, as Git has it."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_LONGEST)
    except OSError:
        return ""
