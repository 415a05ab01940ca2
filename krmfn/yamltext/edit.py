"""Edits of an item's text: comments, key order, quotes and layout stay wherever the structure stays.

A text is edited by the places of its nodes (see `nodewise`). What comes out is read back and compared, so an edit can
never change the meaning: where that fails, the item is written anew.
"""

from __future__ import annotations

import re

from ..errors import KrmfnError
from ..resource import same
from ..typed import Any
from . import emit, nodewise, simple
from .align import Lists
from .comments import KEEPS, trailer

__all__ = ["closed", "dashed", "undashed", "updated"]


def updated(text: bytes, new: Any, indent: int, lists: Lists | None = None) -> bytes:
    """Return the text of an item (its dash at column `indent`; -2: a document) changed to the data `new`.

    Comment lines behind the item belong to whatever follows and stay as they are. `lists`: see `align.aligned`.
    """
    end = trailer(text, indent)
    body, rest = text[:end], text[end:]
    wanted = [new] if indent >= 0 else new
    edited = nodewise.patched(body.decode(), wanted, lists)
    if edited is None or not _means(edited, wanted):
        edited = emit.dump_item(new, indent) if indent >= 0 else emit.dump(new)
    out = edited.encode()
    return out + (rest.lstrip(b"\r\n") if re.search(KEEPS, out) else rest)  # else empty lines would become text


def closed(text: bytes, indent: int) -> bytes:
    """Return the text of an item or document with a line end that does not change its data.

    A literal `|` whose last line has no line end is a string without one; it must be written in another way.
    """
    if text[-1:] in (b"\n", b""):
        return text
    if b"|" not in text and b">" not in text:
        return text + b"\n"
    from . import load

    data = load.read(text)
    if _means(text.decode() + "\n", data):
        return text + b"\n"
    return updated(text + b"\n", data[0] if indent >= 0 else data, indent)


def _means(text: str, wanted: Any) -> bool:
    data = simple.read(text)
    if data is not None:
        return same(data, wanted)
    from . import load

    try:
        return same(load.read(text.encode()), wanted)
    except KrmfnError:
        return False


def undashed(text: bytes, indent: int) -> bytes:
    """Return an item of a list (its dash at column `indent`) as a document of its own, in column 0."""
    return re.sub(rb"(?m)^ {1,%d}" % (indent + 2), b"", text.replace(b"-", b" ", 1)) if indent >= 0 else text


def dashed(text: bytes, data: Any, old: int, indent: int) -> bytes:
    """Return an item (its dash at column `old`; -2: a document) with its dash at another column, comments included."""
    lines = undashed(text, old).decode().strip("\n").split("\n")
    pad = " " * (indent + 2)
    moved = "\n".join(pad + line if line.strip() else line for line in lines)
    moved = f"{moved[:indent]}-{moved[indent + 1 :]}\n"
    return (moved if _means(moved, [data]) else emit.dump_item(data, indent)).encode()
