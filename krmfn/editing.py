"""Single items of a list: found by their ids, added, changed, and made from an owner."""

import re
from collections.abc import Iterable, Sequence

from .envelope import Envelope
from .errors import KrmfnError, Refused
from .item import Item
from .ownership import Id, known_as, stamp
from .resource import Manifest, Ref, annotations_of, checked, copied, ref
from .results import Result
from .typed import Any

__all__ = ["added", "distinct", "edited", "kept", "own", "single", "under_old_names"]

_BOOKS = r"internal\.config\.kubernetes\.io/.*|config\.kubernetes\.io/(path|index)|(kustomize\.)?config\.k8s\.io/id"
"""The annotations by which kpt and kustomize find the file and the resource that an item came from."""


def single(items: Sequence[Item], of: Ref) -> Item | None:
    """Return the one item of those with an id, None without one. Raises KrmfnError, with their places, for two."""
    if len(items) > 1:
        places = (item.place.path if item.place and item.place.path else "a list without paths" for item in items)
        at = " and in ".join(dict.fromkeys(places))
        raise KrmfnError(f"{of} is there {len(items)} times, in {at}: say which item is meant")
    return items[0] if items else None


def kept(item: Item, manifest: Manifest) -> Manifest:
    """Return other data of an item, with its annotations that tell where it came from, but for those that it has."""
    notes = annotations_of(manifest)
    books = {key: text for key, text in annotations_of(item.content.manifest).items() if re.fullmatch(_BOOKS, key)}
    if not books.keys() - notes.keys():
        return manifest
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": {**books, **notes}}}


def distinct(manifests: Manifest | Iterable[Manifest]) -> list[tuple[Ref, Manifest]]:
    """Return manifests, each with its reference. Raises KrmfnError for what is none, and for two of one id."""
    named = [(checked(one), one) for one in ([manifests] if isinstance(manifests, dict) else manifests)]
    seen = set[Id]()
    for new, _ in named:
        if new.id in seen:
            raise KrmfnError(f"{new} is among the manifests twice: give it once")
        seen.add(new.id)
    return named


def own(resources: Any, owner: Item | Manifest, manifests: Manifest | Iterable[Manifest]) -> None:
    """Let these, and no others, be what the function makes of `owner` (see `ResourceList.own`)."""
    function = resources.function or "function"
    owner = owner or {}
    of, notes = (ref(owner), annotations_of(owner)) if isinstance(owner, dict) else (owner.ref, owner.annotations)
    if not of.name:
        raise KrmfnError(f"{of} cannot own anything: give its metadata a name, by which a later run finds what it made")
    wanted = {new.id: (new, copied(manifest)) for new, manifest in distinct(manifests)}
    try:
        for _, manifest in wanted.values():
            stamp(manifest, function, of)
    except ValueError as failure:
        raise KrmfnError(str(failure)) from failure
    known = resources._ids({new.kind for new, _ in wanted.values()})
    if known.made is None:
        known.made = _made(resources, function)
    names = known_as(of, notes)
    mine = {id(item): item for name in names for item in known.made.get(name, ()) if item.mark}
    for item in (item for name in wanted for item in known.there.get(name, ()) if id(item) not in mine):
        message = f"is there, and was not made from {of}: rename it, or remove it"
        if (mark := item.mark) and mark.function == function and mark.made == item.ref.id:
            message = f"cannot be made from {of}: {Ref('', *mark.owner[1:])} makes it, too"
        raise Refused(message, item, f"{item.ref} ")
    for item in mine.values():
        if item.ref.id not in wanted:
            resources.remove(item)
            known.drop(item)
    resources._put(wanted.values(), known, is_owned=True)
    known.made.update(dict.fromkeys(names, ()))
    known.made[of.id] = [known.there[name][0] for name in wanted]


def added(resources: Any, manifest: Manifest, new: Ref) -> Item:
    """Add a new item at the end, its text in the list's layout, and return it; the manifest stays the caller's."""
    from .yamltext import emit

    cut = resources.envelope.cut
    text = emit.dump_json(manifest) if cut.indent < 0 else emit.dump([manifest], cut.indent)
    item = _fitting(resources.envelope, text.encode(), cut.indent, new)
    resources.items.append(item)
    resources.changes.append(("created", new))
    if resources.known:
        resources.known.add(item)
    return item


def edited(envelope: Envelope, item: Item) -> Item:
    """Return an edited item as one with its text; its comments, key order and layout stay as far as they can."""
    item.content.settle(item)
    text, indent = item.text, item.indent
    if envelope.cut.indent < 0:
        from .yamltext import emit

        text, indent = emit.dump_json(item.manifest).encode(), -2
    changed = _fitting(envelope, text, indent, item.ref)
    if item.data is not envelope.text:
        changed.fits = item.fits
    changed.origin = item.origin or item
    return changed


def _fitting(envelope: Envelope, text: bytes, indent: int, of: Ref) -> Item:
    item = Item(text, 0, len(text), indent)
    item.fits = envelope.text
    item.set_ref(of)
    return item


def _made(resources: Any, function: str) -> dict[Id, Sequence[Item]]:
    """Return what a function made of each owner; also what kustomize renamed, but no copy."""
    made: dict[Id, Sequence[Item]] = {}
    for item in resources.marked():
        mark = item.mark
        if mark and mark.function == function and mark.made in known_as(item.ref, item.annotations):
            made[mark.owner] = [*made.get(mark.owner, ()), item]
    return made


def under_old_names(results: Sequence[Result], items: Iterable[Item]) -> list[Result]:
    """Return findings about edited items with the names and places that these had as they came."""
    old: dict[Ref | None, Item] = {}
    for item in items:
        before = Item(item.data, item.start, item.end, item.indent, item.sure, item.file)
        if item.is_edited and item.ref != before.ref:
            old[item.ref] = before
    known = [(result, old.get(result.ref)) for result in results]
    return [one._replace(ref=was.ref, place=one.place and was.place) if was else one for one, was in known]
