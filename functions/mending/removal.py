"""Take an entry that turns off a rule out of a text: out of the annotation, or out of `ignore` of a functionConfig.

What becomes empty goes with it. Comments, key order and layout of all else stay, as far as the SDK keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Place, join
from krmfn.typed import Any
from krmfn.yamltext import documents, positions

from ..rendering.ignoring import IGNORE

Part = tuple[int, int, str]
"""A part of a text, by its bounds in characters, and what stands there then."""
Path = tuple[str, ...]


def without(text: str, place: Place, rule: str) -> Part | None:
    """Return the edit that removes the entry of a rule from the key at a place; None where there is no such entry."""
    try:
        for start, document, line, column in _documents(text, place.line):
            item = Item(document.encode(), 0, len(document.encode()), -2)
            path = _path_at(item.content.composed, place.line - line, place.column - 1 - column)
            if path and item.manifest and _has_removed(item, path, rule):
                edited = item.document.decode()
                return start, start + len(_indented(document, column)), _indented(edited, column)
    except (KrmfnError, ValueError):
        return None  # another reader has more to say about it
    return None


def _documents(text: str, line: int) -> Iterator[tuple[int, str, int, int]]:
    """Yield offset, text, first line and column of the document that holds a line, and of the block scalar in it."""
    start = 0
    for part in documents.parts(text.encode()):
        document = part.text.decode()
        last = part.line + document.count("\n")
        if part.line <= line <= last and not part.is_nothing:
            yield start, document, part.line, 0
            yield from _block(text, start, document, part.line, line)
        start += len(document) + len("---")


def _block(text: str, start: int, document: str, first: int, line: int) -> Iterator[tuple[int, str, int, int]]:
    """Yield the literal block scalar of a document that holds a line: a patch, written where it is used."""
    item = Item(document.encode(), 0, len(document.encode()), -2)
    for node in positions.nodes(item.content.composed):
        begin, end = node.start_mark.line + 1, node.end_mark.line
        if getattr(node, "style", None) == "|" and begin <= line - first < max(end, begin + 1):
            lines = document.split("\n")
            column = len(lines[begin]) - len(lines[begin].lstrip(" "))
            offset = start + sum(len(row) + 1 for row in lines[:begin])
            if text.startswith(_indented(node.value, column), offset):
                yield offset, node.value, first + begin, column


def _indented(text: str, column: int) -> str:
    return re.sub(r"(?m)^(?=[^\n])", " " * column, text)


def _path_at(root: Any, line: int, column: int) -> Path:
    """Return the path of the key that stands at a line and column, from 0; () for none."""
    stack: list[tuple[Any, Path]] = [(root, ())]
    while stack:
        node, path = stack.pop()
        for key, name, value in positions.entries(node):
            mark = key.start_mark if key is not None else None
            if mark and (mark.line, mark.column) == (line, column):
                return (*path, str(name))
            stack.append((value, (*path, str(name))))
    return ()


def _has_removed(item: Item, path: Path, rule: str) -> bool:
    """Remove the entry of a rule at a path, and what becomes empty; return False where there is none."""
    if path[-1] not in (IGNORE, "value") and path[-2:] != ("ignore", rule):
        return False
    value = item[join(path)]
    if path[-1] == rule:
        _delete(item, path)
        return True
    entries = [entry for entry in str(value).split(";") if entry.strip()]
    others = [entry for entry in entries if entry.partition(":")[0].strip() != rule]
    if len(others) == len(entries) or not (others or path[-1] == IGNORE):
        return False
    if others:
        item[join(path)] = ";".join(others).strip()
    else:
        _delete(item, path)
    return True


def _delete(item: Item, path: Path) -> None:
    """Delete a field and the mapping around it where that is empty then; never one of the manifest's own parts."""
    del item[join(path)]
    above = path[:-1]
    if len(above) > 1 and item[join(above)] == {}:
        del item[join(above)]
