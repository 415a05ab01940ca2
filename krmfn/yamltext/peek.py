"""Single fields of an item's text, read without parsing it; UNSURE where only a parser can tell.

Sound for items in which no quoted scalar or flow collection runs over lines (`Cut.dubious` names the others): there
a line at the column of a mapping's keys is a key of that mapping, a comment, or a list's dash, and nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Final

from . import simple


class Answer(Enum):
    """An answer that is not a value: MISSING when the field is not there, UNSURE when the text must be parsed."""

    MISSING = 0
    UNSURE = 1


MISSING: Final = Answer.MISSING
UNSURE: Final = Answer.UNSURE

_PLAIN = r"[A-Za-z0-9/_.][A-Za-z0-9/_.+@-]*(?:[: ][A-Za-z0-9/_.+@()-]+)*"
_SCALAR = re.compile(rf" *({_PLAIN}|\"[^\"\\]*\"|'[^']*')(?: *| +#.*)")
_KEY = re.compile(rb"[A-Za-z][A-Za-z0-9/_.-]{0,%d}" % simple.LONGEST_KEY)
_NESTED = rb" *(?:#[^\n]*)?\n(?: *(?:#[^\n]*)?\n)*( *)([^ \n])"
_NOTHING = rb"(?: *(?:#[^\n]*)?\n)* *(?:#[^\n]*)?"
UNUSUAL = b"'\"?!&*<"
"""What a key begins with that may be a plain one spelled in another way: quoted, tagged, behind `? `, in a merge."""
_LINES, _ODD_KEY = rb"\n {%d}(?=[^ \n#-])", rb"\n {%d}[" + UNUSUAL + rb"]"
_HEADS = rb"\n {%d}(?=[ak" + UNUSUAL + rb"])"
_HEAD = rb"- apiVersion: +[A-Za-z0-9./-]+ *\n {%d}()kind: +[A-Za-z0-9]+ *(?=\n(?! *\n| {%d}))"
_BEHIND = (b":", b" ", b"\t", b"\n", b"")
"""What stands behind a key, or behind a line that should have been one."""
_LONG = 2_500
"""The size from which looking for a key is cheaper than an index of all."""
_AMBIGUOUS = frozenset(word.encode() for word in simple.WORDS)


class Mapping:
    """A block mapping in a text: its keys begin at `start` and at column `column` of later lines, before `end`."""

    def __init__(self, text: bytes, start: int, end: int, column: int, lines: Sequence[int] | None = None) -> None:
        """Take the mapping text[start:end]; `lines` is where its keys but the first begin, when that is known."""
        self.text, self.start, self.end, self.column, self._lines = text, start, end, column, lines
        self._keys: dict[bytes | None, tuple[int, int]] | Answer | None = None
        self._mappings: dict[bytes, Mapping | Answer] = {}

    def scalar(self, *path: bytes) -> str | Answer:
        """Return the string at a path of keys; UNSURE for anything that is not plainly a string on one line."""
        if len(path) > 1:
            block = self.mapping(*path[:-1])
            return block.scalar(path[-1]) if isinstance(block, Mapping) else block
        value = self._value(path[0])
        if isinstance(value, Answer):
            return value
        behind, stop = value
        end = self.text.find(b"\n", behind, stop)
        if end < 0 or (end + 1 < stop and not _pattern(_NOTHING).fullmatch(self.text, end + 1, stop)):
            return UNSURE
        return _string(self.text[behind:end].decode())

    def mapping(self, *path: bytes) -> Mapping | Answer:
        """Return the block mapping at a path of keys; MISSING also when its value is empty."""
        block: Mapping | Answer = self
        for key in path:
            if not isinstance(block, Mapping):
                break
            known = block._mappings.get(key)
            if known is None:
                known = block._mappings[key] = block._below(key)
            block = known
        return block

    def strings(self) -> dict[str, str] | Answer:
        """Return a flat mapping of strings (labels, annotations); UNSURE for any other line or a key stated twice."""
        rows = self.text[self.start : self.end].removesuffix(b"\n").split(b"\n" + b" " * self.column)
        pairs = list(map(_pair, rows))
        strings = {} if None in pairs else dict(pairs)  # type: ignore[arg-type]  # no None is left
        return strings if len(strings) == len(pairs) else UNSURE

    def picked(self, keys: Collection[str]) -> dict[str, str] | Answer:
        """Return the strings under those of the keys that are there; UNSURE as `scalar`. For a few keys of many."""
        text, end = self.text, self.end
        above, pad = self.start - self.column - 1, b"\n" + b" " * self.column
        spelled = any(type(simple.scalar(key)) is not str for key in keys)  # a key `yes` is "true", and 0777 is "511"
        if spelled or not self._is_below() or _pattern(_ODD_KEY, self.column).search(text, above, end):
            return UNSURE
        picked: dict[str, str] = {}
        for key in keys:
            line = pad + key.encode()
            for at in _places(text, line, above, end):
                behind = at + len(line)
                if text[behind : behind + 1] in _BEHIND:
                    value = self._pick(behind, pad)
                    if key in picked or isinstance(value, Answer):
                        return UNSURE
                    picked[key] = value
        return picked

    def data(self) -> Any:
        """Return the whole mapping as data; UNSURE when it is not in the layout that `simple` reads."""
        data = simple.read((b" " * self.column + self.text[self.start : self.end]).decode())
        return UNSURE if data is None else data

    def _pick(self, behind: int, pad: bytes) -> str | Answer:
        """Return the string behind a key that ends at `behind`; UNSURE unless it is on one line, with a key below."""
        text = self.text
        end = text.find(b"\n", behind, self.end)
        below = end + len(pad)
        sure = end + 1 == self.end or (text.startswith(pad, end) and text[below : below + 1].isalnum())
        plain = end >= 0 and text[behind : behind + 2] in (b": ", b":\n")
        return _string(text[behind + 1 : end].decode()) if sure and plain else UNSURE

    def _below(self, key: bytes) -> Mapping | Answer:
        value = self._value(key)
        if isinstance(value, Answer):
            return value
        nested = _pattern(_NESTED).match(self.text, *value)
        if not nested:
            return MISSING if _pattern(_NOTHING).fullmatch(self.text, *value) else UNSURE
        column = len(nested[1])
        if nested[2].isalnum() and column > self.column:
            return Mapping(self.text, nested.start(2), value[1], column)
        return UNSURE

    def _value(self, key: bytes) -> tuple[int, int] | Answer:
        """Return where the text behind `key:` begins and ends; UNSURE when a key may be spelled oddly."""
        if key in _AMBIGUOUS:  # to Kubernetes `yes:` is the key "true"
            return UNSURE
        if self._keys is None:
            if self.end - self.start > _LONG and self._is_below():
                return self._alone(key)
            self._keys = self._indexed()
        return self._keys if isinstance(self._keys, Answer) else self._keys.get(key, MISSING)

    def _is_below(self) -> bool:
        """Return True when the first key has a line of its own, in which nothing but spaces stands before it."""
        above = self.start - self.column - 1
        return self.column > 0 <= above and self.text.startswith(b"\n" + b" " * self.column, above)

    def _alone(self, key: bytes) -> tuple[int, int] | Answer:
        """Return `_value` without an index of all keys, which takes longer in a long mapping that is asked for one."""
        text, end = self.text, self.end
        above, line = self.start - self.column - 1, b"\n" + b" " * self.column + key
        places = (at + len(line) for at in _places(text, line, above, end))
        found = [behind for behind in places if text[behind : behind + 1] in _BEHIND]
        if _pattern(_ODD_KEY, self.column).search(text, above, end) or len(found) > 1:
            return UNSURE
        if not found:
            return MISSING
        (behind,) = found
        if text[behind : behind + 2] not in (b": ", b":\n"):
            return UNSURE
        following = _pattern(_LINES, self.column).search(text, behind, end)
        return behind + 1, following.end() - self.column if following else end

    def _indexed(self) -> dict[bytes | None, tuple[int, int]] | Answer:
        """Return where the value of each key stands; UNSURE for a key that stands twice or may be spelled oddly."""
        lines = self._lines
        if lines is None:
            found = _pattern(_LINES, self.column).finditer(self.text, self.start, self.end)
            lines = [match.end() for match in found]
        keys: dict[bytes | None, tuple[int, int]] = {}
        text, start = self.text, self.start
        for at in (*lines, self.end + self.column):
            end = at - self.column
            colon = text.find(b":", start, end)
            keys[_key(text[start : colon + 2])] = (colon + 1, end)
            start = at
        return UNSURE if None in keys or len(keys) <= len(lines) else keys


def _places(text: bytes, word: bytes, start: int, end: int) -> Iterator[int]:
    """Yield where `word` stands in text[start:end]."""
    at = text.find(word, start, end)
    while at >= 0:
        yield at
        at = text.find(word, at + 1, end)


def root(text: bytes, start: int, end: int, indent: int, keys: Sequence[int] | None = None) -> Mapping | Answer:
    """Return the mapping of an item `- key: ...`, its dash at column `indent` (-2: a document); else UNSURE.

    `keys` is where the lines of a document that begin in column 0 do so, when that is known.
    """
    column = indent + 2
    first = start + column
    if not column and not text[first : first + 1].isalpha():
        above = _pattern(_NOTHING + rb"\n").match(text, first, end)
        first = above.end() if above else first
    if text[first : first + 1].isalpha() and (column == 0 or text.startswith(b" " * indent + b"- ", start)):
        return Mapping(text, first, end, column, keys[1:] if keys and keys[0] == first else None)
    return UNSURE


def heads(
    text: bytes, starts: Sequence[int], end: int, indent: int, lines: Sequence[int] = ()
) -> Iterator[tuple[int, str, str]]:
    """Yield (index, apiVersion, kind) of the items that begin with these keys, plainly, and have neither a second time.

    `starts` are the items' starts, `end` the end of the last one, `indent` the column of their dashes; `lines` is where
    the lines begin, in order, that may hold one of the keys or an odd one, () to have them looked for.
    """
    column = indent + 2
    if not lines:
        lines = [match.end() for match in _pattern(_HEADS, column).finditer(text, starts[0], end)]
    plain = _pattern(_HEAD, column, column + 1)
    matches = ((index, plain.match(text, start + indent)) for index, start in enumerate(starts))
    found = {match.start(1): (index, match[0]) for index, match in matches if match}
    doubtful = {
        bisect_right(starts, at) - 1
        for at in lines
        if at not in found
        and starts[0] <= at < end
        and (text[at] in UNUSUAL or text.startswith((b"apiVersion", b"kind"), at))
    }
    for index, head in found.values():
        names = _names(head) if index not in doubtful else None
        if names:
            yield index, *names


@lru_cache(maxsize=4096)
def _names(head: bytes) -> tuple[str, str] | None:
    """Return apiVersion and kind from the lines of both; None when one of them is no string."""
    version, kind = (_string(line.partition(b":")[2].decode()) for line in head.split(b"\n"))
    return (version, kind) if isinstance(version, str) and isinstance(kind, str) else None


@lru_cache(maxsize=4096)
def _string(line: str) -> str | Answer:
    """Return the string that stands behind `key:` on a line."""
    match = _SCALAR.fullmatch(line)
    if not match or not line.isprintable():  # YAML allows few characters that cannot be printed
        return UNSURE
    value = match[1]
    if value[0] in "\"'":
        return value[1:-1]
    plain = simple.scalar(value)
    return plain if type(plain) is str else UNSURE


@lru_cache(maxsize=4096)
def _pair(row: bytes) -> tuple[str, str] | None:
    """Return the key and the string of a line; None when it is anything else."""
    colon = row.find(b":")
    key = _key(row[: colon + 2])
    value = _string(row[colon + 1 :].decode()) if key and key not in _AMBIGUOUS else UNSURE
    return (key.decode(), value) if key and isinstance(value, str) else None


@lru_cache(maxsize=4096)
def _key(text: bytes) -> bytes | None:
    """Return the key in a text up to the character behind its colon; None for one that may be spelled oddly."""
    return text[:-2] if text[-2:] in (b": ", b":\n") and _KEY.fullmatch(text, 0, len(text) - 2) else None


@lru_cache(maxsize=64)
def _pattern(text: bytes, *column: int) -> re.Pattern[bytes]:
    """Return a pattern for the lines at a column; it is compiled when it is first needed."""
    return re.compile(text % column if column else text)
