"""YAML text to data as Kubernetes reads it, and to places; bounded, so that no document can hang or crash us."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import BaseResolver

from ..errors import KrmfnError
from ..fieldpath import join, split
from . import scalars

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError as missing:  # the pure Python parser is some ten times slower and reads a few documents differently
    raise KrmfnError("PyYAML lacks its C parser here; install a PyYAML wheel built with libyaml") from missing

MAX_DEPTH = 200
"""Levels of nesting; Kubernetes objects stay far below, and parsers crash from some 20,000 on."""
MAX_VALUES = 1_000_000
"""Values that one document may expand to through its aliases."""

_LONG_RUN = re.compile(rb"^[ \t?:-]{%d}" % MAX_DEPTH, re.MULTILINE)
_PLAIN, _STRING, _MERGE = "plain", "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_TAGS = {"int": int, "float": float, "bool": bool, "null": type(None)}


class Composer(CParser, BaseResolver):
    """libyaml's parser; plain scalars get the tag PLAIN, since what they mean is decided in `scalars`."""

    def __init__(self, stream: bytes) -> None:
        CParser.__init__(self, stream)
        BaseResolver.__init__(self)

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode:
            return _PLAIN if implicit[0] else _STRING
        return "tag:yaml.org,2002:seq" if kind is SequenceNode else "tag:yaml.org,2002:map"


def compose(text: bytes) -> Node | None:
    """The node tree of the one document in `text`; None for an empty document.

    Raises KrmfnError with the line (from 1) for text that is not YAML, for more than one document,
    for nesting deeper than MAX_DEPTH.
    """
    _bound_depth(text)
    try:
        node: Node | None = Composer(text).get_single_node()
        return node
    except yaml.YAMLError as failure:
        raise KrmfnError(explain(failure)) from failure


def events(text: bytes) -> Iterator[Any]:
    """The parser's events over `text`, one at a time; raises yaml.YAMLError where it stops being YAML."""
    return yaml.parse(text, Loader=Composer)  # type: ignore[arg-type]


def check_syntax(text: bytes, line: int = 0) -> None:
    """Raises KrmfnError, with the line (`line` lines come before), for text that is not one YAML document."""
    _bound_depth(text)
    try:
        documents = sum(isinstance(event, yaml.DocumentStartEvent) for event in events(text))
    except yaml.YAMLError as failure:
        raise KrmfnError(explain(failure, line)) from failure
    if documents > 1:
        raise KrmfnError(f"line {line + 1}: several documents where one is expected; divide them with ---")


def explain(failure: yaml.YAMLError, line: int = 0) -> str:
    """A parser's complaint as one sentence: `line 3: mapping values are not allowed here`; `line` lines come before."""
    if isinstance(failure, yaml.MarkedYAMLError) and failure.problem_mark:
        context = f" ({failure.context})" if failure.context else ""
        return f"line {failure.problem_mark.line + 1 + line}: {failure.problem}{context}"
    reason = getattr(failure, "reason", None)
    return str(reason or failure).split("\n")[0]


def _bound_depth(text: bytes) -> None:
    """Refuse what is nested too deep before the recursive composer sees it; cheap on ordinary text."""
    if text.count(b"[") + text.count(b"{") < MAX_DEPTH and not _LONG_RUN.search(text):
        return
    depth = 0
    try:
        for event in events(text):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    line = event.start_mark.line + 1 if event.start_mark else 1
                    raise KrmfnError(f"line {line}: nested deeper than {MAX_DEPTH} levels; no Kubernetes object is")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError:
        return  # the composer will say it better


def build(node: Node | None) -> Any:
    """The data of a node tree, plain scalars read as Kubernetes reads them; the last of duplicate keys wins.

    Raises KrmfnError when aliases expand to more than MAX_VALUES values or an alias holds itself.
    """
    return _Builder().value(node)


class _Builder:
    """One walk over a node tree; counts what aliases expand to."""

    def __init__(self) -> None:
        self.count = 0
        self.open: set[int] = set()

    def value(self, node: Node | None) -> Any:
        self.count += 1
        if self.count > MAX_VALUES:
            raise KrmfnError(f"its aliases expand to more than {MAX_VALUES:,} values; write the values out")
        if node is None:
            return None
        if isinstance(node, ScalarNode):
            return scalar(node)
        if id(node) in self.open:
            raise KrmfnError(f"line {node.start_mark.line + 1}: an alias stands inside the value it names")
        self.open.add(id(node))
        data = [self.value(child) for child in node.value] if isinstance(node, SequenceNode) else self.mapping(node)
        self.open.discard(id(node))
        return data

    def mapping(self, node: Node) -> dict[Any, Any]:
        own: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        for key, value in node.value:
            if _is_merge(key):
                parts = self.value(value)
                for part in reversed(parts if isinstance(parts, list) else [parts]):
                    merged.update(part if isinstance(part, dict) else {})
            else:
                own[_key(key)] = self.value(value)
        return {**merged, **own} if merged else own


def scalar(node: ScalarNode) -> Any:
    """The value of a scalar node: quoted and `!!str` are strings, plain as `scalars.read`, core tags obeyed."""
    if node.tag == _STRING:
        return node.value
    value = scalars.read(node.value)
    if node.tag == _PLAIN:
        return value
    kind = _TAGS.get(node.tag.rpartition(":")[2])
    return value if kind and isinstance(value, kind) else node.value


def _is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and (key.tag == _MERGE or (key.tag == _PLAIN and key.value == "<<"))


def _key(key: Node) -> Any:
    """Keys are strings to Kubernetes, whatever they look like; a collection as a key is nobody's manifest."""
    if not isinstance(key, ScalarNode):
        raise KrmfnError(f"line {key.start_mark.line + 1}: a key must be a word, not a list or a mapping")
    value = scalar(key)
    return value if isinstance(value, str) else key.value


def locate(node: Node | None, path: str) -> tuple[int, int]:
    """Line and column (from 1) of the field at `path`, or of the nearest parent that exists."""
    mark = node.start_mark if node is not None else None
    for part in split(path):
        found = _child(node, part)
        if found is None:
            break
        mark, node = found
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _child(node: Node | None, part: str) -> tuple[Any, Node] | None:
    if isinstance(node, SequenceNode) and part.isdigit() and int(part) < len(node.value):
        return node.value[int(part)].start_mark, node.value[int(part)]
    if isinstance(node, MappingNode):
        for key, value in reversed(node.value):
            if isinstance(key, ScalarNode) and key.value == part:
                return key.start_mark, value
    return None


def duplicate_keys(root: Node | None) -> list[tuple[str, int]]:
    """Every key that stands twice in one mapping, as (its path, its line from 1), in the order of the text."""
    found: list[tuple[str, int]] = []
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
                if name in names and not _is_merge(key):
                    found.append((join((*path, name)), key.start_mark.line + 1))
                names.add(name)
                visit(value, (*path, name))

    visit(root, ())
    return found
