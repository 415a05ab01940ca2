"""The private folders in which kustomize builds. They hold the build trees and nothing else.

kustomize never reads the repository. No file of a tree can be executed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from krmfn.errors import KrmfnError
from krmfn.typed import Any, NamedTuple, TypeVar

from .calls import Call
from .confinement import Confinement, confine

T = TypeVar("T")
_BUILD_NAME = "krmfn.dev/aside-while-kustomize-builds/"
"""The beginning of the name that the annotation local-config has while kustomize builds.

A random part follows, which no repository can contain, so that only our own annotation is renamed back. The name keeps
its position among the sorted keys of a resource, whatever is random: no valid key has two slashes.
"""


class Tree(NamedTuple):
    """The files and links for the build of one folder; paths are absolute and without links."""

    folder: str
    """The folder that is built."""
    files: Mapping[str, bytes]
    links: Mapping[str, str]
    """The targets of links, by the paths of the links."""
    folders: frozenset[str]
    """Folders that may be empty."""
    names: Mapping[str, str]
    """Our functions (a program, an image), with the random names by which kustomize calls them in this tree."""


class Workspace:
    """A private folder in which kustomize builds; a file that is in several trees is written once.

    It is made on its first use, and removed by `close`, when nothing refers to it any more, or when krmfn ends.
    """

    def __init__(self) -> None:
        self.build_name = _BUILD_NAME + os.urandom(16).hex()
        """The name that the annotation local-config has while kustomize builds."""
        self._lock = threading.Lock()
        self._building: dict[tuple[str, str], threading.Lock] = {}
        self._outcomes: dict[tuple[str, str], tuple[Any, KrmfnError | None]] = {}
        self._paths: set[str] = set()
        self._folder = ""
        self._confinement: Confinement | None = None

    def once(self, key: tuple[str, str], build: Callable[[], T]) -> T:
        """Return what a build has given; it runs once for each key, also where several threads ask at a time.

        A KrmfnError is raised again.
        """
        with self._lock:
            lock = self._building.setdefault(key, threading.Lock())
        with lock:
            if key not in self._outcomes:
                try:
                    self._outcomes[key] = (build(), None)
                except KrmfnError as failure:
                    self._outcomes[key] = (None, failure)
            outcome, failure_before = self._outcomes[key]
        if failure_before:
            raise failure_before
        result: T = outcome
        return result

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
            self._confinement = self._confinement or confine(folder, calls, names)
            return self._confinement

    def write(self, tree: Tree) -> str:
        """Write the new files and links of a tree, and return the folder that is built. Raises OSError."""
        top = f"{self.folder()}/tree"
        with self._lock:
            paths = [path for path in {**tree.files, **tree.links} if path not in self._paths]
            for folder in {*tree.folders, *map(os.path.dirname, paths)} - self._paths:
                os.makedirs(top + folder, exist_ok=True)
                self._paths.add(folder)
            for path in paths:
                if path in tree.files:
                    with open(os.open(top + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                        file.write(tree.files[path])
                else:
                    os.symlink(os.path.relpath(tree.links[path], os.path.dirname(path)), top + path)
                self._paths.add(path)
        return top + tree.folder


@contextmanager
def open_workspace(shared: Workspace | None) -> Iterator[Workspace]:
    """Yield the workspace of a run, else a new one for the block. Raises KrmfnError when it cannot be written."""
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
