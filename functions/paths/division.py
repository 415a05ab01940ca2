"""Divide the text of many files into YAML documents in one pass, and read the head of each, line by line.

Only texts that are `usual` are divided here; `krmfn.yamltext.documents` divides the others, one by one: those with
other line breaks, directives, a byte order mark inside, JSON.
"""

import re
from bisect import bisect_right
from codecs import BOM_UTF8
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from krmfn.errors import KrmfnError
from krmfn.resource import Ref
from krmfn.typed import NamedTuple
from krmfn.yamltext import split
from krmfn.yamltext.documents import BARE, WIDE, is_nothing
from krmfn.yamltext.peek import UNUSUAL
from krmfn.yamltext.simple import MAX_DEPTH, scalar

_USUAL = re.compile(rb"[A-Za-z#\n]|---[ \n]|(?:---)?\Z")
"""The beginning of a text that is divided with others; it may be empty."""
_DIVIDER = b"\n---\n"
"""The separator of files that are divided together; libyaml ends every scalar and collection there."""
_LINE = re.compile(rb"\n(?:[ ?:-]{90}|[^ \n#-]|---)")
"""A line that begins in column 0, or at which block levels may be deep: each takes a column."""
_HEAD = re.compile(rb"apiVersion: +([A-Za-z0-9./-]+) *\nkind: +([A-Za-z0-9]+) *\nmetadata: *(?=\n  [A-Za-z])")
_NAME = re.compile(rb"\n  (name(?:space)?)(?:: +([a-z][a-z0-9.-]*) *(?=\n?\Z|\n  [^ \t]))?")
"""A key of metadata that begins with `name` or `namespace`, and its value if that is one plain word."""
_ODD = re.compile(rb"\n(?:  [" + UNUSUAL + rb"\t]| ?[^ \n])")
"""A line of metadata that may spell a key in another way, or does not begin in the column of the keys or behind it."""
_AGAIN = UNUSUAL + b"\takmi"
"""The first characters of lines in column 0 that may repeat a key of the head, or be `items`."""
_DOT = ord(".")
_NO_ALIAS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./'\"*"
"""The characters before a `*` that is no alias: it is inside of a word, or begins a string in quotes."""


class Span(NamedTuple):
    """One of many documents in one text."""

    start: int
    end: int
    keys: Sequence[int]
    """The starts of the lines in column 0: the keys of its mapping, if it is one."""
    is_counted: bool
    """True when krmfn has to count something in it (aliases, depth), so that it is not enough that libyaml reads it."""
    is_misread: bool = False
    """True when readers divide the text differently at its start, or inside of it (see `documents.misread`)."""


def is_usual(text: bytes) -> bool:
    """Return True when `divide` may divide a text."""
    has_directive = b"%" in text and b"\n%" in text  # to look for one byte takes a tenth of looking for two
    return bool(_USUAL.match(text)) and not (WIDE.match(text) or has_directive) and is_plain(text)


def is_plain(text: bytes) -> bool:
    """Return True for UTF-8 without a byte order mark in which only newlines break lines."""
    if split.has_other_breaks(text) or not (text.isascii() or BOM_UTF8 not in text):
        return False
    try:
        split.check_encoding(text)
    except KrmfnError:
        return False
    return True


def joined(texts: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Return some usual texts as one, and the start of each in it."""
    ends = accumulate(len(text) + len(_DIVIDER) for text in texts)
    return _DIVIDER.join(texts), [0, *ends][: len(texts)]


def divide(text: bytes) -> list[Span]:
    """Return the documents of usual texts, which are `joined`, without those that hold only comments."""
    spans: list[Span] = []
    start = 3 if text.startswith(b"---") else 0
    keys = [0] if text[:1].isalpha() else []
    is_deep = text.startswith(b"--- ")  # something may follow, and be deep
    is_misread = is_deep and not BARE.match(text, 3)
    for match in _LINE.finditer(text):
        offset = match.start() + 1
        if match.end() == offset + 1 and text[offset] != _DOT:  # a key, as most are
            keys.append(offset)
        elif text.startswith((b"---", b"..."), offset) and text[offset + 3 : offset + 4] in (b"\n", b" ", b"\t", b""):
            if keys or not is_nothing(text, start, offset):
                spans.append(Span(start, offset, keys, is_deep, is_misread))
            start, keys, is_deep = offset + 3, [], match.end() - offset > 3
            is_misread = text[offset] == _DOT or (text[start : start + 1] != b"\n" and not BARE.match(text, start))
        elif match.end() - offset > 1:
            is_deep = True
            is_misread = is_misread or text.startswith(b"---", offset)
        else:
            keys.append(offset)
    if keys or not is_nothing(text, start, len(text)):
        spans.append(Span(start, len(text), keys, is_deep, is_misread))
    return _mark_counted(text, spans)


def _mark_counted(text: bytes, spans: list[Span]) -> list[Span]:
    """Return the documents with `is_counted` set where there are aliases or many brackets."""
    starts = [span.start for span in spans]
    counted: set[int] = set()
    position = text.find(b"*") if spans else -1
    while position >= 0:
        index = bisect_right(starts, position) - 1
        if index >= 0 and text[position - 1] not in _NO_ALIAS:
            counted.add(index)
            position = max(position, spans[index].end - 1)
        position = text.find(b"*", position + 1)
    brackets = [bracket for bracket in (b"[", b"{") if bracket in text]  # looking takes a tenth of counting
    if sum(map(text.count, brackets)) >= MAX_DEPTH // 2:
        for index, (start, end, *_) in enumerate(spans):
            if sum(text.count(bracket, start, end) for bracket in brackets) >= MAX_DEPTH // 2:
                counted.add(index)
    for index in counted:
        spans[index] = spans[index]._replace(is_counted=True)
    return spans


def dubious(text: bytes, spans: Sequence[Span]) -> set[int]:
    """Return the indexes of the documents in which a scalar or flow collection has several lines (see `split`)."""
    starts = [span.start for span in spans]
    return {bisect_right(starts, position) - 1 for position in split.runs_on(text)}


def head(text: bytes, span: Span) -> Ref | None:
    """Return the ref of a resource that begins with apiVersion, kind and metadata, each once, and has no `items`.

    Return None for anything else, and where only a parser can tell. It may be wrong for documents that are `dubious`.
    """
    keys = span.keys
    match = _HEAD.match(text, keys[0], span.end) if keys and not span.is_counted else None
    if match is None or any(text[index] in _AGAIN for index in keys[3:]):
        return None
    if keys[0] > span.start + 1 and not is_nothing(text, span.start, keys[0]):
        return None
    start, end = match.end(), keys[3] if len(keys) > 3 else span.end
    names = _NAME.findall(text, start, end)
    if _ODD.search(text, start, end) or len(dict(names)) < len(names):
        return None
    words = [_word(match[1]), _word(match[2]), *(_word(value) for _, value in names)]
    if not all(words):
        return None
    metadata = dict(zip((key for key, _ in names), words[2:], strict=True))
    return Ref(words[0], words[1], metadata.get(b"namespace", ""), metadata.get(b"name", ""))


@lru_cache(maxsize=4096)
def _word(plain: bytes) -> str:
    """Return the value of a plain scalar that is a string; "" for another one."""
    value = scalar(plain.decode()) if plain else ""
    return value if type(value) is str else ""
