"""Archives whose bytes follow from the names and contents of their files."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class File(NamedTuple):
    """A file of an archive."""

    content: bytes
    executable: bool = False


def write(path: Path, files: Mapping[str, File], epoch: int) -> None:
    """Write a .tar.gz: sorted, of one time, of root, with modes 644 and 755."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, file in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = len(file.content), epoch, 0o755 if file.executable else 0o644
            archive.addfile(member, io.BytesIO(file.content))
    path.write_bytes(gzip.compress(plain.getvalue(), mtime=epoch))


def read(path: Path) -> dict[str, File]:
    """Return the files of a .tar.gz by name."""
    with tarfile.open(path) as archive:
        members = [member for member in archive if member.isfile()]
        return {file.name: File(_content(archive, file), bool(file.mode & 0o100)) for file in members}


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    assert file is not None
    return file.read()
