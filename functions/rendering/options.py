"""The options of a config, judged by the schema of its Profile."""

from __future__ import annotations

from collections.abc import Iterator

from krmfn import Field, Item, Result, error, schema
from krmfn.fieldpath import join

from ..profile import structural
from ..profile.product import Profile
from .kinds import OURS


def check(product: Profile, item: Item) -> list[Result]:
    """Return what of a config does not fit the schema of its Profile."""
    if item.group == OURS:
        options = item.manifest["spec"].get("options", {}) if isinstance(item.manifest.get("spec"), dict) else {}
        own = schema.check({"spec": options}, product.config_schema, "KRM101")
        moved = (one._replace(field=_within(one.field)) for one in own)
        return [*moved, *_patterns(product, {"spec": options}, ("spec", "options"))]
    return [*schema.check(item.manifest, product.schema, "KRM101"), *_patterns(product, item.manifest, ("spec",))]


def _within(field: Field | None) -> Field | None:
    return field._replace(path=f"spec.options{field.path.removeprefix('spec')}") if field else None


def _patterns(product: Profile, manifest: dict[str, object], start: tuple[str, ...]) -> Iterator[Result]:
    node = product.options.get("properties", {}).get("spec", {})
    for path, pattern in structural.patterns(node, manifest.get("spec")):
        yield error(f"must match {pattern}", rule="KRM101", field=Field(join((*start, *path))))
