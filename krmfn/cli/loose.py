"""Which files below a folder count although no kustomization lists them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from ..errors import KrmfnError
from ..yamltext import documents, load
from ..yamltext.escapes import may_hold
from .files import POINTER

_KEYS = [re.compile(rb"^['\"]?%s['\"]? *:" % key, re.MULTILINE) for key in (b"apiVersion", b"kind", b"metadata")]


def is_excluded(path: str, patterns: Iterable[str]) -> bool:
    """Return True when a path from the repository's root, or a folder that holds it, fits one of the shell patterns.

    A pattern without a slash is held against each name on the way, one with a slash against the way itself.
    """
    parts = path.split("/")
    for pattern in patterns:
        wanted = pattern.rstrip("/").removeprefix("./")
        ways = ("/".join(parts[: at + 1]) for at in range(len(parts))) if "/" in wanted else parts
        if any(fnmatchcase(way, wanted.removeprefix("/")) for way in ways):
            return True
    return False


def has_resource(text: bytes) -> bool:
    """Return True when a file holds a resource, or what may have been meant as one.

    That is a document with apiVersion, or with kind and metadata, at its top; and a file that mentions these and cannot
    be read, or that Git LFS keeps. Everything else (values, CI files, mkdocs.yml) is nobody's business here.
    """
    if b"\0" in text or text.startswith(POINTER):
        return True
    text = text.removeprefix(b"\xef\xbb\xbf")
    version, kind, metadata = (key.search(text) for key in _KEYS)
    if version or (kind and metadata):
        return True
    if not may_hold(text, b"apiVersion") and not (may_hold(text, b"kind") and may_hold(text, b"metadata")):
        return False
    try:
        read = [load.read(one.text) for one in documents.documents(text)]
    except KrmfnError:
        return True
    tops = [set(data) for data in read if isinstance(data, dict)]
    return any("apiVersion" in top or {"kind", "metadata"} <= top for top in tops)
