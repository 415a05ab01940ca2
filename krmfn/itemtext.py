"""What an item's text holds: words and single fields, read without loading it; or its data, with what was edited."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from .errors import KrmfnError, NoData
from .resource import Manifest, Place, copied, fingerprint, same
from .yamltext import peek, simple

__all__ = ["Content", "check_aliases", "lines_before", "mapping", "mentions", "part", "string", "strings"]


_Item = Any
"""An Item, which stands above."""


def string(item: _Item, *path: str) -> str:
    """Return the string at a path of keys; "" when there is none."""
    if not item.is_read:
        root = mapping(item)
        scalar = root.scalar(*map(str.encode, path)) if isinstance(root, peek.Mapping) else root
        if scalar is not peek.UNSURE:
            return scalar if isinstance(scalar, str) else ""
    value = _loaded(item, path)
    return value if isinstance(value, str) else ""


def strings(item: _Item, *path: str) -> dict[str, str]:
    """Return the strings of the mapping at a path of keys, {} when there is none."""
    if not item.is_read:
        block = mapping(item, *path)
        texts = block.strings() if isinstance(block, peek.Mapping) else block
        if texts is not peek.UNSURE:
            return texts if isinstance(texts, dict) else {}
    value = _loaded(item, path)
    return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}


def part(item: _Item, *path: str) -> Any:
    """Return the mapping at a path of keys, {} when there is none; the rest is read only where it has to be."""
    if not item.is_read:
        block = mapping(item, *path)
        data = block.data() if isinstance(block, peek.Mapping) else block
        if data is not peek.UNSURE:
            return data if isinstance(data, dict) else {}
    value = _loaded(item, path)
    return value if isinstance(value, dict) else {}


def mapping(item: _Item, *path: str) -> peek.Mapping | peek.Answer:
    """Return the mapping at a path of keys in the text, read without a parser."""
    root = _root(item) if item.sure else peek.UNSURE
    return root.mapping(*map(str.encode, path)) if isinstance(root, peek.Mapping) else root


def check_aliases(item: _Item) -> None:
    """Raise KrmfnError unless every alias in the item's text has its anchor before it in the same text."""
    if b"*" in item.text and simple.read(item.text.decode()) is None:
        from .yamltext import load

        try:
            load.placed(partial(load.compose, item.text), partial(lines_before, item.data, item.start, item.file))
        except KrmfnError as failure:
            raise KrmfnError(f"{_named(item)}{failure}") from failure


def _named(item: _Item) -> str:
    """Return the file of an item, or what its text seems to be: kind, name and kpt's path, as far as they show."""
    if item.file and item.file.path:
        return f"{item.file.path}: "
    root = peek.root(item.data, item.start, item.end, item.indent)
    annotations = (b"metadata", b"annotations", b"internal.config.kubernetes.io/path")
    if not isinstance(root, peek.Mapping):
        return ""
    kind, name, path = (root.scalar(*keys) for keys in ((b"kind",), (b"metadata", b"name"), annotations))
    words = [word for word in (kind, name) if isinstance(word, str)] + ([f"({path})"] if isinstance(path, str) else [])
    return f"{' '.join(words)}, in the ResourceList: " if words else ""


@lru_cache(maxsize=16)
def _root(item: _Item) -> peek.Mapping | peek.Answer:
    """Return the index of an item's text; those of few items are kept, since each takes a kilobyte."""
    return peek.root(item.data, item.start, item.end, item.indent, item.keys)


def _loaded(item: _Item, path: tuple[str, ...]) -> Any:
    """Return the value at a path of keys in all that the item holds; None when there is none."""
    value: Any = item.manifest
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def mentions(text: bytes, start: int, end: int, word: bytes) -> bool:
    """Return False when `word` is surely not in the data of the resource text[start:end].

    True is no proof: it may stand in a comment. JSON may escape a slash, so escapes are read everywhere.
    """
    if text.find(word, start, end) >= 0:
        return True
    if text.find(b"\\", start, end) < 0 and text.find(b"!", start, end) < 0:
        return False  # nothing is spelled in another way
    from .yamltext.escapes import may_hold

    return may_hold(text[start:end], word)


