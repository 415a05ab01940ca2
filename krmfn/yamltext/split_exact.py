"""The exact division of a ResourceList, from the positions of a YAML parser: any layout, some fifty times slower."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from ..errors import KrmfnError
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
        return _Walk(data).cut()
    except yaml.YAMLError as failure:
        raise KrmfnError(explain(failure, data)) from failure


class _Walk:
    """One pass over the parser's events; marks count characters, spans are bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.text = "" if data.isascii() else data.decode()
        self.seen: _Span = (0, 0)  # a character offset and its byte offset, the last one converted
        self.events: Iterator[Any] = iter(events(data))

    def cut(self) -> Cut:
        root = self._root()
        keys: list[tuple[str, int, _Span]] = []
        items: list[_Span] | None = None
        indent, flow_items = 0, False
        while not isinstance(key := next(self.events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise KrmfnError(f"line {key.start_mark.line + 1}: a top-level key must be a word")
            start, value = self.offset(key.start_mark), next(self.events)
            begin = self.offset(value.start_mark)
            if key.value == "items" and isinstance(value, yaml.SequenceStartEvent):
                indent, flow_items = self._column(value), bool(value.flow_style)
                items, stop = self._items(flow_items)
            else:
                stop = self._skip(value)
            keys.append((key.value, start, (begin, stop)))
        end = self._end()
        if len({name for name, _, _ in keys}) < len(keys):
            raise KrmfnError("a top-level key of the ResourceList appears twice")
        if root.flow_style:
            return Cut(tuple(Section(name, *span) for name, _, span in keys), tuple(items or ()), 0, True, True)
        return self._block(keys, end, items or [], indent, flow_items)

    def _block(self, keys: list[tuple[str, int, _Span]], end: int, items: list[_Span], indent: int, flow: bool) -> Cut:
        starts = [start for _, start, _ in keys]
        for start in starts:
            if start and self.data[start - 1 : start] not in (b"\n", b"\r"):
                line = self.data.count(b"\n", 0, start) + 1
                raise KrmfnError(f"line {line}: write the keys of a ResourceList at the start of a line")
        stops = [*starts[1:], end]
        sections = tuple(Section(name, start, stop) for (name, start, _), stop in zip(keys, stops, strict=True))
        if items and not flow:
            section = next(section for section in sections if section.key == "items")
            items = self._dash_lines(items, indent, section)
        filled = bool(items)
        return Cut(sections, tuple(items), indent * filled, flow and filled, False, frozenset(range(len(items))))

    def _column(self, items: Any) -> int:
        """Return the column of a list's dashes; an anchor or a tag makes the list begin before the first of them."""
        dash = _DASH.search(self.data, self.offset(items.start_mark)) if items.anchor or items.tag else None
        return len(dash[1]) if dash else int(items.start_mark.column)

    def _dash_lines(self, values: list[_Span], indent: int, section: Section) -> list[_Span]:
        """Return the spans of the items, from the lines of their dashes; `values` are the spans of their values."""
        dash = re.compile(rb"(?:^|(?<=[\r\n])) {%d}-" % indent)
        lines: list[int] = []
        floor = section.start
        for start, stop in values:
            near = self.data.rfind(b"\n" + b" " * indent + b"-", floor, start)
            before = near + 1 if near >= 0 else floor  # at or before the dash
            dashes = [match.start() for match in dash.finditer(self.data, before, start)]
            if not dashes:
                line = self.data.count(b"\n", 0, start) + 1
                raise KrmfnError(f"line {line}: the dash of this item must begin a line, in the column of the others")
            lines.append(dashes[-1])
            floor = max(dashes[-1] + 1, stop - indent)  # a collection ends for libyaml where the next dash is
        return list(zip(lines, [*lines[1:], section.end], strict=True))

    def _root(self) -> Any:
        next(self.events)  # the stream's start
        first = next(self.events)
        root = next(self.events) if isinstance(first, yaml.DocumentStartEvent) else first
        if not isinstance(root, yaml.MappingStartEvent):
            raise KrmfnError("expected a mapping with apiVersion, kind and items")
        return root

    def _items(self, flow: bool) -> tuple[list[_Span], int]:
        """Return the spans of the values in the list that has just begun, and where the list ends."""
        spans: list[_Span] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            start = self.offset(event.start_mark)
            spans.append((start, self._skip(event)))
        return spans, self.offset(event.end_mark)

    def _skip(self, event: Any) -> int:
        """Read on to the end of the node that `event` begins; return that end."""
        depth = int(isinstance(event, yaml.CollectionStartEvent))
        while depth:
            event = next(self.events)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        return self.offset(event.end_mark)

    def _end(self) -> int:
        """Return the end of the one document."""
        document = next(self.events)
        after = next(self.events)
        line = after.start_mark.line + 1
        if isinstance(after, yaml.DocumentStartEvent):
            raise KrmfnError(f"line {line}: another document begins; a ResourceList is one document")
        return self.offset(document.start_mark)

    def offset(self, mark: Any) -> int:
        """Return the byte offset of a mark; marks come in ascending order but for short steps back."""
        index: int = mark.index
        if not self.text:
            return index
        chars, size = self.seen
        if index >= chars:
            size += len(self.text[chars:index].encode())
        else:
            size -= len(self.text[index:chars].encode())
        self.seen = (index, size)
        return size
