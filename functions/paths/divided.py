"""Divide the text of many files into YAML documents in one pass, and read the head of each, by its lines.

It is for what `is_usual`; a text that is not (other line breaks, directives, a byte order mark inside, JSON)
`krmfn.yamltext.documents` divides alone.
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
"""How a text begins that is divided with others; an empty one, too."""
_DIVIDER = b"\n---\n"
"""What stands between two files that are divided together; libyaml ends every scalar and collection there."""
_LINE = re.compile(rb"\n(?:[ ?:-]{90}|[^ \n#-]|---)")
"""A line that begins in column 0, or at which block levels may be deep: each takes a column."""
_HEAD = re.compile(
    rb"apiVersion: +([A-Za-z0-9./-]+) *\nkind: +([A-Za-z0-9]+) *\n"
    rb"metadata: *(\n  [A-Za-z][^\n]*(?:\n(?:  [^\n]*)?(?=\n|\Z))*)"
)
_NAME = re.compile(rb"\n  (name(?:space)?)(?:: +([a-z][a-z0-9.-]*) *(?=\n?\Z|\n  [^ \t]))?")
"""A key of metadata that begins with these letters, and its value where that is a plain word alone on its line."""
_ODD = re.compile(rb"\n  [" + UNUSUAL + rb"\t]")
_AGAIN = UNUSUAL + b"\takmi"
"""What a line in column 0 begins with that may be a key of the head once more, or `items`."""
_DOT = ord(".")
_NO_ALIAS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./'\"*"
"""What stands before a `*` that is in the middle of a word, or begins a string in quotes: there no alias begins."""


class Span(NamedTuple):
    """One of many documents in one text."""

    start: int
    end: int
    keys: Sequence[int]
    """Where the lines begin that stand in column 0: the keys of its mapping, if it is one."""
    is_counted: bool
    """True when something in it has to be counted, so that libyaml alone cannot say whether it is sound."""
    is_misread: bool = False
    """True when readers divide the text differently where it begins, or in it (see `misread`)."""


def is_usual(text: bytes) -> bool:
    """Return True when `quick` may divide a text: nothing in it is unusual."""
    return bool(_USUAL.match(text)) and not WIDE.match(text) and b"\n%" not in text and is_plain(text)


def is_plain(text: bytes) -> bool:
    """Return True for UTF-8 without a byte order mark in which nothing but a newline breaks a line."""
    if split.has_other_breaks(text) or BOM_UTF8 in text:
        return False
    try:
        split.check_encoding(text)
    except KrmfnError:
        return False
    return True


def joined(texts: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Return some usual texts as one, and where each begins."""
    ends = accumulate(len(text) + len(_DIVIDER) for text in texts)
    return _DIVIDER.join(texts), [0, *ends][: len(texts)]


def quick(text: bytes) -> list[Span]:
    """Return the documents of usual texts, joined, but for those of comments only."""
    spans: list[Span] = []
    start = 3 if text.startswith(b"---") else 0
    keys = [0] if text[:1].isalpha() else []
    is_deep = text.startswith(b"--- ")  # something may follow, and be deep
    is_misread = is_deep and not BARE.match(text, 3)
    for match in _LINE.finditer(text):
        at = match.start() + 1
        if text.startswith((b"---", b"..."), at) and text[at + 3 : at + 4] in (b"\n", b" ", b"\t", b""):
            if keys or not is_nothing(text, start, at):
                spans.append(Span(start, at, keys, is_deep, is_misread))
            start, keys, is_deep = at + 3, [], match.end() - at > 3
            is_misread = text[at] == _DOT or (text[start : start + 1] != b"\n" and not BARE.match(text, start))
        elif match.end() - at > 1:
            is_deep = True
            is_misread = is_misread or text.startswith(b"---", at)
        else:
            keys.append(at)
    if keys or not is_nothing(text, start, len(text)):
        spans.append(Span(start, len(text), keys, is_deep, is_misread))
    return _counted(text, spans)


def _counted(text: bytes, spans: list[Span]) -> list[Span]:
    """Return the documents, those with aliases or many brackets marked as such in which something is counted."""
    starts = [span.start for span in spans]
    counted: set[int] = set()
    at = text.find(b"*") if spans else -1
    while at >= 0:
        index = bisect_right(starts, at) - 1
        if index >= 0 and text[at - 1] not in _NO_ALIAS:
            counted.add(index)
            at = max(at, spans[index].end - 1)
        at = text.find(b"*", at + 1)
    if text.count(b"[") + text.count(b"{") >= MAX_DEPTH // 2:
        for index, (start, end, *_) in enumerate(spans):
            if text.count(b"[", start, end) + text.count(b"{", start, end) >= MAX_DEPTH // 2:
                counted.add(index)
    for index in counted:
        spans[index] = spans[index]._replace(is_counted=True)
    return spans


def dubious(text: bytes, spans: Sequence[Span]) -> set[int]:
    """Return the indexes of the documents in which a scalar or flow collection runs over lines (see `split`)."""
    starts = [span.start for span in spans]
    return {bisect_right(starts, at) - 1 for at in split.runs_on(text)}


def head(text: bytes, span: Span) -> Ref | None:
    """Return what names a resource that begins with these keys, plainly, and has none a second time and no `items`.

    It is None, too, where only a parser can tell. Sound for what is not `dubious`.
    """
    keys = span.keys
    match = _HEAD.match(text, keys[0], span.end) if keys and not span.is_counted else None
    if match is None or any(text[at] in _AGAIN for at in keys[3:]):
        return None
    begins = keys[0] <= span.start + 1 or is_nothing(text, span.start, keys[0])
    ends = match.end() >= (keys[3] if len(keys) > 3 else span.end) - 1
    version, kind, block = (match[at] for at in (1, 2, 3))
    names = _NAME.findall(block)
    if not (begins and ends) or _ODD.search(block) or len(dict(names)) < len(names):
        return None
    words = [_word(version), _word(kind), *(_word(value) for _, value in names)]
    if not all(words):
        return None
    named = dict(zip((key for key, _ in names), words[2:], strict=True))
    return Ref(words[0], words[1], named.get(b"namespace", ""), named.get(b"name", ""))


@lru_cache(maxsize=4096)
def _word(plain: bytes) -> str:
    """Return the string that a plain scalar is; "" for anything else."""
    value = scalar(plain.decode()) if plain else ""
    return value if type(value) is str else ""
