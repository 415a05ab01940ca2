"""What the fields of kustomizations do to all resources: names, namespaces, images, labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from krmfn.resource import Manifest

from ..kmm.lookup import table, text
from ..run import Replacement, Transformed
from .mentions import entries

_IMAGE = ("name", "newName", "newTag", "digest")


def transformed(kustomizations: Iterable[Manifest]) -> Transformed:
    """Return what some kustomizations do together; what has another type than kustomize takes counts as absent."""
    return joined(map(_by, kustomizations))


def joined(builds: Iterable[Transformed]) -> Transformed:
    """Return what several builds do together."""
    fields = zip(*builds, strict=True)
    return Transformed(*(tuple(dict.fromkeys(filter(None, chain(*values)))) for values in fields))


def _by(one: Manifest) -> Transformed:
    prefix, suffix, namespace = ((text(one, name),) for name in ("namePrefix", "nameSuffix", "namespace"))
    return Transformed(prefix, suffix, namespace, (*_images(one),), (*_labels(one),))


def _images(one: Manifest) -> Iterator[Replacement]:
    for field in ("images", "imageTags"):
        for _, entry in entries(one, field):
            if text(entry, "name"):
                yield Replacement(*(text(entry, key) for key in _IMAGE))


def _labels(one: Manifest) -> Iterator[tuple[str, str]]:
    groups = [table(one, "commonLabels"), *(table(entry, "pairs") for _, entry in entries(one, "labels"))]
    for pairs in groups:
        yield from ((key, value) for key, value in pairs.items() if isinstance(value, str))
