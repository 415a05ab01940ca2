"""One resource of a list: its text as it came, and what has been read from it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

from .errors import KrmfnError
from .resource import Manifest, Place, Ref, same
from .resource import ref as ref_of
from .results import Result
from .yamltext import peek, simple
from .yamltext.escapes import may_hold
from .yamltext.plain import changed_at, copied

PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"


class Item:
    """A resource by its text. Fields are read from the text as cheaply as is safe; `manifest` loads all of it."""

    __slots__ = (
        "_data",
        "_end",
        "_file",
        "_kind",
        "_made_from",
        "_manifest",
        "_metadata",
        "_node",
        "_root",
        "_start",
        "_tree",
        "indent",
        "origin",
    )

    def __init__(
        self, data: bytes, start: int, end: int, indent: int, sure: bool = False, file: Place | None = None
    ) -> None:
        """Take the item data[start:end], its dash at column `indent` (-2: a document of a file, or a flow value).

        `sure` allows cheap looks (see `yamltext.peek`); `file` says where a document was read from.
        """
        self._data, self._start, self._end, self.indent, self._file = data, start, end, indent, file
        self.origin: Item | None = None
        """The item as it came, when this one is its edited text."""
        self._kind: str | None = None
        self._manifest: Manifest | None = None
        self._made_from: Manifest | None = None
        self._metadata: peek.Block | peek.Answer | None = None
        self._node: Any = None
        self._tree: simple.Tree | Literal[False] | None = False
        self._root: peek.Block | peek.Answer | None = None if sure else peek.UNSURE

    @property
    def text(self) -> bytes:
        """Return the item's bytes, its dash and indent included."""
        return self._data[self._start : self._end]

    @property
    def span(self) -> tuple[bytes, int, int]:
        """Return the bytes that the item is cut from, its start and its end; an untouched item is written as these."""
        return self._data, self._start, self._end

    @property
    def manifest(self) -> Manifest:
        """Return the item's data ({} when it is no mapping), always the same object.

        Change it as you like and give it to `upsert`: only `upsert` changes the list. A change in place that was not
        upserted makes the output fail with an error that names the item and the field; it is never lost silently.
        Raises KrmfnError when the text is no YAML; the fast path has not looked before.
        """
        if self._manifest is None:
            self._manifest = self.reread()
        return self._manifest

    def reread(self) -> Manifest:
        """Return the data read from the text again, whatever was done to the object that `manifest` returned."""
        data = self._load()
        return data if isinstance(data, dict) else {}

    def remember(self, manifest: Manifest) -> None:
        """Take `manifest`, a copy that nobody else has, as the item's data; the text has just been made from it."""
        self._made_from = manifest

    def refuse_change(self) -> None:
        """Raise KrmfnError when the object that `manifest` returned was changed in place: the text lacks the change."""
        if self._manifest is None:
            return
        old = self.reread()
        if not same(old, self._manifest):
            where = changed_at(old, self._manifest)
            raise KrmfnError(
                f"{ref_of(old)} was changed in place at {where}, which does not change the list; "
                "give the changed manifest to ResourceList.upsert"
            )

    def check_aliases(self) -> None:
        """Raise KrmfnError unless every alias in the item's text has its anchor before it in the same text."""
        if self._made_from is None and b"*" in self.text:
            _ = self.node

    def mentions(self, word: str) -> bool:
        """Return False when `word` is surely not in the item's data: a cheap test before a real look.

        True is no proof: it may stand in a comment. JSON may escape a slash, so escapes are read everywhere.
        """
        data, start, end = self.span
        wanted = word.encode()
        if data.find(wanted, start, end) >= 0:
            return True
        if data.find(b"\\", start, end) < 0 and data.find(b"!", start, end) < 0:
            return False  # nothing is spelled in another way
        return may_hold(self.text, wanted)

    @property
    def kind(self) -> str:
        """Return the kind; "" when there is none. A ResourceList reads all kinds at once and sets them."""
        if self._kind is None:
            self._kind = self._string(b"kind")
        return self._kind

    @kind.setter
    def kind(self, kind: str) -> None:
        self._kind = kind

    @property
    def group(self) -> str:
        """Return the API group; "" for core/v1."""
        return self._string(b"apiVersion").rpartition("/")[0]

    @property
    def name(self) -> str:
        """Return metadata.name; "" when there is none."""
        return self._string(b"metadata", b"name")

    def string(self, *path: str) -> str:
        """Return the string at a path of keys, such as ("status", "nodeInfo"); "" when there is none."""
        return self._string(*(key.encode() for key in path))

    def picked_labels(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the labels whose keys are in `keys`: cheaper than `labels` when they are few."""
        if self._known is None:
            block = self._block((b"metadata", b"labels"))
            if isinstance(block, peek.Block):
                picked = {key: peek.scalar(self.text, block, key.encode()) for key in keys}
                if peek.UNSURE not in picked.values():
                    return {key: value for key, value in picked.items() if isinstance(value, str)}
        labels = self.labels
        return {key: labels[key] for key in keys if key in labels}

    @property
    def ref(self) -> Ref:
        """Return the reference of the resource."""
        known = self._known
        if known is not None:
            return ref_of(known)
        name, namespace = (self._string(b"metadata", key) for key in (b"name", b"namespace"))
        return Ref(self._string(b"apiVersion"), self.kind, namespace, name)

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels; {} when there are none."""
        return self._strings(b"metadata", b"labels")

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations; {} when there are none."""
        return self._strings(b"metadata", b"annotations")

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

    def field_place(self, path: str) -> Place | None:
        """Return `place`; for an item read from a file with the line and column of the field at `path`."""
        if not self._file:
            return self.place
        from .yamltext import positions

        line, column = positions.locate(self.node, path)
        return self._file._replace(line=self._file.line + line - 1, column=column)

    def located(self, result: Result) -> Result:
        """Return the finding with the reference of this item and the place of its field, where it has none yet."""
        place = self.field_place(result.field.path) if result.field else self.place
        return result._replace(ref=result.ref or self.ref, place=result.place or place)

    @property
    def tree(self) -> simple.Tree | None:
        """Return the tree of the item's text (a list of one with a dash); None when it is not simple (see `simple`)."""
        if self._tree is False:
            self._tree = simple.parse(self.text.decode())
        return self._tree

    @property
    def duplicate_keys(self) -> list[str]:
        """Return the paths of keys that stand twice in one mapping."""
        if self.tree is not None:
            return []
        from .yamltext import positions

        return [path for path, _ in positions.duplicate_keys(self.node)]

    @property
    def node(self) -> Any:
        """Return the node tree of the item (PyYAML's), for places and duplicate keys."""
        if self._node is None:
            from .yamltext import load

            tree = load.placed(partial(load.compose, self.text), self._lines_before)
            self._node = tree.value[0] if self.indent >= 0 and tree is not None else tree
        return self._node

    @property
    def _known(self) -> Manifest | None:
        """Return the item's data if it was read before; None when its text must be looked at."""
        return self._made_from if self._manifest is None else self._manifest

    def _load(self) -> Any:
        if self._made_from is not None:
            return copied(self._made_from)
        if self.tree is not None:
            data = simple.data(self.tree)
            return data[0] if self.indent >= 0 else data
        from .yamltext import load, values

        try:
            return load.placed(partial(values.build, self.node), self._lines_before)
        except KrmfnError as failure:
            raise KrmfnError(f"{self._file.path}: {failure}" if self._file else str(failure)) from failure

    def _lines_before(self) -> int:
        return self._file.line - 1 if self._file else self._data.count(b"\n", 0, self._start)

    def _block(self, keys: tuple[bytes, ...]) -> peek.Block | peek.Answer:
        text = self.text
        if self._root is None:
            self._root = peek.item_block(text, self.indent)
        block = self._root
        if keys and keys[0] == b"metadata":
            if self._metadata is None:
                self._metadata = peek.block(text, block, keys[0]) if isinstance(block, peek.Block) else block
            block, keys = self._metadata, keys[1:]
        for key in keys:
            if not isinstance(block, peek.Block):
                break
            block = peek.block(text, block, key)
        return block

    def _string(self, *keys: bytes) -> str:
        if self._known is None:
            block = self._block(keys[:-1])
            scalar = peek.scalar(self.text, block, keys[-1]) if isinstance(block, peek.Block) else block
            if scalar is not peek.UNSURE:
                return scalar if isinstance(scalar, str) else ""
        value = self._walk(keys)
        return value if isinstance(value, str) else ""

    def _strings(self, *keys: bytes) -> dict[str, str]:
        if self._known is None:
            block = self._block(keys)
            strings = peek.strings(self.text, block) if isinstance(block, peek.Block) else block
            if strings is not peek.UNSURE:
                return strings if isinstance(strings, dict) else {}
        value = self._walk(keys)
        return {k: v for k, v in value.items() if isinstance(v, str)} if isinstance(value, dict) else {}

    def _walk(self, keys: tuple[bytes, ...]) -> Any:
        known = self._known
        value: Any = self.manifest if known is None else known
        for key in keys:
            value = value.get(key.decode()) if isinstance(value, dict) else None
        return value
