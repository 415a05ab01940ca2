"""Which files below a folder count although no kustomization lists them."""

from __future__ import annotations

import re
from functools import partial

from krmfn.errors import KrmfnError, TooLarge
from krmfn.itemtext import mentions
from krmfn.yamltext import documents

from .files import POINTER

_KEYS = [
    re.compile(rb"^['\"]?(?:%s)['\"]? *:" % key, re.MULTILINE) for key in (b"apiVersion", b"kind", b"metadata|items")
]


def has_resource(text: bytes) -> bool:
    """Return True when a file holds a resource, or what may have been meant as one.

    That is a document with apiVersion, or with kind and metadata or items, at its top; and a file that mentions these
    and cannot be read, or that Git LFS keeps. All else (values, CI files, mkdocs.yml) is nobody's business here.
    """
    if b"\0" in text or text.startswith(POINTER):
        return True
    text = text.removeprefix(b"\xef\xbb\xbf")
    version, kind, rest = (key.search(text) for key in _KEYS)
    if version or (kind and rest):
        return True
    holds = partial(mentions, text, 0, len(text))
    is_half = holds(b"kind") and (holds(b"metadata") or holds(b"items"))
    if not is_half and not holds(b"apiVersion"):
        return False
    try:
        parts = [one.text for one in documents.documents(text)]
        if documents.misread(text):
            # kubectl and Argo CD take off white space of any kind before a brace
            parts += [*re.split(rb"(?m)^---.*$", text), text.decode(errors="replace").lstrip().encode()]
        tops = [_top(part) for part in parts]
    except KrmfnError:
        return True
    return any("apiVersion" in top or "<<" in top or ("kind" in top and top & {"metadata", "items"}) for top in tops)


def _top(text: bytes) -> set[str]:
    """Return the keys at the top of a document; those of one that is too large to be read are taken as written."""
    from krmfn.yamltext import load, split_exact  # late: they take PyYAML

    try:
        data = load.read(text)
    except TooLarge:
        is_list = text.lstrip().startswith((b"[", b"- "))
        return set() if is_list else {section.key for section in split_exact.exact(text).sections}
    return set(data) if isinstance(data, dict) else set()
