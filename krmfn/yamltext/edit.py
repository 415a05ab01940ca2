"""Edits of an item's text: comments, key order, quotes and layout stay wherever the structure stays.

Scalars and added keys are patched into the text; for the rest ruamel.yaml does a round trip (imported only then, it
costs time). What comes out is read back and compared, so an edit can never change the meaning: where the round trip
fails too, the item is written anew.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from ..errors import KrmfnError
from ..resource import same
from . import emit, patch, simple
from .comments import KEEPS, trailer

_WIDE_LISTS = rb"\n( *)[^\s#-][^\n]*: *\n\1 +- "


def updated(text: bytes, new: Any, indent: int) -> bytes:
    """Return the text of an item (its dash at column `indent`; -2: a document) changed to the data `new`.

    Comment lines behind the item belong to whatever follows and stay as they are.
    """
    end = trailer(text, indent)
    body, rest = text[:end], text[end:]
    wanted = [new] if indent >= 0 else new
    edited = patch.patched(body.decode(), wanted)
    if edited is None or not _means(edited, wanted):
        edited = _round_trip(body, new, indent)
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
    return text + b"\n" if _means(text.decode() + "\n", data) else updated(text, _bare(data, indent), indent)


def _bare(data: Any, indent: int) -> Any:
    """Return the item of a list of one; a document as it is."""
    return data[0] if indent >= 0 else data


def _means(text: str, wanted: Any) -> bool:
    data = simple.read(text)
    if data is not None:
        return same(data, wanted)
    from . import load

    try:
        return same(load.read(text.encode()), wanted)
    except KrmfnError:
        return False


def _round_trip(body: bytes, new: Any, indent: int) -> str | None:
    """Return the item changed to the data `new` by ruamel.yaml; None when ruamel.yaml fails."""
    column = indent + 2
    edited = _document(undashed(body, indent), new)  # the dash comes back below
    if edited is None:
        return None
    lines = "".join(f"{' ' * column}{line}\n" if line.strip() else f"{line}\n" for line in edited.split("\n")[:-1])
    return f"{' ' * indent}-{lines[indent + 1 :]}" if indent >= 0 else lines


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


def _document(body: bytes, new: Any) -> str | None:
    """Return the document `body` changed to the data `new`, in column 0; None when ruamel.yaml fails."""
    from ruamel.yaml import YAML

    from . import load

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 20  # never fold
    wide = re.search(_WIDE_LISTS, body)
    yaml.indent(mapping=2, sequence=4 if wide else 2, offset=2 if wide else 0)
    try:
        old = load.read(body)
        out = io.StringIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the YAML versions read differently: the result is compared
            yaml.dump(_merged(yaml.load(body), old, new), out)
    except Exception:  # whatever it stumbles over, it is not needed
        return None
    return out.getvalue().lstrip("\n")


def _merged(tree: Any, old: Any, new: Any) -> Any:
    """Return ruamel.yaml's `tree` of the data `old`, changed to the data `new`, in place as far as possible."""
    if same(old, new):
        return tree
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [key for key in tree if key not in new]:
            del tree[key]
        for key, value in new.items():
            tree[key] = _merged(tree[key], old[key], value) if key in tree and key in old else _fresh(value)
        return tree
    if isinstance(old, list) and isinstance(new, list) and old and new:
        for index, value in enumerate(new):
            if index < len(old):
                tree[index] = _merged(tree[index], old[index], value)
            else:
                tree.append(_fresh(value))
        del tree[len(new) :]
        return tree
    return _fresh(new)


def _fresh(value: Any) -> Any:
    """Return `value` for ruamel.yaml, its strings in the quotes that `emit` would choose."""
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString, SingleQuotedScalarString

    if isinstance(value, dict):
        return CommentedMap((key, _fresh(child)) for key, child in value.items())
    if isinstance(value, list):
        return CommentedSeq(_fresh(child) for child in value)
    if not isinstance(value, str):
        return value
    style = emit.style(value)
    if style == "|":
        return LiteralScalarString(value)
    return {'"': DoubleQuotedScalarString, "'": SingleQuotedScalarString}.get(style, str)(value)
