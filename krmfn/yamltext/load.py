"""YAML text to a node tree, for data (see `values`) and places.

All is bounded, so that no document can hang or crash us.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache

import yaml
from yaml.composer import Composer as NodeComposer
from yaml.nodes import Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError
from yaml.resolver import BaseResolver

from ..errors import KrmfnError, TooLarge
from ..typed import Any, TypeVar
from .simple import MAX_DEPTH, MAX_NODES, PLAIN
from .values import STRING, build, too_deep

try:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]
except ImportError as missing:  # the pure Python parser is some ten times slower and reads a few documents differently
    raise KrmfnError("PyYAML lacks its C parser here; install a PyYAML wheel built with libyaml") from missing

__all__ = ["ADVICE", "Composer", "compose", "events", "explain", "placed", "read"]
__all__ += ["refuse_inner_marks", "with_line_end"]

T = TypeVar("T")

_INNER_MARK = re.compile(rb"(?:[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])\xef\xbb\xbf")
"""A byte order mark at the start of a line: libyaml skips it, Kubernetes takes it for a part of the first word."""
_MOST_KEPT = 20_000
"""Bytes of a text whose node tree is kept: that of a large one takes much memory."""
_ANCHOR_AGAIN = "second occurrence"
_LONE_TAG = re.compile(rb"[\s\[{,:]!\s")
_LONE_TAG_AT = re.compile(r"(?:&[\w-]+\s+)?!\s")
_HEADER = re.compile(r"\A((?:[&!]\S+\s+)*[|>][0-9]?)[+-]?([0-9]?)")
"""What a block scalar begins with: anchor and tag, its mark, and how it is indented and ends."""


class Composer(CParser, BaseResolver):
    """libyaml's parser; plain scalars get the tag PLAIN, since what they mean is decided in `simple`."""

    def __init__(self, stream: bytes, most: int = MAX_NODES) -> None:
        CParser.__init__(self, stream)
        BaseResolver.__init__(self)
        self.depth, self.budget = 0, most

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        """Count a level and a node; raise KrmfnError for one too many, before they crash us or take all memory."""
        self.depth += 1
        self.budget -= 1
        if self.budget < 0:
            problem = "nodes (keys, values, lists and mappings) is not read; split the resource that begins here"
            line = current_node.start_mark.line + 1
            raise TooLarge(f"a resource of more than {MAX_NODES:,} {problem}", line=line)
        if self.depth > MAX_DEPTH:
            raise too_deep(current_node.start_mark.line + 1)

    def ascend_resolver(self) -> None:
        """Count a level less."""
        self.depth -= 1

    def resolve(self, kind: type[Node], value: Any, implicit: Any) -> str:
        """Return the tag of a node that has none in the text: PLAIN for a plain scalar."""
        if kind is ScalarNode:
            return PLAIN if implicit[0] else STRING
        return "tag:yaml.org,2002:seq" if kind is SequenceNode else "tag:yaml.org,2002:map"


