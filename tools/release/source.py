"""The commit that is released."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path
from typing import NamedTuple

from .process import Refusal, output

_VERSION = re.compile(r'^version = "(.+)"$', re.MULTILINE)


class Source(NamedTuple):
    """A commit of a clean checkout."""

    folder: Path
    commit: str
    epoch: int
    """When it was committed, in seconds since 1970."""
    version: str


def read(folder: Path) -> Source:
    """Return the commit of a checkout. Raises Refusal for one that is not clean, or whose tag is not the version."""
    changes = output("git", "status", "--porcelain", "--untracked-files=all", cwd=folder).decode()
    if changes:
        raise Refusal(f"the checkout is not clean; commit or remove:\n{changes.rstrip()}")
    commit, epoch = output("git", "log", "-1", "--format=%H %ct", cwd=folder).decode().split()
    versions = _VERSION.findall((folder / "pyproject.toml").read_text(encoding="utf-8"))
    if len(versions) != 1:
        raise Refusal(f"pyproject.toml must have one version, not {versions}")
    tags = output("git", "tag", "--points-at", "HEAD", "v*", cwd=folder).decode().split()
    if others := [tag for tag in tags if tag != f"v{versions[0]}"]:
        raise Refusal(f"the tag of this commit is {', '.join(others)}, and pyproject.toml says {versions[0]}")
    return Source(folder, commit, int(epoch), versions[0])


def export(source: Source, folder: Path) -> None:
    """Write the files of the commit into a folder: with modes and times of their own, whatever the checkout has."""
    plain = ("-c", "tar.umask=0022", "-c", "core.autocrlf=false", "-c", "core.attributesFile=")
    archive = output("git", *plain, "archive", "--format=tar", source.commit, cwd=source.folder)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        if hasattr(tarfile, "data_filter"):  # Debian 12 has Python 3.11.2, which takes no filter
            files.extraction_filter = tarfile.data_filter
        files.extractall(folder)  # Git's own archive: no name leads out of it
