#!/usr/bin/env python3
"""Set the name, tag or digest of an image wherever a container has it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Annotated

from krmfn import Doc, Item, ItemField, Refused, ResourceList, field_spec, function, info

CONTAINERS = ("spec.**.containers[*].image", "spec.**.initContainers[*].image")


@dataclass(frozen=True)
class Image:
    """What an image is set to."""

    name: Annotated[str, Doc("the image as it is now, without tag")] = ""
    new_name: Annotated[str, Doc("its new name")] = ""
    new_tag: Annotated[str, Doc("its new tag")] = ""
    digest: Annotated[str, Doc("its digest, in place of a tag")] = ""


@dataclass(frozen=True)
class FieldSpec:
    """Where kustomize finds a field."""

    path: str
    group: str = ""
    version: str = ""
    kind: str = ""
    create: bool = False


@dataclass(frozen=True)
class SetImage(Image):
    """Set the name, tag or digest of an image; a ConfigMap holds the fields of `image` itself."""

    image: Annotated[Image, Doc("the image")] = field(default_factory=Image)
    additional_image_fields: Annotated[list[FieldSpec], Doc("further fields")] = field(default_factory=list)


@function(config=SetImage, group="fn.kpt.dev", fields="top")
def set_image(resources: ResourceList, config: SetImage) -> None:
    """Set the image, and say how many were changed."""
    image = config.image if config.image.name else config
    if not image.name:
        raise Refused("must specify `name`")
    if not (image.new_name or image.new_tag or image.digest):
        raise Refused("must specify one of `newName`, `newTag`, or `digest`")
    count = 0
    for item in resources.items:
        for place in places(item, config.additional_image_fields):
            new = changed(place.value, image)
            count += new != place.value
            place.value = new
    resources.report(info(f"summary: updated a total of {count} image(s)"))


def places(item: Item, specs: list[FieldSpec]) -> list[ItemField]:
    """Return the fields of an item that hold an image."""
    named = [place for spec in specs for place in field_spec(item, **vars(spec))]
    return [*(place for pattern in CONTAINERS for place in item.each(pattern)), *named]


def changed(text: str, image: Image) -> str:
    """Return an image with its new name and tag; another image as it is."""
    match = re.fullmatch(rf"{re.escape(image.name)}(:[\w.-]+)?(@sha256:\w+)?", str(text))
    if not match:
        return text
    tag = f"@{image.digest}" if image.digest else f":{image.new_tag}" if image.new_tag else text[len(image.name) :]
    return (image.new_name or image.name) + tag


if __name__ == "__main__":
    set_image.main()
