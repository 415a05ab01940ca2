"""A whole resource as the value of a field: x-kubernetes-embedded-resource.

Source: pkg/apiserver/schema/objectmeta of k8s.io/apiextensions-apiserver v0.34.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krmfn.printing import did_you_mean
from krmfn.typed import Any

from ..kmm import names
from ..mistake import FieldMistake, Mistake
from .structural import Path

_TEXTS = ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion")
_METADATA = (
    *_TEXTS,
    *("generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("labels", "annotations", "ownerReferences", "finalizers", "managedFields"),
)


def misfits(resource: Mapping[str, Any], path: Path) -> Iterator[FieldMistake]:
    """Yield what the API server refuses of a resource within a resource, but for its own fields."""
    for name in ("apiVersion", "kind"):
        value = resource.get(name)
        if name not in resource:
            yield (*path, name), Mistake("is required: this field holds a whole resource")
        elif not isinstance(value, str) or not value:
            yield (*path, name), Mistake("must be a text that is not empty: this field holds a whole resource")
        elif name == "apiVersion" and value.count("/") > 1:
            yield (*path, name), Mistake(f"is {value!r}; must be a version or GROUP/VERSION")
        elif name == "kind" and (names.dns_label_errors(value.lower()) or not value[0].isalpha()):
            yield (*path, name), Mistake(f"is {value!r}; must be letters, digits and dashes, beginning with a letter")
    yield from _of_metadata(resource.get("metadata"), (*path, "metadata"))


def _of_metadata(metadata: Any, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with the metadata of a resource within a resource; it may have none."""
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        yield path, Mistake("must be a mapping")
        return
    for name, value in metadata.items():
        if name not in _METADATA:
            hint = did_you_mean(name, _METADATA, "metadata have labels and annotations", "'")
            yield (*path, name), Mistake("is no field of metadata", hint)
        elif name in _TEXTS and not isinstance(value, (str, type(None))):
            yield (*path, name), Mistake("must be a text")
        elif name in ("name", "generateName") and value and (value in (".", "..") or set(value) & set("/%")):
            yield (*path, name), Mistake(f"is {value!r}; must not be . or .., or hold / or %")
        elif name == "namespace" and value and names.dns_label_errors(value):
            yield (*path, name), Mistake(f"is {value!r}; must be the name of a namespace")
        elif name in ("labels", "annotations") and value is not None:
            yield from _of_texts(value, name == "labels", (*path, name))


def _of_texts(texts: Any, are_labels: bool, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with labels or annotations."""
    if not isinstance(texts, dict):
        yield path, Mistake("must be a mapping of texts")
        return
    for key, value in texts.items():
        if not isinstance(value, (str, type(None))):
            yield (*path, key), Mistake("must be a text: write it in quotes")
        elif are_labels and names.label_value_errors(value or ""):
            yield (*path, key), Mistake(f"is {value!r}; must be the value of a label")
        elif names.label_key_errors(key if are_labels else key.lower()):
            yield (*path, key), Mistake(f"has the key {key!r}; must be a name, or PREFIX/NAME")
