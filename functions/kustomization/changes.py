"""Which patch, replacement or field of a kustomization gives a resource the value that it has in the end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Manifest, Place, join, same, split
from krmfn.typed import Any, NamedTuple

from ..kmm.lookup import MISSING, at
from ..paths import files
from . import shorthands
from .documents import documents
from .graph import Kustomization
from .references import Reference
from .values import Parts, is_for, moved


class Change(NamedTuple):
    """A place that changes a field of a resource."""

    kustomization: Kustomization
    place: Place | None
    """Where the field has its value; None when the field, or what holds it, may be changed to something else there."""


def changes(
    path: str,
    manifest: Manifest,
    names: Collection[str],
    built: Iterable[Kustomization],
    read: Callable[[Reference], list[Item]],
) -> Iterator[Change]:
    """Yield what changes a field of a resource, or what holds it; the outermost kustomization and the last patch first.

    `manifest` is the resource as it is in the end, `names` what it is called on the way, `built` the kustomizations
    from the outermost down; `read` returns the documents of a patch (see `documents_of`).
    """
    for one in built:
        for reference in reversed(one.references):
            if reference.is_patch:
                target = _target(one, reference)
                for patch in read(reference):
                    for change in _by_patch(one, patch, target, path, manifest, names):
                        yield change if _has_lines(reference) or not change.place else Change(one, reference.place)
        yield from (Change(one, place) for place in shorthands.places(one, split(path), manifest, names))


def _has_lines(reference: Reference) -> bool:
    """Return False for a patch that stands quoted or folded in its kustomization: its lines are not those of a file."""
    return reference.kind == "file" or reference.column > 0


def _target(one: Kustomization, reference: Reference) -> Manifest | None:
    """Return the selector of a patch, None when it names its resource itself."""
    entry = at(one.manifest, split(reference.field)[:2])
    target = entry.get("target") if isinstance(entry, dict) else None
    return target if isinstance(target, dict) else None


def documents_of(reference: Reference) -> list[Item]:
    """Return the documents of a patch; [] when it cannot be read any more."""
    try:
        if reference.kind == "inline":
            name, text = reference.place.path, reference.data
        else:
            name, text = reference.name, files.read_regular(reference.real, reference.name)
        return list(documents(name, text, reference.first or 1, reference.column))
    except KrmfnError:
        return []


def _by_patch(
    one: Kustomization, patch: Item, target: Manifest | None, path: str, manifest: Manifest, names: Collection[str]
) -> Iterator[Change]:
    operations = _operations(patch)
    if operations is None:
        if is_for(target or _own(patch), manifest, names):
            yield from _by_merge(one, patch, path, manifest)
    elif target and is_for(target, manifest, names):
        for number, operation in reversed([*enumerate(operations)]):
            yield from _by_operation(one, patch, number, operation, split(path), manifest)


def _operations(patch: Item) -> list[Any] | None:
    """Return the operations of a JSON patch; None for a patch that looks like its resource."""
    from krmfn.yamltext import values

    data = patch.manifest or values.build(patch.content.node)
    return data if isinstance(data, list) else None


def _own(patch: Item) -> Manifest:
    return {"kind": re.escape(patch.kind), "name": re.escape(patch.name)}


def _by_merge(one: Kustomization, patch: Item, path: str, manifest: Manifest) -> Iterator[Change]:
    parts = split(path)
    value, way = at(manifest, parts), moved(parts, manifest, patch.manifest)
    there = at(patch.manifest, way)
    if there is not MISSING and (same(there, value) if value is not MISSING else there is None):
        yield Change(one, patch.field_place(join(way)))
    elif there is not MISSING or "$patch" in json.dumps(patch.manifest):
        yield Change(one, None)


def _by_operation(
    one: Kustomization, patch: Item, number: int, operation: Any, parts: Parts, manifest: Manifest
) -> Iterator[Change]:
    if not isinstance(operation, dict) or operation.get("op") == "test":
        return
    pointer = tuple(part.replace("~1", "/").replace("~0", "~") for part in str(operation.get("path")).split("/")[1:])
    depth = min(len(pointer), len(parts))
    if any(mine not in (theirs, "-") for mine, theirs in zip(pointer, parts, strict=False)):
        return
    value, rest = at(manifest, parts), parts[depth:]
    if len(pointer) > len(parts):  # a part of the field
        yield Change(one, None)
    elif operation.get("op") == "remove":
        yield Change(one, patch.field_place(f"[{number}]") if value is MISSING else None)
    else:
        there = at(operation.get("value", MISSING), rest)
        is_it = there is not MISSING and value is not MISSING and same(there, value)
        yield Change(one, patch.field_place(join((number, "value", *rest))) if is_it else None)
