"""One resource of a list: its text as it came, and what has been read from it."""

from collections.abc import Iterable, Sequence

from . import itemtext
from .annotations import PATH, place_of
from .ownership import Mark, mark_on
from .resource import Manifest, Place, Ref
from .resource import ref as ref_of
from .results import Result
from .strings import Strings, text
from .tentative import tentative
from .typed import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from .content import Content
    from .fields import ItemField, T

__all__ = ["LOCAL", "Item"]

LOCAL = "config.kubernetes.io/local-config"
"""The annotation that keeps an item from every cluster when its value is true."""


class Item:
    """A resource of a list. Reading a field parses as little of its text as is safe; `manifest` parses all of it."""

    _origin: "Item | None" = None
    """The item as it came, when this one is its edited text."""
    _fits: bytes | None = None
    """The list's text that this item was written for: there it stands in the right layout."""
    _keys: Sequence[int] | None = None  # where the lines in column 0 begin, of a document that has been looked at
    _words: Any = None  # the search over the text that the item shares with others, an `itemtext.Words`
    _kind: str | None = None
    _api_version: str | None = None
    _ref: Ref | None = None
    _target = ""  # the file to which a document of a file moves
    _content: "Content | None" = None
    tentative = tentative

    def __init__(
        self, data: bytes, start: int, end: int, indent: int, sure: bool | None = False, file: Place | None = None
    ) -> None:
        """Take the item data[start:end], its dash at column `indent` (-2: a document of a file, or a flow value).

        `sure` allows cheap looks (see `itemtext`); None allows them where nothing before runs over lines. `file` says
        where a document was read from.
        """
        self.data, self.start, self.end, self.indent, self.sure, self.file = data, start, end, indent, sure, file
        # here, though None already: attributes that come later would give each item a dict of 460 bytes
        self._words = self._keys = self._kind = self._api_version = self._ref = self._content = None
        self._metadata = 0  # where the first key of the metadata begins, if they stand where they usually do

    @property
    def content(self) -> "Content":
        """Return what the whole text holds. Raises KrmfnError when it is no YAML; the fast path has not looked."""
        if self._content is None:
            from .content import Content

            self._content = Content(self.data, self.start, self.end, self.indent, self.file)
        return self._content

    @property
    def manifest(self) -> Manifest:
        """Return the item's data, {} for no mapping; changing it changes the item. Raises KrmfnError for no YAML."""
        if not (self.content.is_open and self.content.is_lent):
            self.content.lend(())
        return self.content.manifest

    @property
    def text(self) -> bytes:
        """Return the item's bytes with its dash, its indent and all edits. Raises Refused for one that cannot be."""
        if self._content is None:
            return self.data[self.start : self.end]
        self._content.settle(self)
        return self._content.text

    @property
    def document(self) -> bytes:
        """Return the item as a document of its own, with all edits and its comments: without dash and indent."""
        return itemtext.document(self)

    @property
    def is_read(self) -> bool:
        """Return True when the whole text has been read: `manifest` costs nothing then."""
        return self._content is not None

    @property
    def is_edited(self) -> bool:
        """Return True when a field or comment was written or deleted, also in `manifest`."""
        return itemtext.has_changed(self)

    def mentions(self, word: str) -> bool:
        """Return False when `word` is surely not in the item's data; True proves nothing. Nothing is parsed."""
        return itemtext.item_mentions(self, word.encode())

    @property
    def kind(self) -> str:
        """Return the kind; "" when there is none."""
        if self._content is not None and self._content.is_open:
            return itemtext.opened_word(self._content.manifest, "kind")
        if self._kind is None:
            self._kind = itemtext.string(self, "kind")
        return self._kind

    @property
    def api_version(self) -> str:
        """Return the apiVersion; "" when there is none."""
        if self._content is not None and self._content.is_open:
            return itemtext.opened_word(self._content.manifest, "apiVersion")
        if self._api_version is None:
            self._api_version = itemtext.string(self, "apiVersion")
        return self._api_version

    @property
    def group(self) -> str:
        """Return the API group; "" for core/v1."""
        return self.api_version.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Return metadata.name; "" when there is none. Writing it renames the item."""
        return self.ref.name if self._ref or self._content else itemtext.string(self, "metadata", "name")

    @name.setter
    def name(self, name: str) -> None:
        self["metadata.name"] = text(self, "metadata.name", name)

    @property
    def namespace(self) -> str:
        """Return metadata.namespace; "" when there is none. It can be written."""
        return self.ref.namespace

    @namespace.setter
    def namespace(self, namespace: str) -> None:
        self["metadata.namespace"] = text(self, "metadata.namespace", namespace)

    @property
    def path(self) -> str:
        """Return the path of the file that holds the item, kpt's first; "" when there is none. It can be written."""
        return self._target or self.annotations.get(PATH) or (self.file.path if self.file else "")

    @path.setter
    def path(self, path: str) -> None:
        if self.file:
            self._target = text(self, "path", path)
        else:
            self.annotations[PATH] = path

    @property
    def ref(self) -> Ref:
        """Return the reference of the resource."""
        if self._content is not None and self._content.is_open:
            self._ref = ref_of(self._content.manifest, self._ref)
        elif self._ref is None:
            names = (itemtext.string(self, "metadata", key) for key in ("namespace", "name"))
            self._ref = Ref(self.api_version, self.kind, *names)
        return self._ref

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels, {} when there are none; writing to them changes the item."""
        return Strings(self, "metadata.labels", itemtext.strings(self, "metadata", "labels"))

    @labels.setter
    def labels(self, labels: dict[str, str]) -> None:
        self["metadata.labels"] = {key: text(self, f"metadata.labels[{key}]", labels[key]) for key in labels}

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations, {} when there are none; writing to them changes the item."""
        return Strings(self, "metadata.annotations", itemtext.strings(self, "metadata", "annotations"))

    @annotations.setter
    def annotations(self, annotations: dict[str, str]) -> None:
        self["metadata.annotations"] = {k: text(self, f"metadata.annotations[{k}]", v) for k, v in annotations.items()}

    def at(self, path: str | tuple[str | int, ...]) -> "ItemField":
        """Return the field at a path, or at its parts, whether it exists or not (see `fields.ItemField`)."""
        from .fields import ItemField

        return ItemField(self, path)

    def each(self, pattern: str, comment: str = "") -> "list[ItemField]":
        """Return the fields of a pattern whose comment begins with `comment` (see `patterns.matching_fields`)."""
        from . import patterns

        return patterns.matching_fields(self, pattern, comment)

    @overload
    def get(self, path: str) -> Any: ...
    @overload
    def get(self, path: str, kind: "type[T]") -> "T | None": ...
    @overload
    def get(self, path: str, kind: "type[T]", default: "T") -> "T": ...
    def get(self, path: str, kind: "type[T] | None" = None, default: "T | None" = None) -> Any:
        """Return the value at a path, of a type where one is named; else `default` (see `fields.get`)."""
        from . import fields

        return fields.get(self, path, kind, default)

    def __getitem__(self, path: str) -> Any:
        """Return the value at a path; None when there is none."""
        return self.at(path).value

    def __setitem__(self, path: str, value: Any) -> None:
        """Write the value at a path (see `ItemField.value`)."""
        self.at(path).value = value

    def __delitem__(self, path: str) -> None:
        """Remove the field at a path. Raises KrmfnError when there is none."""
        self.at(path).delete()

    def merge(self, patch: Manifest) -> None:
        """Merge a patch into the data, as `kubectl patch` and kustomize do (see `patches.merge`)."""
        from . import patches

        patches.merge(self, patch)

    def patch_json6902(self, operations: Iterable[Manifest]) -> None:
        """Apply the operations of a JSON patch (see `patches.apply_json`)."""
        from . import patches

        patches.apply_json(self, operations)

    @property
    def is_local(self) -> bool:
        """Return True for an item that no cluster gets, by its annotation LOCAL."""
        return (self.is_read or self.mentions(LOCAL)) and self.annotations.get(LOCAL) == "true"

    @property
    def mark(self) -> Mark | None:
        """Return the mark of the function that generated the object (see `ownership.mark_on`)."""
        return mark_on(self)

    @property
    def place(self) -> Place | None:
        """Return where the resource stands: the file it was read from, or kpt's path and index."""
        return self.file or place_of(itemtext.strings(self, "metadata", "annotations"))

    def field_place(self, path: str) -> Place | None:
        """Return `place`; for an item read from a file with the line and column of the field at `path`."""
        if not self.file or not self.file.has_lines:
            return self.place
        return self.content.place(path, self.file)

    def located(self, result: Result) -> Result:
        """Return the finding with the reference of this item and the place of its field, where it has none yet."""
        place = self.field_place(result.field.path) if result.field else self.place
        return result._replace(ref=result.ref or self.ref, place=result.place or place)
