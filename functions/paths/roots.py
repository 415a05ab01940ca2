"""The root, a folder outside of which nothing is read; and which paths are inside of it.

Whoever commits a file to a repository chooses its name, its type and the target of a link; whoever runs the command
chooses PATH. So no link may lead out of the root: the folder that --root names, else the Git work tree that holds PATH,
else what ARGOCD_APP_SOURCE_PATH says, else PATH itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from krmfn.errors import KrmfnError


def root_of(folder: str, root: str | None = None) -> str | None:
    """Return the root of a folder, both without links; None when it is the folder itself.

    `root` is the argument of --root. Raises KrmfnError when that is not a folder.
    """
    if root:
        if not os.path.isdir(root):
            raise KrmfnError(f"--root {root} is not a folder")
        return os.path.realpath(root)
    top = next((parent for parent in parents(folder) if os.path.lexists(os.path.join(parent, ".git"))), None)
    return top or _argo_root(folder)


def above(path: str, root: str | None = None) -> Iterator[str]:
    """Yield each root that holds an absolute path as it is spelled, links not followed.

    This is `root` (--root), else all Git work trees and what ARGOCD_APP_SOURCE_PATH says.
    """
    if root:
        yield os.path.abspath(root)
        return
    yield from (parent for parent in parents(os.path.dirname(path)) if os.path.lexists(os.path.join(parent, ".git")))
    if copy := _argo_root(path):
        yield copy


def _argo_root(path: str) -> str | None:
    """Return Argo CD's copy of the repository: the working folder without the Application's path at its end."""
    source = os.path.normpath(os.environ.get("ARGOCD_APP_SOURCE_PATH") or "..")
    cwd = os.path.realpath(os.getcwd())
    if source == ".":
        root = cwd
    elif cwd.endswith(f"/{source}") and ".." not in source.split("/"):
        root = cwd[: -len(source)].rstrip("/") or "/"
    else:
        return None
    return root if inside(path, root) else None


def inside(path: str, root: str) -> bool:
    """Return True when a resolved path is the root or below it, and not in a .git folder there."""
    return within(path, root) and ".git" not in path[len(root) :].split("/")


def within(path: str, folder: str) -> bool:
    """Return True when a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def parents(folder: str) -> Iterator[str]:
    """Yield a path, and the folders above it."""
    yield folder
    while folder != (folder := os.path.dirname(folder)):
        yield folder


def leads_out(root: str) -> str:
    """Return what is wrong with a link whose target may not be read."""
    return f"is a link that leads out of {root}, where nothing is read; pass a larger folder with --root DIR"
