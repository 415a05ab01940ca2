"""Aliases of collections by lines: in the place of each stand the lines of its anchor (see `oddlines`)."""

from .blocks import NotSimple
from .brackets import Brackets
from .lines import ABSENT, END, Line, Parsed

__all__ = ["resolved"]


def resolved(lines: list[Line]) -> list[Line]:
    """Return the lines with those of its anchor in the place of each alias. Raises NotSimple."""
    anchors: dict[str, int] = {}
    resolved: list[Line] = []
    budget, stop = len(lines), 0
    for at, line in [(at, line) for at, line in enumerate(lines) if line.anchor or line.alias]:
        if line.anchor in anchors or (line.alias and line.alias not in anchors):
            raise NotSimple
        if line.anchor:
            anchors[line.anchor] = at
        if not line.alias:
            continue
        resolved += lines[stop:at]
        stop = at + 1
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
    return resolved + lines[stop:]


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
    return [Line(line.column + columns, *line[1:]) for line in lines]
