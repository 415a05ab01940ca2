"""Edits of an item's text: comments, key order, quotes and layout stay wherever the structure stays.

A text is edited by the places of its nodes (see `nodewise`). What comes out is read back and compared, so an edit can
never change the meaning: where that fails, the item is written anew.
"""

import re
from collections.abc import Iterator
from itertools import dropwhile

from ..errors import KrmfnError
from ..typed import Any
from . import emit, inplace, lineends, losses, nodewise, readback, simple
from .align import Lists
from .changes import Change

__all__ = ["KEEPS", "dashed", "parse", "trailer", "undashed", "updated", "with_line_end", "written", "written_in"]

KEEPS = rb"[|>][0-9]?\+"
"""The header of a block scalar that keeps the line breaks behind it; a few other texts match, too."""
_OTHER_BREAK = rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]"
"""Breaks that end a comment in YAML 1.1, beside a newline: other text may follow on its line."""

_BRACKETS = rb'(?s)[-\s]*\{(?:"(?:[^"\\]|\\.)*"|[^"#])*\Z'
"""A text in brackets without a comment: only layout is lost when it is written anew."""
_LOSES = "cannot be written: comments or spellings would be lost; change it by hand, or remove the item and append it"
"""Why an item is refused that must be written anew, where nothing says which comment."""


def updated(text: bytes, new: Any, indent: int, lists: Lists | None = None, may_rewrite: bool = True) -> bytes:
    """Return the text of an item (its dash at column `indent`; -2: a document) changed to the data `new`.

    Comment lines behind the item belong to whatever follows and stay as they are. `lists`: see `align.match_entries`.
    Raises KrmfnError when the item must be written anew and would lose comments, anchors or, unless `may_rewrite`,
    spellings.
    """
    if lineends.is_of_windows(text):
        return lineends.like(text, updated(text.replace(b"\r\n", b"\n"), new, indent, lists, may_rewrite))
    end = trailer(text, indent)
    body, rest = text[:end], text[end:]
    data = [new] if indent >= 0 else new
    candidate = nodewise.patched(body.decode(), data, lists, may_rewrite)
    if candidate is None or not readback.holds(candidate, data, body.decode(), lists):
        # what was lent from another text may have comments that nobody sees here
        is_lent = any(known.source for known in (lists or {}).values())
        if is_lent or not _is_harmless(body.decode(), data, indent, may_rewrite):
            raise _refusal(body.decode(), data, candidate, lists)
        candidate = emit.dump(data, max(indent, 0))
        if problem := readback.misread(candidate, data, body.decode(), lists):
            raise _of_item(problem, data)
    return _with_trailer(candidate, rest)


def _refusal(body: str, data: Any, candidate: str | None, lists: Lists | None) -> losses.WouldLose:
    """Return why an item is not written, with the path of what cannot be.

    `candidate`: the text edited in place, which a reader would take for something else; None without one.
    """
    failure = losses.WouldLose(_LOSES)
    if candidate is not None:
        failure = losses.unlike(candidate, data) or readback.misread(candidate, data, body, lists) or failure
    parts = failure.parts or losses.first_difference(parse(body), data) or ()
    return _of_item(losses.WouldLose(str(failure), parts), data)


def _of_item(failure: losses.WouldLose, data: Any) -> losses.WouldLose:
    """Return a refusal with the path inside the item, which may stand in a list of one."""
    is_listed = isinstance(data, list) and len(data) == 1 and failure.parts[:1] == ("0",)
    return losses.WouldLose(str(failure), failure.parts[1:] if is_listed else failure.parts)


def written_in(text: bytes, new: Any, indent: int, changes: list[Change]) -> bytes | None:
    """Return `updated` where nothing was done but to write to some mappings, inner ones first; None for "not sure"."""
    end = trailer(text, indent)
    edited = inplace.patched(text[:end].decode(), [new] if indent >= 0 else new, changes)
    return None if edited is None else _with_trailer(edited, text[end:])


def _with_trailer(edited: str, rest: bytes) -> bytes:
    """Return an edited item with the lines behind it."""
    out = edited.encode()
    return out + (rest.lstrip(b"\r\n") if rest and re.search(KEEPS, out) else rest)  # else blanks would become text


