"""Single fields of an item's text, read without parsing it; UNSURE where only a parser can tell.

Sound up to the first quoted scalar or flow collection that runs over lines: until there a line at the column of a
mapping's keys is a key of that mapping, a comment, or a list's dash, and nothing else. What seems to be a key behind it
makes an answer UNSURE at most.
"""

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from ..typed import Any
from . import simple, split

__all__ = ["MISSING", "UNSURE", "UNUSUAL", "Answer", "Mapping", "end_of", "pattern", "root", "string"]


class Answer(Enum):
    """An answer that is not a value: MISSING when the field is not there, UNSURE when the text must be parsed."""

    MISSING = 0
    UNSURE = 1


MISSING, UNSURE = Answer.MISSING, Answer.UNSURE

_PLAIN = r"[A-Za-z0-9/_.][A-Za-z0-9/_.+@-]*(?:[: ][A-Za-z0-9/_.+@()-]+)*"
_SCALAR = re.compile(rf" *({_PLAIN}|\"[^\"\\]*\"|'[^']*')(?: *| +#.*)")
_KEY = re.compile(rb"[A-Za-z][A-Za-z0-9/_.-]{0,%d}" % simple.LONGEST_KEY)
_NESTED = rb" *(?:#[^\n]*)?\n(?: *(?:#[^\n]*)?\n)*( *)([^ \n])"
_NOTHING = rb"(?: *(?:#[^\n]*)?\n)* *(?:#[^\n]*)?"
UNUSUAL = b"'\"?!&*<"
"""First characters of a key that may spell a plain one differently: quoted, tagged, behind `? `, in a merge."""
_LINES = rb"\n%b(?=[^ \n#-])"
_END = rb"\n(?= {0,%d}[^ \t\n#])"
"""The line before one that ends a mapping, at this column or left of it."""
_ODD_ROW = rb"\n%b[^A-Za-z]"
_SHARED = 1024
"""How many lines are kept: those that items share are read again with each of them, so the others go first."""
_AMBIGUOUS = frozenset(word.encode() for word in simple.WORDS)


class Mapping:
    """A block mapping in a text: its keys begin at `start` and at column `column` of later lines, before `end`."""

    def __init__(self, text: bytes, start: int, end: int, column: int, lines: Sequence[int] | None = None) -> None:
        """Take the mapping text[start:end]; `lines` is where its keys but the first begin, when that is known."""
        self.text, self.start, self.end, self.column, self._lines = text, start, end, column, lines
        self.checked = end
        """Up to where it is known that nothing runs over lines."""
        self._keys: dict[bytes | None, tuple[int, int]] | Answer | None = None
        self._mappings: dict[bytes, Mapping | Answer] = {}

    def scalar(self, *path: bytes) -> str | Answer:
        """Return the string at a path of keys; UNSURE for anything that is not plainly a string on one line."""
        block = self.mapping(*path[:-1])
        value = block._value(path[-1]) if isinstance(block, Mapping) else block
        if isinstance(value, Answer):
            return value
        behind, stop = value
        end = self.text.find(b"\n", behind, stop)
        if end < 0 or (end + 1 < stop and not pattern(_NOTHING).fullmatch(self.text, end + 1, stop)):
            return UNSURE
        return string(self.text[behind:end].decode())

    def mapping(self, *path: bytes) -> "Mapping | Answer":
        """Return the block mapping at a path of keys; MISSING also when its value is empty."""
        block: Mapping | Answer = self
        if len(path) == 2 and self._lines is not None and (lone := self._lone(*path)):
            return lone
        for key in path:
            if not isinstance(block, Mapping):
                break
            known = block._mappings.get(key)
            if known is None:
                known = block._mappings[key] = block._below(key)
            block = known
        return block

    def strings(self, keys: tuple[bytes, ...] = ()) -> dict[str, str] | Answer:
        """Return a flat mapping of strings (labels, annotations); UNSURE for any other line or a key stated twice.

        With `keys` only the fields are read that begin with one of these words, none of which YAML reads as a value.
        """
        text, start, end = self.text, self.start, self.end
        if keys and (pattern(_ODD_ROW, self.column).search(text, start, end) or not text[start : start + 1].isalpha()):
            return UNSURE
        rows = text[start:end].removesuffix(b"\n").split(b"\n" + b" " * self.column)
        if keys:
            rows = [row for row in rows if row.startswith(keys)]
        strings = dict(filter(None, map(_pair, rows)))
        return strings if len(strings) == len(rows) else UNSURE

    def data(self) -> Any:
        """Return the whole mapping as data; UNSURE when it is not in the layout that `simple` reads."""
        data = simple.read((b" " * self.column + self.text[self.start : self.end]).decode())
        return UNSURE if data is None else data

    def _lone(self, parent: bytes, key: bytes) -> "Mapping | None":
        """Return the mapping at two keys of a document, each on a line of its own; None where more is to be read.

        That is where all columns are the usual ones, and the second key stands nowhere else below the first one. Most
        resources of a large list are so, and it takes a third of the time.
        """
        text, value = self.text, self._value(parent)
        if isinstance(value, Answer):
            return None
        behind, end = value
        at = text.find(b"\n  %b:\n    " % key, behind, end)
        start = at + len(key) + 9
        if at < 0 or not text.startswith(b"\n  ", behind) or not text[behind + 3 : behind + 4].isalpha():
            return None
        is_again = text.find(key, start, end) >= 0 or text.find(key, behind, at + 3) >= 0
        if is_again or not text[start : start + 1].isalnum() or self._has_disguise(behind, end):
            return None
        return Mapping(text, start, end_of(text, start, end, 4), 4)

    def _has_disguise(self, start: int, end: int) -> bool:
        """Return True where a key may be spelled without its characters: by an escape, a tag or an alias."""
        text = self.text
        return text.find(b"\\", start, end) >= 0 or text.find(b"!", start, end) >= 0 or text.find(b"*", start, end) >= 0

    def _below(self, key: bytes) -> "Mapping | Answer":
        value = self._value(key)
        if isinstance(value, Answer):
            return value
        nested = pattern(_NESTED).match(self.text, *value)
        if not nested:
            return MISSING if pattern(_NOTHING).fullmatch(self.text, *value) else UNSURE
        column = len(nested[1])
        if nested[2].isalnum() and column > self.column:
            return Mapping(self.text, nested.start(2), value[1], column)
        return UNSURE

    def _value(self, key: bytes) -> tuple[int, int] | Answer:
        """Return where the text behind `key:` begins and ends; UNSURE when a key stands twice or is spelled oddly."""
        if key in _AMBIGUOUS:  # to Kubernetes `yes:` is the key "true"
            return UNSURE
        if self._keys is None:
            text, start, lines = self.text, self.start, self._lines
            if lines is None:
                matches = pattern(_LINES, self.column).finditer(text, start, self.end)
                lines = [match.end() for match in matches]
            keys: dict[bytes | None, tuple[int, int]] = {}
            for at in (*lines, self.end + self.column):
                end = at - self.column
                colon = text.find(b":", start, end)
                keys[_key(text[start : colon + 2])] = (colon + 1, end)
                start = at
            self._keys = UNSURE if None in keys or len(keys) <= len(lines) else keys
        value = self._keys if isinstance(self._keys, Answer) else self._keys.get(key, MISSING)
        return value if isinstance(value, Answer) or self._is_checked(value[1]) else UNSURE

    def _is_checked(self, end: int) -> bool:
        """Return True when nothing runs over lines before `end`, where a line begins."""
        if self.checked < end and split.has_lone_lines(self.text, self.checked, end):
            self.checked = end
        return end <= self.checked


