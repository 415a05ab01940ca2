"""A folder as one text: before each file a line `-- NAME --`; a NAME in double quotes is JSON. `-> ` makes a link."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

_HEAD = re.compile(rb"^-- (.+) --\n", re.MULTILINE)

_LONGEST = 1_000
"""Characters of a name that are taken: a longer one is no trick, only slow."""


def parse(text: bytes) -> dict[str, bytes]:
    """Return the files by their names; what stands before the first is a comment."""
    parts = _HEAD.split(text)
    return {_name(name): content for name, content in zip(parts[1::2], parts[2::2], strict=True)}


def dump(files: dict[str, bytes]) -> bytes:
    """Return the text of some files; each but the last ends with its line."""
    ended = (content if content.endswith(b"\n") else content + b"\n" for content in files.values())
    return b"".join(b"-- %s --\n%s" % (_written(name), content) for name, content in zip(files, ended, strict=True))


def plant(folder: str, files: dict[str, bytes]) -> None:
    """Write files below a folder, which is absolute and without links; leave out what cannot be there."""
    for name, content in files.items():
        path = os.path.normpath(os.path.join(folder, name[:_LONGEST]))
        try:
            if not f"{os.path.realpath(os.path.dirname(path))}/".startswith(f"{folder}/"):
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if content.startswith(b"-> "):
                os.symlink(content[3:].strip(), path)
            else:
                Path(path).write_bytes(content)
        except (OSError, ValueError):
            continue


def _name(written: bytes) -> str:
    try:
        name = json.loads(written) if written.startswith(b'"') else os.fsdecode(written)
    except ValueError:
        name = os.fsdecode(written)
    return str(name)


def _written(name: str) -> bytes:
    plain = name.isprintable() and name.isascii() and not name.startswith('"')
    return (name if plain else json.dumps(name)).encode()
