"""Documents written again from their nodes, as flow YAML that every reader takes in one way.

The structure is ours: aliases, merges, tags and equal keys are gone. A plain scalar keeps its spelling, since kustomize
and Kubernetes read some of them differently (`yes`, `1.10`, `0777`); all else is a string in JSON's quotes. Each node
stays on its line, so that what kustomize says of a line is true of the file that a person wrote.
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
"""A plain scalar that may stand unquoted in brackets; whatever some reader takes for no string is one of these."""
_LONGEST = 1000
"""Characters of a key; readers know no longer ones than 1,024 that have no question mark before them."""

Replaced = Mapping[int, str]
"""Strings that take the place of scalars, by the identities of their nodes."""
NOTHING: Replaced = {}


def written(items: Sequence[Item], replaced: Replaced = NOTHING, on_lines: bool = True) -> str:
    """Return the documents again; with `on_lines` each node stays on its line, else a document takes one.

    Their data must have been read before, which bounds what aliases expand to.
    """
    writer = _Writer(replaced, on_lines)
    for number, item in enumerate(items):
        writer.document(item, number)
    return "".join([*writer.parts, "\n"])


def entries(node: Node | None) -> dict[str, tuple[Node, Node]]:
    """Return key and value of each entry of a mapping by its key: merges are done, and the last of equal keys counts.

    {} for what is no mapping.
    """
    if not isinstance(node, MappingNode):
        return {}
    merged: list[Node] = []
    for key, value in node.value:
        if is_merge(key):
            merged += value.value if isinstance(value, SequenceNode) else [value]
    every = [pair for source in reversed(merged) for pair in entries(source).values()]
    every += [pair for pair in node.value if not is_merge(pair[0])]
    return {key.value: (key, value) for key, value in every}


def at(node: Node | None, path: str) -> Node | None:
    """Return the node at a path; None when there is none."""
    for part in split(path):
        if isinstance(node, SequenceNode):
            node = node.value[int(part)] if is_index(part) and int(part) < len(node.value) else None
        else:
            node = entries(node).get(part, (None, None))[1]
    return node


class _Writer:
    """A text that is being written, and the line on which it is."""

    def __init__(self, replaced: Replaced, on_lines: bool) -> None:
        self.parts: list[str] = [" "]  # a patch that begins with a bracket would be JSON to kustomize
        self._replaced, self._on_lines = replaced, on_lines
        self._line = self._first = 1

    def document(self, item: Item, number: int) -> None:
        self._first = item.place.line if item.place else 1
        if number:
            self._down(self._first - 1)
            self.parts.append("\n--- ")
            self._line += 1
        self._write(item.content.composed)

    def _down(self, line: int) -> None:
        """Go to a line; its first column stays empty, where `---` or `%` would count."""
        if self._on_lines and line > self._line:
            self.parts.append("\n" * (line - self._line) + " ")
            self._line = line

    def _write(self, node: Node | None, if_empty: str = "null") -> None:
        if node is None:
            self.parts.append("null")
            return
        self._down(self._first + node.start_mark.line)
        if isinstance(node, ScalarNode):
            own = self._replaced.get(id(node))
            self.parts.append((_scalar(node) or if_empty) if own is None else emit.dump_json(own))
            return
        is_list = isinstance(node, SequenceNode)
        pairs = ((None, one) for one in node.value) if is_list else entries(node).values()
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
    """Return a scalar as it stands in brackets; "" for an empty plain one."""
    if node.tag == PLAIN:
        is_spelled = not node.value or (not node.value.endswith(" ") and _SPELLED.fullmatch(node.value))
        return node.value if is_spelled else emit.dump_json(node.value)
    value = node.value if node.tag == STRING else build(node)
    return emit.dump_json(value) if isinstance(value, str) else emit.dump(value).strip()
