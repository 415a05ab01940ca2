"""One resource of a list: its text as it came, and what has been read from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import KrmfnError, NoData
from .ownership import OWNER, Mark, mark_of
from .resource import Manifest, Place, Ref, Strings, annotations_of, copied, digest, same
from .resource import ref as ref_of
from .results import Field, Result
from .yamltext import peek, simple
from .yamltext.words import Words, mentions

if TYPE_CHECKING:
    from .fields import ItemField

T = TypeVar("T")

PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"
LOCAL = "config.kubernetes.io/local-config"
"""The annotation of what no cluster gets, where its value is true."""


class Item:
    """A resource by its text. Fields are read from the text as cheaply as is safe; `manifest` loads all of it."""

    origin: Item | None = None
    """The item as it came, when this one is its edited text."""
    fits: bytes | None = None
    """The list's text that this item was written for: there it stands in the right layout."""
    keys: Sequence[int] | None = None
    """Where the lines in column 0 begin, of a document whose lines have been looked at."""
    words: Words | None = None
    """The words of the text that the item stands in with others."""
    _kind: str | None = None
    _api_version: str | None = None
    _group: str | None = None
    _name: str | None = None
    _ref: Ref | None = None
    _annotations: dict[str, str] | None = None
    _mark: Mark | bool | None = False
    _marked_by: str | None = None
    _is_marked: bool | None = None
    _manifest: Manifest | None = None
    _print: int | None = None
    _simple = False
    _node: Any = None
    is_edited = False
    """Whether a field or comment was written or deleted: the text is made anew when the list is written."""
    _text: bytes | None = None
    _remarks: dict[tuple[tuple[str, ...], bool], str] | None = None

    def __init__(
        self,
        data: bytes,
        start: int,
        end: int,
        indent: int,
        sure: bool = False,
        file: Place | None = None,
    ) -> None:
        """Take the item data[start:end], its dash at column `indent` (-2: a document of a file, or a flow value).

        `sure` allows cheap looks (see `yamltext.peek`); `file` says where a document was read from.
        """
        self.data, self.start, self.end, self.indent = data, start, end, indent
        self._file, self._sure = file, sure

    @property
    def text(self) -> bytes:
        """Return the item's bytes, its dash and indent included, and all that was edited."""
        if self.is_edited:
            self.settle()
        return self.written

    @property
    def written(self) -> bytes:
        """Return the same without what was edited since `settle`."""
        return self.data[self.start : self.end] if self._text is None else self._text

    @property
    def manifest(self) -> Manifest:
        """Return the item's data ({} when it is no mapping), always the same object: what is changed in it counts.

        Raises KrmfnError when the text is no YAML; the fast path has not looked before.
        """
        if self._manifest is None:
            self._manifest = self._load()
            self._print = digest(self._manifest, self.end - self.start)
        return self._manifest

    @property
    def is_changed(self) -> bool:
        """Return True when the data is not what the text has."""
        manifest = self._manifest
        if manifest is None or (self._print is not None and self._print == digest(manifest, self.end - self.start)):
            return False
        return self.is_edited or not same(self._load(), manifest)

    def settle(self) -> None:
        """Write what was edited to the text. Raises KrmfnError, with item and path, for what YAML cannot hold."""
        remarks = self._remarks or {}
        if remarks or self.is_changed:
            from . import settling

            self._remarks = None
            self._text = settling.text_of(
                self.written, self.indent, self.manifest, remarks, lambda: self.node, self.ref
            )
            self._node, self._simple, self.is_edited = None, False, True
            self._print = digest(self.manifest, self.end - self.start)

    def take(self, manifest: Manifest) -> None:
        """Take other data, a copy of it; comments, key order and layout stay as far as they can."""
        self._manifest = copied(manifest)
        self._print = None
        self.edited()

    @property
    def untouched(self) -> Item:
        """Return the item as it came."""
        return Item(self.data, self.start, self.end, self.indent, self._sure, self._file)

    @property
    def remarks(self) -> dict[tuple[tuple[str, ...], bool], str]:
        """Return the comments that were written and do not stand in `text` yet: by a field's parts, True for a head."""
        self._remarks = {} if self._remarks is None else self._remarks
        return self._remarks

    @property
    def is_read(self) -> bool:
        """Return True when the whole text has been read: `manifest` costs nothing then."""
        return self._manifest is not None

    def check_aliases(self) -> None:
        """Raise KrmfnError unless every alias in the item's text has its anchor before it in the same text."""
        if self.data.find(b"*", self.start, self.end) >= 0 and simple.read(self.written.decode()) is None:
            _ = self.node

    def mentions(self, word: str) -> bool:
        """Return False when `word` is surely not in the item's data: a cheap test before a real look.

        True is no proof (see `yamltext.words`). `ResourceList.mentioning` asks all items at once.
        """
        if self.is_edited:
            return True
        wanted = word.encode()
        known = self.words.known(wanted) if self.words is not None else None
        return mentions(self.data, self.start, self.end, wanted) if known is None else self.start in known

    @property
    def kind(self) -> str:
        """Return the kind; "" when there is none."""
        if self._manifest is not None:
            kind = self._manifest.get("kind")
            return kind if isinstance(kind, str) else ""
        if self._kind is None:
            self._kind = self._string(b"kind")
        return self._kind

    @property
    def api_version(self) -> str:
        """Return the apiVersion; "" when there is none."""
        if self._manifest is not None:
            return self.ref.api_version
        if self._api_version is None:
            self._api_version = self._string(b"apiVersion")
        return self._api_version

    @property
    def group(self) -> str:
        """Return the API group; "" for core/v1."""
        if self._group is None or self._manifest is not None:
            self._group = self.api_version.rpartition("/")[0]
        return self._group

    def set_head(self, api_version: str, kind: str) -> None:
        """Take both from whoever has read them: a ResourceList reads those of all its items at once."""
        self._api_version, self._kind = api_version, kind

    @property
    def name(self) -> str:
        """Return metadata.name; "" when there is none. It can be written: the item is then renamed."""
        if self._manifest is not None:
            return self.ref.name
        if self._name is None:
            self._name = self._string(b"metadata", b"name")
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self["metadata.name"] = name

    @property
    def namespace(self) -> str:
        """Return metadata.namespace; "" when there is none. It can be written."""
        return self.ref.namespace

    @namespace.setter
    def namespace(self, namespace: str) -> None:
        self["metadata.namespace"] = namespace

    @property
    def path(self) -> str:
        """Return kpt's path of the file that holds the item; "" when there is none. It can be written."""
        return self.annotations.get(PATH, "")

    @path.setter
    def path(self, path: str) -> None:
        self.annotations[PATH] = path

    @property
    def ref(self) -> Ref:
        """Return the reference of the resource."""
        if self._manifest is not None:
            get, data = self._manifest.get, self._manifest.get("metadata")
            if type(data) is not dict or self._ref != (
                *(get("apiVersion"), get("kind")),
                *(data.get("namespace", ""), data.get("name", "")),
            ):
                self._ref = ref_of(self._manifest)
        if self._ref is None:
            self._ref = Ref(self.api_version, self.kind, self._string(b"metadata", b"namespace"), self.name)
        return self._ref

    @ref.setter
    def ref(self, ref: Ref) -> None:
        self._ref, self._api_version, self._kind, self._group = ref, ref.api_version, ref.kind, ref.group
        self._name = ref.name

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels, {} when there are none; what is written there is written to the item."""
        labels = Strings(self._strings(b"metadata", b"labels"))
        labels.item, labels.path = self, "metadata.labels"
        return labels

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations, {} when there are none; what is written there is written to the item."""
        if self._annotations is None or (
            self._manifest is not None and self._annotations != annotations_of(self._manifest)
        ):
            annotations = Strings(self._strings(b"metadata", b"annotations"))
            annotations.item, annotations.path = self, "metadata.annotations"
            self._annotations = annotations
        return self._annotations

    def at(self, path: str) -> ItemField:
        """Return the field at a path as findings write it (`spec.containers[0].image`), whether it exists or not."""
        from .fields import ItemField

        return ItemField(self, path)

    def each(self, pattern: str) -> list[ItemField]:
        """Return the fields that fit a pattern such as `spec.**.containers[*].image` (see `patterns.each`)."""
        from . import patterns

        return patterns.each(self, pattern)

    def get(self, path: str, kind: type[T], default: T | None = None) -> T | None:
        """Return the value at a path when it is of a type, `default` when there is none (see `fields.get`)."""
        from . import fields

        value: T | None = fields.get(self, path, kind, default)
        return value

    def __getitem__(self, path: str) -> Any:
        """Return the value at a path; None when there is none."""
        return self.at(path).value

    def __setitem__(self, path: str, value: Any) -> None:
        """Write the value at a path (see `ItemField.value`)."""
        self.at(path).value = value

    def __delitem__(self, path: str) -> None:
        """Remove the field at a path. Raises KrmfnError when there is none."""
        self.at(path).delete()

    def edited(self) -> None:
        """Note that `manifest` was changed through a field: nothing that was read before holds any more."""
        self.is_edited, self.words = True, None

    @property
    def shared_paths(self) -> frozenset[tuple[str, ...]]:
        """Return the paths of what an anchor and its aliases share in the item's text."""
        if self.data.find(b"&", self.start, self.end) < 0:
            return frozenset()
        from .yamltext import positions

        return positions.shared(self.node)

    @property
    def is_local(self) -> bool:
        """Return True for an item that is marked as one that no cluster gets (see LOCAL)."""
        return (self.is_read or self.mentions(LOCAL)) and self.annotations.get(LOCAL) == "true"

    @property
    def is_marked(self) -> bool:
        """Whether it carries the annotation of generated objects, whatever that says (see `ownership`)."""
        if self._is_marked is None or self._manifest is not None:
            self._is_marked = (self.is_read or self.mentions(OWNER)) and OWNER in self.annotations
        return self._is_marked

    @property
    def mark(self) -> Mark | None:
        """Return the mark of the function that generated the object; None without one (see `ownership`).

        None, too, for an object in which a key stands twice: kustomize and kpt read the first one, others the last.
        """
        text = self.annotations.get(OWNER) if self._manifest is not None else None
        if isinstance(self._mark, bool) or text != self._marked_by:
            # without a parser only where no key on the way stands twice
            self._marked_by = text
            mark = mark_of(self.annotations) if self.is_read or self.mentions(OWNER) else None
            self._mark = mark if mark and not (self.is_read and self.duplicate_keys) else None
        return self._mark

    def string(self, *path: str) -> str:
        """Return the string at a path of keys, such as ("status", "nodeInfo"); "" when there is none."""
        return self._string(*(key.encode() for key in path))

    def part(self, *path: str) -> Any:
        """Return the mapping at a path of keys, {} when there is none; the rest is read only where it has to be."""
        if self._manifest is None:
            block = self._mapping(*(key.encode() for key in path))
            data = block.data() if isinstance(block, peek.Mapping) else block
            if data is not peek.UNSURE:
                return data if isinstance(data, dict) else {}
        value = self._walk(tuple(key.encode() for key in path))
        return value if isinstance(value, dict) else {}

    def picked(self, keys: Sequence[str], *path: str) -> dict[str, str]:
        """Return those strings of the mapping at `path` whose keys are in `keys`: cheaper than all of a long one."""
        where = tuple(key.encode() for key in path)
        block = self._mapping(*where) if self._manifest is None else peek.UNSURE
        picked = block.picked(keys) if isinstance(block, peek.Mapping) else block
        if picked is peek.UNSURE:
            every = self._strings(*where)
            return {key: every[key] for key in keys if key in every}
        return picked if isinstance(picked, dict) else {}

    @property
    def place(self) -> Place | None:
        """Return where the resource stands: the file it was read from, or kpt's path and index.

        kustomize sends no paths, and invents some after an earlier function: they name no file.
        """
        if self._file:
            return self._file
        annotations = self.annotations
        path, index = annotations.get(PATH, ""), annotations.get(INDEX, "0")
        if not path or "kustomize.config.k8s.io/id" in annotations:
            return None
        return Place(path, int(index) if index.isdecimal() else 0)

    @place.setter
    def place(self, place: Place) -> None:
        self._file = place

    def field_place(self, path: str) -> Place | None:
        """Return `place`; for an item read from a file with the line and column of the field at `path`."""
        if not self._file or self._file.finder:
            return self.place
        from .yamltext import positions

        line, column = positions.locate(self.node, path)
        # a document that stands indented in another one has a column
        column += max(self._file.column - 1, 0)
        return self._file._replace(line=self._file.line + line - 1, column=column)

    def place_of(self, field: Field | None) -> Place | None:
        """Return the place of the one field in the spec with the value that a field of another resource got from here.

        Without one it is `place`.
        """
        from .fieldpath import of_value, split

        spec = {"spec": self.manifest.get("spec")}
        path = of_value(spec, field.current, split(field.path)[-1]) if field and self._file else ""
        return self.field_place(path) if path else self.place

    def located(self, result: Result) -> Result:
        """Return the finding with the reference of this item and the place of its field, where it has none yet."""
        place = self.field_place(result.field.path) if result.field else self.place
        return result._replace(ref=result.ref or self.ref, place=result.place or place)

    @property
    def duplicate_keys(self) -> list[str]:
        """Return the paths of keys that stand twice in one mapping."""
        if self.manifest and self._simple:
            return []
        from .yamltext import positions

        return [path for path, _ in positions.duplicate_keys(self.node)]

    @property
    def ambiguous(self) -> list[simple.Ambiguous]:
        """Return what Kubernetes and kustomize read differently where it decides (see `positions.ambiguous`)."""
        if self.manifest and self._simple:  # the reader by lines refuses a text that holds such a scalar
            return []
        from .yamltext import positions

        return list(positions.ambiguous(self.node))

    @property
    def node(self) -> Any:
        """Return the node tree of the item (PyYAML's), for places and duplicate keys."""
        if self._node is None:
            from .yamltext import load

            tree = load.placed(partial(load.compose, self.written), self._lines_before)
            self._node = tree.value[0] if self.indent >= 0 and tree is not None else tree
        return self._node

    def _load(self) -> Manifest:
        text = memoryview(self.data)[self.start : self.end] if self._text is None else self._text
        data = simple.read(str(text, "utf-8"))  # the text may be of 100 MB
        self._simple = data is not None
        if self._simple:
            data = data[0] if self.indent >= 0 else data
        else:
            from .yamltext import load, values

            try:
                data = load.placed(partial(values.build, self.node), self._lines_before)
            except KrmfnError as failure:
                where = f"{self._file.path}: " if self._file and self._file.path else ""
                raise NoData(f"{where}{failure}") from failure
        return data if isinstance(data, dict) else {}

    def _lines_before(self) -> int:
        return self._file.line - 1 if self._file and self._file.line else self.data.count(b"\n", 0, self.start)

    def _mapping(self, *path: bytes) -> peek.Mapping | peek.Answer:
        """Return the mapping at a path of keys in the text, read without a parser."""
        root = _root(self) if self._sure else peek.UNSURE
        return root.mapping(*path) if isinstance(root, peek.Mapping) else root

    def _string(self, *path: bytes) -> str:
        if self._manifest is None:
            root = self._mapping()
            scalar = root.scalar(*path) if isinstance(root, peek.Mapping) else root
            if scalar is not peek.UNSURE:
                return scalar if isinstance(scalar, str) else ""
        value = self._walk(path)
        return value if isinstance(value, str) else ""

    def _strings(self, *path: bytes) -> dict[str, str]:
        if self._manifest is None:
            block = self._mapping(*path)
            strings = block.strings() if isinstance(block, peek.Mapping) else block
            if strings is not peek.UNSURE:
                return strings if isinstance(strings, dict) else {}
        value = self._walk(path)
        return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}

    def _walk(self, path: tuple[bytes, ...]) -> Any:
        value: Any = self.manifest
        for key in path:
            value = value.get(key.decode()) if isinstance(value, dict) else None
        return value


@lru_cache(maxsize=16)
def _root(item: Item) -> peek.Mapping | peek.Answer:
    """Return the index of an item's text; those of few items are kept, since each takes a kilobyte."""
    return peek.root(item.data, item.start, item.end, item.indent, item.keys)