def end_of(text: bytes, start: int, end: int, column: int) -> int:
    """Return where the mapping in text[start:end] ends whose keys stand at a column: before a line left of it."""
    below = pattern(_END % (column - 1)).search(text, start, end)
    return below.start() + 1 if below else end


def root(text: bytes, start: int, end: int, indent: int, keys: Sequence[int] | None = None) -> Mapping | Answer:
    """Return the mapping of an item `- key: ...`, its dash at column `indent` (-2: a document); else UNSURE.

    `keys` is where the lines of a document that begin in column 0 do so, when that is known.
    """
    column = indent + 2
    first = start + column
    if not column and not text[first : first + 1].isalpha():
        above = pattern(_NOTHING + rb"\n").match(text, first, end)
        first = above.end() if above else first
    if text[first : first + 1].isalpha() and (column == 0 or text.startswith(b" " * indent + b"- ", start)):
        return Mapping(text, first, end, column, keys[1:] if keys and keys[0] == first else None)
    return UNSURE


@lru_cache(maxsize=_SHARED)
def string(line: str) -> str | Answer:
    """Return the string that stands behind `key:` on a line."""
    match = _SCALAR.fullmatch(line)
    if not match or not line.isprintable():  # YAML allows few characters that cannot be printed
        return UNSURE
    value = match[1]
    if value[0] in "\"'":
        return value[1:-1]
    plain = simple.scalar(value)
    return plain if type(plain) is str else UNSURE


@lru_cache(maxsize=_SHARED)
def _pair(row: bytes) -> tuple[str, str] | None:
    """Return the key and the string of a line; None when it is anything else."""
    colon = row.find(b":")
    key = _key(row[: colon + 2])
    value = string(row[colon + 1 :].decode()) if key and key not in _AMBIGUOUS else UNSURE
    return (key.decode(), value) if key and isinstance(value, str) else None


@lru_cache(maxsize=_SHARED)
def _key(text: bytes) -> bytes | None:
    """Return the key in a text up to the character behind its colon; None for one that may be spelled oddly."""
    return text[:-2] if text[-2:] in (b": ", b":\n") and _KEY.fullmatch(text, 0, len(text) - 2) else None


@lru_cache(maxsize=64)
def pattern(text: bytes, *columns: int) -> re.Pattern[bytes]:
    """Return a pattern for the lines at some columns; it is compiled when it is first needed.

    The blanks before a column are spelled out: `re` looks for a literal faster than for `{4}`.
    """
    return re.compile(text % tuple(b" " * column for column in columns) if columns else text)
