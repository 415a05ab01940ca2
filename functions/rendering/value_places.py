"""Where a value was written that a field of another resource has."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Item, Place
from krmfn.fieldpath import FieldPath, join, split
from krmfn.typed import Any


def place_of(item: Item, field: Field | None) -> Place | None:
    """Return the place of the one field in the item's spec with the value of a field that was generated from it.

    Without one it is the item's own place.
    """
    spec = {"spec": item.manifest.get("spec")}
    path = of_value(spec, field.current, split(field.path)[-1]) if field and item.file else ""
    return item.field_place(path) if path else item.place


def of_value(data: Any, value: Any, key: str) -> str:
    """Return the path of the one field in `data` that holds a text; of several, that of the one with the key `key`.

    "" when there is none, when that still leaves several, and for what is no text.
    """
    found = list(_holding(data, value, ())) if isinstance(value, str) and value else []
    found = found if len(found) < 2 else [path for path in found if path[-1] == key]
    return join(found[0]) if len(found) == 1 else ""


def _holding(data: Any, value: str, path: FieldPath) -> Iterator[FieldPath]:
    """Yield the paths of the texts that are equal to `value`."""
    if data == value and isinstance(data, str):
        yield path
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, child in inner:
        yield from _holding(child, value, (*path, key))
