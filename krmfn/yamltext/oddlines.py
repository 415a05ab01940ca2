"""Read a text most of whose lines are simple by its lines, too; a parser reads the few others, each alone.

An anchor of a mapping, an escape, or brackets over lines make a text of a thousand lines no other one: the parser gets
the lines of the key or entry that begins on such a line, and nothing else. This is a third of the time that a parser
takes for a small item. Lines belong together where they are deeper than the first one, and what a parser reads of them
alone it would read of them there: whatever ends before its text is complete is refused. The answer is None where that
is not sure.
"""

import marshal
import re
from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache

from ..errors import KrmfnError
from ..resource import fingerprint
from ..typed import Any
from . import merged, simple
from .blocks import NotSimple
from .lines import ABSENT, END, Line, Parsed

__all__ = ["ends_alone", "read"]

_MOST = 40_000
"""Characters of a text: each is two nodes at most, and an item may have `simple.MAX_NODES`."""
_MOST_KEPT = 1_000
"""Characters of lines whose data is kept."""
_MOST_READ = 4
"""How often the rows of a text are read for what stands within what runs over lines, before another reader is asked."""
_DEEPEST = 50
"""Levels of what a parser reads; the lines around it have no more than a hundred."""
_OVER = Line(-1, 0, None, ABSENT, "", (0, 0))
_NAME = "[A-Za-z0-9_-]+"
_END = r" *(?:(?<= )#.*)?"
_ANCHORED = rf"( {{0,100}})(- +)?([A-Za-z_$][A-Za-z0-9_./$-]{{0,250}}): +&({_NAME}){_END}"
_MERGE = rf"( {{0,100}})(- +)?<<: +\*({_NAME}){_END}"
_KEY = r" *(?:\"[^\"\\]*\"|'[^']*'|[^\s\-?:,\[\]{}#&*!|>'\"%@`][^\s:#]*):(?= |\Z)"
_DASH = r" *-(?= |\Z)"


def read(text: str) -> Any:
    """Return the data of a document or of list items, no key twice in a mapping; None for "not sure"."""
    if _is_strange(text):
        return None
    try:
        lines = _lines(text)
        return simple.data_of([*(merged.resolved(lines) if "&" in text or "*" in text else lines), END])
    except (NotSimple, KrmfnError):
        return None


def ends_alone(text: str, begins: Iterable[int]) -> bool:
    """Return True when what begins on some rows of a text ends with the lines of its key or entry; False is no proof.

    All rows on which something begins that runs over lines must be given: where it seems so, and the row is text of a
    block or goes on with what began before, nothing begins.
    """
    if _is_strange(text):
        return False
    rows, number = text.split("\n"), 0
    try:
        for at in begins:
            _, stop = _odd(text, rows, at)
            number += stop - at
            if number > _MOST_READ * len(rows):
                return False
    except (NotSimple, KrmfnError):
        return False
    return True


def _is_strange(text: str) -> bool:
    """Return True for a text that is too long, or has a character that is not read here; none of these is printable."""
    is_printable = text.replace("\n", "").isprintable()
    return len(text) > _MOST or (not is_printable and ("\ufeff" in text or simple.has_odd_character(text)))


def _lines(text: str) -> list[Line]:
    """Return the lines that hold something, each odd one with all that belongs to it. Raises NotSimple."""
    rows, at = text.split("\n"), 0
    lines, begins, stop = list[Line](), list[int](), len(rows)
    while at < stop:
        begin, line = at, _known(rows[at])
        if line is not _OVER:
            at += 1
        else:
            line, at = _over_lines(text, rows, begin)
            if line and line.key is None and not line.dash:  # it goes on with the scalar of the line before
                if not lines:
                    raise NotSimple
                lines.pop()
                begin, passed = begins.pop(), at
                line, at = _odd(text, rows, begin)
                if at < passed:
                    raise NotSimple
        if line:
            lines.append(line)
            begins.append(begin)
    return lines


@lru_cache(maxsize=4096)
def _known(row: str) -> Line | None:
    """Return what stands on a line, None for a comment or nothing; _OVER where it runs over lines, or may."""
    try:
        line = simple.line_of(row)
    except NotSimple:
        return _OVER
    return _OVER if line and (line.quote in ("|", ">") or (line.key is None and not line.dash)) else line


