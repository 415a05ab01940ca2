"""What the fields of kustomizations do to all resources: names, namespaces, images, labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from krmfn.resource import Manifest
from krmfn.typed import Any

from ..run import Replacement, Transformed

_IMAGE = ("name", "newName", "newTag", "digest")


def transformed(kustomizations: Sequence[Manifest]) -> Transformed:
    """Return what some kustomizations do together; what has another type than kustomize takes counts as absent."""
    return Transformed(
        _each(_text(one, "namePrefix") for one in kustomizations),
        _each(_text(one, "nameSuffix") for one in kustomizations),
        _each(_text(one, "namespace") for one in kustomizations),
        _each(image for one in kustomizations for image in _images(one)),
        _each(pair for one in kustomizations for pair in _labels(one)),
    )


def joined(builds: Iterable[Transformed]) -> Transformed:
    """Return what several builds do together."""
    every = list(builds)
    return Transformed(
        _each(text for one in every for text in one.prefixes),
        _each(text for one in every for text in one.suffixes),
        _each(text for one in every for text in one.namespaces),
        _each(image for one in every for image in one.images),
        _each(pair for one in every for pair in one.labels),
    )


def _each(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(filter(None, values)))


def _images(one: Manifest) -> Iterator[Replacement]:
    for field in ("images", "imageTags"):
        for entry in _list(one, field):
            if _text(entry, "name"):
                yield Replacement(*(_text(entry, key) for key in _IMAGE))


def _labels(one: Manifest) -> Iterator[tuple[str, str]]:
    groups = [one.get("commonLabels"), *(entry.get("pairs") for entry in _list(one, "labels"))]
    for pairs in groups:
        if isinstance(pairs, dict):
            yield from ((key, value) for key, value in pairs.items() if isinstance(value, str))


def _list(one: Manifest, field: str) -> list[Manifest]:
    entries = one.get(field)
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _text(one: Manifest, field: str) -> str:
    value = one.get(field)
    return value if isinstance(value, str) else ""
