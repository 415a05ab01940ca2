"""Take an entry that turns off a rule out of a text: out of the annotation, or out of `ignore` of a functionConfig.

What becomes empty goes with it. Comments, key order and layout of all else stay, as far as the SDK keeps them.
"""

from __future__ import annotations

from functools import reduce

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place, join
from krmfn.yamltext import positions

from ..rendering.ignoring import IGNORE
from .sources import Part, Path, Source, path_at, sources


def without(text: str, place: Place, rule: str) -> Part | None:
    """Return the edit that removes the entry of a rule from the key at a place; None where there is no such entry."""
    try:
        for source in sources(text, place.line):
            item = source.item
            path = path_at(item.content.composed, place.line - source.line, place.column - 1 - source.column)
            if path and item.manifest and (part := _removed(text, source, item, path, rule)):
                return part
    except (KrmfnError, ValueError):
        return None  # another reader has more to say about it
    return None


def _removed(text: str, source: Source, item: Item, path: Path, rule: str) -> Part | None:
    """Return the edit that removes the entry at a path of a document; None where there is none."""
    if path[-2:] == ("ignore", rule):
        return _deleted(source, item, path)
    value = item[join(path)] if path[-1] == IGNORE else None
    entries = [entry for entry in str(value or "").split(";") if entry.strip()]
    others = [entry for entry in entries if entry.partition(":")[0].strip() != rule]
    if len(others) == len(entries):
        return None
    return _rewritten(text, source, item, path, ";".join(others).strip()) if others else _deleted(source, item, path)


def _rewritten(text: str, source: Source, item: Item, path: Path, value: str) -> Part:
    """Return the edit that gives a field another text, in the quotes that it has where it is written on one line."""
    node = reduce(lambda above, part: positions.children(above)[part][1], path, item.content.composed)
    quote = len(node.style or "") if node.style in ("'", '"', None) else 0
    start, end = source.offset(node.start_mark) + quote, source.offset(node.end_mark) - quote
    if text[start:end] == node.value:
        return start, end, value
    item[join(path)] = value
    return _document(source, item)


def _document(source: Source, item: Item) -> Part:
    """Return the edit that puts an edited document in the place of the one that was read."""
    edited = item.text.decode()
    edited = edited if source.text.endswith("\n") else edited.removesuffix("\n")
    return source.start, source.start + len(source.indented(source.text)), source.indented(edited)


def _deleted(source: Source, item: Item, path: Path) -> Part:
    """Return the edit that removes a field, and the mapping around it where that is empty then."""
    del item[join(path)]
    above = path[:-1]
    if len(above) > 1 and item[join(above)] == {}:
        del item[join(above)]
    return _document(source, item)
