"""Single items of a list: found by their ids, added, changed, and made from an owner."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from . import texts
from .envelope import Envelope
from .errors import KrmfnError, Refused
from .item import Item
from .ownership import Id, known_as, stamp
from .resource import Manifest, Ref, annotations_of, checked, copied, join, mapping, ref
from .results import Result
from .typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import TypedDict, Unpack

    class Choice(TypedDict, total=False):
        """What an item must have."""

        name: str
        labels: Mapping[str, str]
        annotations: Mapping[str, str]


__all__ = [
    "Adopt",
    "add",
    "add_manifest",
    "add_text",
    "chosen",
    "edited_item",
    "put_owned",
    "single",
    "under_old_names",
]
__all__ += ["with_origin", "with_refs"]

Adopt = Callable[[Item], bool]
"""Returns True for an object that somebody else made and that is taken over."""
_ORIGIN = r"internal\.config\.kubernetes\.io/.*|config\.kubernetes\.io/(path|index)|(kustomize\.)?config\.k8s\.io/id"
"""The annotations by which kpt and kustomize find the file and the resource that an item came from."""


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
    origin = {key: text for key, text in annotations_of(item.content.manifest).items() if re.fullmatch(_ORIGIN, key)}
    if not origin.keys() - notes.keys():
        return manifest
    return {**manifest, "metadata": {**mapping(manifest.get("metadata")), "annotations": {**origin, **notes}}}


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


def put_owned(resources: Any, owner: Item | Manifest, manifests: Any, adopt: "Adopt | None") -> None:
    """Put in the objects that the function makes of `owner`, and remove its others (see `ResourceList.own`)."""
    function = resources.function or "function"
    owner = owner or {}
    source = ref(owner) if isinstance(owner, dict) else owner.ref
    if not source.name:
        advice = "give its metadata a name, by which a later run finds what it made"
        raise KrmfnError(f"{source} cannot own anything: {advice}")
    if source.id in resources.owners:
        raise KrmfnError(f"own was called for {source} before: call it once, with all that is made of it")
    objects = {new.id: (new, _linked_copy(manifest)) for new, manifest in with_refs(manifests)}
    try:
        for _, manifest in objects.values():
            stamp(manifest, function, source)
    except ValueError as failure:
        raise KrmfnError(str(failure)) from failure
    index = resources._index({new.kind for new, _ in objects.values()})
    if index.children is None:
        index.children = _children(resources, function)
    names = known_as(source, annotations_of(owner) if isinstance(owner, dict) else owner.annotations)
    children = {id(item): item for name in names for item in index.children.get(name, ()) if item.mark}
    for item in (item for name in objects for item in index.by_id.get(name, ()) if id(item) not in children):
        maker = _maker(resources, item, function)
        if maker in (None, False) and adopt is not None and adopt(item):
            continue
        message = f"is there, and was not made from {source}: rename it, remove it, or let `adopt` take it over"
        if maker:
            message = f"cannot be made from {source}: {maker} makes it, too"
        elif maker is False:
            known = Ref("", *item.mark.owner[1:]) if item.mark else ""
            message = f"was made from {known}, which is not in the list, and not from {source}: remove it, or adopt it"
        raise Refused(message, item, f"{item.ref} ")
    resources.owners.add(source.id)
    for item in children.values():
        if item.ref.id not in objects:
            resources.remove(item)
            index.drop(item)
    resources._put(objects.values(), index, is_owned=True)
    index.children.update(dict.fromkeys(names, ()))
    index.children[source.id] = [index.by_id[name][0] for name in objects]


def _linked_copy(manifest: Manifest) -> Manifest:
    """Return a copy of a manifest; what was lent in it is known there, too."""
    from .yamltext import lent

    copy: Manifest = copied(manifest)
    lent.link(manifest, copy)
    return copy


def _maker(resources: Any, item: Item, function: str) -> Ref | bool | None:
    """Return the owner of which a function makes an item; False for one that is not in the list, None for no owner."""
    mark = item.mark
    if not mark or mark.function != function or mark.made != item.ref.id:
        return None
    config = resources.function_config
    owners = [(other.ref, other.annotations) for other in resources.items if other.kind == mark.owner[1]]
    owners += [(ref(config), annotations_of(config))] if config else []
    return Ref("", *mark.owner[1:]) if any(mark.owner in known_as(*owner) for owner in owners) else False


def add_text(resources: Any, text: str | bytes, path: str) -> list[Item]:
    """Add the documents of a text at the end, for kpt in the file `path` (see `ResourceList.append`)."""
    return _put_last(resources, [*texts.items_of(text)], path)


def add_manifest(resources: Any, manifest: Manifest, path: str) -> Item:
    """Add a resource at the end, for kpt in the file `path` (see `ResourceList.append`)."""
    item = add(resources, manifest, checked(manifest, is_named=False))
    if path:
        item.path = path
    return item


def add(resources: Any, manifest: Manifest, new: Ref) -> Item:
    """Add a new item at the end, its text in the list's layout, and return it; the manifest stays the caller's.

    What was lent of other items, or of a text, takes its lines along.
    """
    from .yamltext import emit, lent

    indent = resources.envelope.cut.indent
    item = texts.item_from(manifest)
    if item is None:
        known = lent.known_in(manifest, {}) if indent >= 0 else {}
        text = emit.dump_json(manifest) if indent < 0 else emit.dump([manifest], indent)
        text = _with_lines(manifest, indent, known, new) if known else text
        item = _new_item(resources.envelope, text.encode(), indent, new)
    return _put_last(resources, [item])[0]


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


def edited_item(envelope: Envelope, item: Item) -> Item:
    """Return an edited item as one with its text; its comments, key order and layout stay as far as they can."""
    item.content.settle(item)
    text, indent = item.text, item.indent
    if envelope.cut.indent < 0:
        from .yamltext import emit

        text, indent = emit.dump_json(item.manifest).encode(), -2
    new = _new_item(envelope, text, indent, item.ref)
    if item.data is not envelope.text:
        new.fits = item.fits
    new.origin = item.origin or item
    return new


def _new_item(envelope: Envelope, text: bytes, indent: int, new: Ref) -> Item:
    item = Item(text, 0, len(text), indent)
    item.fits = envelope.text
    item.set_ref(new)
    return item


def _children(resources: Any, function: str) -> dict[Id, Sequence[Item]]:
    """Return the items that a function made of each owner; also those that kustomize renamed, but no copies."""
    children: dict[Id, Sequence[Item]] = {}
    for item in resources.marked():
        mark = item.mark
        if mark and mark.function == function and mark.made in known_as(item.ref, item.annotations):
            children[mark.owner] = [*children.get(mark.owner, ()), item]
    return children


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
