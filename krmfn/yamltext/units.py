"""The entries of a list or mapping in brackets, each with the blanks, comments and the comma that belong to it.

What comes and goes is put in and taken out between them; every other character stays.
"""

import re

from ..typed import NamedTuple
from .beside import BLANK, COMMENT

__all__ = ["PROPERTIES", "Unit", "Units", "joined", "read"]

PROPERTIES = r"(?:[&!][^\s,\[\]{}]*(?:\s+|(?=[\[{])))*"
"""Anchor and tag of a value."""
_LAST_COMMENT = r"\n( *)#[^\n]*\Z"


class Unit(NamedTuple):
    """An entry."""

    lead: str
    """What stands before it, from the comma of the one before, or the bracket, on: comments above it, line breaks."""
    text: str
    comma: str
    """What stands between it and its comma, and that; "" for a last one without a comma."""
    tail: str
    """The comment behind it, on its line."""

    @property
    def is_first_of_line(self) -> bool:
        """Return True where a line break is before it."""
        return "\n" in self.lead

    @property
    def blank(self) -> str:
        """Return what is before it without comments: of line breaks the last."""
        return "\n" + self.lead.rpartition("\n")[2] if self.is_first_of_line else self.lead

    @property
    def comment(self) -> str:
        """Return the first comment that belongs to it; "" for none."""
        _, mark, rest = (self.lead + self.comma + self.tail).partition("#")
        return mark + rest.partition("\n")[0]


class Units(NamedTuple):
    """The text of a collection in brackets."""

    head: str
    """Anchor, tag and bracket, and the comment on that line."""
    entries: list[Unit]
    foot: str
    """What is behind the last entry, with the bracket."""
    column: int
    """That of the first entry, or of the bracket."""


def read(text: str, span: tuple[int, int], cores: list[tuple[int, int]]) -> Units | None:
    """Return what stands between two places; `cores`: where the entries are there. None for an unusual text."""
    first = re.compile(PROPERTIES + r"[\[{]").match(text, *span)
    if not first:
        return None
    comment = re.compile(COMMENT).match(text, first.end())
    head = text[span[0] : comment.end() if comment else first.end()]
    entries, at, has_comma = list[Unit](), span[0] + len(head), True
    for start, end in cores:
        lead = text[at:start]
        comma = re.compile(BLANK + ",").match(text, end, span[1])
        if not has_comma or not re.fullmatch(BLANK, lead):
            return None
        at, has_comma = (comma.end(), True) if comma else (end, False)
        tail = re.compile(COMMENT).match(text, at, span[1])
        entries.append(Unit(lead, text[start:end], comma[0] if comma else "", tail[0] if tail else ""))
        at = tail.end() if tail else at
    foot = text[at : span[1]]
    if not re.fullmatch(BLANK + r"[\]}]", foot):
        return None
    place = cores[0][0] if cores else first.end() - 1
    return Units(head, entries, foot, place - text.rfind("\n", 0, place) - 1)


def joined(units: Units, entries: list[tuple[int, str]], gap: str) -> str | None:
    """Return the text with other entries, each with its number among the old ones, -1 for a new one; `gap` is between.

    None where some change places that have comments, and not all stand on lines of their own.
    """
    old, is_over_lines = units.entries, all(unit.is_first_of_line for unit in units.entries)
    kept = [number for number, _ in entries if number >= 0]
    if kept != sorted(kept) and not is_over_lines:
        if any(unit.comment for unit in old):
            return None
        places = iter(sorted(kept))  # each takes the place of another one, and that one's blanks
        entries = [(next(places) if number >= 0 else -1, text) for number, text in entries]
    if not entries and "#" not in units.head + units.foot:
        return units.head + units.foot[-1]
    units = units if old else _opened(units)
    pieces, rest = [units.head], units.head
    is_ended = bool(old) and bool(old[-1].comma)
    for at, ((number, text), lead) in enumerate(zip(entries, _leads(units, entries, gap), strict=True)):
        unit = old[number] if number >= 0 else Unit("", "", "", "")
        is_last = at == len(entries) - 1 and not is_ended
        pieces += [_below(rest, lead, units.column), text]
        blank = " " if text.endswith(":") else ""  # else the colon of a key without a value is read as a part of it
        is_kept = "\n" in unit.comma and "#" in unit.comma + unit.tail  # the comment belongs to it by its comma
        ending = unit.comma if is_kept else unit.comma and (unit.comma[:-1].rstrip(" ") or blank)
        rest = (ending if is_last else unit.comma or f"{blank},") + unit.tail
        pieces.append(rest)
    return "".join([*pieces, _below(rest, units.foot, units.column)])


def _opened(units: Units) -> Units:
    """Return empty brackets as they are around something: comments stay above it."""
    rows, line_end, last = units.foot[:-1].rpartition("\n")
    return units._replace(head=units.head + rows, foot=line_end + last + units.foot[-1])


def _below(rest: str, blank: str, column: int) -> str:
    """Return what is behind an entry, on a new line where a comment ends that of the entry, `rest`."""
    return f"\n{' ' * column}{blank.lstrip(' ')}" if "#" in rest.rpartition("\n")[2] and "\n" not in blank else blank


def _leads(units: Units, entries: list[tuple[int, str]], gap: str) -> list[str]:
    """Return the text before each entry."""
    kept, leads = {number for number, _ in entries if number >= 0}, list[str]()
    for at, (number, _) in enumerate(entries):
        if number >= 0:
            leads.append(_old_lead(units.entries, number, kept, gap if at else None))
        elif at:
            last = leads[-1].rpartition("\n")
            leads.append("\n" + last[2] if last[1] else gap if at == 1 else last[2])
        elif units.entries:
            leads.append(units.entries[0].blank)
        else:
            above = re.search(_LAST_COMMENT, units.head)
            inner = units.foot[:-1]
            leads.append(f"\n{above[1]}" if above else inner + "  " if "\n" in inner else inner)
    return leads


def _old_lead(old: list[Unit], number: int, kept: set[int], gap: str | None) -> str:
    """Return the text before an entry that stays: where those before it on its line go, what is before these.

    `gap`: what is between two on a line; None for the first one.
    """
    unit = old[number]
    if gap is None and not old[0].is_first_of_line and "#" not in unit.lead:
        return old[0].lead
    if unit.is_first_of_line or number - 1 in kept:
        return unit.lead
    if not number and gap is not None:  # something has come before it
        return old[1].lead if len(old) > 1 and not old[1].is_first_of_line else gap
    while number and number - 1 not in kept and not old[number].is_first_of_line:
        number -= 1
    return old[number].blank if gap is None or old[number].is_first_of_line else unit.lead
