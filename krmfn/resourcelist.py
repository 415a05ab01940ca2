"""A ResourceList: read lazily, changed by upsert and prune; what was not touched leaves as the bytes it came in."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from . import editing, envelope, itemtext
from .envelope import Chunk, Envelope
from .errors import KrmfnError
from .findings import Findings, placed
from .index import Index, index_of
from .item import Item
from .ownership import PREFIX, Id, owner_key
from .resource import Manifest, Ref
from .results import Result
from .typed import TYPE_CHECKING, Any, overload
from .yamltext.split import Cut

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .editing import Choice
    from .owned import Adopt

__all__ = ["ResourceList"]


class ResourceList:
    """The items of a run, its functionConfig and its findings (KRM Functions Specification v1)."""

    def __init__(
        self,
        items: Iterable[Item] = (),
        function_config: Manifest | None = None,
        run: Any = None,
        failed: bool = False,
    ) -> None:
        """Make a list of items read from anywhere; `parse` makes one from a ResourceList's bytes."""
        self.items: list[Item] = list(items)
        self._results: Findings | None = None
        self.failed = failed
        """True when an error was reported: items leave as they came and the exit code is 1."""
        self.changes: list[tuple[str, Ref]] = []
        """What upsert and prune did, for people: ("created" | "updated" | "removed", reference)."""
        self.edited: list[Item] = []
        """The items whose texts are others in what was written last, however they were changed."""
        self.run = run
        """What the program that runs the function knows about the run; the SDK does not read it."""
        self.function = ""
        """The name of the function that runs (see `program.function`): that of the owner's mark."""
        self.prefix = PREFIX
        """What the annotations of the owner's mark begin with."""
        self.index: Index | None = None  # see `index.index_of`
        self.places: dict[int, int] = {}  # see `index.has`
        self.removed: list[Item] = []  # see `editing.carry`
        self.owners: set[Id] = set()
        """For whom `own` was called in this run."""
        self._config = function_config
        self.envelope = Envelope(b"", b"", Cut((), ()), tuple(self.items))

    @classmethod
    def parse(cls, data: bytes) -> "ResourceList":
        """Return the ResourceList in `data`: YAML or JSON, UTF-8, wire version v1 or v1beta1.

        Raises KrmfnError for anything else, with a line where one can be named. Of the items only the encoding and
        the boundaries are looked at; an item is parsed when one of its fields is read.
        """
        parsed = envelope.parse(data)
        resources = cls(parsed.items)
        resources.envelope = parsed
        return resources

    @property
    def function_config(self) -> Manifest | None:
        """Return the functionConfig's data, None without one. Raises KrmfnError when it is no mapping."""
        config = self._config or (self.envelope.value("functionConfig") if self.envelope.data else None)
        if config is not None and not isinstance(config, dict):
            raise KrmfnError("functionConfig is not a resource; pass one with apiVersion and kind, or none")
        return config

    @function_config.setter
    def function_config(self, config: Manifest | None) -> None:
        self._config = config

    def where(
        self,
        *,
        kind: str | tuple[str, ...] = (),
        group: str | None = None,
        local: bool | None = None,
        **named: "Unpack[Choice]",
    ) -> list[Item]:
        """Return the items of a kind or some kinds (of all without one), in the list's order; nothing is parsed.

        `group` names the API group ("" is core). `local=True` returns only items that no cluster gets (see
        `item.LOCAL`), False only the others, None both. `name`, `labels` and `annotations` have to fit, too.
        """
        kinds, items = (kind,) if isinstance(kind, str) else kind, self.items
        if kinds:  # most items have not been read, and their kind is then looked at without a call
            items = [item for item in items if (item.kind if item._content else item._kind or item.kind) in kinds]
        if group is not None:
            items = [item for item in items if item.group == group]
        if local is not None:
            items = [item for item in items if item.is_local == local]
        return [*editing.chosen(items, **named)] if named else [*items]

    def __iter__(self) -> Iterator[Item]:
        """Yield the present items; the list may change meanwhile."""
        return iter([*self.items])

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, item: object) -> bool:
        return any(other is item for other in self.items)

    def __bool__(self) -> bool:
        return True

    def mentioning(self, *words: str) -> list[Item]:
        """Return the items that may hold one of the words (see `Item.mentions`), by one search over each text."""
        return itemtext.mentioning(self.items, words)

    def report(self, results: Result | Iterable[Result]) -> bool:
        """Add a finding, or several, each once. Return True while there is no error.

        Raises ValueError for one with a field and no resource, or another severity: the specification has neither.
        """
        for result in [results] if isinstance(results, Result) else results:
            if result.field and not result.ref:
                raise ValueError(f"a finding about {result.field.path} names no resource; pass at=field: {result}")
            self._results = self._results or Findings()
            self._results.add(result, repr(result))
            self.failed = self.failed or result.severity == "error"
        return not self.failed

    @property
    def results(self) -> list[Result]:
        """Return the findings of this run, in the order in which they were reported; `report` adds to them.

        With an error the items keep their old names, so findings use these. A finding about what a build has made has
        no place in a file here: see `placed`.
        """
        return self._named(list(self._results)) if self._results else []

    def placed(self, locate: Callable[[Result], Result]) -> list[Result]:
        """Return the findings with their places in files, given what looks for one; two that are equal there are one.

        `locate` may start a build; it gets each finding under the name that its item has now.
        """
        return self._named(placed(self._results, locate)) if self._results else []

    def _named(self, results: list[Result]) -> list[Result]:
        if self.failed and any(item.is_edited for item in self.items):
            return editing.under_old_names(results, self.items)
        return results

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Item | None:
        """Return the item with this group, kind, namespace and name, None when there is none.

        Raises KrmfnError, with the places of both, when there are two.
        """
        target = Ref(api_version, kind, namespace, name)
        return editing.single(index_of(self, {kind}).by_id.get(target.id, ()), target)

    @overload
    def append(self, manifest: Manifest, path: str = "") -> Item: ...
    @overload
    def append(self, manifest: str | bytes, path: str = "") -> list[Item]: ...
    def append(self, manifest: Manifest | str | bytes, path: str = "") -> Item | list[Item]:
        """Add a resource at the end, and return its item; `path` is its file for kpt.

        It needs no name, and the list may hold one of the same id. A text may hold several documents, and its comments
        stay, as do those of a manifest of `parse_all`. Raises KrmfnError for what is no resource, and adds nothing.
        """
        if isinstance(manifest, (str, bytes)):
            return editing.add_text(self, manifest, path)
        return editing.add_manifest(self, manifest, path)

    def remove(self, item: Item) -> None:
        """Remove an item. Raises KrmfnError when it is not in the list."""
        from . import owned

        owned.remove(self, [item])

    def replace(self, item: Item, manifest: Manifest) -> None:
        """Replace the data of an item of the list, named or not; comments, order and file stay. Raises as `upsert`."""
        editing.replace(self, item, manifest)

    def own(
        self, *, owner: Item | Manifest, manifests: Manifest | Iterable[Manifest], adopt: "Adopt | None" = None
    ) -> None:
        """Mark and upsert all that the function generates from `owner`, and remove what it generated before.

        `owner` may be the functionConfig. Objects of an owner that is gone stay (see `own_all`). Raises KrmfnError for
        an object with the id of one that the function did not generate from this owner, unless `adopt` returns True for
        it and so takes it over; for an owner outside the list, or a second time; and as `upsert` does.
        """
        from . import owned

        owned.put_owned(self, owner, manifests, adopt)

    def own_all(self, manifests: Mapping[Item, Any], *, kind: str, group: str, adopt: "Adopt | None" = None) -> None:
        """Call `own` for each owner in `manifests`, with its manifests; remove what was made of those that are gone.

        What was made of one that is in the list and not in `manifests` stays; an owner that this call removes is gone.
        Raises as `own` does, for one of another kind or outside the list, and where kpt hides a part; changes nothing.
        """
        from . import owned

        owned.put_all(self, manifests, (group, kind), adopt)

    def upsert(self, manifests: Manifest | Iterable[Manifest]) -> None:
        """Replace each resource with the same group, kind, namespace and name, or add it at the end.

        An item that already means the same keeps its bytes; one that changes keeps its comments and key order. Raises
        KrmfnError, with object and field, for one without apiVersion, kind or name, or with a value that JSON does not
        have (a set, NaN, a key that is no string), and for one that is there or given twice; nothing changes then.
        """
        named = editing.with_refs(manifests)
        index = index_of(self, {new.kind for new, _ in named})
        for new, _ in named:
            editing.single(index.by_id.get(new.id, ()), new)
        editing.put(self, editing.plan(self, named, index))

    def marked(self) -> list[Item]:
        """Return the items that carry the owner's annotation (`ownership.OWNER`), whatever it says."""
        key = owner_key(self.prefix)
        return [item for item in self.mentioning(key) if key in item.annotations]

    def to_bytes(self) -> bytes:
        """Return the list as bytes: equal to the input when nothing changed and nothing was found (see `failed`)."""
        return b"".join(self.to_chunks())

    def to_chunks(self) -> list[Chunk]:
        """Return `to_bytes` in pieces, so that a large list is not held twice."""
        items, target = list(self.envelope.items if self.failed else self.items), self.envelope
        target = target if target.data else envelope.empty(self._config)
        if not self.failed:
            editing.carry(self)
        self.edited = []
        for at, item in enumerate(() if self.failed else items):
            if item._content and itemtext.has_changed(item):
                items[at] = editing.edited_item(target, item)
                if items[at].text != item.data[item.start : item.end]:
                    self.edited.append(item)
        results = self.results
        if target.holds(items) and not results:
            return [target.data]
        from . import writer

        return writer.chunks(target, items, [result.to_manifest() for result in results])
