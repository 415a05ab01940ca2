"""The text around a ResourceList's items: what is read from it, and where its items stand."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from operator import is_

from .errors import KrmfnError, NoList
from .item import Item
from .itemtext import Words
from .typed import Any, NamedTuple
from .yamltext import heads, lineends, peek, simple, split

__all__ = ["VERSIONS", "Chunk", "Envelope", "empty", "parse"]

Chunk = bytes | memoryview

VERSIONS = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
_BOM = b"\xef\xbb\xbf"
_BREAK = b"\r\n?|\xc2\x85|\xe2\x80[\xa8\xa9]"
"""Each may be a line break of its own when a section is written."""


class Envelope(NamedTuple):
    """A ResourceList's bytes, how they are cut, and the items as they came."""

    data: bytes
    """The bytes as they came."""
    text: bytes
    """The same without a byte order mark; the items are cut from it."""
    cut: split.Cut
    items: tuple[Item, ...]
    line_end: bytes = b""
    """How all lines of the text end, and those of new items have to; b"" where they differ."""

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

            most = len(raw) if key == "results" else simple.MAX_NODES  # earlier functions may have had much to say
            data = self.read_section(section, partial(load.read, most=most))
            for ambiguity in positions.ambiguous(load.compose(raw)) if key == "functionConfig" else ():
                line = ambiguity.line + self.text.count(b"\n", 0, section.start)
                raise KrmfnError(f"{ambiguity.path}: {ambiguity}", line=line)
        return data if self.cut.flow_root else data[key]

    def read_section(self, section: split.Section, reader: Callable[..., Any]) -> Any:
        """Return what `reader` returns for a section's text. Raises its KrmfnError with the key and the right line."""
        from .yamltext import load

        text, lines = self.text[section.start : section.end], partial(self.text.count, b"\n", 0, section.start)
        return load.placed(partial(reader, text), lines, subject=f"{section.key}: ")

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
    cut, line_end = split.quick(text), b"\n"  # which finds no other ones
    if cut is None:
        cut, line_end = _exact(text), lineends.of(text)
    items = [Item(text, start, end, cut.indent, None if cut.is_quick else False) for start, end in cut.items]
    words = Words(text, cut.items)
    for item in items:
        item._words = words
    envelope = Envelope(data, text, cut._replace(heads=()), tuple(items), line_end)
    if items and cut.is_quick:
        starts = [start for start, _ in cut.items]
        for index, api_version, kind, metadata in heads.heads(text, starts, items[-1].end, cut.indent, cut.heads):
            item = items[index]
            item._api_version, item._kind, item._metadata = api_version, kind, metadata
    version, kind = envelope.value("apiVersion"), envelope.value("kind")
    if kind != "ResourceList" or version not in VERSIONS:
        problem = f"expected a ResourceList ({VERSIONS[0]}), found apiVersion {version!r}, kind {kind!r}"
        raise NoList(f"{problem}; a KRM function is run by kustomize or kpt, which send it a ResourceList")
    if not envelope.section("items"):
        raise KrmfnError("the ResourceList has no `items`; write `items: []` for an empty one")
    if not items and envelope.value("items") not in (None, []):
        raise KrmfnError("`items` of the ResourceList is not a list")
    return envelope


def empty(config: dict[str, Any] | None) -> Envelope:
    """Return the envelope of an empty list with a functionConfig, for items that were not read from one."""
    from .yamltext import emit

    text = f"apiVersion: {VERSIONS[0]}\nkind: ResourceList\nitems: []\n"
    return parse((text + (emit.dump({"functionConfig": config}) if config else "")).encode())


def _exact(text: bytes) -> split.Cut:
    """Return the cut of any list. Raises KrmfnError for a line at which readers would divide the written list."""
    from .yamltext import documents, split_exact

    behind = text.removeprefix(b"--- ")  # what follows on that line is the list itself, as in JSON
    if b"---" in behind and (problem := documents.misread(re.sub(_BREAK, b"\n", behind))):
        raise problem
    return split_exact.exact(text)
