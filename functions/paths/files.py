"""Read and write files: regular files only, up to a size limit, and through no link that leads out of the root.

A file that is named on the command line may be anywhere, and may be a pipe (`<(...)`, /dev/stdin), which is read up to
the limit, or /dev/null. One inside a root that is more than its own folder may have been committed: if it is a link, it
must not lead out of that root.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader

from krmfn.errors import KrmfnError
from krmfn.streams import max_bytes

from . import deadline, roots

POINTER = b"version https://git-lfs.github.com/spec/"
"""The beginning of a file that Git LFS keeps elsewhere, and has not fetched."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


_REPLACED: dict[str, bytes] = {}
"""Texts that are read in the place of those of files, by the files' paths without links (see `in_place_of`)."""


_PIPED: list[dict[tuple[int, int], bytes]] = []
"""What came out of the pipes of a run, by their device and number; nothing outside of `pipes_kept`."""


@contextmanager
def pipes_kept() -> Iterator[None]:
    """Let what comes out of a pipe be read as often as a file during the block: otherwise it is empty the second time.

    A run reads its input again where a document turns out to be no data, or no YAML.
    """
    _PIPED.append({})
    try:
        yield
    finally:
        _PIPED.pop()


@contextmanager
def in_place_of(texts: Mapping[str, bytes]) -> Iterator[None]:
    """Let all that reads files during the block, in any thread, read these texts for them, by paths without links.

    So is judged what a file would hold, and nothing is written.
    """
    former = dict(_REPLACED)
    _REPLACED.update(texts)
    try:
        yield
    finally:
        _REPLACED.clear()
        _REPLACED.update(former)


def read_named(name: str, root: str | None = None) -> bytes:
    """Return the bytes of a file that was named on the command line: any regular file, a pipe, or /dev/null.

    `root` is the argument of --root. Raises KrmfnError for anything else, for a link that leads out of its root, and
    for a pipe without anything, as a program that failed leaves it.
    """
    check_named(name, root)
    if os.path.realpath(name) == os.devnull:
        return b""
    status = _status(name)
    if stat.S_ISREG(status.st_mode):
        return read_regular(name, name)
    pipe, kept = (status.st_dev, status.st_ino), _PIPED[-1] if _PIPED else {}
    if pipe not in kept:
        with open_named(name, root) as source:
            data = bounded(source.read(max_bytes() + 1), name, max_bytes())
        if not data or data.isspace():
            raise KrmfnError("is an empty pipe; look at what the program that writes to it says", file=name)
        kept[pipe] = data
    return kept[pipe]


def path_below(folder: str, name: str) -> str:
    """Return the path, links followed, of a regular file relative to a folder; "" when it is not below, or no file."""
    real, top = os.path.realpath(name), os.path.realpath(folder)
    return os.path.relpath(real, top) if roots.within(real, top) and os.path.isfile(real) else ""


def open_named(name: str, root: str | None = None) -> BufferedReader:
    """Return a file that was named on the command line, opened to be read piece by piece; stdin for `-`.

    Raises KrmfnError as `read_named` does.
    """
    if name == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise KrmfnError(f"stdin is {'closed' if sys.stdin is None else 'a terminal'}; pass a file, or pipe one in")
        return open(0, "rb", closefd=False)
    check_named(name, root)
    mode = _status(name).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
        raise KrmfnError(f"is {_kind(mode)}, not a file", file=name)
    with errors_of(name):
        return open(name, "rb")


def read_text(path: str, root: str | None = None) -> str:
    """Return the text of a file. Raises KrmfnError when it cannot be read."""
    try:
        return read_named(path, root).decode()
    except ValueError as failure:
        raise KrmfnError("not UTF-8", file=path) from failure


