"""What an item's text holds: words and single fields, read without loading it; or its data, with what was edited."""

from __future__ import annotations

import re
from functools import lru_cache, partial

from .errors import KrmfnError, NoData
from .resource import Manifest, Place, copied, fingerprint, same
from .typed import Any
from .yamltext import peek, simple

__all__ = ["Content", "check_aliases", "lines_before", "mapping", "mentions", "part", "string", "strings"]


_Item = Any
"""An Item, which stands above."""
_ESCAPE = rb"\\(?:/|\r?\n[ \t]*|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
"""The escapes of double quotes behind which part of a word may hide."""
_HIDING = (b"!!binary", b"!<")
"""How the tags begin that may hide all of it."""


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
    """Return False when `word` is surely not in the data of the resource text[start:end], however it is written there.

    True is no proof: it may stand in a comment, and escapes are read everywhere, not only in double quotes.
    """
    if text.find(word, start, end) >= 0:
        return True
    if text.find(b"!", start, end) >= 0 and any(text.find(tag, start, end) >= 0 for tag in _HIDING):
        return True
    if text.find(b"\\", start, end) < 0:
        return False
    return word in re.sub(_ESCAPE, _character, text[start:end])


def _character(escape: re.Match[bytes]) -> bytes:
    """Return what an escape stands for: a slash, nothing (a line end), a character."""
    code = escape[1] or escape[2] or escape[3]
    if code is None:
        return b"/" if escape[0] == b"\\/" else b""
    return chr(int(code, 16)).encode(errors="replace") if int(code, 16) < 0x110000 else b""


class Content:
    """A resource's data as its text has it; what is changed in `manifest` in place counts as an edit."""

    _text: bytes | None = None
    _node: Any = None
    spots: Any = None
    """The fields that have a line of their own in the text (see `remarks.spots`), once they were asked for."""
    comments: dict[tuple[str, ...], str] | None = None
    """The comments on the lines of fields, by the parts of their paths, once they were asked for."""
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

    def write(self, text: bytes) -> None:
        """Take the text that was made of the data (see `settling.settle`)."""
        self._text, self._node, self.is_simple, self.is_edited = text, None, False, True
        self.remarks, self.spots, self.comments, self.lists = {}, None, None, None
        self._print = hash(fingerprint(self.manifest))

    def take(self, manifest: Manifest) -> None:
        """Take other data, a copy of it; comments, key order and layout stay as far as they can."""
        self.manifest, self._print, self.lists, self.is_edited = copied(manifest), None, None, True

    @property
    def node(self) -> Any:
        """Return the node tree of the text (PyYAML's), for places and duplicate keys."""
        if self._node is None:
            self._node = self.tree()
        return self._node

    def tree(self) -> Any:
        """Return the same, made anew and not kept: it takes much memory."""
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
