"""Files in and out: regular files only, none through a link that leads out of what may be read, none without a limit.

A file that is named on the command line may lie anywhere, and may be a pipe (`<(...)`, /dev/stdin), which is read up to
the limit, or /dev/null. One that lies inside a root other than its own folder may have been committed: as a link it
must not lead out of that root.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader

from krmfn.errors import KrmfnError
from krmfn.streams import max_bytes

from . import roots

POINTER = b"version https://git-lfs.github.com/spec/"
"""What begins a file that Git LFS keeps elsewhere, and has not fetched."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_named(name: str, given: str | None = None) -> bytes:
    """Return the bytes of a file that was named on the command line: any regular file, a pipe, or /dev/null.

    Raises KrmfnError for anything else, and for a link that leads out of the root that holds it.
    """
    check_named(name, given)
    if os.path.realpath(name) == os.devnull:
        return b""
    if stat.S_ISREG(_mode(name)):
        return read_regular(name, name)
    with open_named(name, given) as source:
        return bounded(source.read(max_bytes() + 1), name, max_bytes())


def below(folder: str, name: str) -> str:
    """Return the path from a folder to a regular file in it, links followed; "" where it is elsewhere, or no file."""
    real, top = os.path.realpath(name), os.path.realpath(folder)
    return os.path.relpath(real, top) if roots.within(real, top) and os.path.isfile(real) else ""


def open_named(name: str, given: str | None = None) -> BufferedReader:
    """Return a file that was named on the command line, opened to be read piece by piece; stdin for `-`.

    Raises KrmfnError as `read_named` does.
    """
    if name == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise KrmfnError(f"stdin is {'closed' if sys.stdin is None else 'a terminal'}; pass a file, or pipe one in")
        return open(0, "rb", closefd=False)
    check_named(name, given)
    if not stat.S_ISREG(mode := _mode(name)) and not stat.S_ISFIFO(mode):
        raise KrmfnError(f"{name}: is {_kind(mode)}, not a file")
    with said_of(name):
        return open(name, "rb")


def read_text(path: str, root: str | None = None) -> str:
    """Return the text of a file. Raises KrmfnError when it cannot be read."""
    try:
        return read_named(path, root).decode()
    except ValueError as failure:
        raise KrmfnError(f"{path}: not UTF-8") from failure


def check_named(name: str, given: str | None = None) -> None:
    """Raise KrmfnError for a name inside a root that leads out of it by a link: it may have been committed."""
    real = os.path.realpath(name)
    place = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
    written = os.path.abspath(name)
    by_words = ((written, root) for root in roots.above(written, given))
    for path, root in ((place, roots.root_of(os.path.dirname(place), given)), *by_words):
        if root and roots.inside(path, root) and not roots.inside(real, os.path.realpath(root)):
            raise KrmfnError(roots.leads_out(name, root))


def readable(name: str, real: str, root: str) -> str:
    """Return the resolved name of a file that may be read; raise KrmfnError for another."""
    mode = _mode(name)
    if not roots.inside(real, root):
        raise KrmfnError(roots.leads_out(name, root))
    if not stat.S_ISREG(mode):
        raise KrmfnError(f"{name}: is {_kind(mode)}, not a file; only files are read from a folder")
    return real


@contextmanager
def said_of(name: object) -> Iterator[None]:
    """Raise KrmfnError that names a file or folder in place of the system's error."""
    try:
        yield
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure


def _mode(name: str) -> int:
    try:
        return os.stat(name).st_mode
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def read_regular(real: str, name: str, limit: int | None = None) -> bytes:
    """Return the bytes of a regular file of no more than `limit` bytes, KRMFN_MAX_BYTES without one.

    Its size is known before it is read. Raises KrmfnError whose message calls it `name`.
    """
    limit = max_bytes() if limit is None else limit
    try:
        # O_NONBLOCK: what has become a pipe since it was looked at must not hold us up.
        source = os.open(real, os.O_RDONLY | os.O_NONBLOCK)
        try:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode):
                raise KrmfnError(f"{name}: is {_kind(status.st_mode)}, not a file")
            data = None
            if status.st_size <= limit:
                data = os.read(source, status.st_size + 1)  # for a small file Python's readers take as long again
                while more := os.read(source, status.st_size + 1):
                    data += more
        finally:
            os.close(source)
    except OSError as failure:
        raise KrmfnError(f"{name}: {failure.strerror}") from failure
    return bounded(data, name, limit)


def bounded(data: bytes | None, name: str, limit: int) -> bytes:
    """Return the bytes of the file `name`. Raises KrmfnError for more than `limit`, and for None, which is too many."""
    if data is not None and len(data) <= limit:
        return data
    more = "" if limit == max_bytes() else ", together with the files before it"
    raise KrmfnError(f"{name}: is larger than {max_bytes():,} bytes{more}; raise the limit with KRMFN_MAX_BYTES")


def write(name: str, data: bytes, given: str | None = None) -> None:
    """Write a file anew: beside it first, then in its place, so that a failed write leaves the old one.

    Raises KrmfnError when it cannot be written, is no file, or is a link out of the root that holds it.
    """
    check_named(name, given)
    real = os.path.realpath(name)
    beside = os.path.join(os.path.dirname(real), f".krmfn-{os.getpid()}")
    with said_of(name):
        mode = os.stat(real).st_mode if os.path.lexists(real) else None
        if mode is not None and not stat.S_ISREG(mode):
            raise KrmfnError(f"{name}: is {_kind(mode)}, not a file")
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


def write_text(path: str, text: str, root: str | None = None) -> None:
    """Write a text file anew. Raises KrmfnError when that fails; the old one stays then."""
    write(path, text.encode(), root)
