"""The exact division of a ResourceList, from the positions of a YAML parser: any layout, some fifty times slower."""

import re
from collections.abc import Callable, Iterator

import yaml

from ..errors import KrmfnError, NoList
from ..typed import Any
from .load import events, explain
from .split import Cut, Section

__all__ = ["exact"]

_DASH = re.compile(rb"[\r\n]( *)-")
_Span = tuple[int, int]


def exact(data: bytes) -> Cut:
    """Return the cut of the ResourceList in `data` (UTF-8, no byte order mark).

    Raises KrmfnError with a line when the text is not YAML, is more than one document, or is no mapping.
    """
    try:
        return _cut(data)
    except yaml.YAMLError as failure:
        raise explain(failure, data) from failure


def _cut(data: bytes) -> Cut:
    """Return the cut, from one pass over the parser's events; marks count characters, spans are bytes."""
    offset, stream = _offsets(data), iter(events(data))
    next(stream)  # the stream's start
    first = next(stream)
    root = next(stream) if isinstance(first, yaml.DocumentStartEvent) else first
    if not isinstance(root, yaml.MappingStartEvent):
        raise KrmfnError("expected a mapping with apiVersion, kind and items")
    keys: list[tuple[str, int]] = []
    values: list[_Span] = []
    items: list[_Span] = []
    listed: tuple[Any, int] = (None, 0)  # the event that begins the items, and where
    while not isinstance(key := next(stream), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent):
            raise KrmfnError("a top-level key must be a word", line=key.start_mark.line + 1)
        keys.append((key.value, offset(key.start_mark)))
        value = last = next(stream)
        start = offset(value.start_mark)
        if key.value == "items" and isinstance(value, yaml.SequenceStartEvent):
            listed = value, start
            while not isinstance(last := next(stream), yaml.SequenceEndEvent):
                items.append((offset(last.start_mark), offset(_end(last, stream))))
        values.append((start, offset(_end(value, stream) if last is value else last.end_mark)))
    end, after = offset(next(stream).start_mark), next(stream)
    if not isinstance(after, yaml.StreamEndEvent):
        raise NoList("another document begins; a ResourceList is one document", line=after.start_mark.line + 1)
    if len(dict(keys)) < len(keys):
        raise KrmfnError("a top-level key of the ResourceList appears twice")
    if root.flow_style:
        flow = (Section(name, *span) for (name, _), span in zip(keys, values, strict=True))
        return Cut(tuple(flow), tuple(items), -2, True)
    stops = [*(start for _, start in keys[1:]), end]
    sections = tuple(Section(*key, stop) for key, stop in zip(keys, stops, strict=True))
    return _block(data, sections, items, *listed)


def _block(data: bytes, sections: tuple[Section, ...], items: list[_Span], listed: Any, begin: int) -> Cut:
    """Return the cut of a block mapping; `listed` is the event that begins the items, at the byte `begin`."""
    for _, start, _ in sections:
        if start and data[start - 1 : start] not in (b"\n", b"\r"):
            line = data.count(b"\n", 0, start) + 1
            raise KrmfnError("write the keys of a ResourceList at the start of a line", line=line)
    if not items:
        return Cut(sections, ())
    indent = -2
    if not listed.flow_style:
        # an anchor or a tag makes the list begin before the first of its dashes
        dash = _DASH.search(data, begin) if listed.anchor or listed.tag else None
        indent = len(dash[1]) if dash else int(listed.start_mark.column)
        items = _dash_lines(data, items, indent, next(section for section in sections if section.key == "items"))
    return Cut(sections, tuple(items), indent)


def _dash_lines(data: bytes, values: list[_Span], indent: int, section: Section) -> list[_Span]:
    """Return the spans of the items, from the lines of their dashes; `values` are the spans of their values."""
    dash = re.compile(rb"(?:^|(?<=[\r\n])) {%d}-" % indent)
    lines: list[int] = []
    floor = section.start
    for start, stop in values:
        dashes = [match.start() for match in dash.finditer(data, floor, start)]
        if not dashes:
            line = data.count(b"\n", 0, start) + 1
            raise KrmfnError("the dash of this item must begin a line, in the column of the others", line=line)
        lines.append(dashes[-1])
        floor = max(dashes[-1] + 1, stop - indent)  # a collection ends for libyaml where the next dash is
    return list(zip(lines, [*lines[1:], section.end], strict=True))


def _end(event: Any, stream: Iterator[Any]) -> Any:
    """Read on to the end of the node that `event` begins; return the mark of that end."""
    depth = int(isinstance(event, yaml.CollectionStartEvent))
    while depth:
        event = next(stream)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
    return event.end_mark


def _offsets(data: bytes) -> Callable[[Any], int]:
    """Return what gives the byte offset of a mark; marks come in ascending order but for short steps back."""
    text = "" if data.isascii() else data.decode()
    seen = (0, 0)  # a character offset and its byte offset, the last one converted

    def offset(mark: Any) -> int:
        nonlocal seen
        if not text:
            return int(mark.index)
        chars, size = seen
        size += len(text[chars : mark.index].encode()) - len(text[mark.index : chars].encode())
        seen = mark.index, size
        return size

    return offset
