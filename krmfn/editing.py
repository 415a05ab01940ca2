"""Single items of a list: found by their ids, added and changed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from . import itemtext, texts
from .envelope import Envelope
from .errors import KrmfnError, Refused
from .index import has
from .item import Item
from .ownership import Id, updated
from .resource import Manifest, Ref, annotations_of, checked, join, mapping, same
from .results import Result
from .typed import TYPE_CHECKING, Any
from .yamltext import lineends

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import TypedDict, Unpack

    class Choice(TypedDict, total=False):
        """What an item must have."""

        name: str
        labels: Mapping[str, str]
        annotations: Mapping[str, str]


__all__ = [
    "add_manifest",
    "add_text",
    "carry",
    "chosen",
    "edited_item",
    "leave_out",
    "plan",
    "put",
    "replace",
    "single",
    "under_old_names",
]
__all__ += ["with_origin", "with_refs"]

_ORIGIN = r"internal\.config\.kubernetes\.io/.*|config\.kubernetes\.io/(path|index)|(kustomize\.)?config\.k8s\.io/id"
"""The annotations by which kpt and kustomize find the file and the resource that an item came from."""

_Step = tuple[Item, Ref, Manifest | None]
"""A new item, or one that is there and its new data; with its reference."""


def single(items: Sequence[Item], target: Ref) -> Item | None:
    """Return the only item, None for none. Raises KrmfnError, with their places, for several of the id of `target`."""
    if len(items) > 1:
        places = (item.place.path if item.place and item.place.path else "a list without paths" for item in items)
        at = " and in ".join(dict.fromkeys(places))
        raise KrmfnError(f"{target} is there {len(items)} times, in {at}: say which item is meant")
    return items[0] if items else None


def chosen(items: Iterable[Item], **choice: "Unpack[Choice]") -> Iterator[Item]:
    """Yield the items of a name, with all of some labels and annotations."""
    name, labels, annotations = choice.get("name"), choice.get("labels"), choice.get("annotations")
    for item in items:
        has_labels = not labels or labels.items() <= item.labels.items()
        has_all = has_labels and (not annotations or annotations.items() <= item.annotations.items())
        if has_all and (name is None or item.name == name):
            yield item


def with_origin(item: Item, manifest: Manifest) -> Manifest:
    """Return new data of an item with the old annotations that say where it came from, unless it has its own."""
    notes = annotations_of(manifest)
    origin = {key: text for key, text in annotations_of(item.content.manifest).items() if _says_origin(key)}
    if not origin.keys() - notes.keys():
        return manifest
    return {**manifest, "metadata": {**mapping(manifest.get("metadata")), "annotations": {**origin, **notes}}}


@lru_cache(maxsize=1024)
def _says_origin(key: str) -> bool:
    """Return True for an annotation of _ORIGIN; the items of a list have the same ones."""
    return re.fullmatch(_ORIGIN, key) is not None


def with_refs(manifests: Manifest | Iterable[Manifest]) -> list[tuple[Ref, Manifest]]:
    """Return manifests, each with its reference. Raises KrmfnError for what is no resource, and for two of one id."""
    manifests = [manifests] if isinstance(manifests, dict) else manifests
    pairs = [(checked(manifest), manifest) for manifest in manifests]
    seen = set[Id]()
    for new, _ in pairs:
        if new.id in seen:
            raise KrmfnError(f"{new} is among the manifests twice: give it once")
        seen.add(new.id)
    return pairs


def plan(resources: Any, named: Iterable[tuple[Ref, Manifest]], index: Any, *, is_owned: bool = False) -> list[_Step]:
    """Return what `put` does to put checked manifests in, each with its reference; nothing changes yet.

    `is_owned`: what others put on existing objects stays. Raises KrmfnError where the lines of a new item cannot be
    written.
    """
    steps: list[_Step] = []
    for new, manifest in named:
        item = next(iter(index.by_id.get(new.id, ())), None)
        if item is None:
            steps.append((_item_of(resources, manifest, new), new, None))
            continue
        old = item.content.manifest
        data = updated(old, manifest, resources.prefix) if is_owned else with_origin(item, manifest)
        if not same(old, data):
            steps.append((item, new, data))
    return steps


def put(resources: Any, steps: Iterable[_Step]) -> None:
    """Add the new items of a plan, and change the others."""
    for item, new, data in steps:
        if data is None:
            _put_last(resources, [item])
        else:
            item.content.take(data)
            resources.changes.append(("updated", new))


def replace(resources: Any, item: Item, manifest: Manifest) -> None:
    """Replace the data of an item of the list (see `ResourceList.replace`)."""
    if not has(resources, item):
        raise Refused("cannot be replaced: it is not in the list", item, f"{item.ref} ")
    checked(manifest, is_named=False)
    item.content.take(with_origin(item, manifest))


def add_text(resources: Any, text: str | bytes, path: str) -> list[Item]:
    """Add the documents of a text at the end, for kpt in the file `path` (see `ResourceList.append`)."""
    data = text.encode() if isinstance(text, str) else text
    return _put_last(resources, [*texts.items_of(lineends.ended(data, resources.envelope.line_end))], path)


def add_manifest(resources: Any, manifest: Manifest, path: str) -> Item:
    """Add a resource at the end, for kpt in the file `path`; it stays the caller's (see `ResourceList.append`)."""
    return _put_last(resources, [_item_of(resources, manifest, checked(manifest, is_named=False))], path)[0]


