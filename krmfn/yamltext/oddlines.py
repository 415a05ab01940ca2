"""Read a text most of whose lines are simple by its lines, too; a parser reads the few others, each alone.

An anchor of a mapping, an escape, or brackets over lines make a text of a thousand lines no other one: the parser gets
the lines of the key or entry that begins on such a line, and nothing else. This is a third of the time that a parser
takes for a small item. Lines belong together where they are deeper than the first one, and what a parser reads of them
alone it would read of them there: whatever ends before its text is complete is refused. The answer is None where that
is not sure.
"""

import marshal
import re
from copy import deepcopy
from functools import lru_cache

from ..errors import KrmfnError
from ..resource import fingerprint
from ..typed import Any
from . import simple
from .blocks import NotSimple
from .brackets import Brackets
from .lines import ABSENT, END, Line, Parsed

__all__ = ["read"]

_MOST = 40_000
"""Characters of a text: each is two nodes at most, and an item may have `simple.MAX_NODES`."""
_MOST_KEPT = 1_000
"""Characters of lines whose data is kept."""
_DEEPEST = 50
"""Levels of what a parser reads; the lines around it have no more than a hundred."""
_NAME = "[A-Za-z0-9_-]+"
_END = r" *(?:(?<= )#.*)?"
_ANCHORED = rf"( {{0,100}})(- +)?([A-Za-z_$][A-Za-z0-9_./$-]{{0,250}}): +&({_NAME}){_END}"
_MERGE = rf"( {{0,100}})(- +)?<<: +\*({_NAME}){_END}"
_KEY = r" *(?:\"[^\"\\]*\"|'[^']*'|[^\s\-?:,\[\]{}#&*!|>'\"%@`][^\s:#]*):(?= |\Z)"
_DASH = r" *-(?= |\Z)"


def read(text: str) -> Any:
    """Return the data of a document or of list items, no key twice in a mapping; None for "not sure"."""
    if len(text) > _MOST or "\ufeff" in text or simple.has_odd_character(text):
        return None
    try:
        lines = _lines(text)
        return simple.data_of([*(_resolved(lines) if "&" in text or "*" in text else lines), END])
    except (NotSimple, KrmfnError):
        return None


def _lines(text: str) -> list[Line]:
    """Return the lines that hold something, each odd one with all that belongs to it. Raises NotSimple."""
    rows, at = text.split("\n"), 0
    lines, begins, stop = list[Line](), list[int](), len(rows)
    while at < stop:
        begin = at
        try:
            line, at = simple.line_at(rows, at)
        except NotSimple:
            line, at = _odd(text, rows, begin)
        if line is None:
            continue
        if line.key is None and not line.dash:  # it goes on with the scalar of the line before
            if not lines:
                raise NotSimple
            lines.pop()
            begin, passed = begins.pop(), at
            line, at = _odd(text, rows, begin)
            if at < passed:
                raise NotSimple
        lines.append(line)
        begins.append(begin)
    return lines


@lru_cache(maxsize=4)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # here: most texts have no odd line


def _odd(text: str, rows: list[str], at: int) -> tuple[Line, int]:
    """Return what begins on an odd line, and the line behind it. Raises NotSimple."""
    row = rows[at]
    if match := _pattern(_ANCHORED).fullmatch(row):
        if match[3] in simple.WORDS:
            raise NotSimple
        return Line(len(match[1]), len(match[2] or ""), match[3], ABSENT, "", (0, 0), match[4]), at + 1
    if match := _pattern(_MERGE).fullmatch(row):
        return Line(len(match[1]), len(match[2] or ""), "<<", ABSENT, "", (0, 0), "", match[3]), at + 1
    is_entry = bool(_pattern(_DASH).match(row))
    if not is_entry and not _pattern(_KEY).match(row):
        raise NotSimple
    stop = _stop(rows, at, is_entry)
    piece = "\n".join(rows[at:stop]) + ("\n" if stop < len(rows) else "")
    if "&" in piece and "*" in text:  # the anchor may be another line's
        raise NotSimple
    key, value = _parsed(piece, is_entry) if len(piece) > _MOST_KEPT else _kept(piece, is_entry)
    if isinstance(value, (dict, list)):
        mark = fingerprint(value)
        value = marshal.loads(mark) if mark else deepcopy(value)  # the other one is kept
    return Line(len(row) - len(row.lstrip(" ")), 2 * is_entry, key, Parsed(value), "", (0, 0)), stop


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


def _resolved(lines: list[Line]) -> list[Line]:
    """Return the lines with those of its anchor in the place of each alias. Raises NotSimple."""
    anchors: dict[str, int] = {}
    resolved: list[Line] = []
    budget = len(lines)
    for at, line in enumerate(lines):
        if line.anchor in anchors or (line.alias and line.alias not in anchors):
            raise NotSimple
        if line.anchor:
            anchors[line.anchor] = at
        if not line.alias:
            resolved.append(line)
            continue
        begin = anchors[line.alias]
        if lines[begin].value is not ABSENT:
            resolved.append(_scalar(line, lines[begin]))
            continue
        section = _section(lines, begin, at)
        _check_end(line, [*lines[at + 1 : at + 2], END][0])
        budget -= len(section)
        if budget < 0:
            raise NotSimple
        resolved += _copied(section, line, resolved)
    return resolved


def _scalar(line: Line, anchor: Line) -> Line:
    """Return the line of an alias with its scalar. Raises NotSimple."""
    if line.key == "<<" or type(anchor.value) is Parsed:
        raise NotSimple
    return line._replace(value=anchor.value)


def _section(lines: list[Line], begin: int, alias: int) -> list[Line]:
    """Return the lines of the collection that has an anchor; all of it stands before the alias. Raises NotSimple."""
    column, end = lines[begin].column + lines[begin].dash, begin + 1
    while end < len(lines) and (lines[end].column > column or (lines[end].column == column and lines[end].dash)):
        end += 1
    section = lines[begin + 1 : end]
    if not section or end > alias or any(line.alias or type(line.value) in (Brackets, Parsed) for line in section):
        raise NotSimple
    return section


def _check_end(alias: Line, following: Line) -> None:
    """Raise NotSimple where the line behind an alias would belong to the lines that take its place."""
    column = alias.column + (alias.dash if alias.key is not None else 0)
    if following.column > column or (following.column == column and following.dash and alias.key is not None):
        raise NotSimple


def _copied(section: list[Line], alias: Line, before: list[Line]) -> list[Line]:
    """Return the lines of a collection as they would stand where an alias does. Raises NotSimple."""
    column, is_list = alias.column + alias.dash, section[0].dash > 0
    if alias.key is None or alias.key == "<<":  # they are the entry, or the first keys of the mapping
        is_first = alias.dash or (bool(before) and before[-1].column + before[-1].dash < column)
        if is_list or not is_first:
            raise NotSimple
        first, *others = _shifted(section, column - section[0].column)
        return [first._replace(column=alias.column, dash=alias.dash), *others]
    return [alias._replace(value=ABSENT), *_shifted(section, column + 2 - section[0].column)]


def _shifted(lines: list[Line], columns: int) -> list[Line]:
    return [line._replace(column=line.column + columns) for line in lines]