class Content:
    """A resource's data as its text has it; what is changed in `manifest` in place counts as an edit."""

    _text: bytes | None = None
    _node: Any = None
    _spots: Any = None
    _comments: dict[tuple[str, ...], str] | None = None
    lists: dict[int, tuple[list[Any], list[Any]]] | None = None
    """The lists of the manifest with their entries as the text has them, since the first write to a field."""
    is_simple = False
    """Whether the reader by lines read the text: it refuses one with two equal keys or an ambiguous scalar."""
    is_edited = False
    """Whether a field or comment was written or deleted: the text is made anew when the list is written."""

    def __init__(self, data: bytes, start: int, end: int, indent: int, file: Place | None) -> None:
        """Read the item data[start:end], its dash at column `indent`; `file` says where a document was read from.

        Raises KrmfnError when the text is no YAML; the fast path has not looked before.
        """
        self.data, self.start, self.end, self.indent, self.file = data, start, end, indent, file
        self.remarks: dict[tuple[tuple[str, ...], bool], str] = {}
        """The comments that were written and do not stand in `text` yet: by a field's parts, True for a head."""
        self.manifest = self._read()
        self._print: int | None = hash(fingerprint(self.manifest))

    @property
    def text(self) -> bytes:
        """Return the item's bytes, without what was edited since `settle`."""
        return self.data[self.start : self.end] if self._text is None else self._text

    @property
    def is_changed(self) -> bool:
        """Return True when the data is not what the text has."""
        now = fingerprint(self.manifest)
        if now is not None and hash(now) == self._print:
            return False
        return self.is_edited or not same(self._read(), self.manifest)

    def settle(self, item: _Item) -> None:
        """Write what was edited in the item to its text. Raises Refused, at the item, for what YAML cannot hold."""
        if self.remarks or self.is_changed:
            from . import settling

            remarks, self.remarks = self.remarks, {}
            self._text = settling.text_of(self, remarks, item)
            self._node, self._spots, self._comments, self.lists = None, None, None, None
            self.is_simple, self.is_edited = False, True
            self._print = hash(fingerprint(self.manifest))

    def touch(self) -> None:
        """Note that a field is about to be written: an entry that is renamed stays the entry that it was."""
        if self.lists is None and not self.is_changed:
            self.lists = dict(_lists(self.manifest))
        self.is_edited = True

    @property
    def spots(self) -> Any:
        """Return the fields that have a line of their own in the text (see `remarks.spots`)."""
        if self._spots is None:
            from .yamltext import remarks

            # a tree takes much memory: it is not kept
            tree = self._tree if self._node is None else lambda: self._node
            self._spots = remarks.spots(self.text.decode(), tree, self.indent >= 0)
        return self._spots

    def comments(self, item: _Item) -> dict[tuple[str, ...], str]:
        """Return the comments on the lines of fields, by the parts of their paths; what was edited counts."""
        if self.is_changed:  # what was written to fields that moved since stands in the text then
            self.settle(item)
        if self._comments is None:
            from .yamltext import remarks

            self._comments = remarks.comments(self.text.decode(), self.spots) if b"#" in self.text else {}
        return self._comments

    def head(self, item: _Item, parts: tuple[str, ...]) -> str:
        """Return the comment in the lines above a field; what was edited counts."""
        if self.is_changed:
            self.settle(item)
        if (parts, True) in self.remarks or parts not in self.spots:
            return self.remarks.get((parts, True), "")
        from .yamltext import remarks

        return remarks.head(self.text.decode(), self.node, self.spots[parts])

    def remark(self, parts: tuple[str, ...], words: str, head: bool) -> bool:
        """Write the comment of a field, `head`: that above it; return False where it has no line of its own."""
        from .yamltext import remarks

        spot = self.spots.get(parts)
        if spot is None or not (head or remarks.rest(self.text.decode(), spot.stop)):
            return False
        self.remarks[parts, head], self.is_edited = words, True
        if self._comments is not None and not head:
            self._comments[parts] = words
        return True

    def take(self, manifest: Manifest) -> None:
        """Take other data, a copy of it; comments, key order and layout stay as far as they can."""
        self.manifest, self._print, self.lists, self.is_edited = copied(manifest), None, None, True

    @property
    def node(self) -> Any:
        """Return the node tree of the text (PyYAML's), for places and duplicate keys."""
        if self._node is None:
            self._node = self._tree()
        return self._node

    def _tree(self) -> Any:
        from .yamltext import load

        tree = load.placed(partial(load.compose, self.text), partial(lines_before, self.data, self.start, self.file))
        return tree.value[0] if self.indent >= 0 and tree is not None else tree

    @property
    def duplicate_keys(self) -> list[str]:
        """Return the paths of keys that stand twice in one mapping."""
        if self.is_simple:
            return []
        from .yamltext import positions

        return [path for path, _ in positions.duplicate_keys(self.node)]

    @property
    def ambiguous(self) -> list[Any]:
        """Return what Kubernetes and kustomize read differently where it decides (see `positions.ambiguous`)."""
        if self.is_simple:
            return []
        from .yamltext import positions

        return list(positions.ambiguous(self.node))

    @property
    def shared_paths(self) -> frozenset[tuple[str, ...]]:
        """Return the paths of what an anchor and its aliases share in the text."""
        if self.data.find(b"&", self.start, self.end) < 0:
            return frozenset()
        from .yamltext import positions

        return positions.shared(self.node)

    def place(self, path: str, file: Place) -> Place:
        """Return the place of the field at `path` in an item at `file`."""
        from .yamltext import positions

        line, column = positions.locate(self.node, path)
        # a document that stands indented in another one has a column
        return file._replace(line=file.line + line - 1, column=column + max(file.column - 1, 0))

    def _read(self) -> Manifest:
        text = memoryview(self.data)[self.start : self.end] if self._text is None else self._text
        data = simple.read(str(text, "utf-8"))  # the text may be of 100 MB
        self.is_simple = data is not None
        if self.is_simple:
            data = data[0] if self.indent >= 0 else data
        else:
            from .yamltext import load, values

            try:
                data = load.placed(
                    partial(values.build, self.node), partial(lines_before, self.data, self.start, self.file)
                )
            except KrmfnError as failure:
                raise NoData(f"{_named(self)}{failure}") from failure
        return data if isinstance(data, dict) else {}


def lines_before(data: bytes, start: int, file: Place | None) -> int:
    """Return how many lines come before an item in its file or list."""
    return file.line - 1 if file and file.line else data.count(b"\n", 0, start)


def _lists(value: Any) -> Iterator[tuple[int, tuple[list[Any], list[Any]]]]:
    """Yield the id of each list in a value, with the list, and a copy of it."""
    if isinstance(value, list):
        yield id(value), (value, [*value])
    if isinstance(value, (dict, list)):
        for child in value.values() if isinstance(value, dict) else value:
            yield from _lists(child)
