"""Edits that only write scalars and add keys, as nearly all do: of the text nothing but their mappings is walked.

What was lent says which mappings changed, so nothing is compared and nothing is read twice. The answer is None where
anything else was done, or where the text is not simple; `nodewise` then makes the edit, and would make the same one.
"""

from collections.abc import Iterable, Iterator
from functools import reduce

from ..resource import same
from ..typed import Any
from . import lent, linetree, losses, nodewise, pieces, remarks, simple
from .align import Known, Lists
from .blocks import NotSimple
from .inline import TooMuch

__all__ = ["Change", "changes", "patched", "patched_in_part"]

_Path = tuple[str, ...]
Change = tuple[_Path, Known]
"""A mapping in which something was written, and what it held."""


def patched(text: str, data: Any, changes: Iterable[Change]) -> str | None:
    """Return `text` changed to the data of one item, alone or in a list of one; None for "not sure".

    `changes` are the mappings in which something was written, inner ones first. What comes out was read back.
    """
    changes = [*changes]
    try:
        root = linetree.tree(text)
        walk = nodewise.Walk("", {id(known.value): known for _, known in changes}, may_rewrite=False)
        walk.take(text, root)
        for path, known in changes:
            _write(walk, root.value[0] if isinstance(data, list) else root, path, known)
    except (TooMuch, NotSimple, losses.WouldLose):
        return None
    edited = remarks.patched(text, walk.patches)
    return edited if same(simple.read(edited), data) else None


def patched_in_part(text: str, item: Any, changes: Iterable[Change], column: int) -> str | None:
    """Return the same for a text that was read by its lines, the item's keys in a column: the rest is not looked at.

    Of the text only the lines of the mappings in `changes` are read, before the edit and after it; every other line
    stays, and what it holds with it.
    """
    changes, edits = [*changes], list[tuple[int, int, str]]()
    for path in pieces.groups(path for path, _ in changes):
        span = pieces.span(text, path, column) if path else None
        if span is None:
            return None
        data = {path[-1]: reduce(_part, path, item)}
        inner = [(parts[len(path) - 1 :], known) for parts, known in changes if parts[: len(path)] == path]
        piece = text[slice(*span)]
        edited = patched(piece, data, inner)
        is_whole = edited is not None and (edited.endswith("\n") or span[1] == len(text))
        if edited is None or not is_whole or edited.partition("\n")[0] != piece.partition("\n")[0]:
            return None
        edits.append((*span, edited))
    return remarks.patched(text, edits)


def _part(value: Any, key: str) -> Any:
    return value[key]


def changes(item: Any, lists: Lists) -> list[Change] | None:
    """Return the mappings of an item's data in which something was written; None where anything else was done."""
    try:
        return [*_changes(item, (), lists)]
    except TooMuch:
        return None


def _changes(data: Any, path: _Path, lists: Lists) -> Iterator[Change]:
    """Yield the mappings in which something was written, inner ones first. Raises TooMuch for any other change."""
    known = lists.get(id(data))
    if known is None or known.origin is not data or known.source or known.renamed:
        raise TooMuch
    is_list = isinstance(data, list)
    if len(data) < len(known.entries) or (is_list and len(data) != len(known.entries)):
        raise TooMuch
    is_written = len(data) > len(known.entries)
    for name, part in enumerate(known.entries) if is_list else known.entries.items():
        now = data[name] if is_list else data.get(name, known)
        if isinstance(part, (dict, list)):
            if now is not part:
                raise TooMuch
            if part:
                yield from _changes(part, (*path, str(name)), lists)
        elif now is not part and not same(now, part):
            if is_list or now is known or isinstance(now, (dict, list)):
                raise TooMuch
            is_written = True
    if is_written:
        _check_added(data, known, lists)
        yield path, known


def _check_added(data: Any, known: Known, lists: Lists) -> None:
    """Raise TooMuch where a collection that was lent before has come into a mapping."""
    for name in data.keys() - known.entries.keys():
        if any(id(part) in lists for part in lent.parts(data[name])):
            raise TooMuch


def _write(walk: nodewise.Walk, node: Any, path: _Path, known: Known) -> None:
    """Add the patches of a mapping. Raises TooMuch where it stands in brackets, or an alias is on the way."""
    for part in path:
        key, node = _child(node, part)
        if id(node) in walk.shared:
            raise TooMuch
        walk.kept.add(id(key or node))
    if node.id != "mapping" or node.flow_style:
        raise TooMuch
    walk.path = [*path]
    walk.mapping(node, known.entries, known.value)


def _child(node: Any, part: str) -> tuple[Any, Any]:
    """Return the key, None in a list, and the value at a part of a path. Raises TooMuch for none."""
    if node.id == "sequence":
        return None, node.value[int(part)]
    for key, value in node.value if node.id == "mapping" else ():
        if key.value == part:
            return key, value
    raise TooMuch
