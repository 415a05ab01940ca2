"""Digests of files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write(folder: Path, name: str, paths: Iterable[Path]) -> None:
    """Write the digests of files below a folder into a file there, in the form of sha256sum."""
    lines = sorted((path.relative_to(folder).as_posix(), digest(path)) for path in paths)
    (folder / name).write_text("".join(f"{value}  {path}\n" for path, value in lines), encoding="utf-8")
