"""The folder of a run's results: new, empty, or written by an earlier run, and reached by no link."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from krmfn.errors import KrmfnError

from . import files

RESULT = "result.json"
"""The file that says who has written the folder."""


def clear(name: str, names: Collection[str], format_: str) -> None:
    """Remove what an earlier run has written into a folder, so that none of it is taken for this one's.

    `names` are the files of a run, and `format_` stands in RESULT. Raises KrmfnError for a folder that holds anything
    else, and for one that is reached by a link: who commits a link would choose what is overwritten.
    """
    folder = Path.cwd() / name
    for path in (folder, *folder.parents):
        if path.is_symlink():
            raise KrmfnError(f"--out {name}: {path} is a link; pass {folder.resolve()} if that is meant")
    try:
        there = sorted(folder.iterdir(), key=lambda path: (path.name == RESULT, path.name)) if folder.exists() else []
        is_ours = bool(there) and _is_ours(there[-1], format_)
        for path in there:
            if not is_ours or path.name not in names or path.is_symlink() or not path.is_file():
                raise KrmfnError(
                    f"--out {name} holds {path.name}, which `krmfn ci` has not written; pass a new or an empty folder"
                )
        for path in there:  # RESULT last: it says whose the others are
            path.unlink()
    except OSError as failure:
        raise KrmfnError(f"--out {name}: {failure.strerror}") from failure


def _is_ours(path: Path, format_: str) -> bool:
    """Return True for a RESULT that a run has written."""
    try:
        document = json.loads(files.read_named(str(path))) if path.name == RESULT else None
    except (KrmfnError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and document.get("format") == format_
