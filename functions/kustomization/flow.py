"""Write documents from their nodes, as flow YAML that all readers read alike.

There are no aliases, merges, tags and equal keys in it. A plain scalar keeps its spelling, since kustomize and
Kubernetes read some of them differently (`yes`, `1.10`, `0777`); all else is a string in JSON's quotes. Each node stays
on its line, so that line numbers in kustomize's messages are those of the user's file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from krmfn.item import Item
from krmfn.resource import is_index, split
from krmfn.yamltext import emit
from krmfn.yamltext.simple import PLAIN, is_merge
from krmfn.yamltext.values import STRING, build

_SPELLED = re.compile(r"(?!-(?: |\Z))[\w.+~-](?:[\w.+/~-]|:(?! |\Z)| (?!#))*", re.ASCII)
"""A plain scalar that needs no quotes in brackets; any scalar that some reader does not take for a string is one."""
_LONGEST = 1000
"""The length from which a key gets a question mark: readers refuse a key of over 1,024 characters without one."""

Place = tuple[int, int, int]
Substitutes = Mapping[Place, str]
"""Strings that take the place of scalars, by their places: the nodes of an item may be read again, as others."""
NOTHING: Substitutes = {}


def place_of(item: Item, node: Node) -> Place:
    """Return the place of a node of an item, which must be kept: its identity, and where in its text that stands."""
    return id(item), node.start_mark.index, node.end_mark.index


def dump(items: Sequence[Item], substitutes: Substitutes = NOTHING, on_lines: bool = True) -> str:
    """Return the documents as flow YAML; with `on_lines` each node stays on its line, else a document has one line.

    Their manifests must have been read before, which limits the expansion of aliases.
    """
    writer = _Writer(substitutes, on_lines)
    for number, item in enumerate(items):
        writer.document(item, number)
    return "".join([*writer.parts, "\n"])


def entries(node: Node | None) -> dict[str, tuple[Node, Node]]:
    """Return the (key, value) nodes of a mapping by key, with its merges; of equal keys the last; {} for no mapping."""
    if not isinstance(node, MappingNode):
        return {}
    sources: list[Node] = []
    for key, value in node.value:
        if is_merge(key):
            sources += value.value if isinstance(value, SequenceNode) else [value]
    pairs = [pair for source in reversed(sources) for pair in entries(source).values()]
    pairs += [pair for pair in node.value if not is_merge(pair[0])]
    return {key.value: (key, value) for key, value in pairs}


def node_at(node: Node | None, path: str) -> Node | None:
    """Return the node at a path; None when there is none."""
    for part in split(path):
        if isinstance(node, SequenceNode):
            node = node.value[int(part)] if is_index(part) and int(part) < len(node.value) else None
        else:
            node = entries(node).get(part, (None, None))[1]
    return node


class _Writer:
    """A text that is being written, and its current line."""

    def __init__(self, substitutes: Substitutes, on_lines: bool) -> None:
        self.parts: list[str] = [" "]  # kustomize takes a patch that begins with a bracket for JSON
        self._substitutes, self._on_lines = substitutes, on_lines
        self._line = self._first = 1
        self._item: Item | None = None

    def document(self, item: Item, number: int) -> None:
        self._first, self._item = item.place.line if item.place else 1, item
        if number:
            self._move_to(self._first - 1)
            self.parts.append("\n--- ")
            self._line += 1
        self._write(item.content.composed)

    def _move_to(self, line: int) -> None:
        """Go to a line, and leave its first column empty, where `---` or `%` would have a meaning."""
        if self._on_lines and line > self._line:
            self.parts.append("\n" * (line - self._line) + " ")
            self._line = line

    def _write(self, node: Node | None, if_empty: str = "null") -> None:
        if node is None:
            self.parts.append("null")
            return
        self._move_to(self._first + node.start_mark.line)
        if isinstance(node, ScalarNode):
            text = self._substitutes.get(place_of(self._item, node)) if self._item and self._substitutes else None
            self.parts.append((_scalar(node) or if_empty) if text is None else emit.dump_json(text))
            return
        is_list = isinstance(node, SequenceNode)
        pairs = ((None, entry) for entry in node.value) if is_list else entries(node).values()
        self.parts.append("[" if is_list else "{")
        for number, (key, value) in enumerate(pairs):
            self.parts.append(", " if number else "")
            if key is not None:
                self.parts.append("? " if len(key.value) > _LONGEST else "")
                self._write(key)
                self.parts.append(": ")
            self._write(value, "null" if is_list else "")
        self.parts.append("]" if is_list else "}")


def _scalar(node: ScalarNode) -> str:
    """Return a scalar as it is written in brackets; "" for an empty plain one."""
    if node.tag == PLAIN:
        is_spelled = not node.value or (not node.value.endswith(" ") and _SPELLED.fullmatch(node.value))
        return node.value if is_spelled else emit.dump_json(node.value)
    value = node.value if node.tag == STRING else build(node)
    return emit.dump_json(value) if isinstance(value, str) else emit.dump(value).strip()
