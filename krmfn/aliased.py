"""Mappings and lists whose alias went from an item and that have come to another one.

An alias does not move, so neither does the comment beside it: such an edit is refused, as within an item.
"""

from collections.abc import Iterable, Iterator

from . import departures
from .item import Item
from .resource import Manifest
from .spelling import node_at, tree_of
from .strays import Parts, Stray
from .typed import Any
from .yamltext import align, positions, remarks
from .yamltext.aliases import Aliases

__all__ = ["refuse"]


def refuse(losers: Iterable[Item], getters: Iterable[Item]) -> None:
    """Raise Refused where a mapping or list has come whose alias, with a comment beside it, went from an item."""
    for item in losers:
        if b"*" not in item.content.text and not item.content.departures:
            continue
        for departure in departures.all_of(item, set()):
            for parts, value, comment in _commented(departure, item.indent >= 0):
                if any(_has_come(getter, align.text_of(value)) for getter in getters):
                    problem = f"the comment {comment[:40]!r} is beside an alias, which stays; clear it first"
                    raise item.at(parts).failure(f"cannot move: {problem}")


def _commented(departure: departures.Departure, is_item: bool) -> Iterator[tuple[Parts, Any, str]]:
    """Yield the aliases of mappings and lists in what went, with their paths, and the comment that each has."""
    source, text = departure.source, departure.text
    if not all(mark in text for mark in "&*#"):
        return
    root = tree_of(text, is_item)
    aliases, stack = Aliases(text, root), [(stray.parts, stray.value) for stray in departure.strays]
    while stack:
        parts, value = stack.pop()
        holder = node_at(root, parts[:-1]) if isinstance(value, (dict, list)) else None
        known = positions.children(holder) if holder is not None and holder.id != "scalar" else {}
        if parts[-1] not in known:
            continue
        if aliases.of(holder, parts[-1], known[parts[-1]]):
            comment = remarks.comment(text, root, parts) or remarks.head(text, root, parts)
            yield from [(parts, value, f"# {comment}")] if comment else []
        elif id(value) in source.lists:
            entries = source.lists[id(value)].entries
            pairs = entries.items() if isinstance(entries, dict) else enumerate(entries)
            stack += [((*parts, str(name)), part) for name, part in pairs]


def _has_come(item: Item, text: str) -> bool:
    """Return True where an item has an equal mapping or list at a place where it was not."""
    first, stack = item.content.first, list[tuple[Any, Any]]([(None, item.content.manifest)])
    while stack:
        holder, value = stack.pop()
        is_equal = isinstance(value, (dict, list)) and align.text_of(value) == text
        if is_equal and not (first and departures.was_there(first, _place(item, holder, value))):
            return True
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        stack += [(value, part) for part in parts]
    return False


def _place(item: Item, holder: Any, value: Manifest) -> Stray:
    """Return the place of a value in the mapping or list that holds it."""
    entries = enumerate(holder) if isinstance(holder, list) else (holder or {}).items()
    name = next((str(name) for name, part in entries if part is value), "")
    return Stray(item, (name,), value, holder=id(holder))
