"""Which patch, replacement or field of a kustomization gives a resource the value that it has in the end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress

from krmfn.errors import KrmfnError
from krmfn.item import Item
from krmfn.resource import Manifest, Place, join, same, split
from krmfn.typed import Any

from ..kmm.lookup import MISSING, at
from ..paths import files
from .documents import documents
from .graph import Kustomization
from .references import Reference
from .values import Parts, is_for, moved, places

Change = tuple[str, Place | None]
"""The name of a kustomization that changes a field of a resource, and where the field has its value.

None when the field, or what holds it, may be changed to something else there.
"""


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
                    for place in _by_patch(patch, target, path, manifest, names):
                        yield one.name, place if reference.has_lines or not place else reference.place
        yield from ((one.name, place) for place in places(one, split(path), manifest, names))


def _target(one: Kustomization, reference: Reference) -> Manifest | None:
    """Return the selector of a patch, None when it names its resource itself."""
    target = at(one.manifest, (*split(reference.field)[:2], "target"))
    return target if isinstance(target, dict) else None


def documents_of(reference: Reference) -> list[Item]:
    """Return the documents of a patch; [] when it cannot be read any more."""
    with suppress(KrmfnError):
        if reference.kind == "inline":
            return list(documents(reference.place.path, reference.data, reference.first, reference.column))
        return list(documents(reference.name, files.read_regular(reference.real, reference.name)))
    return []


def _by_patch(
    patch: Item, target: Manifest | None, path: str, manifest: Manifest, names: Collection[str]
) -> Iterator[Place | None]:
    from krmfn.yamltext import values

    operations = patch.manifest or values.build(patch.content.composed)
    if not isinstance(operations, list):  # it looks like its resource
        own = {"kind": re.escape(patch.kind), "name": re.escape(patch.name)}
        if is_for(target or own, manifest, names):
            yield from _by_merge(patch, split(path), manifest)
    elif target and is_for(target, manifest, names):
        for number, operation in reversed([*enumerate(operations)]):
            yield from _by_operation(patch, number, operation, split(path), manifest)


def _by_merge(patch: Item, parts: Parts, manifest: Manifest) -> Iterator[Place | None]:
    value, way = at(manifest, parts), moved(parts, manifest, patch.manifest)
    there = at(patch.manifest, way)
    if there is not MISSING and (same(there, value) if value is not MISSING else there is None):
        yield patch.field_place(join(way))
    elif there is not MISSING or "$patch" in json.dumps(patch.manifest):
        yield None


def _by_operation(patch: Item, number: int, operation: Any, parts: Parts, manifest: Manifest) -> Iterator[Place | None]:
    if not isinstance(operation, dict) or operation.get("op") == "test":
        return
    pointer = tuple(part.replace("~1", "/").replace("~0", "~") for part in str(operation.get("path")).split("/")[1:])
    if any(mine not in (theirs, "-") for mine, theirs in zip(pointer, parts, strict=False)):
        return
    parts = max(parts, pointer, key=len)  # it may be about a part of the field
    value, rest = at(manifest, parts), parts[len(pointer) :]
    if operation.get("op") == "remove":
        yield patch.field_place(f"[{number}]") if value is MISSING else None
    else:
        there = at(operation.get("value", MISSING), rest)
        is_it = there is not MISSING and value is not MISSING and same(there, value)
        yield patch.field_place(join((number, "value", *rest))) if is_it else None