class _NearestAnchors(NodeComposer, Composer):
    """The same for a text in which an anchor's name is used again: an alias means the nearest one before it.

    libyaml's composer refuses such a text, and PyYAML's, which is slower, where it knows the name.
    """

    def __init__(self, stream: bytes, most: int) -> None:
        Composer.__init__(self, stream, most)
        NodeComposer.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Return the next node; forget an anchor whose name it uses again."""
        event: Any = self.peek_event()
        is_alias = isinstance(event, yaml.AliasEvent)
        if not is_alias:
            self.anchors.pop(event.anchor, None)
        elif event.anchor not in self.anchors:
            raise yaml.composer.ComposerError(problem="found undefined alias", problem_mark=event.start_mark)
        return super().compose_node(parent, index)


def placed(reader: Callable[[], T], lines: Callable[[], int], file: str = "", subject: str = "") -> T:
    """Return `reader()`; when that raises KrmfnError, it gets the right line, and the file or the subject.

    `lines` counts the lines before the text, which is costly: it is called only for an error.
    """
    try:
        return reader()
    except KrmfnError as failure:
        failure.located(file, lines() if failure.line else 0, subject)
        raise


def read(text: bytes, most: int = MAX_NODES) -> Any:
    """Return the data of the one document in `text`; `most` as for `compose`.

    Raises KrmfnError as `compose` and `build` do.
    """
    return build(compose(text, most), most)


def compose(text: bytes, most: int = MAX_NODES) -> Node | None:
    """Return the node tree of the one document in `text`; None for an empty document.

    `most` is how many nodes it may have, else TooLarge is raised.
    Raises KrmfnError with the line (from 1) for text that is not YAML, for more than one document,
    for nesting deeper than MAX_DEPTH.
    """
    refuse_inner_marks(text)
    try:
        node = _kept(text, most) if len(text) <= _MOST_KEPT else _composed(text, most)
        if _LONE_TAG.search(text):
            _refuse_lone_tags(text)
        return node
    except yaml.YAMLError as failure:
        raise explain(failure, text) from failure


@lru_cache(maxsize=2)
def _kept(text: bytes, most: int) -> Node | None:
    """Return the same as `_composed`; an edit asks for its text twice."""
    return _composed(text, most)


def _composed(text: bytes, most: int) -> Node | None:
    """Return the node tree of the one document in `text`. Raises yaml.YAMLError for text that is not YAML."""
    node: Node | None
    try:
        node = Composer(text, most).get_single_node()
    except yaml.composer.ComposerError as failure:
        if failure.problem != _ANCHOR_AGAIN:
            raise
        node = _NearestAnchors(text, most).get_single_node()
    return node


def refuse_inner_marks(text: bytes, line: int = 0) -> None:
    """Raise KrmfnError for a byte order mark inside the text."""
    match = _INNER_MARK.search(text) if b"\xef\xbb\xbf" in text else None
    if match:
        number = text.count(b"\n", 0, match.end()) + 1 + line
        raise KrmfnError("a byte order mark is inside the text, as when files are joined; remove it", line=number)


def _refuse_lone_tags(text: bytes) -> None:
    """Raise KrmfnError for `! 12`: a string to Kubernetes, and libyaml does not tell it from a plain 12."""
    characters = text.decode()
    for event in events(text):
        mark = event.start_mark if isinstance(event, yaml.ScalarEvent) and event.implicit[0] else None
        if mark and _LONE_TAG_AT.match(characters, mark.index):
            raise KrmfnError("the tag `!` is not read; leave it out, and put a string in quotes", line=mark.line + 1)


def events(text: bytes) -> Iterator[Any]:
    """Yield the parser's events over `text`.

    Raises yaml.YAMLError where the text stops being YAML, KrmfnError where it is nested deeper than MAX_DEPTH.
    """
    depth = 0
    for event in yaml.parse(text, Loader=Composer):  # type: ignore[arg-type]
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise too_deep(event.start_mark.line + 1 if event.start_mark else 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        yield event


def with_line_end(text: bytes) -> bytes:
    """Return a text with a line end that changes no scalar; an anchor that it refers to may stand elsewhere.

    A text that is no YAML gets a line end as it is.
    """
    with suppress(KrmfnError, yaml.YAMLError, IndexError):
        old, characters = _scalars(text), text.decode()
        start = old[-1][0]
        stripped = characters[:start] + _HEADER.sub(r"\1-\2", characters[start:]) + "\n"
        for candidate in (text + b"\n", text.rstrip(b" "), stripped.encode()):
            if candidate.endswith(b"\n") and _scalars(candidate) == old:
                return candidate
    return text + b"\n"


def _scalars(text: bytes) -> list[tuple[int, str]]:
    """Return where each scalar begins, in characters, and its value."""
    return [(event.start_mark.index, event.value) for event in events(text) if hasattr(event, "value")]


ADVICE = {
    "found undefined alias": "this alias (*) does not refer to an earlier anchor (&) of the same resource; write the "
    "value out",
}
"""What to do about an error, where libyaml's message does not say it."""


def explain(failure: yaml.YAMLError, text: bytes, line: int = 0) -> KrmfnError:
    """Return a parser's error in `text` as one of ours: a sentence, and its line.

    `line` lines come before the text.
    """
    if isinstance(failure, yaml.MarkedYAMLError) and failure.problem_mark:
        advice = ADVICE.get(failure.problem or "") or ADVICE.get(failure.context or "")
        context = f" ({failure.context})" if failure.context else ""
        return KrmfnError(advice or f"{failure.problem}{context}", line=failure.problem_mark.line + 1 + line)
    if isinstance(failure, ReaderError):
        number = text.count(b"\n", 0, failure.position) + 1 + line
        return KrmfnError(f"{failure.reason} (character U+{failure.character:04X})", line=number)
    return KrmfnError(str(failure).split("\n")[0])  # the parser's words, of which the first line is the reason
