"""Check whether texts are YAML: libyaml alone can tell in a tenth of the time that reading them takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]

from krmfn.errors import KrmfnError
from krmfn.yamltext.load import ADVICE, events, explain, refuse_inner_marks
from krmfn.yamltext.simple import MAX_DEPTH

from .division import Span

_MANY_OR_DEEP = re.compile(rb"\n(?:---|\.\.\.|[ ?:-]{90})")
"""A line that may begin a second document, or may be at a deep block level: each level takes a column."""
_RUN = 1 << 20
"""How many bytes libyaml is given at a time."""


def suspects(text: bytes, spans: Sequence[Span]) -> Iterator[int]:
    """Yield the indexes of the documents of usual texts (see `division`) that may not be YAML.

    Adjacent documents are read as one stream. libyaml ends every scalar and collection at a line `---`, and carries
    nothing over to the next document but directives, which no usual text has: if it reads the stream without an error,
    each of the documents is YAML.
    """
    first = 0
    while first < len(spans):
        if spans[first].is_counted:
            yield first
            first += 1
            continue
        last = first + 1
        while last < len(spans) and not spans[last].is_counted and spans[last].end - spans[first].start < _RUN:
            last += 1
        if not _is_read(text[spans[first].start : spans[last - 1].end]):
            yield from range(first, last)
        first = last


def _is_read(stream: bytes) -> bool:
    """Return True when libyaml reads a stream of documents without an error."""
    try:
        CParser(stream).raw_parse()
    except yaml.YAMLError:
        return False
    return True


def check(text: bytes, line: int = 0) -> None:
    """Raise KrmfnError, with the line, for text that is not one YAML document; `line` is the number of lines before it.

    A text in which nothing has to be counted is read by libyaml alone, in a tenth of the time.
    """
    refuse_inner_marks(text, line)
    brackets = text.count(b"[") + text.count(b"{")
    is_counted = b"*" in text or brackets >= MAX_DEPTH // 2 or bool(_MANY_OR_DEEP.search(b"\n" + text))
    if not is_counted and _is_read(text):
        return
    _check_events(text, line)  # an error is found again, and reported in our words


def _check_events(text: bytes, line: int) -> None:
    """Raise the errors of `check`, found in the parser's events."""
    documents = 0
    anchors: set[str] = set()
    aliases = b"*" in text
    try:
        for event in events(text):
            documents += isinstance(event, yaml.DocumentStartEvent)
            anchor = getattr(event, "anchor", None) if aliases else None
            if anchor and isinstance(event, yaml.AliasEvent) and anchor not in anchors:
                number = (event.start_mark.line if event.start_mark else 0) + 1 + line
                raise KrmfnError(ADVICE["found undefined alias"], line=number)
            anchors.update((anchor,) if anchor else ())
    except yaml.YAMLError as failure:
        raise explain(failure, text, line) from failure
    if documents > 1:
        raise KrmfnError("several documents where one is expected; separate them with ---", line=line + 1)
