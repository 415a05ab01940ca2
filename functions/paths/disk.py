"""Paths as kustomize resolves them, and the files behind them, within the root of what may be read.

Below a folder only regular files are read that are, with links resolved, inside the root. A link to a folder is
followed if it stays inside the root; no file is read twice.
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

_OVERRIDE = ".argocd-source"
_UNCHECKED = (
    "Argo CD merges this file over the source of an Application, including the plugin's parameters, and krmfn does not "
    "check it; move its content into the Application and remove the file, or leave it out with --exclude"
)


class Target(NamedTuple):
    """What is at a path: its name for people, its path without links, and its type.

    `problem` is a sentence when it is neither a file nor a folder, or may not be read.
    """

    name: str
    real: str
    is_folder: bool = False
    problem: str = ""
    is_outside: bool = False


class Disk:
    """The files below a root; with the root None there is no bound, as for kustomize outside a Git work tree.

    Only regular files are opened, and in all no more is read than KRMFN_MAX_BYTES allows.
    """

    def __init__(self, root: str | None, absolute: bool = False) -> None:
        """Read only below `root`; names are `absolute`, or relative to the working folder."""
        self.root = root
        self._name = partial(relative, folder="" if absolute else os.getcwd())
        self.links: dict[str, str] = {}
        """The links that were followed: the place of each, in a folder without links, and where it leads."""
        self._rest = max_bytes()
        self._real: Callable[[str], str] = lru_cache(maxsize=None)(os.path.realpath)

    def target(self, folder: str, text: str) -> Target:
        """Return what the path `text` leads to from `folder`: like kustomize, resolve `..` before any link."""
        path = os.path.normpath(os.path.join(folder, text))
        name = self._name(path)
        try:
            real = resolved(path, self._real)
            if self.root is not None and not roots.inside(real, self.root):
                return Target(name, real, is_outside=True)
            status = os.stat(real)
        except (OSError, ValueError) as failure:  # ValueError: a NUL, half a surrogate pair
            return Target(name, "", problem=getattr(failure, "strerror", "") or "this is not a valid path")
        if real != path:
            self.links.update(links_on(path, os.path.realpath))
        if stat.S_ISDIR(status.st_mode):
            return Target(name, real, is_folder=True)
        if not stat.S_ISREG(status.st_mode):
            return Target(name, real, problem="neither a file nor a folder")
        self._rest -= status.st_size
        message = f"too large: together with the files before it more than {max_bytes():,} bytes"
        return Target(name, real, problem=message if self._rest < 0 else "")

    def has_entry(self, folder: str, text: str) -> bool:
        """Return True when there is anything of this name, even a broken link."""
        return os.path.lexists(os.path.normpath(os.path.join(folder, text)))

    def exists(self, folder: str, name: str) -> bool:
        """Return True when a folder has an entry of this name that is not a folder: a file, a pipe, a broken link."""
        path = os.path.join(folder, name)
        return os.path.lexists(path) and not os.path.isdir(path)


def resolved(path: str, real: Callable[[str], str]) -> str:
    """Return an absolute path without links; `real` resolves its folder, and may remember folders."""
    place = os.path.join(real(os.path.dirname(path)), os.path.basename(path))
    return os.path.realpath(place) if os.path.islink(place) else place


def links_on(path: str, followed: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield the links along a path, each with its target, which `followed` returns (for no link: its argument)."""
    folder = "/"
    for part in path.split("/")[1:]:
        place = os.path.join(folder, part)
        folder = followed(place)
        if folder != place:
            yield place, folder


def relative(path: str, folder: str) -> str:
    """Return a path, which has no links, relative to a folder; unchanged for the folder ""."""
    if folder and path.startswith(f"{folder}/"):
        return path[len(folder) + 1 :]
    return os.path.relpath(path, folder) if folder else path


class Text:
    """The content of a small file that was read already, so that it is read only once; it goes with who takes it."""

    def __init__(self, content: bytes) -> None:
        """Keep the content."""
        self.content: bytes | None = content

    def take(self) -> bytes | None:
        """Return the content, which is not kept here any longer; None for who comes second, and reads the file."""
        content, self.content = self.content, None
        return content


