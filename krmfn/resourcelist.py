"""A ResourceList: read lazily, changed by upsert and prune; what was not touched leaves as the bytes it came in."""

from __future__ import annotations

from collections.abc import Iterable

from .envelope import Chunk, Envelope
from .errors import KrmfnError
from .item import Item
from .ownership import OWNER, Id, Scope, known_as, mark_of, updated
from .resource import Manifest, Ref, annotations_of, ref, same
from .results import Result
from .yamltext import peek, split
from .yamltext.encoding import check_encoding
from .yamltext.plain import copied

VERSIONS = ("config.kubernetes.io/v1", "config.kubernetes.io/v1beta1")
_BOM = b"\xef\xbb\xbf"
_EMPTY = f"apiVersion: {VERSIONS[0]}\nkind: ResourceList\nitems: []\n"


class ResourceList:
    """The items of a run, its functionConfig and its findings (KRM Functions Specification v1)."""

    def __init__(self, items: Iterable[Item] = (), function_config: Manifest | None = None) -> None:
        """Make a list of items read from anywhere; `parse` makes one from a ResourceList's bytes."""
        self.items: list[Item] = list(items)
        self._results: dict[str, Result] = {}
        self.failed = False
        """True when an error was reported: items leave as they came and the exit code is 1."""
        self.changes: list[tuple[str, Ref]] = []
        """What upsert and prune did, for people: ("created" | "updated" | "removed", reference)."""
        self.options: dict[str, str] = {}
        """Settings from the command line, by their names there; they win over the functionConfig's."""
        self.files = 0
        """How many files the items were read from; 0 for a stream."""
        self.config_item: Item | None = None
        """The functionConfig as it stands in a file; None in function mode, which names no file for it."""
        self._config = function_config
        self._envelope = Envelope(b"", b"", split.Cut((), ()), self.items)

    @classmethod
    def parse(cls, data: bytes) -> ResourceList:
        """Return the ResourceList in `data`: YAML or JSON, UTF-8, wire version v1 or v1beta1.

        Raises KrmfnError for anything else, with a line where one can be named. Of the items only the encoding and
        the boundaries are looked at; an item is parsed when one of its fields is read.
        """
        text = data.removeprefix(_BOM)
        check_encoding(text)
        cut = split.quick(text) or _exact(text)
        indent = -2 if cut.flow_items else cut.indent
        sure = (not cut.flow_items and index not in cut.dubious for index in range(len(cut.items)))
        items = [Item(text, start, end, indent, safe) for (start, end), safe in zip(cut.items, sure, strict=True)]
        resources = cls(items)
        resources._envelope = Envelope(data, text, cut, items)
        if not cut.flow_items:
            _read_kinds(text, items, cut)
        _check_head(resources._envelope)
        return resources

    @property
    def function_config(self) -> Manifest | None:
        """Return the functionConfig's data, None without one. Raises KrmfnError when it is no mapping."""
        config = self._config or self._envelope.value("functionConfig")
        if config is not None and not isinstance(config, dict):
            raise KrmfnError("functionConfig is not a resource; give one with apiVersion and kind, or none")
        return config

    @function_config.setter
    def function_config(self, config: Manifest | None) -> None:
        self._config = config

    def select(self, kind: str, group: str | None = None) -> list[Item]:
        """Return the items of a kind, in the list's order; of any group unless `group` names one ("" is core)."""
        return [item for item in self.items if item.kind == kind and (group is None or item.group == group)]

    def report(self, results: Iterable[Result]) -> bool:
        """Add findings; one that is already there is not added again. Return True while there is no error."""
        for result in results:
            self._results.setdefault(repr(result), result)
            self.failed = self.failed or result.severity == "error"
        return not self.failed

    @property
    def results(self) -> list[Result]:
        """Return the findings of this run, in the order in which they were reported; `report` adds to them."""
        return list(self._results.values())

    def upsert(self, manifests: Iterable[Manifest]) -> None:
        """Put resources in: in the place of the one with the same group, kind, namespace and name, else at the end.

        An item that already means the same keeps its bytes; one that changes keeps its comments and key order.
        Raises KrmfnError, with the object and the field, for one without apiVersion, kind or name, or with a value
        that JSON does not have (a set, a tuple, NaN, a key that is no string); nothing is put in then.
        """
        manifests = list(manifests)
        copies = [_checked(manifest) for manifest in manifests]
        kinds = {manifest.get("kind") for manifest in manifests}
        index = {item.ref.id: at for at, item in reversed(list(enumerate(self.items))) if item.kind in kinds}
        for manifest in copies:
            new = ref(manifest)
            at = index.get(new.id)
            if at is None:
                index[new.id] = len(self.items)
                self.items.append(self._new(manifest))
                self.changes.append(("created", new))
            elif not same(self.items[at].reread(), manifest):
                self.items[at] = self._edited(self.items[at], manifest)
                self.changes.append(("updated", new))

    def upsert_owned(self, manifests: Iterable[Manifest]) -> None:
        """Upsert generated objects; labels, annotations and top-level keys that others put on an existing one stay.

        Raises ValueError for a manifest without the mark of `ownership.stamp`, or with that of another object: nothing
        could tell later who made it.
        """
        manifests = list(manifests)
        for manifest in manifests:
            mark = mark_of(annotations_of(manifest))
            if mark is None or mark.made != ref(manifest).id:
                raise ValueError(f"{ref(manifest)} has no mark of its own; call ownership.stamp when its name is final")
        kinds = {manifest["kind"] for manifest in manifests}
        present = {item.ref.id: item for item in self.items if item.kind in kinds}
        pairs = ((manifest, present.get(ref(manifest).id)) for manifest in manifests)
        self.upsert(updated(item.manifest, manifest) if item else manifest for manifest, item in pairs)

    def marked(self) -> list[Item]:
        """Return the items that carry the annotation `ownership.OWNER`, whatever it says."""
        return [item for item in self.items if item.mentions(OWNER) and OWNER in item.annotations]

    def owned(self, scope: Scope) -> list[Item]:
        """Return the items whose mark names the function of `scope`, copies included."""
        return [item for item in self.marked() if scope.names(mark_of(item.annotations))]

    def made(self, scope: Scope) -> list[Item]:
        """Return the objects that `scope` made: mark, kind and the object's own id all fit."""
        return [item for item in self.owned(scope) if scope.made(item.ref, item.annotations)]

    def left_over(self, scope: Scope, namespace: str = "") -> list[Item]:
        """Return the objects that `scope` made from an owner that is not in the list, also not under a former name.

        `namespace` is that of owners that name none.
        """
        made = self.made(scope)
        present = self._owner_ids(scope, namespace) if made else set()
        return [item for item in made if _owner(item) not in present]

    def prune(self, scope: Scope, keep: Iterable[Manifest], left_over: bool = False, namespace: str = "") -> None:
        """Remove the objects that `scope` made and that `keep` does not name.

        Those whose owner is not in the list (see `left_over`) go only when `left_over` is True: where the list is a
        part of all there is, their owner may stand in another part.
        """
        kept = {ref(manifest).id for manifest in keep}
        stale = {id(item): item.ref for item in self.made(scope) if item.ref.id not in kept}
        for item in () if left_over or not stale else self.left_over(scope, namespace):
            stale.pop(id(item), None)
        self.items = [item for item in self.items if id(item) not in stale]
        self.changes += [("removed", old) for old in stale.values()]

    def _owner_ids(self, scope: Scope, namespace: str) -> set[Id]:
        kinds = {kind for _, kind in scope.owners}
        ids: set[Id] = set()
        for item in self.items:
            if item.kind in kinds and (item.group, item.kind) in scope.owners:
                ids |= known_as(item.ref, item.annotations)
        return ids | {(group, kind, namespace, name) for group, kind, space, name in ids if not space}

    def to_bytes(self) -> bytes:
        """Return the list as bytes: equal to the input when nothing changed and there are no findings.

        With an error finding the items leave as they came, whatever was done to them.
        """
        return b"".join(self.to_chunks())

    def to_chunks(self) -> list[Chunk]:
        """Return `to_bytes` in pieces, so that a large list is not held twice."""
        items = self._envelope.items if self.failed else self.items
        self.refuse_changes()
        envelope = self._envelope if self._envelope.data else self._new_envelope()
        return envelope.chunks(items, [result.to_manifest() for result in self.results])

    def refuse_changes(self) -> None:
        """Raise KrmfnError when an item's manifest was changed in place and not upserted: its text lacks the change."""
        for item in () if self.failed else self.items:
            item.refuse_change()

    def _new_envelope(self) -> Envelope:
        """Return the envelope of an empty list, for items that were not read from one."""
        from .yamltext import emit

        config = self._config
        text = _EMPTY + (emit.dump({"functionConfig": config}) if config else "")
        return ResourceList.parse(text.encode())._envelope

    def _new(self, manifest: Manifest) -> Item:
        from .yamltext import emit

        text = _json(manifest) if self._flow else emit.dump_item(manifest, self._envelope.cut.indent).encode()
        return _made(text, self._envelope.cut.indent, self._flow, manifest)

    def _edited(self, item: Item, manifest: Manifest) -> Item:
        if self._flow:
            text = _json(manifest)
        else:
            from .yamltext import edit

            text = edit.updated(item.text, item.tree, manifest, item.indent)
        new = _made(text, item.indent, self._flow, manifest)
        new.origin = item.origin or item
        return new

    @property
    def _flow(self) -> bool:
        return self._envelope.cut.flow_items or self._envelope.cut.flow_root


