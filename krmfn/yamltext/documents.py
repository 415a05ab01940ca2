"""Divide the text of a file into YAML documents, and say where readers would divide it differently."""

import re
from collections.abc import Iterator

from ..errors import KrmfnError
from ..typed import NamedTuple

__all__ = ["BARE", "DIVISION", "WIDE", "Document", "documents", "is_nothing", "misread", "parts"]

_MARK = re.compile(rb"\n(?:---|\.\.\.)(?=[ \t\r\n]|\Z)")
_SOMETHING = re.compile(
    rb"\n *[^ \r\n#]|\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbf[\xbe\xbf]"
)
"""More than blank lines and comments, at least to one reader: in YAML 1.1 not only a newline ends a comment."""
DIVISION = re.compile(rb"\n(?:---|\.\.\.(?=[ \t\r\n]|\Z))")
"""Before a line at which kubectl and Argo CD begin another document, or stop reading."""
BARE = re.compile(
    rb"[ \t]*(?:(?<=[ \t])#(?:[^\n\r\xc2\xe2]|\r(?=\n)|\xc2(?!\x85)|\xe2(?!\x80[\xa8\xa9]))*)?\r?(?:\n|\Z)"
)
"""What every reader takes for the rest of a line `---`: blanks, or blanks and a comment that no other break ends."""
WIDE = re.compile(rb"\s*[\x80-\xff]")
_WIDE_BREAK = rb"\xc2\x85|\xe2\x80[\xa8\xa9]"
_ODD_BREAK = rb"(?:\r|%s)(?=---|\.\.\.)" % _WIDE_BREAK
_TWO_BREAKS = rb"\r\r\n"
_MISREAD = {
    b"{": "a brace after white space other than a blank begins a mapping for kubectl and Argo CD, but a word for "
    "other readers; remove the white space",
    _TWO_BREAKS: "two carriage returns end this line: kubectl, Argo CD and kustomize take that for one line break, but "
    "other readers for two; remove them",
    _ODD_BREAK: "a line break that is no newline (a carriage return alone, U+0085, U+2028 or U+2029) comes before "
    "`---` or `...`: some readers split the file here, and others do not; remove it",
    _WIDE_BREAK: "U+0085, U+2028 or U+2029 is in JSON: kubectl and Argo CD keep the character, but other readers take "
    "it for a line break; write it as \\u0085, \\u2028 or \\u2029",
    b"---": "this line begins with `---` and continues with more than blanks and a comment: kubectl, Argo CD and "
    "kustomize split the file here and drop the rest of the line, or refuse it, but other readers do not; put a line "
    "break after `---`, or indent the line",
    b"...": "a document follows a line of `...` alone: kubectl, Argo CD and kustomize drop it, but other readers do "
    "not; write `---` in place of `...`",
}
"""Messages about text that readers divide differently, by its pattern, or by the text."""


class Document(NamedTuple):
    """One document of a file: its text, and the line (from 1) where it begins."""

    text: bytes
    line: int
    is_nothing: bool = False
    """True for blanks and comments alone."""


def documents(text: bytes) -> Iterator[Document]:
    """Yield the documents of a stream but for those of comments only. `---` at the start of a line always divides."""
    return (part for part in parts(text) if not part.is_nothing)


def parts(text: bytes) -> Iterator[Document]:
    """Yield all parts of a stream that lines `---` divide; joined by `---` they are the stream."""
    start, line = 0, 1
    for end in [*_lines(_MARK, text), len(text)]:
        yield Document(text[start:end], line, is_nothing(text, start, end))
        line += text.count(b"\n", start, end)
        start = end + 3


def _lines(pattern: re.Pattern[bytes], text: bytes) -> list[int]:
    """Return where the lines begin that a pattern matches; a newline, with which it begins, makes it quick."""
    first = [0] if pattern.match(b"\n" + text[:4]) else []
    return first + [match.start() + 1 for match in pattern.finditer(text)]


def is_nothing(text: bytes, start: int, end: int) -> bool:
    """Return True when every reader takes a part of a stream, which begins behind `---`, for blank or comments.

    A line that begins with a tab or `%` is none of these: kustomize and kubectl refuse it where no document follows.
    """
    part = text[start:end]
    return not _SOMETHING.search(b"\n" + (part.lstrip(b" \t") if start else part))


def misread(text: bytes, line: int = 0) -> KrmfnError | None:
    """Return where readers divide a stream differently, and what to write; `line` lines come before. None for nowhere.

    kubectl, Argo CD (apimachinery's decoder) and kustomize divide at each line that begins with `---`, whatever follows
    on it, and take the first document of a part. `functions.paths.division` says the same.
    """
    at, problem = next(_misreadings(text), (0, ""))
    return KrmfnError(problem, line=line + 1 + text.count(b"\n", 0, at)) if problem else None


def _misreadings(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield where a stream is divided differently, and what to write."""
    wide = WIDE.match(text)
    if wide and text.decode(errors="replace").lstrip().startswith("{"):
        yield wide.end(), _MISREAD[b"{"]
    for pattern in (_TWO_BREAKS, _ODD_BREAK, *((_WIDE_BREAK,) if text.lstrip().startswith(b"{") else ())):
        yield from ((match.start(), _MISREAD[pattern]) for match in re.finditer(pattern, text))
    marks = _lines(DIVISION, text)
    for at, end in zip(marks, [*marks[1:], len(text)], strict=False):
        if text.startswith(b"...", at):
            yield from () if is_nothing(text, at + 3, end) else ((at, _MISREAD[b"..."]),)
        elif not BARE.match(text, at + 3):
            yield at, _MISREAD[b"---"]
