"""What stands around and between the items of a list: its comments stay when items come and go, or that is refused."""

import re
from collections.abc import Callable, Sequence
from operator import is_

from .envelope import Envelope
from .errors import KrmfnError
from .item import Item

__all__ = ["behind", "emptied", "opened", "spliced"]

_BETWEEN = rb"(?:[\s,]|#[^\n]*)*"
"""What may stand behind a value in brackets."""
_COMMENT = rb"#[^\n]*"
_LAST = rb"(?s)(?:^|(?<=[\s\[\]]))#.*"
"""The comment of a line without quotes."""
_OTHER_BREAK = rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]"
"""Breaks that end a comment in YAML 1.1, beside a newline."""
_NOTHING = (b"~", b"null", b"Null", b"NULL")
_ADVICE = "write each item with a dash"


def spliced(envelope: Envelope, span: tuple[int, int], items: Sequence[Item], write: Callable[[Item], bytes]) -> bytes:
    """Return the piece of a list's text that has all its items in brackets, with other items, which `write` gives.

    Raises KrmfnError, with the line, where an item goes or changes its place and a comment may be about it.
    """
    text, olds = envelope.text, envelope.items
    if envelope.holds(items):
        return text[slice(*span)]
    begins, ends = [span[0], *(old.end for old in olds)], [*(old.start for old in olds), span[1]]
    gaps = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    texts, kept = [*map(write, items)], [item._origin or item for item in items[: len(olds)]]
    if olds and len(kept) == len(olds) and all(map(is_, kept, olds)):
        front = b"".join(part for pair in zip(gaps[:-1], texts, strict=False) for part in pair)
        return front + behind(envelope, begins[-1], gaps[-1], texts[len(olds) :])
    if b"[" not in gaps[0]:  # null
        return b"[" + b",\n  ".join(texts) + b"]"
    head = gaps[0][: gaps[0].index(b"[") + 1]
    if not olds:
        return head + behind(envelope, span[0] + len(head), gaps[0][len(head) :], texts, is_first=True)
    last = re.match(_BETWEEN, gaps[-1])
    tail = gaps[-1][last.end() :] if last else b""
    for begin, end in zip([span[0] + len(head), *begins[1:]], [*ends[:-1], span[1] - len(tail)], strict=True):
        if comment := re.search(_COMMENT, text[begin:end]):
            raise _lost(envelope, begin, comment)
    return head + b",\n  ".join(texts) + tail


def behind(envelope: Envelope, start: int, gap: bytes, new: Sequence[bytes], is_first: bool = False) -> bytes:
    """Return what stands behind the last value in brackets, from `start` on, with new values before they end."""
    if not new:
        return gap
    match = re.match(_BETWEEN, gap)
    inside = match[0] if match else b""
    comment = re.search(_COMMENT, inside)
    rest, values = gap[len(inside) :], b",\n  ".join(new)
    if comment and re.search(_OTHER_BREAK, inside):
        raise _lost(envelope, start, comment)
    if rest[:1] not in (b"]", b"}"):
        line = envelope.text.count(b"\n", 0, start) + 1
        raise KrmfnError(f"the brackets around the items end in an unusual way: {_ADVICE}", line=line)
    if not comment:
        return (b"" if is_first else b",\n  ") + values + inside.replace(b",", b"") + rest
    lines, _, pad = inside.rpartition(b"\n")
    comma = b"" if is_first or b"," in re.sub(_COMMENT, b"", lines) else b","
    return comma + lines + b"\n  " + values + b"\n" + pad.replace(b",", b"") + rest


def _lost(envelope: Envelope, begin: int, comment: re.Match[bytes]) -> KrmfnError:
    """Return the refusal to lose a comment, which was found in what begins there."""
    words = comment[0].decode().strip()[:40]
    problem = f"the comment {words!r} beside items in brackets would be lost: {_ADVICE}"
    return KrmfnError(problem, line=envelope.text.count(b"\n", 0, begin + comment.start()) + 1)


def opened(section: bytes) -> bytes:
    """Return the lines of `items` without any, for items that follow them: its comments stay."""
    lines = b""
    for line in section.splitlines(keepends=True):
        comment = re.search(_LAST, line)
        code = line[: comment.start()] if comment else line
        words = b" ".join(word for word in re.sub(rb"[\[\]]", b" ", code).split() if word not in _NOTHING)
        if comment:
            lines += (words + b" " if words else code[: len(code) - len(code.lstrip())]) + comment[0]
        elif words:
            lines += words + b"\n"
    return lines if lines[-1:] == b"\n" else lines + b"\n"


def emptied(head: bytes) -> bytes:
    """Return the line of `items` without any, given the lines above the first one: the key's comment stays."""
    comment = re.search(_LAST, head.splitlines(keepends=True)[0])
    return b"items: []" + (b" " + comment[0] if comment else b"\n")
