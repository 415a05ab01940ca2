"""The files of a folder that a program has gathered from a cluster, such as a must-gather."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from krmfn.errors import KrmfnError
from krmfn.streams import max_bytes
from krmfn.typed import NoReturn

_SUFFIXES = (".yaml", ".yml", ".json")


def files_of(folder: str, is_read: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return the regular files below a folder that `is_read` accepts by their paths there, sorted; no link is followed.

    Raises KrmfnError for a folder that cannot be read, and for files that are too large together.
    """
    paths: list[Path] = []
    for top, folders, names in os.walk(folder, onerror=_refuse):
        folders.sort()
        entries = (Path(top, name) for name in sorted(names) if name.endswith(_SUFFIXES))
        paths += (entry for entry in entries if is_read(entry.relative_to(folder).parts))
    paths = [path for path in paths if path.is_file() and not path.is_symlink()]
    if sum(path.stat().st_size for path in paths) > max_bytes():
        size = f"its files have more than {max_bytes():,} bytes together"
        raise KrmfnError(f"{size}; raise the limit with KRMFN_MAX_BYTES")
    return [str(path) for path in paths]


def _refuse(failure: OSError) -> NoReturn:
    """Raise KrmfnError for a folder that cannot be read: what is in it would seem to be missing."""
    raise KrmfnError(failure.strerror, file=failure.filename) from failure
