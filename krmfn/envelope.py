"""The text around a ResourceList's items: what is read from it, and where its items stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from operator import is_

from .errors import KrmfnError
from .item import Item
from .itemtext import mentions
from .typed import Any
from .yamltext import peek, simple, split

__all__ = ["VERSIONS", "Chunk", "Envelope", "Words", "empty", "mentioning", "parse"]

Chunk = bytes | memoryview

VERSIONS = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
_BOM = b"\xef\xbb\xbf"
_BREAK = b"\r\n?|\xc2\x85|\xe2\x80[\xa8\xa9]"
"""Each may be a line break of its own when a section is written."""


class Envelope:
    """A ResourceList's bytes, how they are cut, and the items as they came."""

    def __init__(self, data: bytes, text: bytes, cut: split.Cut, items: Sequence[Item]) -> None:
        """Take `data` as it came; `text`, which the items are cut from, is the same without a byte order mark."""
        self.data = data
        self.text = text
        self.cut = cut
        self.items = tuple(items)

    def section(self, key: str) -> split.Section | None:
        """Return the top-level key's section of the text; None when it is not there."""
        return next((section for section in self.cut.sections if section.key == key), None)

    def holds(self, items: Sequence[Item]) -> bool:
        """Return True when these are the items as they came, in their order."""
        return len(items) == len(self.items) and all(map(is_, items, self.items))

    def value(self, key: str) -> Any:
        """Return the data under a top-level key other than `items`; None when it is not there.

        Raises KrmfnError when the text is no YAML.
        """
        section = self.section(key)
        if section is None:
            return None
        raw = self.text[section.start : section.end]
        if not self.cut.flow_root:
            scalar = peek.Mapping(raw, 0, len(raw), 0).scalar(key.encode())
            if isinstance(scalar, str):
                return scalar
        data = simple.read(raw.decode())
        if data is None:
            from .yamltext import load, positions

            lines = partial(self.text.count, b"\n", 0, section.start)
            most = len(raw) if key == "results" else simple.MAX_NODES  # earlier functions may have had much to say
            try:
                data = load.placed(partial(load.read, raw, most=most), lines)
            except KrmfnError as failure:
                raise KrmfnError(f"{key}: {failure}") from failure
            for one in positions.ambiguous(load.compose(raw)) if key == "functionConfig" else ():
                raise KrmfnError(f"line {one.line + lines()}: {one.path}: {one}")
        return data if self.cut.flow_root else data[key]

    def results(self) -> list[Any]:
        """Return the findings of earlier functions. Raises KrmfnError when `results` is something else."""
        results = self.value("results")
        results = results.get("items") if isinstance(results, dict) else results
        if results is not None and not isinstance(results, list):
            raise KrmfnError("`results` of the ResourceList is not a list")
        return results or []


def parse(data: bytes) -> Envelope:
    """Return the ResourceList in `data`: YAML or JSON, UTF-8, wire version v1 or v1beta1.

    Raises KrmfnError for anything else, with a line where one can be named. Of the items only the encoding and
    the boundaries are looked at.
    """
    text = data.removeprefix(_BOM)
    split.check_encoding(text)
    cut = split.quick(text) or _exact(text)
    indent = -2 if cut.flow_items else cut.indent
    sure = [not cut.flow_items and index not in cut.dubious for index in range(len(cut.items))]
    spans = zip(cut.items, sure, strict=True)
    items = [Item(text, start, end, indent, safe) for (start, end), safe in spans]
    words = Words(text, cut.items)
    for item in items:
        item.words = words
    envelope = Envelope(data, text, cut._replace(heads=()), items)
    if items and not cut.flow_items:
        starts = [start for start, _ in cut.items]
        for index, api_version, kind in peek.heads(text, starts, items[-1].end, indent, cut.heads):
            if sure[index]:
                items[index].set_head(api_version, kind)
    _check_head(envelope)
    return envelope