def check_named(name: str, root: str | None = None) -> None:
    """Raise KrmfnError for a link inside a root that leads out of it: it may have been committed."""
    real = os.path.realpath(name)
    location = os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))
    places = [(location, roots.root_of(os.path.dirname(location), root))]
    places += [(os.path.abspath(name), top) for top in roots.above(os.path.abspath(name), root)]
    for path, top in places:
        if top and roots.inside(path, top) and not roots.inside(real, os.path.realpath(top)):
            raise KrmfnError(roots.leads_out(top), file=name)


def readable(name: str, real: str, root: str) -> str:
    """Return the resolved path `real` of a file that may be read. Raises KrmfnError for another one."""
    mode = _status(name).st_mode
    if not roots.inside(real, root):
        raise KrmfnError(roots.leads_out(root), file=name)
    if not stat.S_ISREG(mode):
        raise KrmfnError(f"is {_kind(mode)}, not a file; only files are read from a folder", file=name)
    return real


@contextmanager
def errors_of(name: object) -> Iterator[None]:
    """Raise KrmfnError with the name of a file or folder for an OSError in the block."""
    try:
        yield
    except OSError as failure:
        raise KrmfnError(failure.strerror, file=str(name)) from failure


def _status(name: str) -> os.stat_result:
    try:
        return os.stat(name)
    except OSError as failure:
        raise KrmfnError(failure.strerror, file=str(name)) from failure


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def read_regular(real: str, name: str, limit: int | None = None) -> bytes:
    """Return the bytes of a regular file of no more than `limit` bytes, KRMFN_MAX_BYTES without one.

    Its size is known before it is read. Raises KrmfnError whose message calls it `name`.
    """
    limit = max_bytes() if limit is None else limit
    if _REPLACED and (replaced := _REPLACED.get(os.path.realpath(real))) is not None:
        return bounded(replaced, name, limit)
    try:
        # O_NONBLOCK: krmfn must not wait for a file that has become a pipe since it was checked.
        source = os.open(real, os.O_RDONLY | os.O_NONBLOCK)
        try:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode):
                raise KrmfnError(f"is {_kind(status.st_mode)}, not a file", file=name)
            data = None
            if status.st_size <= limit:
                data = os.read(source, status.st_size + 1)  # for a small file Python's readers take as long again
                while len(data) != status.st_size and (chunk := os.read(source, status.st_size + 1)):
                    data += chunk
        finally:
            os.close(source)
    except OSError as failure:
        raise KrmfnError(failure.strerror, file=str(name)) from failure
    return bounded(data, name, limit)


def bounded(data: bytes | None, name: str, limit: int) -> bytes:
    """Return the bytes of the file `name`. Raises KrmfnError for more than `limit`, and for None: too many to read."""
    if data is not None and len(data) <= limit:
        return data
    hint = "" if limit == max_bytes() else ", together with the files before it"
    raise KrmfnError(f"is larger than {max_bytes():,} bytes{hint}; raise the limit with KRMFN_MAX_BYTES", file=name)


def write(name: str, data: bytes, root: str | None = None) -> None:
    """Write a file: first a temporary one beside it, which then replaces it, so that a failure leaves the old one.

    Raises KrmfnError when it cannot be written, is not a regular file, or is a link out of the root that holds it.
    """
    check_named(name, root)
    deadline.finish()
    real = os.path.realpath(name)
    temporary = os.path.join(os.path.dirname(real), f".krmfn-{os.getpid()}")
    with errors_of(name):
        mode = os.stat(real).st_mode if os.path.lexists(real) else None
        if mode is not None and not stat.S_ISREG(mode):
            raise KrmfnError(f"is {_kind(mode)}, not a file", file=name)
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as target:
                target.write(data)
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            os.replace(temporary, real)
        except BaseException:
            if os.path.lexists(temporary):
                os.unlink(temporary)
            raise


def write_text(path: str, text: str, root: str | None = None) -> None:
    """Write a text file. Raises KrmfnError when that fails; the old file stays then."""
    write(path, text.encode(), root)
