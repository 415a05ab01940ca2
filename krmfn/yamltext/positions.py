"""Where things stand in a node tree: the line and column of a field, and keys that stand twice."""

from __future__ import annotations

from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ..fieldpath import join, split
from .values import is_merge


def locate(node: Node | None, path: str) -> tuple[int, int]:
    """Return line and column (from 1) of the field at `path`, or of the nearest parent that exists."""
    mark = node.start_mark if node is not None else None
    for part in split(path):
        child = _child(node, part)
        if child is None:
            break
        mark, node = child
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _child(node: Node | None, part: str) -> tuple[Any, Node] | None:
    if isinstance(node, SequenceNode) and part.isdigit() and int(part) < len(node.value):
        return node.value[int(part)].start_mark, node.value[int(part)]
    if isinstance(node, MappingNode):
        return _by_name(node).get(part)
    return None


def _by_name(node: MappingNode) -> dict[str, tuple[Any, Node]]:
    """Return the mapping's keys with their places and values, the last of equal ones; they are kept for the next call.

    For a mapping of 100,000 wrong keys there are 100,000 calls.
    """
    kept: dict[str, tuple[Any, Node]] | None = node.__dict__.get("by_name")
    if kept is None:
        kept = {key.value: (key.start_mark, value) for key, value in node.value if isinstance(key, ScalarNode)}
        node.__dict__["by_name"] = kept
    return kept


def duplicate_keys(root: Node | None) -> list[tuple[str, int]]:
    """Return (path, line from 1) of every key that stands twice in one mapping, in the order of the text."""
    duplicates: list[tuple[str, int]] = []
    seen: set[int] = set()

    def visit(node: Node | None, path: tuple[str | int, ...]) -> None:
        if node is None or id(node) in seen:  # an alias: its anchor was visited
            return
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            for index, child in enumerate(node.value):
                visit(child, (*path, index))
        elif isinstance(node, MappingNode):
            names: set[str] = set()
            for key, value in node.value:
                name = str(key.value)
                if name in names and not is_merge(key):
                    duplicates.append((join((*path, name)), key.start_mark.line + 1))
                names.add(name)
                visit(value, (*path, name))

    visit(root, ())
    return duplicates