def empty(config: dict[str, Any] | None) -> Envelope:
    """Return the envelope of an empty list with a functionConfig, for items that were not read from one."""
    from .yamltext import emit

    text = f"apiVersion: {VERSIONS[0]}\nkind: ResourceList\nitems: []\n"
    return parse((text + (emit.dump({"functionConfig": config}) if config else "")).encode())


def _exact(text: bytes) -> split.Cut:
    """Return the cut of any list; raise KrmfnError for a line at which readers of what is written would divide it."""
    from .yamltext import documents, split_exact

    behind = text.removeprefix(b"--- ")  # what follows on that line is the list itself, as in JSON
    if b"---" in behind and (problem := documents.misread(re.sub(_BREAK, b"\n", behind))):
        raise KrmfnError(problem)
    return split_exact.exact(text)


def _check_head(envelope: Envelope) -> None:
    """Raise KrmfnError unless the document says that it is a ResourceList whose items are a list."""
    version, kind = envelope.value("apiVersion"), envelope.value("kind")
    if kind != "ResourceList" or version not in VERSIONS:
        raise KrmfnError(
            f"expected a ResourceList ({VERSIONS[0]}), found apiVersion {version!r}, kind {kind!r}; a KRM function "
            "is run by kustomize or kpt, which send it a ResourceList"
        )
    if not envelope.section("items"):
        raise KrmfnError("the ResourceList has no `items`; write `items: []` for an empty one")
    if not envelope.items and envelope.value("items") not in (None, []):
        raise KrmfnError("`items` of the ResourceList is not a list")


class Words:
    """The search over a text that holds many resources."""

    def __init__(self, text: bytes, spans: Sequence[tuple[int, int]]) -> None:
        """Take the text, and where its resources stand in it, in order."""
        self._text, self._spans = text, spans
        self._starts = [start for start, _ in spans]
        self._naming: dict[bytes, frozenset[int]] = {}

    def naming(self, word: bytes) -> frozenset[int]:
        """Return where the resources begin that may hold `word` (see `mentions`)."""
        if word not in self._naming:
            part = next((known for known in self._naming if known and known in word), None)
            if part is not None:  # whatever names the word names its part
                holding = self._those(self._naming[part], word)
            else:
                holding = frozenset(self._holding(word))
                holding |= self._those(self._spelled() - holding, word)
            self._naming[word] = holding
        return self._naming[word]

    def known(self, word: bytes) -> frozenset[int] | None:
        """Return what `naming` does when that was asked before; None else."""
        return self._naming.get(word)

    def _those(self, starts: frozenset[int], word: bytes) -> frozenset[int]:
        """Return those of the resources that may hold the word."""
        spans = (self._spans[bisect_right(self._starts, start) - 1] for start in starts)
        return frozenset(start for start, end in spans if mentions(self._text, start, end, word))

    def _spelled(self) -> frozenset[int]:
        """Return where the resources begin in which a word may be spelled in another way: with escapes, by a tag."""
        if b"" not in self._naming:
            self._naming[b""] = frozenset((*self._holding(b"\\"), *self._holding(b"!")))
        return self._naming[b""]

    def _holding(self, word: bytes) -> Iterator[int]:
        """Yield where each resource begins whose bytes hold `word`."""
        at = self._text.find(word, self._starts[0]) if self._starts else -1
        while at >= 0:
            start, end = self._spans[bisect_right(self._starts, at) - 1]
            if at < end:
                yield start
            at = self._text.find(word, max(at + 1, end))


def mentioning(items: Collection[Item], words: Collection[str]) -> list[Item]:
    """Return the items that may hold one of the words (see `Item.mentions`), by one search over each text."""
    wanted = [word.encode() for word in words]
    every = {item.words for item in items if item.words}
    starts = {one: frozenset[int]().union(*map(one.naming, wanted)) for one in every}
    return [
        item
        for item in items
        if (item.start in starts[item.words] if item.words and not item.is_read else any(map(item.mentions, words)))
    ]