def _over_lines(text: str, rows: list[str], at: int) -> tuple[Line | None, int]:
    """Return what begins on a line that is _OVER, and the line behind it. Raises NotSimple."""
    if not _with_name(rows[at]):
        with suppress(NotSimple):  # most blocks need no parser
            return simple.line_at(rows, at)
    return _odd(text, rows, at)


@lru_cache(maxsize=4)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # here: most texts have no odd line


def _odd(text: str, rows: list[str], at: int) -> tuple[Line, int]:
    """Return what begins on an odd line, and the line behind it. Raises NotSimple."""
    row = rows[at]
    if line := _with_name(row):
        return line, at + 1
    is_entry = bool(_pattern(_DASH).match(row))
    if not is_entry and not _pattern(_KEY).match(row):
        raise NotSimple
    stop = _stop(rows, at, is_entry)
    piece = "\n".join(rows[at:stop]) + ("\n" if stop < len(rows) else "")
    if "&" in piece and "*" in text:  # the anchor may be another line's
        raise NotSimple
    key, value = _parsed(piece, is_entry) if len(piece) > _MOST_KEPT else _kept(piece, is_entry)
    if key is not None and _is_twice_as_written(text, row, key):
        raise NotSimple
    if isinstance(value, (dict, list)):
        mark = fingerprint(value)
        value = marshal.loads(mark) if mark else deepcopy(value)  # the other one is kept
    return Line(len(row) - len(row.lstrip(" ")), 2 * is_entry, key, Parsed(value), "", (0, 0)), stop


def _is_twice_as_written(text: str, row: str, key: str) -> bool:
    """Return True when a plain key that Kubernetes reads otherwise may stand in quotes, too.

    `y` is the key "true" to Kubernetes, so it sees two keys in `y` and `"y"`; go-yaml v3 sees one key twice.
    """
    written = row.lstrip(" ").partition(":")[0]
    return written != key and written[0] not in "\"'" and (f'"{written}"' in text or f"'{written}'" in text)


@lru_cache(maxsize=1024)
def _with_name(row: str) -> Line | None:
    """Return the anchor of a collection, or the alias that is merged, on a line; None for another. Raises NotSimple."""
    if match := _pattern(_ANCHORED).fullmatch(row):
        if match[3] in simple.WORDS:
            raise NotSimple
        return Line(len(match[1]), len(match[2] or ""), match[3], ABSENT, "", (0, 0), match[4])
    if match := _pattern(_MERGE).fullmatch(row):
        return Line(len(match[1]), len(match[2] or ""), "<<", ABSENT, "", (0, 0), "", match[3])
    return None


def _stop(rows: list[str], at: int, is_entry: bool) -> int:
    """Return where the lines end that belong to a key or an entry: they are deeper.

    In the column of a key its list may stand, and the end of its brackets.
    """
    column, stop = len(rows[at]) - len(rows[at].lstrip(" ")), at + 1
    while stop < len(rows):
        content = rows[stop].lstrip(" ")
        indent = len(rows[stop]) - len(content)
        is_part = content[:2] == "- " or content in ("-", "]", "}")  # or an end of brackets, as many people write it
        if content and indent <= column and not (is_part and indent == column and not is_entry):
            break
        stop += 1
    return stop


@lru_cache(maxsize=1024)
def _kept(piece: str, is_entry: bool) -> tuple[str | None, Any]:
    """Return the same as `_parsed`: many items share such lines, and each is read twice."""
    return _parsed(piece, is_entry)


def _parsed(piece: str, is_entry: bool) -> tuple[str | None, Any]:
    """Return the only key, None for an entry, and the value of some lines. Raises NotSimple and KrmfnError."""
    from . import load, positions, values

    root: Any = load.compose(piece.encode())
    is_kind = root is not None and root.id == ("sequence" if is_entry else "mapping")
    if not is_kind or root.flow_style or len(root.value) != 1:
        raise NotSimple
    if not is_entry and simple.is_merge(root.value[0][0]):
        raise NotSimple
    data = values.build(root)
    if _levels(data) > _DEEPEST or positions.duplicate_keys(root):
        raise NotSimple
    return (None, data[0]) if is_entry else next(iter(data.items()))


def _levels(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_levels, parts), default=0)
