"""Edits in brackets, on one line or over lines: a splice that leaves every other character as it is.

Anchors and aliases that are not touched stay, and what comes is written as its neighbours are (see `manners`).
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from ..resource import same
from ..typed import Any, NamedTuple
from . import inline, losses, manners, moves, units
from .align import match_entries
from .manners import Manner
from .positions import key_name
from .simple import is_merge

__all__ = ["are_edited", "edited"]

_COLON, _MERGE = r"\s*:", "<<"
_UNUSUAL = "cannot be written: what is in its brackets has an unusual form; write it as [a, b] or {a: b} first"
_Place = tuple[Any, Any]
"""A collection of the new data, and a key or an index in it."""


class _Part(NamedTuple):
    """An entry of a list, or a key with its value."""

    key: Any
    """None in a list."""
    value: Any
    places: tuple[int, int, int, int]
    """Where the key begins and ends, and the value; without a value that is behind the colon."""
    is_alias: bool
    """Whether the value is an alias: its node stands elsewhere."""

    @property
    def span(self) -> tuple[int, int]:
        """Return where it begins and ends."""
        return self.places[0], self.places[3]


def are_edited(text: str, node: Any, old: Any) -> bool:
    """Return True for brackets that are edited; empty ones are written anew, unless an anchor or a comment is there."""
    if node.id == "scalar" or not node.flow_style:
        return False
    return bool(old) or bool(losses.anchor(text, node)) or "#" in text[slice(*_marks(node))]


def edited(walk: Any, node: Any, old: Any, new: Any, outer: Manner = manners.USUAL) -> str:
    """Return a value in brackets, or one in these, with other data; `outer`: how that around it is written.

    Raises WouldLose where an anchor that an alias needs, or a comment, would be lost.
    """
    if same(old, new):
        return str(walk.text[slice(*_marks(node))])
    if id(node) in walk.shared:
        walk.check_anchors(node)
    origin = walk.known(new)
    if origin and origin.node is not node:  # it takes the place of what is here
        moves.check_brackets(walk, new)
    if node.id == "scalar" or type(old) is not type(new):
        moves.check_brackets(walk, new)
        name = losses.anchor(walk.text, node)
        quote = node.style if node.id == "scalar" and node.style in ("'", '"') else ""
        return (f"&{name} " if name else "") + outer.value(new, quote)
    return _Brackets(walk, node, outer).with_data(old, new)


class _Brackets:
    """A list or mapping in brackets."""

    def __init__(self, walk: Any, node: Any, outer: Manner) -> None:
        """Take the walk over the text, the node, and how that around it is written."""
        self.walk, self.node, self.parts = walk, node, [*_parts(walk, node)]
        self.span = _marks(node)
        self.units = units.read(walk.text, self.span, [part.span for part in self.parts])
        known = [(part.key, part.value) for part in self.parts if not part.is_alias]
        self.manner = manners.of(walk.text, known, self.gap, outer)

    @property
    def gap(self) -> str | None:
        """Return what is behind the first comma on a line; None without one."""
        entries = self.units.entries[1:2] if self.units else []
        return next((unit.lead for unit in entries if not unit.lead.strip(" ")), None)

    def with_data(self, old: Any, new: Any) -> str:
        """Return the text with other data. Raises WouldLose."""
        entries = [*(self.entries(old, new) if isinstance(new, list) else self.pairs(old, new))]
        numbers = [number for number, _ in entries]
        if numbers == [*range(len(self.parts))]:  # nothing comes, goes or moves
            spans = [(self.span[0],) * 2, *(part.span for part in self.parts), (self.span[1],) * 2]
            between = [self.walk.text[first[1] : second[0]] for first, second in pairwise(spans)]
            return str(between[0]) + "".join(
                piece + rest for (_, piece), rest in zip(entries, between[1:], strict=True)
            )
        if self.units is None:
            raise losses.WouldLose(_UNUSUAL, tuple(self.walk.path))
        for number in {*range(len(self.parts))} - {*numbers}:
            self.check_gone(number)
        out = units.joined(self.units, entries, self.manner.gap)
        if out is None:
            words = next(filter(None, (unit.comment for unit in self.units.entries)))
            problem = f"entries change places, and one has the comment {words[:40]!r}"
            raise losses.WouldLose(f"cannot be written: {problem}; write each on its own line", tuple(self.walk.path))
        return out

    def entries(self, old: list[Any], new: list[Any]) -> Iterator[tuple[int, str]]:
        """Yield the entries of the new list as texts, each with its number in the text; -1 for what comes."""
        for at, match in enumerate(match_entries(old, new, self.walk.lists)):
            if match is None:
                yield -1, self.fresh((new, at))
            else:
                yield match, self.value(self.parts[match], old[match], (new, at))

    def pairs(self, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[int, str]]:
        """Yield the same of a mapping: its keys stay in their order, and others come behind them."""
        text, names = self.walk.text, [self.name(part) for part in self.parts]
        is_known = len({*names}) == len(names) and old.keys() >= {*names} - {_MERGE}
        if not is_known:
            raise losses.WouldLose(_UNUSUAL, tuple(self.walk.path))
        inline.check_keys(self.node, new, self.walk.path)
        renamed = inline.respelled(self.node, new) | inline.renamed({*names}, new, self.walk.lists)
        kept = {renamed.get(name, name) for name in names} | self.inherited({*names}, old, new)
        for number, (name, part) in enumerate(zip(names, self.parts, strict=True)):
            written = renamed.get(name, name)
            start, stop, value, end = part.places
            if name == _MERGE:
                yield number, text[start:end]
            elif written in new:
                key = text[start:stop] if written == name else self.manner.name(written)
                colon = text[stop:value]
                is_tight = colon.endswith(":") and value < end and key[-1] not in ("'", '"')  # it was in quotes
                yield number, f"{key}{colon}{' ' * is_tight}{self.value(part, old[name], (new, written))}"
        for key in new:
            if key not in kept:
                yield -1, f"{self.manner.name(key)}{self.manner.colon}{self.fresh((new, key))}"

    def name(self, part: _Part) -> str:
        """Return a key as Kubernetes reads it."""
        return _MERGE if is_merge(part.key) else key_name(part.key)

    def inherited(self, names: set[str], old: dict[str, Any], new: dict[str, Any]) -> set[str]:
        """Return what `<<` brings, and is not written over. Raises WouldLose where some of that goes."""
        merged = old.keys() - names
        for key in merged - new.keys():
            path = (*self.walk.path, key)
            raise losses.WouldLose("cannot be deleted: `<<` brings it; write the values out there", path)
        return {key for key in merged if same(old[key], new[key])}

    def fresh(self, place: _Place) -> str:
        """Return a value that has come. Raises WouldLose for comments of it, which have no line."""
        value = place[0][place[1]]
        moves.check_brackets(self.walk, value, self.walk.origin(*place))
        return self.manner.value(value)

    def value(self, part: _Part, old: Any, place: _Place) -> str:
        """Return the text of a value that stays, with its edits."""
        text, (_, stop, start, end), new = self.walk.text, part.places, place[0][place[1]]
        if same(old, new):
            return str(text[start:end])
        self.walk.path.append(str(place[1]))
        if part.is_alias:  # it is written out
            piece = self.fresh(place)
        elif start == end:  # it comes where nothing was, behind a colon or without one
            piece = (" " if end > stop else ": ") + self.fresh(place)
        else:
            if origin := self.walk.rebuilt.get((id(place[0]), place[1])):
                moves.check_brackets(self.walk, new, origin)
            piece = edited(self.walk, part.value, old, new, self.manner)
        self.walk.path.pop()
        return piece

    def check_gone(self, number: int) -> None:
        """Raise WouldLose for what goes and has an anchor that an alias needs."""
        part = self.parts[number]
        self.walk.path.append(str(number) if part.key is None else self.name(part))
        self.walk.check_anchors(*filter(None, (part.key, None if part.is_alias else part.value)))
        self.walk.path.pop()


def _parts(walk: Any, node: Any) -> Iterator[_Part]:
    """Yield the parts of a collection with their places."""
    for number, entry in enumerate(node.value):
        if not isinstance(entry, tuple):
            alias = walk.rows.alias(node, number)
            start, end = alias or _marks(entry)
            yield _Part(None, entry, (start, start, start, end), bool(alias))
            continue
        key, value = entry
        start, stop = walk.rows.alias(node, 2 * number) or _marks(key)
        alias = walk.rows.alias(node, 2 * number + 1)
        begin, end = alias or _marks(value)
        if begin == end:  # nothing is behind the colon, or there is none
            colon = re.compile(_COLON).match(walk.text, stop)
            begin = end = colon.end() if colon else stop
        yield _Part(key, value, (start, stop, begin, end), bool(alias))


def _marks(node: Any) -> tuple[int, int]:
    return int(node.start_mark.index), int(node.end_mark.index)
