"""How people write in brackets: what comes is written as its neighbours are, in JSON as JSON."""

import re
from collections.abc import Iterable

from ..typed import Any, NamedTuple
from . import emit
from .simple import PLAIN, Timestamp, scalar

__all__ = ["USUAL", "Manner", "of"]

_IN_FLOW = r"[^,\[\]{}#:]*"
_COLON = r":( *)(?=[^\s#&*!])"


class Manner(NamedTuple):
    """How keys and strings are quoted, and what is behind a colon and a comma."""

    key: str
    """The quote, "" for none."""
    text: str
    colon: str
    gap: str

    def name(self, key: str) -> str:
        """Return a key."""
        return self._string(key, self.key)

    def value(self, data: Any, quote: str = "") -> str:
        """Return a value; `quote`: the one that a string had at its place."""
        if isinstance(data, dict):
            return "{" + f",{self.gap}".join(self.pair(key, part) for key, part in data.items()) + "}"
        if isinstance(data, list):
            return "[" + f",{self.gap}".join(map(self.value, data)) + "]"
        if type(data) is str:
            return self._string(data, quote or self.text)
        is_number = isinstance(data, float) and self.key != '"'
        return emit.dump(data).rstrip("\n") if is_number or type(data) is Timestamp else emit.dump_json(data)

    def pair(self, key: str, value: Any) -> str:
        """Return a key with its value."""
        return f"{self.name(key)}{self.colon}{self.value(value)}"

    def _string(self, text: str, quote: str) -> str:
        if quote == "'":
            return emit.rewritten(text, quote)
        return emit.quoted(text) if not quote and re.fullmatch(_IN_FLOW, text) else emit.dump_json(text)


USUAL = Manner("", "", ": ", " ")
"""How most people write."""


def of(text: str, parts: Iterable[tuple[Any, Any]], gap: str | None, outer: Manner) -> Manner:
    """Return how a collection in brackets is written, by its keys (None in a list) and values.

    `gap`: what is behind its first comma, None without one; `outer`: how the collection or text around it is written.
    """
    pairs = [*parts]
    key_quotes = {_quote(text, key) for key, _ in pairs if key is not None}
    text_quotes = {_quote(text, value) for _, value in pairs if value.id == "scalar" and _is_string(value)}
    key_quote = key_quotes.pop() if len(key_quotes) == 1 else "" if key_quotes else outer.key
    is_list = any(key is None for key, _ in pairs)
    if is_list and len(text_quotes) == 1:
        text_quote = text_quotes.pop()
    elif key_quote == '"':  # as JSON has it
        text_quote = key_quote
    else:
        text_quote = outer.text if is_list or not pairs else ""
    colon = _colon(text, pairs, outer) if key_quote == '"' else ": "
    usual_gap = "" if colon == ":" else outer.gap
    return Manner(key_quote, text_quote, colon, usual_gap if gap is None else gap)


def _colon(text: str, pairs: list[tuple[Any, Any]], outer: Manner) -> str:
    """Return the colon behind the first key, with its blanks; that of the text around where there is none."""
    match = re.compile(_COLON).match(text, pairs[0][0].end_mark.index) if pairs and pairs[0][0] is not None else None
    return match[0] if match else outer.colon


def _quote(text: str, node: Any) -> str:
    """Return the quote of a scalar; "" for none, and for one behind an anchor or tag."""
    mark = text[node.start_mark.index : node.start_mark.index + 1]
    return mark if mark in ("'", '"') else ""


def _is_string(node: Any) -> bool:
    return bool(node.style) or (node.tag == PLAIN and isinstance(node.value, str) and type(scalar(node.value)) is str)
