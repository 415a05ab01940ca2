"""Files in and out: regular files only, none through a link that leads out of what may be read, none without a limit.

Whoever commits a file to a repository chooses its name, its kind and what a link points to; whoever runs the command
chooses PATH. So:

* In a folder, files are read that are regular and lie, links resolved, inside the root of what may be read: the folder
  that --root names, else the Git work tree that holds PATH, else what ARGOCD_APP_SOURCE_PATH says, else PATH itself.
  A link to a folder is followed inside the root; nothing is read twice.
* A file that is named on the command line may lie anywhere, and may be a pipe (`<(...)`, /dev/stdin), which is read up
  to the limit, or /dev/null. One that lies inside a root other than its own folder may have been committed: as a link
  it must not lead out of that root.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..errors import KrmfnError
from ..runner import max_bytes

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class File(NamedTuple):
    """A file of a folder: its name there, and its path with all links resolved."""

    name: str
    real: str


def root_of(path: str, given: str | None = None) -> str | None:
    """Return the root of what may be read around a folder, links resolved; None when it is the folder itself.

    Raises KrmfnError when `given` (--root) is not a folder.
    """
    if given:
        if not os.path.isdir(given):
            raise KrmfnError(f"--root {given} is not a folder")
        return os.path.realpath(given)
    here = os.path.realpath(path)
    while not os.path.lexists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return _argo_root(os.path.realpath(path))
        here = parent
    return here


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
    if path != root and not path.startswith(root.rstrip("/") + "/"):
        return False
    return ".git" not in path[len(root) :].split("/")


def below(folder: str, wanted: Callable[[str], bool], given: str | None = None) -> tuple[list[File], list[str]]:
    """Return the files below a folder whose last names are wanted, sorted, and a sentence for each that is refused.

    Names that begin with a dot are passed over. A file with two names is read by its own, else by the first.
    """
    here = os.path.realpath(folder)
    root = root_of(folder, given) or here
    if not inside(here, root):
        raise KrmfnError(f"{folder} is not inside {root}, the root of what may be read; --root DIR names another")
    readable: list[tuple[bool, File]] = []
    problems: list[str] = []
    for file, entry in _walk(File(folder, here), root, problems):
        if not wanted(entry.name):
            continue
        try:
            readable.append((entry.is_symlink(), File(file.name, _readable(file.name, file.real, root))))
        except KrmfnError as failure:
            problems.append(str(failure))
    # A link's target may be in the folder, too: it goes by its own name then.
    return sorted({file.real: file for _, file in sorted(readable, reverse=True)}.values()), problems


def _walk(top: File, root: str, problems: list[str]) -> Iterator[tuple[File, os.DirEntry[str]]]:
    """Yield what is in a folder and in the folders below, each folder once; linked ones after all others."""
    folders, links = [top], list[File]()
    seen: set[str] = set()
    while folders or links:
        here = folders.pop() if folders else links.pop(0)
        if here.real in seen:
            continue
        seen.add(here.real)
        try:
            entries = sorted(os.scandir(here.name), key=lambda entry: entry.name)
        except OSError as failure:
            raise KrmfnError(f"{here.name}: {failure.strerror}") from failure
        for entry in entries:
            name = entry.name if here.name == "." else os.path.join(here.name, entry.name)
            # Only a link is resolved: in a deep folder that takes a look at every folder above.
            real = os.path.realpath(name) if entry.is_symlink() else os.path.join(here.real, entry.name)
            if entry.name.startswith("."):
                continue
            if not _is_folder(entry):
                yield File(name, real), entry
            elif not entry.is_symlink():
                folders.append(File(name, real))
            elif refusal := _refused_folder(File(name, real), here.real, root):
                problems.append(refusal)
            else:
                links.append(File(name, real))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle: the error is reported when it is read
        return False


def _refused_folder(link: File, parent: str, root: str) -> str:
    if not inside(link.real, root):
        return _leads_out(link.name, root)
    if inside(parent, link.real):
        return f"{link.name}: is a link to a folder that holds it; remove the link"
    return ""


def _readable(name: str, real: str, root: str) -> str:
    """Return the resolved name of a file that may be read; raise KrmfnError for another."""
    try:
        mode = os.stat(name).st_mode
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure
    if not inside(real, root):
        raise KrmfnError(_leads_out(name, root))
    if not stat.S_ISREG(mode):
        raise KrmfnError(f"{name}: is {_kind(mode)} and no file; only files are read from a folder")
    return real


def _leads_out(name: str, root: str) -> str:
    return f"{name}: is a link that leads out of {root}, where nothing is read; --root DIR names a larger folder"


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def read_named(name: str, given: str | None = None) -> bytes:
    """Return the bytes of a file that was named on the command line: any regular file, a pipe, or /dev/null.

    Raises KrmfnError for anything else, and for a link that leads out of the root that holds it.
    """
    check_named(name, given)
    try:
        mode = os.stat(name).st_mode
        if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
            return read_regular(name, name, max_bytes()) if stat.S_ISREG(mode) else _read_pipe(name)
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure
    if os.path.realpath(name) == os.devnull:
        return b""
    raise KrmfnError(f"{name}: is {_kind(mode)} and no file")


def check_file(name: str, given: str | None = None) -> None:
    """Raise KrmfnError unless a file that stands in a folder may be read: kustomize reads it without a limit."""
    folder = os.path.realpath(os.path.dirname(name))
    real = _readable(name, os.path.realpath(name), root_of(folder, given) or folder)
    if os.stat(real).st_size > max_bytes():
        _within(None, name, max_bytes())


def check_named(name: str, given: str | None = None) -> None:
    """Raise KrmfnError for a name inside a root that is a link out of it: it may have been committed."""
    place = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
    root = root_of(os.path.dirname(place), given)
    if root and inside(place, root) and not inside(os.path.realpath(name), root):
        raise KrmfnError(_leads_out(name, root))


def read_regular(real: str, name: str, limit: int) -> bytes:
    """Return the bytes of a regular file of no more than `limit` bytes; its size is known before it is read.

    Raises KrmfnError whose message calls it `name`.
    """
    try:
        # O_NONBLOCK: what has become a pipe since it was looked at must not hold us up.
        with open(os.open(real, os.O_RDONLY | os.O_NONBLOCK), "rb") as source:
            status = os.fstat(source.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise KrmfnError(f"{name}: is {_kind(status.st_mode)} and no file")
            data = source.read() if status.st_size <= limit else None
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure
    return _within(data, name, limit)


def _read_pipe(name: str) -> bytes:
    limit = max_bytes()
    with open(name, "rb") as source:
        return _within(source.read(limit + 1), name, limit)


def _within(data: bytes | None, name: str, limit: int) -> bytes:
    if data is not None and len(data) <= limit:
        return data
    more = "" if limit == max_bytes() else ", with the files before it"
    raise KrmfnError(f"{name}: is larger than {max_bytes():,} bytes{more}; raise the limit with KRMFN_MAX_BYTES")


def write(name: str, data: bytes, given: str | None = None) -> None:
    """Write a file anew: beside it first, then in its place, so that a failed write leaves the old one.

    Raises KrmfnError when it cannot be written, is no file, or is a link out of the root that holds it.
    """
    check_named(name, given)
    real = os.path.realpath(name)
    beside = os.path.join(os.path.dirname(real), f".krmfn-{os.getpid()}")
    try:
        mode = os.stat(real).st_mode if os.path.lexists(real) else None
        if mode is not None and not stat.S_ISREG(mode):
            raise KrmfnError(f"{name}: is {_kind(mode)} and no file")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as target:
                target.write(data)
            if mode is not None:
                os.chmod(beside, stat.S_IMODE(mode))
            os.replace(beside, real)
        except BaseException:
            if os.path.lexists(beside):
                os.unlink(beside)
            raise
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure
