"""Edits that only write scalars and add keys, row by row: of a text only the lines of the changed mappings are read.

The answer is None where that is not sure; `inplace` or `nodewise` then makes the edit, and would make the same one.
"""

from functools import reduce

from ..resource import same
from ..typed import Any
from . import emit, pieces, simple
from .blocks import NotSimple
from .changes import Change
from .lines import ABSENT, Line

__all__ = ["patched"]


def patched(text: str, item: Any, changes: list[Change], column: int) -> str | None:
    """Return a text, the item's keys in a column, changed to the data of the item; None for "not sure".

    The text was read by its lines (see `pieces`). Of it the lines of the mappings in `changes`, inner ones first, are
    read, before the edit and after it; every other line stays, and what it holds with it.
    """
    edits = list[tuple[int, int, str]]()
    for path in pieces.groups(path for path, _ in changes):
        span = pieces.span(text, path, column) if path else None
        if span is None:
            return None
        inner = [(parts[len(path) - 1 :], known) for parts, known in changes if parts[: len(path)] == path]
        try:
            edited = _edited(text[slice(*span)], inner)
        except NotSimple:
            return None
        if not same(simple.read(edited), {path[-1]: reduce(_part, path, item)}):
            return None
        edits.append((*span, edited))
    for start, end, edited in sorted(edits, reverse=True):
        text = text[:start] + edited + text[end:]
    return text


def _part(value: Any, key: str) -> Any:
    return value[key]


def _edited(text: str, changes: list[Change]) -> str:
    """Return the lines of a key with what was written to the mappings below it. Raises NotSimple."""
    lines, spans = simple.lines_of(text)
    rows, begins = text.split("\n"), [begin for begin, _ in spans]
    added = dict[int, str]()
    """What comes behind a row, by that row's number."""
    for path, known in changes:
        start, end = _mapping(lines, path)
        column, last = lines[start].column, begins[end - 1]
        written = {name for name, old in known.entries.items() if not _is_same(old, known.value[name])}
        for at in range(start, end) if written else ():
            line = lines[at]
            if line.column == column and not line.dash and line.key in written:
                rows[begins[at]] = _rewritten(rows[begins[at]], line, known.value[line.key])
        if fresh := {name: value for name, value in known.value.items() if name not in known.entries}:
            if lines[end - 1].quote in ("|", ">") or last == len(rows) - 1:
                raise NotSimple  # empty lines may belong to a block; and the last line has no line end
            added[last] = added.get(last, "") + "\n" + emit.dump(fresh, column)[:-1]
    for at, piece in added.items():
        rows[at] += piece
    return "\n".join(rows)


def _mapping(lines: list[Line], path: tuple[str, ...]) -> tuple[int, int]:
    """Return where the lines of the mapping at a path begin and end, among lines that begin with its first key."""
    start, end = 0, len(lines) - 1  # the last one stands behind the text
    for key in path:
        column = lines[start].column
        keys = (at for at in range(start, end) if lines[at].column == column and not lines[at].dash)
        head = next((at for at in keys if lines[at].key == key), end)
        start = head + 1
        end = next((at for at in range(start, end) if lines[at].column <= column), end)
        if start >= end or lines[head].value is not ABSENT or lines[start].dash:
            raise NotSimple
    return start, end


def _is_same(old: Any, new: Any) -> bool:
    """Return True for a value that stays where it is; in a collection something else was written."""
    return old is new or isinstance(old, (dict, list)) or same(old, new)


def _rewritten(row: str, line: Line, value: Any) -> str:
    """Return a row with another scalar, in its quotes and with its comment. Raises NotSimple."""
    is_word = line.value is not ABSENT and (line.value is None or type(line.value) in (str, bool, int, float))
    is_plain = line.quote not in ("|", ">") and not (line.anchor or line.alias)
    if not (is_word and is_plain) or isinstance(value, (dict, list)):
        raise NotSimple
    return row[: line.span[0]] + emit.rewritten(value, line.quote) + row[line.span[1] :]
