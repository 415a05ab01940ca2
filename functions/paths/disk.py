"""Paths as kustomize resolves them, and the files behind them, within the root of what may be read.

Below a folder these are the regular files that lie, links resolved, inside the root. A link to a folder is followed
inside the root; nothing is read twice.
"""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache, partial

from krmfn.errors import KrmfnError
from krmfn.streams import max_bytes
from krmfn.typed import NamedTuple

from . import files, roots
from .roots import within

_OVER = ".argocd-source"
_MERGED = (
    "Argo CD merges this file over the source of an Application, the plugin's parameters with it, and nobody judges it "
    "here; write it into the Application and remove the file, or leave it out with --exclude"
)


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
        self.shown = partial(shown, here="" if absolute else os.getcwd())
        self.links: dict[str, str] = {}
        """The links that were followed: the place of each, in a folder without links, and where it leads."""
        self._left = max_bytes()
        self._real: Callable[[str], str] = lru_cache(maxsize=None)(os.path.realpath)

    def target(self, folder: str, text: str) -> Target:
        """Return what `text` names in `folder`: `..` is taken off before links are followed, as kustomize does."""
        path = os.path.normpath(os.path.join(folder, text))
        name = self.shown(path)
        try:
            real = resolved(path, self._real)
            if self.root is not None and not roots.inside(real, self.root):
                return Target(name, real, outside=True)
            status = os.stat(real)
        except (OSError, ValueError) as failure:  # ValueError: a NUL, half a surrogate pair
            words = failure.strerror if isinstance(failure, OSError) else None
            return Target(name, "", problem=words or "this is not a valid path")
        if real != path:
            self.links.update(links_on(path, os.path.realpath))
        if stat.S_ISDIR(status.st_mode):
            return Target(name, real, is_folder=True)
        if not stat.S_ISREG(status.st_mode):
            return Target(name, real, problem="neither a file nor a folder")
        self._left -= status.st_size
        much = f"too large: together with the files before it more than {max_bytes():,} bytes"
        return Target(name, real, problem=much if self._left < 0 else "")

    def stands(self, folder: str, text: str) -> bool:
        """Return True when there is anything of this name."""
        return os.path.lexists(os.path.normpath(os.path.join(folder, text)))

    def exists(self, folder: str, name: str) -> bool:
        """Return True for an entry of a folder that is no folder itself: a file, or what only looks like one."""
        path = os.path.join(folder, name)
        return os.path.lexists(path) and not os.path.isdir(path)


def resolved(path: str, real: Callable[[str], str]) -> str:
    """Return an absolute path without links; `real` does the same for its folder, and may know many folders."""
    place = os.path.join(real(os.path.dirname(path)), os.path.basename(path))
    return os.path.realpath(place) if os.path.islink(place) else place


def links_on(path: str, followed: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield the links on the way along a path, each with what it leads to: `followed` returns that."""
    here = "/"
    for part in path.split("/")[1:]:
        place = os.path.join(here, part)
        here = followed(place)
        if here != place:
            yield place, here


def shown(path: str, here: str) -> str:
    """Return a path without links as people are shown it: relative to the folder `here`, or as it is without one."""
    if here and path.startswith(f"{here}/"):
        return path[len(here) + 1 :]
    return os.path.relpath(path, here) if here else path


class File(NamedTuple):
    """A file of a folder: its name there, and its path with all links resolved."""

    name: str
    real: str
    text: bytes | None = None
    """What it holds, where somebody has looked already and it is small: then it is read once."""


def below(
    top: File, wanted: Callable[[str], bool], root: str | None, meant: Collection[str] = ()
) -> tuple[list[File], list[tuple[str, str]]]:
    """Return the files below a folder whose last names are wanted, sorted, and name and sentence of what is refused.

    `root` is that of the folder (see `roots.root_of`). Names that begin with a dot are passed over. A file with two
    names is read by its own, else by the first; but one of those that are `meant` says what the file is, as a link as
    well.
    """
    root = root or top.real
    if not roots.inside(top.real, root):
        raise KrmfnError(
            f"{top.name} is outside of {root}, and nothing outside of it is read; pass another folder with --root DIR"
        )
    readable: list[tuple[bool, File]] = []
    problems: list[tuple[str, str]] = []
    for file, entry in _walk(top, root, problems):
        if not wanted(entry.name):
            continue
        try:
            readable.append((entry.is_symlink(), File(file.name, files.readable(file.name, file.real, root))))
        except KrmfnError as failure:
            problems.append((file.name, str(failure)))
    order = sorted(readable, reverse=True)
    # A link's target may be in the folder, too: it goes by its own name then.
    names = {(file.name if os.path.basename(file.name) in meant else file.real): file for _, file in order}
    return sorted(names.values()), problems


def _walk(top: File, root: str, problems: list[tuple[str, str]]) -> Iterator[tuple[File, os.DirEntry[str]]]:
    """Yield what is in a folder and in the folders below, each folder once; linked ones after all others."""
    folders, links = [top], list[File]()
    seen: set[str] = set()
    while folders or links:
        here = folders.pop() if folders else links.pop(0)
        if here.real in seen:
            continue
        seen.add(here.real)
        with files.said_of(here.name):
            entries = sorted(os.scandir(here.name), key=lambda entry: entry.name)
        for entry in entries:
            name = entry.name if here.name == "." else os.path.join(here.name, entry.name)
            if entry.name.startswith(_OVER):
                problems.append((name, _MERGED))
            if entry.name.startswith("."):
                continue
            # Only a link is resolved: in a deep folder that takes a look at every folder above. From Python 3.13 on
            # realpath takes a link that cannot be read for a file; readlink says so.
            try:
                is_link = entry.is_symlink() and os.readlink(name)
                real = os.path.realpath(name) if is_link else os.path.join(here.real, entry.name)
            except FileNotFoundError:  # it has gone since, as the links of a process that has ended
                continue
            except OSError as failure:
                raise KrmfnError(f"{name}: {failure.strerror}") from failure
            # in a circle of links is no folder: the error is reported when it is read
            if not (os.path.isdir(name) if is_link else entry.is_dir()):
                yield File(name, real), entry
            elif not is_link:
                folders.append(File(name, real))
            elif not roots.inside(real, root):
                problems.append((name, roots.leads_out(name, root)))
            elif roots.inside(here.real, real):
                problems.append((name, f"{name}: is a link to a folder that contains it; remove the link"))
            else:
                links.append(File(name, real))


def refuse_inside(path: str, real: str, folder: str) -> None:
    """Raise KrmfnError when a temporary folder is inside of a PATH, `real`: its files would count as somebody's.

    Both are without links. Python takes the working folder when TMPDIR, /tmp, /var/tmp and /usr/tmp cannot be written.
    """
    if within(folder, real):
        raise KrmfnError(
            f"{os.path.dirname(folder)} is in {path}, where temporary files would be read as your own; set the "
            "environment variable TMPDIR to a folder elsewhere"
        )
