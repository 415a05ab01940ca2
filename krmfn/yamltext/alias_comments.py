"""The comments beside aliases: an alias does not move, so the edit that moves its value is refused where it has one."""

import re
from collections.abc import Collection, Iterable, Iterator

from ..typed import Any, NamedTuple
from . import align, losses, origins, positions
from .beside import COMMENT
from .positions import key_name
from .simple import is_merge

__all__ = ["Lost", "of_gone", "refuse", "within"]

_BEHIND = r"(?:[ \t]*,)?" + COMMENT


class Lost(NamedTuple):
    """A comment beside an alias that goes."""

    holder: Any
    """The node of the collection that held the alias."""
    name: Any
    """Its key or index there."""
    value: Any
    """What it stood for."""
    comment: str


def of_gone(walk: Any, node: Any, old: Any, new: Any, kept: Collection[int | None]) -> Iterator[Lost]:
    """Yield the first comment of each alias that goes from a collection; `kept` are the entries of a list that stay."""
    if not walk.shared or "#" not in walk.text:
        return
    for number, name, begin in _gone(walk, node, new, kept):
        place = walk.rows.alias(node, number)
        if place and (comments := _comments(walk, node, begin, place[1])):
            yield Lost(node, name, old[name], comments[0])


def within(walk: Any, node: Any, old: Any, used: Collection[int]) -> Iterator[Lost]:
    """Yield the same of all aliases in a collection that went, but for what stands elsewhere: `used` has its nodes."""
    if not walk.shared or id(node) in used or not isinstance(old, (dict, list)):
        return
    yield from of_gone(walk, node, old, (), ())
    for _, part in origins.parts_of(walk, node, old):
        yield from within(walk, part.node, part.old, used)


def _gone(walk: Any, node: Any, new: Any, kept: Collection[int | None]) -> Iterator[tuple[int, Any, int]]:
    """Yield each part that goes: its number as `rows.alias` has it, its key or index, and where its key or dash is."""
    if node.id == "mapping":
        for at, (key, _) in enumerate(node.value):
            if not is_merge(key) and key_name(key) not in new:
                yield 2 * at + 1, key_name(key), key.start_mark.index
    else:
        for at, value in enumerate(node.value):
            if at not in kept:
                yield at, at, -1 if node.flow_style else walk.rows.dash(node, at, value)


def _comments(walk: Any, node: Any, begin: int, end: int) -> list[str]:
    """Return the comments above and behind an alias whose key or dash begins there, and which ends at `end`."""
    behind = re.compile(_BEHIND).match(walk.text, end)
    above = "" if node.flow_style else walk.text[walk.rows.begin(begin) : begin]
    rows = [row.strip() for row in above.splitlines() if row.lstrip().startswith("#")]
    return [*rows, *([behind[0].lstrip(" \t,")] if behind else [])]


def refuse(root: Any, lost: Iterable[Lost], values: Iterable[Any]) -> None:
    """Raise WouldLose where one of the values that have come is that of an alias which went, and had a comment."""
    by_value = {align.text_of(alias.value): alias for alias in lost}
    for value in values if by_value else ():
        if alias := by_value.get(align.text_of(value)):
            comment = alias.comment.rstrip()[:40]
            problem = f"cannot move: the comment {comment!r} is beside an alias, which stays; clear it first"
            raise losses.WouldLose(problem, (*_path(root, alias.holder), str(alias.name)))


def _path(root: Any, holder: Any) -> tuple[str, ...]:
    """Return the path of a collection; each anchor is visited once."""
    top = root.value[0] if root.id == "sequence" and len(root.value) == 1 else root  # the item itself
    stack, seen = list[tuple[Any, tuple[str, ...]]]([(top, ())]), set[int]()
    while stack:
        node, path = stack.pop()
        if node is holder:
            return path
        if id(node) not in seen:
            seen.add(id(node))
            stack += [(value, (*path, str(name))) for _, name, value in positions.entries(node)]
    return ()
