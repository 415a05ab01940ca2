"""Paths as kustomize resolves them, and the files behind them, within the root of what may be read."""

import os
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from krmfn.runner import max_bytes
from krmfn.typed import NamedTuple

from . import files, roots


class Target(NamedTuple):
    """What stands at a path: its name for people, its path without links, and what it is.

    `problem` is a sentence when there is neither a file nor a folder, or what there is may not be read.
    """

    name: str
    real: str
    is_folder: bool = False
    problem: str = ""
    outside: bool = False


class Disk:
    """The files below a root; None as root sets no bound, as kustomize does outside a Git work tree.

    No file is opened that is not regular, and no more is taken than KRMFN_MAX_BYTES allows in all.
    """

    def __init__(self, root: str | None, absolute: bool = False) -> None:
        """Bound what is read by `root`; names are shown `absolute` or relative to the working folder."""
        self.root = root
        self.shown = partial(shown, here="" if absolute else os.path.realpath(os.curdir))
        self.links: dict[str, str] = {}
        """The links that were followed: the place of each, in a folder without links, and where it leads."""
        self._left = max_bytes()
        self._status: Callable[[str], os.stat_result] = lru_cache(maxsize=None)(os.stat)

    def target(self, folder: str, text: str) -> Target:
        """Return what `text` names in `folder`: `..` is taken off before links are followed, as kustomize does."""
        path = os.path.normpath(os.path.join(folder, text))
        name = self.shown(path)
        try:
            real = os.path.realpath(path)
            if self.root is not None and not roots.inside(real, self.root):
                return Target(name, real, outside=True)
            status = self._status(real)
        except (OSError, ValueError) as failure:  # ValueError: a NUL, half a surrogate pair
            return Target(name, "", problem=_reason(failure))
        if real != path:
            self._note_links(path)
        if stat.S_ISDIR(status.st_mode):
            return Target(name, real, is_folder=True)
        if not stat.S_ISREG(status.st_mode):
            return Target(name, real, problem="neither a file nor a folder")
        self._left -= status.st_size
        if self._left < 0:
            return Target(
                name, real, problem=f"too large: together with the files before it more than {max_bytes():,} bytes"
            )
        return Target(name, real)

    def _note_links(self, path: str) -> None:
        here = "/"
        for part in path.split("/")[1:]:
            place = os.path.join(here, part)
            here = os.path.realpath(place)
            if here != place:
                self.links[place] = here

    def read(self, target: Target) -> bytes:
        """Return the bytes of a file; raise KrmfnError when it cannot be read."""
        return files.read_regular(target.real, target.name, max_bytes())

    def stands(self, folder: str, text: str) -> bool:
        """Return True when there is anything of this name."""
        try:
            return os.path.lexists(os.path.normpath(os.path.join(folder, text)))
        except ValueError:
            return False

    def exists(self, folder: str, name: str) -> bool:
        """Return True for an entry of a folder that is no folder itself: a file, or what only looks like one."""
        path = os.path.join(folder, name)
        return os.path.lexists(path) and not os.path.isdir(path)


def shown(path: str, here: str) -> str:
    """Return a path without links as people are shown it: relative to the folder `here`, or as it is without one."""
    return os.path.relpath(path, here) if here else path


def within(path: str, folder: str) -> bool:
    """Return True when a resolved path is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def parents(folder: str) -> Iterator[str]:
    """Yield a folder and the folders that hold it."""
    yield folder
    while folder != "/":
        folder = os.path.dirname(folder)
        yield folder


def _reason(failure: OSError | ValueError) -> str:
    return (failure.strerror if isinstance(failure, OSError) else None) or "this is not a valid path"
