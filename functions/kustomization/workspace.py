"""Where kustomize builds: private folders, in which the trees are written that it is given, and nothing else is.

kustomize never reads the repository. No file of a tree can be executed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from krmfn.errors import KrmfnError
from krmfn.typed import NamedTuple

from .calls import Call
from .confinement import Confinement, confined

ASIDE = "krmfn.dev/aside-while-kustomize-builds/"
"""How the name begins that the annotation local-config has while kustomize builds.

A random part follows, which nothing in a repository can hold, so that only our own annotation is renamed back. No valid
key has two slashes: whatever is random, the name stands where it stands among the sorted keys of a resource.
"""


class Tree(NamedTuple):
    """What kustomize is given for one root: paths are absolute, and without links."""

    folder: str
    """The folder that is built."""
    files: Mapping[str, bytes]
    links: Mapping[str, str]
    """The place of each link, and where it leads."""
    folders: frozenset[str]
    """Folders that may be empty."""
    names: Mapping[str, str]
    """The functions of ours (a program, an image), and the names by which kustomize calls them in this tree."""


class Workspace:
    """A private folder in which kustomize builds; a file of several trees is written once.

    It is made when it is first asked for, and removed by `close`, with the last use of it, or when krmfn ends.
    """

    def __init__(self) -> None:
        self.aside = ASIDE + os.urandom(16).hex()
        """The name that the annotation local-config has while kustomize builds."""
        self._lock = threading.Lock()
        self._made: set[str] = set()
        self._folder = ""
        self._how: Confinement | None = None

    def folder(self) -> str:
        """Return the folder, without links. Raises OSError."""
        with self._lock:
            if not self._folder:
                self._folder = os.path.realpath(tempfile.mkdtemp(prefix="krmfn-"))
                self._end = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            return self._folder

    def close(self) -> None:
        """Remove the folder."""
        if self._folder:
            self._end()

    def confinement(self, calls: Sequence[Call], names: Mapping[str, str]) -> Confinement:
        """Return how to call kustomize here; builds that call functions share no workspace."""
        folder = self.folder()
        with self._lock:
            self._how = self._how or confined(folder, calls, names)
            return self._how

    def write(self, tree: Tree) -> str:
        """Write a tree, but for what is there, and return the folder that is built. Raises OSError."""
        top = f"{self.folder()}/tree"
        with self._lock:
            new = [path for path in {**tree.files, **tree.links} if path not in self._made]
            for folder in {*tree.folders, *map(os.path.dirname, new)} - self._made:
                os.makedirs(top + folder, exist_ok=True)
                self._made.add(folder)
            for path in new:
                if path in tree.files:
                    with open(os.open(top + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                        file.write(tree.files[path])
                else:
                    os.symlink(os.path.relpath(tree.links[path], os.path.dirname(path)), top + path)
                self._made.add(path)
        return top + tree.folder


@contextmanager
def used(shared: Workspace | None) -> Iterator[Workspace]:
    """Yield the workspace of a run, or one of its own, which is removed at the end. Raises KrmfnError where none is."""
    workspace = shared or Workspace()
    try:
        yield workspace
    except OSError as failure:
        raise KrmfnError(
            f"kustomize needs a temporary folder, but none is writable: {failure.strerror}; set the environment "
            "variable TMPDIR to one that is"
        ) from failure
    finally:
        if workspace is not shared:
            workspace.close()