class File(NamedTuple):
    """A file of a folder: its name there, and its path with all links resolved."""

    name: str
    real: str
    text: Text | None = None


def files_below(
    top: File, is_read: Callable[[str], bool], root: str | None, names: Collection[str] = ()
) -> tuple[list[File], list[tuple[str, KrmfnError]]]:
    """Return the files below a folder whose last names `is_read` accepts, sorted, and (name, error) of refused ones.

    `root` is that of the folder (see `roots.root_of`). Names that begin with a dot are skipped. A file with several
    names is returned once, by the name that is no link, else by the first one; but a file of one of these `names` is
    always returned by it, even as a link. Raises KrmfnError when the folder cannot be read, or is outside of `root`.
    """
    root = root or top.real
    if not roots.inside(top.real, root):
        problem = f"is outside of {root}, and nothing outside of it is read; pass another folder with --root DIR"
        raise KrmfnError(problem, file=top.name)
    readable: list[tuple[bool, File]] = []
    problems: list[tuple[str, KrmfnError]] = []
    for file, entry in _walk(top, root, problems):
        if not is_read(entry.name):
            continue
        if entry.is_file(follow_symlinks=False):  # beside others in a folder inside of the root: nothing is to be asked
            readable.append((False, file))
            continue
        try:
            readable.append((entry.is_symlink(), File(file.name, files.readable(file.name, file.real, root))))
        except KrmfnError as failure:
            problems.append((file.name, failure))
    order = sorted(readable, reverse=True)
    # A link's target may be in the folder, too: then the target's own name counts.
    by_path = {(file.name if os.path.basename(file.name) in names else file.real): file for _, file in order}
    return sorted(by_path.values()), problems


def _walk(top: File, root: str, problems: list[tuple[str, KrmfnError]]) -> Iterator[tuple[File, os.DirEntry[str]]]:
    """Yield the files in a folder and below, each folder once, linked folders after all others; note `problems`."""
    folders, links = [top], list[File]()
    seen: set[str] = set()
    while folders or links:
        folder = folders.pop() if folders else links.pop(0)
        if folder.real in seen:
            continue
        seen.add(folder.real)
        with files.errors_of(folder.name):
            entries = sorted(os.scandir(folder.name), key=lambda entry: entry.name)
        before = "" if folder.name == "." else os.path.join(folder.name, "")
        before_real = os.path.join(folder.real, "")  # joined once: there may be thousands of files
        for entry in entries:
            name = before + entry.name
            if entry.name.startswith(_OVERRIDE):
                problems.append((name, KrmfnError(_UNCHECKED)))
            if entry.name.startswith("."):
                continue
            # Only links are resolved: realpath looks at every folder above. From Python 3.13 on it takes a link that
            # cannot be read for a file; readlink raises an error.
            try:
                is_link = entry.is_symlink() and os.readlink(name)
                real = os.path.realpath(name) if is_link else before_real + entry.name
            except FileNotFoundError:  # removed meanwhile, such as a link of a process that has ended
                continue
            except OSError as failure:
                raise KrmfnError(failure.strerror, file=name) from failure
            # a circle of links counts as a file: the error is reported when it is read
            if not (os.path.isdir(name) if is_link else entry.is_dir()):
                yield File(name, real), entry
            elif not is_link:
                folders.append(File(name, real))
            elif not roots.inside(real, root):
                problems.append((name, KrmfnError(roots.leads_out(root), file=name)))
            elif roots.inside(folder.real, real):
                problem = "is a link to a folder that contains it; remove the link"
                problems.append((name, KrmfnError(problem, file=name)))
            else:
                links.append(File(name, real))


def refuse_inside(path: str, real: str, folder: str) -> None:
    """Raise KrmfnError when a temporary folder is inside of a PATH, `real`: its files would count as the user's.

    Both are without links. Python uses the working folder when TMPDIR, /tmp, /var/tmp and /usr/tmp cannot be written.
    """
    if within(folder, real):
        raise KrmfnError(
            f"{os.path.dirname(folder)} is in {path}, where temporary files would be read as your own; set the "
            "environment variable TMPDIR to a folder elsewhere"
        )