def _item_of(resources: Any, manifest: Manifest, new: Ref) -> Item:
    """Return a new item, its text in the list's layout.

    What was lent of other items, or of a text, takes its lines along.
    """
    from .yamltext import emit, lent

    indent, line_end = resources.envelope.cut.indent, resources.envelope.line_end
    item = texts.item_from(manifest, line_end)
    if item is None:
        known, column = lent.known_in(manifest, {}), max(indent, 0)
        text = emit.dump_json(manifest) if indent < 0 else emit.dump([manifest], indent)
        text = _with_lines(manifest, column, known, new) if known else text
        data = lineends.ended(text.encode(), line_end)
        item = _new_item(resources.envelope, data, column if known else indent, new)
        if known and indent < 0:  # it has no lines there
            item._fits = None
    return item


def _with_lines(manifest: Manifest, indent: int, known: Any, new: Ref) -> str:
    """Return the text of a new item in which what was lent from others has its lines. Raises Refused."""
    from .yamltext import edit, losses

    try:
        return edit.written([manifest], indent, known)
    except losses.WouldLose as failure:
        raise KrmfnError(f"{new}: {join(failure.parts) or 'it'} {failure}") from failure


def _put_last(resources: Any, items: list[Item], path: str = "") -> list[Item]:
    """Put new items at the end of the list, for kpt in the file `path`; return them."""
    for item in items if path else ():
        item.path = path
    for item in items:
        resources.items.append(item)
        resources.changes.append(("created", item.ref))
        if resources.index:
            resources.index.add(item)
    return items


def leave_out(resources: Any, items: Iterable[Item]) -> None:
    """Take items out that the function never gets: `changes` does not name them."""
    gone = {id(item) for item in items}
    resources.items = [item for item in resources.items if id(item) not in gone]


def carry(resources: Any) -> None:
    """Let scalars that went from one item to another take their comments along (see `carrying.carry`)."""
    items, before = resources.items, [*resources.envelope.items, *resources.removed]  # that may have come since
    if not any(item._content for item in (*before, *items)):  # most are not read, and are looked at without a call
        return
    from .strays import losing

    if any(losing(items, before)):
        from . import carrying

        for item in items:
            if itemtext.has_changed(item):
                item.content.lend(())
        carrying.carry(items, before)


def edited_item(envelope: Envelope, item: Item) -> Item:
    """Return an edited item as one with its text; its comments, key order and layout stay as far as they can."""
    text = item.content.edited(item)
    item.content.first, item.content.departures = None, ()
    new = _new_item(envelope, text, item.indent, item.ref)
    if envelope.cut.indent < 0 and text[:1] not in (b"{", b"&", b"!"):  # it was written anew over lines
        new._fits = None
    elif item.data is not envelope.text:
        new._fits = item._fits
    new._origin = item._origin or item
    return new


def _new_item(envelope: Envelope, text: bytes, indent: int, new: Ref) -> Item:
    item = Item(text, 0, len(text), indent)
    item._fits = envelope.text
    itemtext.note_ref(item, new)
    return item


def under_old_names(results: Sequence[Result], items: Iterable[Item]) -> list[Result]:
    """Return findings about edited items with the names and places that these had as they came."""
    old: dict[Ref | None, Item] = {}
    for item in items:
        before = Item(item.data, item.start, item.end, item.indent, item.sure, item.file)
        if item.is_edited and item.ref != before.ref:
            old[item.ref] = before
    pairs = [(result, old.get(result.ref)) for result in results]
    return [
        result._replace(ref=item.ref, place=result.place and item.place) if item else result for result, item in pairs
    ]