def written(data: Any, indent: int, lists: Lists) -> str:
    """Return the text of new data, `indent` columns in; what was lent from other texts takes its lines along."""
    try:
        text = nodewise.written(data, indent, lists)
        if not readback.holds(text, data, text):
            raise losses.unlike(text, data) or readback.misread(text, data, text) or losses.WouldLose(_LOSES)
    except losses.WouldLose as failure:
        parts = failure.parts or next(_lent_parts(data, lists, ()), ())
        raise _of_item(losses.WouldLose(str(failure), parts), data) from failure
    return text


def _lent_parts(data: Any, lists: Lists, parts: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of what was lent from other texts, outer ones first."""
    if id(data) in lists:
        yield parts
    for name, part in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from _lent_parts(part, lists, (*parts, str(name)))


def _is_harmless(body: str, data: Any, indent: int, may_rewrite: bool) -> bool:
    """Return True when an item can be written anew: nothing but layout is lost, or with `may_rewrite` spellings."""
    if re.match(_BRACKETS, body.encode()):
        return True
    if not may_rewrite:
        return emit.dump(parse(body), max(indent, 0)) == body
    from . import load, values

    root = load.compose(body.encode())
    spans = losses.comments(body, root, 0, len(body))
    return not losses.reason(body, root, spans, (_inner(values.build(root)), _inner(data)))


def _inner(data: Any) -> Any:
    """Return the item in a list of one."""
    return data[0] if isinstance(data, list) and len(data) == 1 else data


def with_line_end(text: bytes, indent: int) -> bytes:
    """Return the text of an item or document with a line end that does not change its data.

    A literal `|` whose last line has no line end is a string without one; its header gets a `-`.
    """
    if text[-1:] in (b"\n", b""):
        return text
    if lineends.is_of_windows(text):
        return lineends.like(text, with_line_end(text.replace(b"\r\n", b"\n"), indent))
    if b"|" not in text and b">" not in text:
        return text + b"\n"
    try:
        data = parse(text.decode())
    except KrmfnError:  # an alias whose anchor stands in another item, perhaps
        data = None
    if data is not None and readback.holds(text.decode() + "\n", data):
        return text + b"\n"
    from . import load

    ended = load.with_line_end(text)  # the block text's header says it, and every other byte stays
    if data is None or readback.holds(ended.decode(), data):
        return ended
    return updated(text + b"\n", data[0] if indent >= 0 else data, indent)


def parse(text: str) -> Any:
    """Return the data of a YAML text, plain scalars read as Kubernetes reads them. Raises KrmfnError for no YAML."""
    data = simple.read(text)
    if data is None:
        from . import load

        data = load.read(text.encode())
    return data


def undashed(text: bytes, indent: int) -> bytes:
    """Return an item of a list (its dash at column `indent`) as a document of its own, in column 0."""
    return re.sub(rb"(?m)^ {1,%d}" % (indent + 2), b"", text.replace(b"-", b" ", 1)) if indent >= 0 else text


def dashed(text: bytes, data: Any, old: int, indent: int) -> bytes:
    """Return an item (its dash at column `old`; -2: a document) with its dash at another column, comments included."""
    if lineends.is_of_windows(text):
        return lineends.like(text, dashed(text.replace(b"\r\n", b"\n"), data, old, indent))
    body = undashed(text, old).decode()
    rows = [*dropwhile(str.isspace, body.splitlines(keepends=True))]  # the first one gets the dash
    pad = " " * (indent + 2)
    moved = "".join(pad + row if row != "\n" else row for row in rows)  # blanks may be text of a literal
    moved = f"{moved[:indent]}-{moved[indent + 1 :]}"
    moved = moved if re.search(KEEPS, text) else moved.rstrip("\n") + "\n"  # else blanks would become text
    return (moved if readback.holds(moved, [data]) else emit.dump([data], indent)).encode()


def trailer(text: bytes, indent: int) -> int:
    """Return where the blank and comment lines behind an item begin, its dash at column `indent` (-2: a document).

    What is indented deeper than the dash may belong to a block scalar, spaces included, and so may empty lines where
    one keeps them.
    """
    scalar = b"|" in text or b">" in text
    kept = scalar and re.search(KEEPS, text)
    end = len(text)
    while end:
        start = text.rfind(b"\n", 0, end - 1) + 1
        content = text[start:end].strip()
        column = text.find(b"#", start, end) - start
        blank = not content and not kept and not (scalar and text[start:end].strip(b"\r\n"))
        is_comment = 0 <= column <= max(indent, 0) and not re.search(_OTHER_BREAK, text[start:end])
        if not (is_comment if content[:1] == b"#" else blank):
            break
        end = start
    return end
