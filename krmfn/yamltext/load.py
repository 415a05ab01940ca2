"""YAML text to data as Kubernetes reads it, and to places; bounded, so that no document can hang or crash us."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import yaml
from yaml.nodes import Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError
from yaml.resolver import BaseResolver

from ..errors import KrmfnError
from . import scalars

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError as missing:  # the pure Python parser is some ten times slower and reads a few documents differently
    raise KrmfnError("PyYAML lacks its C parser here; install a PyYAML wheel built with libyaml") from missing

T = TypeVar("T")

MAX_DEPTH = 200
"""Levels of nesting; Kubernetes objects stay far below, and parsers crash from some 20,000 on."""
MAX_VALUES = 1_000_000
"""Values that the aliases of one document may expand to."""

_PLAIN, _STRING, _MERGE = "plain", "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
_TAGS = {"int": int, "float": float, "bool": bool, "null": type(None)}


class Composer(CParser, BaseResolver):
    """libyaml's parser; plain scalars get the tag PLAIN, since what they mean is decided in `scalars`."""

    def __init__(self, stream: bytes, line: int = 0) -> None:
        CParser.__init__(self, stream)
        BaseResolver.__init__(self)
        self.depth, self.line = 0, line

    def descend_resolver(self, current_node: Node | None, current_index: Any) -> None:
        """Called when the composer, which recurses, goes one level down."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise too_deep(current_node.start_mark.line + 1 + self.line if current_node is not None else 1)

    def ascend_resolver(self) -> None:
        self.depth -= 1

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        if kind is ScalarNode:
            return _PLAIN if implicit[0] else _STRING
        return "tag:yaml.org,2002:seq" if kind is SequenceNode else "tag:yaml.org,2002:map"


def placed(reader: Callable[[int], T], lines: Callable[[], int]) -> T:
    """reader(0); only when that complains, reader(lines()): how many lines come before is costly to know."""
    try:
        return reader(0)
    except KrmfnError:
        return reader(lines())


def read(text: bytes, line: int = 0) -> Any:
    """The data of the one document in `text`, before which `line` lines come. Raises KrmfnError as its two parts do."""
    return build(compose(text, line), line)


def compose(text: bytes, line: int = 0) -> Node | None:
    """The node tree of the one document in `text`, before which `line` lines come; None for an empty document.

    Raises KrmfnError with the line (from 1) for text that is not YAML, for more than one document,
    for nesting deeper than MAX_DEPTH.
    """
    try:
        node: Node | None = Composer(text, line).get_single_node()
        return node
    except yaml.YAMLError as failure:
        raise KrmfnError(explain(failure, text, line)) from failure


def events(text: bytes) -> Iterator[Any]:
    """The parser's events over `text`, one at a time; raises yaml.YAMLError where it stops being YAML,
    KrmfnError where it is nested deeper than MAX_DEPTH."""
    depth = 0
    for event in yaml.parse(text, Loader=Composer):  # type: ignore[arg-type]
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep(event.start_mark.line + 1 if event.start_mark else 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        yield event


def too_deep(line: int) -> KrmfnError:
    return KrmfnError(f"line {line}: nested deeper than {MAX_DEPTH} levels; no Kubernetes object is")


def check_syntax(text: bytes, line: int = 0) -> None:
    """Raises KrmfnError, with the line (`line` lines come before), for text that is not one YAML document."""
    try:
        documents = sum(isinstance(event, yaml.DocumentStartEvent) for event in events(text))
    except yaml.YAMLError as failure:
        raise KrmfnError(explain(failure, text, line)) from failure
    if documents > 1:
        raise KrmfnError(f"line {line + 1}: several documents where one is expected; divide them with ---")


def explain(failure: yaml.YAMLError, text: bytes, line: int = 0) -> str:
    """A parser's complaint about `text` as one sentence: `line 3: mapping values are not allowed here`.

    `line` lines come before the text.
    """
    if isinstance(failure, yaml.MarkedYAMLError) and failure.problem_mark:
        context = f" ({failure.context})" if failure.context else ""
        return f"line {failure.problem_mark.line + 1 + line}: {failure.problem}{context}"
    if isinstance(failure, ReaderError):
        number = text.count(b"\n", 0, failure.position) + 1 + line
        return f"line {number}: {failure.reason} (character U+{failure.character:04X})"
    return str(failure).split("\n")[0]


def build(node: Node | None, line: int = 0) -> Any:
    """The data of a node tree, plain scalars read as Kubernetes reads them; the last of duplicate keys wins.

    Raises KrmfnError when aliases expand to more than MAX_VALUES values or an alias holds itself.
    """
    # A value takes a character at least: beyond the text's length only aliases can lead.
    return _Builder(MAX_VALUES + (node.end_mark.index if node is not None else 0), line).value(node)


class _Builder:
    """One walk over a node tree; counts what aliases expand to."""

    def __init__(self, limit: int, line: int) -> None:
        self.left, self.line = limit, line
        self.open: set[int] = set()

    def value(self, node: Node | None) -> Any:
        self.left -= 1
        if self.left < 0:
            line = self.line_of(node) if node is not None else self.line + 1
            raise KrmfnError(
                f"line {line}: aliases expand to more than {MAX_VALUES:,} values here; write the values out"
            )
        if node is None:
            return None
        if isinstance(node, ScalarNode):
            return scalar(node)
        if id(node) in self.open:
            raise KrmfnError(f"line {self.line_of(node)}: an alias stands inside the value it names")
        if len(self.open) > MAX_DEPTH:  # aliases can nest deeper than the text does
            raise too_deep(self.line_of(node))
        self.open.add(id(node))
        data = [self.value(child) for child in node.value] if isinstance(node, SequenceNode) else self.mapping(node)
        self.open.discard(id(node))
        return data

    def mapping(self, node: Node) -> dict[Any, Any]:
        own: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        for key, value in node.value:
            if is_merge(key):
                parts = self.value(value)
                for part in reversed(parts if isinstance(parts, list) else [parts]):
                    merged.update(part if isinstance(part, dict) else {})
            else:
                own[self.key(key)] = self.value(value)
        return {**merged, **own} if merged else own

    def key(self, key: Node) -> Any:
        """Keys are strings to Kubernetes, whatever they look like; a collection as a key is nobody's manifest."""
        if not isinstance(key, ScalarNode):
            raise KrmfnError(f"line {self.line_of(key)}: a key must be a word, not a list or a mapping")
        value = scalar(key)
        return value if isinstance(value, str) else key.value

    def line_of(self, node: Node) -> int:
        return int(node.start_mark.line) + 1 + self.line


def scalar(node: ScalarNode) -> Any:
    """The value of a scalar node: quoted and `!!str` are strings, plain as `scalars.read`, core tags obeyed."""
    if node.tag == _STRING:
        return node.value
    value = scalars.read(node.value)
    if node.tag == _PLAIN:
        return value
    kind = _TAGS.get(node.tag.rpartition(":")[2])
    return value if kind and isinstance(value, kind) else node.value


def is_merge(key: Node) -> bool:
    """True for the key `<<`, which takes in another mapping's keys."""
    return isinstance(key, ScalarNode) and (key.tag == _MERGE or (key.tag == _PLAIN and key.value == "<<"))