def _owner(item: Item) -> Id | None:
    mark = mark_of(item.annotations)
    return mark.owner if mark else None


def _checked(manifest: Manifest) -> Manifest:
    """Return a copy of a manifest. Raises KrmfnError unless it is a resource with a name, and plain data."""
    if not isinstance(manifest, dict):
        raise KrmfnError(f"a {type(manifest).__name__} cannot be put into the list; a manifest is a dict")
    new = ref(manifest)
    for path, value in (("apiVersion", new.api_version), ("kind", new.kind), ("metadata.name", new.name)):
        if not value:
            raise KrmfnError(f"{new} cannot be put into the list: it has no {path}, or one that is not a string")
    try:
        copy: Manifest = copied(manifest)
    except KrmfnError as failure:
        raise KrmfnError(f"{new} cannot be put into the list: {failure}") from failure
    return copy


def _made(text: bytes, indent: int, flow: bool, manifest: Manifest) -> Item:
    item = Item(text, 0, len(text), -2 if flow else indent)
    item.remember(manifest)
    return item


def _json(manifest: Manifest) -> bytes:
    from .yamltext import emit

    return emit.dump_json(manifest).encode()


def _exact(text: bytes) -> split.Cut:
    from .yamltext import split_exact

    return split_exact.exact(text)


def _read_kinds(text: bytes, items: list[Item], cut: split.Cut) -> None:
    """Set the items' kinds in one pass over the text, where they stand plainly; the others are read one by one."""
    starts = [start for start, _ in cut.items]
    for index, kind in peek.kinds(text, starts, cut.items[-1][1], cut.indent, cut.keys) if starts else ():
        if index not in cut.dubious:
            items[index].kind = kind


def _check_head(envelope: Envelope) -> None:
    """Raise KrmfnError unless the document says that it is a ResourceList whose items are a list."""
    version, kind = envelope.value("apiVersion"), envelope.value("kind")
    if kind != "ResourceList" or version not in VERSIONS:
        raise KrmfnError(
            f"expected a ResourceList ({VERSIONS[0]}), found apiVersion {version!r}, kind {kind!r}; "
            "for files use the command `render`"
        )
    if not any(section.key == "items" for section in envelope.cut.sections):
        raise KrmfnError("the ResourceList has no `items`; an empty one says `items: []`")
    if not envelope.items and envelope.value("items") not in (None, []):
        raise KrmfnError("`items` of the ResourceList is not a list")
