"""Write several files, or none: each beside its place first, then all renamed; a failure puts the first ones back."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from krmfn.errors import KrmfnError

from . import deadline, files


def replace(texts: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Replace the content of files, by their paths without links, each given as (what is there, what is to be there).

    Raises KrmfnError, with every file as it was, when one holds something else by now or cannot be written.
    """
    deadline.finish()
    new, old = list[tuple[str, str]](), list[tuple[str, str]]()
    try:
        for number, (path, (before, after)) in enumerate(sorted(texts.items())):
            if files.read_regular(path, path) != before:
                raise KrmfnError(f"{path} was changed while krmfn was at work; nothing is written")
            folder, name = os.path.dirname(path), f".krmfn-{os.getpid()}-{number}"
            old.append((os.path.join(folder, f"{name}.old"), path))
            _write(old[-1][0], before, path)
            new.append((os.path.join(folder, name), path))
            _write(new[-1][0], after, path)
        done = list[tuple[str, str]]()
        try:
            for (temporary, path), former in zip(new, old, strict=True):
                with files.errors_of(path):
                    os.replace(temporary, path)
                done.append(former)
        except BaseException:
            for temporary, path in done:
                os.replace(temporary, path)
            raise
    finally:
        for temporary, _ in (*new, *old):
            with suppress(OSError):
                os.unlink(temporary)


def _write(temporary: str, data: bytes, path: str) -> None:
    """Write a temporary file with the mode of the file that it may replace."""
    with files.errors_of(path):
        mode = stat.S_IMODE(os.stat(path).st_mode)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            target.write(data)
        os.chmod(temporary, mode)
