"""All that an item's text holds, its data and the comments of its fields; and the text after edits."""

from types import MappingProxyType

from . import nodes
from .resource import Manifest, Place, copied, fingerprint, same
from .typed import Any
from .yamltext import align, lent, pieces, positions, simple

__all__ = ["Content"]

_Parts = tuple[str, ...]
_HEAD = frozenset(("apiVersion", "kind", "metadata"))
"""Where an item's name stands."""


class Content:
    """A resource's data as its text has it; what is changed in `manifest` in place counts as an edit."""

    _text: bytes | None = None
    _comments: dict[_Parts, str] | None = None
    _lent: lent.Source | None = None
    """The text with what is known of the manifest's collections, since it was lent."""
    _were_lent: tuple[lent.Source, ...] = ()
    """The same of the texts before from which a value was taken: it may stand in another item, or come back."""
    first: lent.Source | None = None
    """The same of the text as it was when something was lent for the first time since the list was written."""
    departures: tuple[Any, ...] = ()
    """What went since then, before the text was written anew (see `departures`)."""
    _pending: lent.Pending = MappingProxyType({})
    """What was written since, while nothing is lent: the mappings with their paths and what they held."""
    _is_simple: bool | None = None
    """Whether the reader by lines can read the text: it refuses equal keys and ambiguous scalars. None: not known."""
    _is_odd = False
    """Whether another reader by lines has read it (see `yamltext.oddlines`), which refuses equal keys, too."""
    is_open = False
    """Whether name, kind or apiVersion may have been changed, by a field or in the manifest."""
    is_lent = False
    """Whether a caller has a part of the manifest, and may change it in place."""
    _fingerprint: int | None = None
    """A hash of the manifest as it was when it was lent, or written to the text."""
    _written: _Parts = ()
    """The field that was written last, for errors."""
    is_replaced = False
    """Whether `take` has replaced all data."""
    is_edited = False
    """Whether a field or comment was written or deleted: the text is made anew when the list is written."""

    def __init__(self, data: bytes, start: int, end: int, indent: int, file: Place | None) -> None:
        """Read the item data[start:end], its dash at column `indent`; `file` says where a document was read from.

        Raises KrmfnError when the text is no YAML; the fast path has not looked before.
        """
        self.data, self.start, self.end, self.indent, self.file = data, start, end, indent, file
        self._remarks: dict[tuple[_Parts, bool], tuple[Any, str]] = {}
        """The comments that were written and do not stand in `text` yet: by a field's parts, True for a head."""
        self.manifest = self._read()

    @property
    def text(self) -> bytes:
        """Return the item's bytes, without what was edited since `settle`."""
        return self.data[self.start : self.end] if self._text is None else self._text

    @property
    def is_changed(self) -> bool:
        """Return True when the data is not what the text has."""
        if self._pending:
            return True
        now = fingerprint(self.manifest) if self.is_lent else None
        if not self.is_lent or (now is not None and hash(now) == self._fingerprint):
            return False
        return self.is_edited or not same(self._read(), self.manifest)

    def take(self, manifest: Manifest, source_text: lent.Source | None = None) -> None:
        """Take other data, a copy of it; comments, key order and layout stay as far as they can.

        `source_text`: what is known of the text already, where the data was read from an equal one.
        """
        if source_text:
            self.manifest, self._lent, self.first = source_text.root, source_text, source_text
        source, before = self._source(), self.manifest
        self.manifest, self._fingerprint = copied(manifest), None
        lent.link(manifest, self.manifest)
        if b"#" in source.text or lent.known_in(before, source.lists) is not source.lists:
            lent.link_equal(before, self.manifest)
        if id(before) in source.lists:  # at the root it is what the item was
            source.add(source.lists[id(before)]._replace(value=self.manifest))
        self.is_open = self.is_lent = self.is_edited = self.is_replaced = True

    def lend(self, parts: _Parts) -> None:
        """Note that somebody may change a field in place, or data below it; it may hold the item's name.

        Call it with () for the whole manifest. Code that only reads `manifest` need not: no fingerprint is taken then.
        """
        if not self.is_lent:
            self.is_lent, self._fingerprint = True, self._source().mark
        self.is_open = self.is_open or _HEAD.issuperset(parts[:1])

    def touch(self, parts: _Parts) -> None:
        """Note that a field is about to be written, and the entries of all lists: a renamed one keeps its comments."""
        self.lend(parts)
        self.is_edited, self._written = True, parts

    def write(self, parts: _Parts, mapping: dict[str, Any]) -> None:
        """Note that a scalar is about to be written to a mapping, or added to it: most edits need no more (`touch`)."""
        if self.is_lent:
            self.touch(parts)
            return
        if id(mapping) not in self._pending:
            self._pending = {**self._pending, id(mapping): (parts[:-1], align.Known(mapping, mapping.copy(), mapping))}
        self.is_open = self.is_open or _HEAD.issuperset(parts[:1])
        self.is_edited, self._written = True, parts

    def rename(self, mapping: dict[str, Any], old: str, new: str) -> None:
        """Give a key of a mapping of the manifest another name, at its place."""
        entries = [(new if key == old else key, value) for key, value in mapping.items()]
        mapping.clear()
        mapping.update(entries)
        self._source().note_renamed(mapping, old, new)

    def _source(self) -> lent.Source:
        """Return the text with what is known of the manifest's collections: it is asked before they can change."""
        if self._lent is None:
            written = {name: known for name, (_, known) in self._pending.items()}
            self._lent, self._pending = lent.Source(self.text, self.indent, self.manifest, written), {}
            self._lent.newer = self._commented if self._remarks else None
        self.first = self.first or self._lent
        return self._lent

    def _commented(self) -> bytes:
        from . import settling

        return settling.commented(self)

    @property
    def node(self) -> Any:
        """Return the node tree of the text: by its lines where these can be read, else PyYAML's."""
        return nodes.by_lines(self, self._text) if self._by_lines() else self.composed

    def _by_lines(self) -> bool:
        if self._is_simple is None:
            self._is_simple = simple.read(self.text.decode()) is not None
        return self._is_simple

    @property
    def is_by_lines(self) -> bool:
        """Return True when the text was read by its lines, odd ones perhaps among them (see `yamltext.pieces`)."""
        return self._is_odd or self._by_lines()

    @property
    def composed(self) -> Any:
        """Return PyYAML's node tree of the text, which has tags, styles and marks of all nodes."""
        return nodes.composed(self, self._text)

    @property
    def duplicate_keys(self) -> list[str]:
        """Return the paths of keys that stand twice in one mapping."""
        return [] if self.is_by_lines else positions.duplicate_keys(self.composed)

    @property
    def ambiguous(self) -> list[Any]:
        """Return what Kubernetes and kustomize read differently where it decides (see `positions.ambiguous`)."""
        return [] if self._by_lines() else list(positions.ambiguous(self.composed))

    def shared_above(self, parts: _Parts) -> frozenset[_Parts]:
        """Return the paths of what an anchor and its aliases share in the text; it has all that are above a field."""
        may_share = self.data.find(b"&", self.start, self.end) >= 0 and not self._by_lines()
        if may_share and self.is_by_lines:
            may_share = not pieces.is_apart(self.text.decode(), self.manifest, parts, self.indent + 2)
        return positions.shared_paths(self.composed) if may_share else frozenset()  # by lines only scalars are shared

    def name_of(self, parts: _Parts, spelling: str) -> str:
        """Return how the manifest names a key of the mapping at `parts` that the text spells so (`y` is "true")."""
        return spelling if self._by_lines() else positions.name_of(self.node, parts, spelling)

    def place(self, path: str, file: Place) -> Place:
        """Return the place of the field at `path` in an item at `file`."""
        line, column = positions.locate(self.node, path)
        # a document that stands indented in another one has a column
        return file._replace(line=file.line + line - 1, column=column + max(file.column - 1, 0))

    def comments(self, item: Any) -> dict[_Parts, str]:
        """Return the comments on the lines of fields, by the parts of their paths; what was edited counts."""
        if self.is_changed:  # what was written to fields that moved since stands in the text then
            self.settle(item)
        if self._comments is None:
            from .yamltext import remarks

            self._comments = remarks.comments(self.text.decode(), self.node) if b"#" in self.text else {}
        return self._comments

    def head(self, item: Any, parts: _Parts) -> str:
        """Return the comment in the lines above a field; what was edited counts."""
        if self.is_changed:
            self.settle(item)
        if (parts, True) in self._remarks:
            return self._remarks[parts, True][1]
        from .yamltext import remarks

        return remarks.head(self.text.decode(), self.node, parts)

    def remark(self, parts: _Parts, words: str, head: bool) -> bool:
        """Write a field's comment, `head`: that above it; False where it has no line: in brackets it can be cleared."""
        from .yamltext import remarks

        text = self.text.decode()
        spot = remarks.find(text, self.node, parts)
        if spot is None and not words:
            spot = remarks.clearable(text, self.node, parts, head)
        if spot is None or not (head or spot.clearable or remarks.rest(text, spot.stop)):
            return False
        self._remarks[parts, head], self.is_edited = (spot, words), True
        if self._lent:
            self._lent.newer = self._commented
        if self._comments is not None and not head:
            self._comments[parts] = words
        return True

    def edited(self, item: Any) -> bytes:
        """Return the text with what was edited, as `settle` writes it: nothing is noted, since nobody asks again."""
        if not (self._remarks or self.is_changed):
            return self.text
        from . import settling

        return settling.text_of(self, item)

    def settle(self, item: Any) -> None:
        """Write what was edited to the text (see `settling`). Raises Refused for what cannot be written."""
        if self._remarks or self.is_changed:
            from . import settling

            settling.settle(self, item)

    def settled(self, text: bytes) -> None:
        """Note that what was edited stands in a text now."""
        if self._pending and not self.first:  # scalars that came from other items are looked for in the end
            self.first, self._lent = self._source(), None
        self._text, self._is_simple, self._is_odd, self.is_edited = text, None, False, True
        self._remarks, self._comments, self._pending = {}, None, {}
        if self.is_lent:
            before = self._source()
            self._lent = before.followed_by(text, self.manifest)  # callers have the manifest still
            self._fingerprint = self._lent.mark
            self._were_lent += (before,) if before.lists.keys() - self._lent.lists.keys() else ()

    def _read(self) -> Manifest:
        text = memoryview(self.data)[self.start : self.end] if self._text is None else self._text
        data, self._is_simple, self._is_odd = nodes.read(self, str(text, "utf-8"))  # the text may be of 100 MB
        self._is_mapping = isinstance(data, dict)
        return data if self._is_mapping else {}
