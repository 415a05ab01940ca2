"""The text around a ResourceList's items: its top-level keys, and how items and findings go back between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from . import aliases
from .errors import KrmfnError
from .item import Item
from .yamltext import peek, simple
from .yamltext.comments import trailer
from .yamltext.split import Cut, Section

Chunk = bytes | memoryview


class Envelope:
    """A ResourceList's bytes, how they are cut, and the items as they came."""

    def __init__(self, data: bytes, text: bytes, cut: Cut, items: Sequence[Item]) -> None:
        """Take `data` as it came; `text`, which the items are cut from, is the same without a byte order mark."""
        self.data = data
        self.text = text
        self.cut = cut
        self.items = tuple(items)

    def value(self, key: str) -> Any:
        """Return the data under a top-level key other than `items`; None when it is not there.

        Raises KrmfnError when the text is no YAML.
        """
        section = self._section(key)
        if section is None:
            return None
        raw = self.text[section.start : section.end]
        if not self.cut.flow_root:
            scalar = peek.scalar(raw, peek.Block(0, len(raw), 0), key.encode())
            if isinstance(scalar, str):
                return scalar
        tree = simple.parse(raw.decode())
        if tree is not None:
            data = simple.data(tree)
        else:
            from .yamltext import load

            lines = partial(self.text.count, b"\n", 0, section.start)
            data = load.placed(partial(load.read, raw), lines)
        return data if self.cut.flow_root else data[key]

    def chunks(self, items: Sequence[Item], results: Sequence[dict[str, Any]]) -> list[Chunk]:
        """Return the list with these items, and these results (as the specification writes them) behind its own."""
        known = self._known_results() if results else []
        seen = set(map(_canonical, known))
        fresh = [result for result in results if not seen or _canonical(result) not in seen]
        same = len(items) == len(self.items) and all(map(_is, items, self.items))
        if same and not fresh:
            return [self.data]
        if len(items) < len(self.items) or not all(map(_is, items, self.items)):
            aliases.refuse_cut(self.text, self.cut, items)
        items = self._closed(items)
        written = [*known, *fresh] if fresh else None
        return self._flow(items, written) if self.cut.flow_root else list(self._block(items, written))

    def _section(self, key: str) -> Section | None:
        return next((section for section in self.cut.sections if section.key == key), None)

    def _known_results(self) -> list[Any]:
        """Return the findings of earlier functions. Raises KrmfnError when `results` is something else."""
        known = self.value("results")
        known = known.get("items") if isinstance(known, dict) else known
        if known is not None and not isinstance(known, list):
            raise KrmfnError("`results` of the ResourceList is not a list")
        return known or []

    def _block(self, items: Sequence[Item], results: list[Any] | None) -> Iterator[Chunk]:
        view = memoryview(self.text)
        sections = self.cut.sections
        yield self.data[: len(self.data) - len(self.text)]
        yield view[: sections[0].start if sections else 0]
        for section in sections:
            if section.key == "items":
                yield from self._block_items(section, items)
            elif section.key == "results" and results is not None:
                yield _results(results)
            else:
                yield _section_end(view[section.start : section.end])
        if self._section("results") is None and results is not None:
            yield _results(results)
        yield view[sections[-1].end if sections else 0 :]

    def _block_items(self, section: Section, items: Sequence[Item]) -> Iterator[Chunk]:
        if not items and not self.items:  # null, perhaps, and perhaps with comments
            yield _line_end(self.text[section.start : section.end])
        elif not items:
            yield b"items: []\n"
            yield from map(_comments, self.items)
        elif self.cut.flow_items:
            yield b"items: [" + b",\n  ".join(map(self._fitting, items)) + b"]\n"
        else:
            header = self.text[section.start : self.cut.items[0][0]] if self.cut.items else b"items:\n"
            yield header
            yield from self._runs(items)

    def _runs(self, items: Sequence[Item]) -> Iterator[Chunk]:
        """Yield the items' bytes, untouched neighbours in one piece; comments behind removed items stay."""
        view = memoryview(self.text)
        order = {id(item): at for at, item in enumerate(self.items)}
        kept = {id(item.origin or item) for item in items}
        gone = not kept >= order.keys()
        start = end = upcoming = 0
        for item in items:
            at = order.get(id(item.origin or item), upcoming)
            passed = self.items[upcoming:at] if gone else ()
            left = b"".join(_comments(old) for old in passed if id(old) not in kept) if passed else b""
            upcoming = max(upcoming, at)
            data, first, last = item.span
            if data is self.text and first == end and not left:
                end = last
                continue
            yield _line_end(view[start:end])
            yield left
            start, end = (first, last) if data is self.text else (0, 0)
            if data is not self.text:
                yield _line_end(self._fitting(item))
        yield _line_end(view[start:end])
        yield from (_comments(old) for old in self.items[upcoming:] if id(old) not in kept)

    def _flow(self, items: Sequence[Item], results: list[Any] | None) -> list[Chunk]:
        parts = {section.key: self.text[section.start : section.end] for section in self.cut.sections}
        from .yamltext import emit

        if items or self.items:
            parts["items"] = b"[" + b",\n".join(map(self._fitting, items)) + b"]"
        if results is not None:
            parts["results"] = emit.dump_json(results).encode()
        body = b",\n".join(emit.dump_json(key).encode() + b": " + value for key, value in parts.items())
        return [self.data[: len(self.data) - len(self.text)], b"{" + body + b"}\n"]

    def _fitting(self, item: Item) -> bytes:
        """Return an item's text in this list's layout: one from another list or a file may have to be written anew."""
        flow = self.cut.flow_items or self.cut.flow_root
        if item.span[0] is self.text:
            return item.text
        if not flow and item.indent == self.cut.indent:
            item.check_aliases()
            return item.text
        from .yamltext import emit

        text = emit.dump_json(item.manifest) if flow else emit.dump_item(item.manifest, self.cut.indent)
        return text.encode()

    def _closed(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return the items; the one at the very end of the text gets a line end that does not change its meaning."""
        last = self.items[-1] if self.items else None
        if last is None or last.indent < 0 or last.span[2] < len(self.text) or self.text[-1:] == b"\n":
            return items
        from .yamltext.edit import closed

        text = closed(last.text, last.indent)
        new = Item(text, 0, len(text), last.indent)
        new.origin = last
        return [new if item is last else item for item in items]


def _canonical(result: Any) -> str:
    """Return a text that is equal for equal findings, whatever the order of their keys."""
    import json

    return json.dumps(result, sort_keys=True, default=str)


def _is(one: Item, other: Item) -> bool:
    return one is other


def _results(results: list[Any]) -> bytes:
    from .yamltext import emit

    return emit.dump({"results": results}).encode()


def _section_end(chunk: Chunk) -> Chunk:
    """Return a section with a line end that does not change the meaning of a literal there."""
    if chunk[-1:] in (b"\n", b""):
        return chunk
    from .yamltext.edit import closed

    return closed(bytes(chunk), -2)


def _line_end(chunk: Chunk) -> Chunk:
    return chunk if chunk[-1:] in (b"\n", b"") else bytes(chunk) + b"\n"


def _comments(item: Item) -> bytes:
    """Return the comment lines behind a removed item: they belong to what follows."""
    text = item.text
    left = text[trailer(text, item.indent) :] if item.indent >= 0 else b""
    start = left.find(b"#")  # empty lines before it would become text of a literal that keeps them
    return left[left.rfind(b"\n", 0, start) + 1 :] if start >= 0 else b""
