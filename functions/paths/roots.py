"""The root of what may be read, and what lies inside it.

Whoever commits a file to a repository chooses its name, its kind and what a link points to; whoever runs the command
chooses PATH. So no link may lead out of the root: the folder that --root names, else the Git work tree that holds PATH,
else what ARGOCD_APP_SOURCE_PATH says, else PATH itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from krmfn.errors import KrmfnError


def root_of(folder: str, given: str | None = None) -> str | None:
    """Return the root of what may be read around a folder without links, as such; None when it is the folder itself.

    Raises KrmfnError when `given` (--root) is not a folder.
    """
    if given:
        if not os.path.isdir(given):
            raise KrmfnError(f"--root {given} is not a folder")
        return os.path.realpath(given)
    top = next((one for one in parents(folder) if os.path.lexists(os.path.join(one, ".git"))), None)
    return top or _argo_root(folder)


def above(path: str, given: str | None = None) -> Iterator[str]:
    """Yield each root in which an absolute path lies by its words, links not followed.

    These are --root, else all Git work trees and what ARGOCD_APP_SOURCE_PATH says.
    """
    if given:
        yield os.path.abspath(given)
        return
    yield from (one for one in parents(os.path.dirname(path)) if os.path.lexists(os.path.join(one, ".git")))
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
    """Yield a path, and the folders that hold it."""
    yield folder
    while folder != (folder := os.path.dirname(folder)):
        yield folder


def leads_out(name: str, root: str) -> str:
    """Return the sentence about a link whose target may not be read."""
    return f"{name}: is a link that leads out of {root}, where nothing is read; pass a larger folder with --root DIR"
