"""The pieces of a template with variables, split as a8m/envsubst v1.4.3 splits them.

A state machine with the library's states, since the odd results (`${A:-${B}}` breaks, `$_` is text) come from them. A
state looks at one character and says which pieces end there, where the cursor stands then, and which state follows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import NamedTuple

UNCLOSED = "closing brace expected"


class Piece(NamedTuple):
    """A token; kind is `text`, `variable`, `open`, `close`, `end`, `error`, or one of the operators themselves."""

    kind: str
    text: str


class Cursor(NamedTuple):
    """The position of the reader: the current piece begins at `start`, the one before it at `last`."""

    at: int = 0
    start: int = 0
    last: int = 0
    depth: int = 0


Step = tuple[str, Cursor, list[Piece]]


def pieces(template: str) -> list[Piece]:
    """Return all pieces of a template; the last one is `end`, or `error` when a brace is not closed."""
    state, cursor, out = "text", Cursor(), list[Piece]()
    while state not in ("end", "error"):
        state, cursor, cut = _STATES[state](template, cursor)
        out += cut
    return [*out, Piece(state, UNCLOSED if state == "error" else "")]


def _text(template: str, cursor: Cursor) -> Step:
    """Read up to the next `$` that begins something."""
    at = template.find("$", cursor.at)
    if at < 0:
        rest = template[cursor.start :]
        return "end", cursor, [Piece("text", rest)] if rest else []
    cut, cursor = _cut(template, cursor._replace(at=at), "text") if at > cursor.start else ([], cursor)
    after = template[at + 1 : at + 2]
    cursor = cursor._replace(at=at + 1)
    if after == "$":
        dollar, cursor = _cut(template, cursor._replace(start=at + 1, at=at + 2), "text")
        return "text", cursor, cut + dollar
    if after == "{":
        opening, cursor = _cut(template, cursor._replace(at=at + 2, depth=cursor.depth + 1), "open")
        return "operator", cursor, cut + opening
    return "variable" if _is_word(after) else "text", cursor, cut


def _variable(template: str, cursor: Cursor) -> Step:
    """Read the rest of a name; a lone underscore is text."""
    at = cursor.at
    while _is_word(template[at : at + 1]):
        at += 1
    cursor = cursor._replace(at=at)
    if template[cursor.start : at] in ("_", "$_"):
        return "text", cursor, []
    cut, cursor = _cut(template, cursor, "variable")
    return "operator" if cursor.depth > 0 else "text", cursor, cut


def _operator(template: str, cursor: Cursor) -> Step:
    """Read after `${` or its name: the name, the end, or what to do when the variable is not set."""
    char = template[cursor.at : cursor.at + 1]
    if char in ("}", "", "\r", "\n"):
        return _close(template, cursor, char)
    cursor = cursor._replace(at=cursor.at + 1)
    if _is_word(char) and template.startswith("${", cursor.last):
        return "variable", cursor, []
    if char == ":":
        cursor = cursor._replace(at=min(cursor.at + 1, len(template)))
    operator = template[cursor.at - 1 : cursor.at] if char == ":" else char
    if operator not in ("+", "-", "="):
        return "default", cursor, []
    cut, cursor = _cut(template, cursor, char + operator if char == ":" else char)
    return "default", cursor, cut


def _default(template: str, cursor: Cursor) -> Step:
    """Read after an operator: text, character by character, or a variable, up to the end."""
    char = template[cursor.at : cursor.at + 1]
    if char in ("}", "", "\r", "\n"):
        return _close(template, cursor, char)
    cursor = cursor._replace(at=cursor.at + 1)
    if char == "$" or (_is_word(char) and template.startswith("${", cursor.last)):
        return "variable", cursor, []
    cut, cursor = _cut(template, cursor, "text")
    return "default", cursor, cut


def _close(template: str, cursor: Cursor, char: str) -> Step:
    if char != "}":
        return "error", cursor, []
    cut, cursor = _cut(template, cursor._replace(at=cursor.at + 1, depth=cursor.depth - 1), "close")
    return "text", cursor, cut


def _cut(template: str, cursor: Cursor, kind: str) -> tuple[list[Piece], Cursor]:
    """End the current piece."""
    piece = Piece(kind, template[cursor.start : cursor.at])
    return [piece], cursor._replace(last=cursor.start, start=cursor.at)


def _is_word(char: str) -> bool:
    return char == "_" or (char != "" and (unicodedata.category(char)[0] == "L" or unicodedata.category(char) == "Nd"))


_STATES: dict[str, Callable[[str, Cursor], Step]] = {
    "text": _text,
    "variable": _variable,
    "operator": _operator,
    "default": _default,
}
