#!/usr/bin/env python3
"""Copy a field of one resource into fields of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from krmfn import Doc, Item, ItemField, Refused, ResourceList, function, info


@dataclass(frozen=True)
class Source:
    """The one resource, and its field, whose value is copied."""

    kind: str
    name: str
    field_path: Annotated[str, Doc("the field, such as `data.host`")] = "metadata.name"


@dataclass(frozen=True)
class Target:
    """The fields that get the value."""

    kind: str
    field_paths: Annotated[list[str], Doc("the fields; `[*]` is every entry of a list")]
    name: Annotated[str, Doc("one resource of the kind; all without it")] = ""


@dataclass(frozen=True)
class Replacement:
    """A value, and where it goes."""

    source: Source
    targets: list[Target]


@dataclass(frozen=True)
class ApplyReplacements:
    """Copy a field of one resource into fields of others."""

    replacements: list[Replacement] = field(default_factory=list)


@function(config=ApplyReplacements, group="fn.kpt.dev", fields="top")
def apply_replacements(resources: ResourceList, config: ApplyReplacements) -> None:
    """Do each replacement in its order, and say how many fields changed."""
    count = 0
    for replacement in config.replacements:
        value = value_of(resources, replacement.source)
        for target in replacement.targets:
            for place in fields_of(resources, target):
                if place.value != value:
                    place.value = value
                    count += 1
    if count:
        resources.report(info(f"replaced {count} fields"))


def value_of(resources: ResourceList, source: Source) -> Any:
    """Return the value to copy. Raises Refused unless one resource has it."""
    items = named(resources, source.kind, source.name)
    if len(items) != 1:
        raise Refused(f"{len(items)} resources are {source.kind} {source.name}: a source must be one")
    place = items[0].at(source.field_path)
    if not place.exists:
        raise Refused(f"the source has no field {source.field_path}", at=items[0])
    return place.value


def fields_of(resources: ResourceList, target: Target) -> list[ItemField]:
    """Return the fields of a target. Raises Refused for a path that no resource has: a typo would change nothing."""
    items = named(resources, target.kind, target.name)
    places: list[ItemField] = []
    for path in target.field_paths:
        matches = [place for item in items for place in item.each(path)]
        if not matches:
            name = f" {target.name}" if target.name else ""
            raise Refused(f"no {target.kind}{name} has a field {path}: correct the target")
        places += matches
    return places


def named(resources: ResourceList, kind: str, name: str) -> list[Item]:
    """Return the resources of a kind, all or those of one name."""
    return [item for item in resources.where(kind=kind) if name in ("", item.name)]


if __name__ == "__main__":
    apply_replacements.main()
