"""A whole resource as the value of a field: x-kubernetes-embedded-resource.

Source: pkg/apiserver/schema/objectmeta of k8s.io/apiextensions-apiserver v0.34.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from krmfn.printing import did_you_mean
from krmfn.typed import Any

from ..kmm import names
from ..mistake import FieldMistake, Mistake
from . import formats
from .structural import Path

_TYPES: dict[str, type] = {
    "name": str,
    "generateName": str,
    "namespace": str,
    "selfLink": str,
    "uid": str,
    "resourceVersion": str,
    "generation": int,
    "creationTimestamp": str,
    "deletionTimestamp": str,
    "deletionGracePeriodSeconds": int,
    "labels": dict,
    "annotations": dict,
    "ownerReferences": list,
    "finalizers": list,
    "managedFields": list,
}
"""The fields of metadata, with their types; each may be null, too."""
_TIMES = ("creationTimestamp", "deletionTimestamp")
_WORDS = {str: "a text", int: "a whole number", dict: "a mapping of texts", list: "a list"}


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


def as_stored(metadata: Any) -> Any:
    """Return the metadata of a resource within a resource as the API server keeps them: without what is empty.

    It decodes them into its own type, and encodes that (coerce.go). What is no mapping is returned as it is.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        return metadata
    kept = {name: value for name, value in metadata.items() if not _is_dropped(name, value)}
    for name in ("labels", "annotations"):
        if isinstance(kept.get(name), dict):
            kept[name] = {key: "" if value is None else value for key, value in kept[name].items()}
    return kept


def _is_dropped(name: str, value: Any) -> bool:
    """Return True for a field of metadata that is not encoded: it has its type and is empty."""
    if name not in _TYPES:
        return False
    return value is None or (_has_type(name, value) and not value and name not in _TIMES)


def _has_type(name: str, value: Any) -> bool:
    """Return True for a value of a field of metadata that Go decodes; True and False are no whole numbers."""
    return type(value) is _TYPES[name]


def _of_metadata(metadata: Any, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with the metadata of a resource within a resource; it may have none."""
    if metadata is None:
        return
    if not isinstance(metadata, dict):
        yield path, Mistake("must be a mapping")
        return
    for name, value in metadata.items():
        if name not in _TYPES:
            hint = did_you_mean(name, _TYPES, "metadata have labels and annotations", "'")
            yield (*path, name), Mistake("is no field of metadata", hint)
        elif value is not None and not _has_type(name, value):
            yield (*path, name), Mistake(f"must be {_WORDS[_TYPES[name]]}")
        elif name in _TIMES and value is not None and not _is_time(value):
            yield (*path, name), Mistake(f"is {value!r}; must be a time such as 2026-01-02T15:04:05Z")
        elif name in ("name", "generateName") and value and (value in (".", "..") or set(value) & set("/%")):
            yield (*path, name), Mistake(f"is {value!r}; must not be . or .., or hold / or %")
        elif name == "namespace" and value and names.dns_label_errors(value):
            yield (*path, name), Mistake(f"is {value!r}; must be the name of a namespace")
        elif name in ("labels", "annotations") and value is not None:
            yield from _of_texts(value, name == "labels", (*path, name))


def _is_time(text: str) -> bool:
    """Return True for what Go reads as RFC 3339: that format with capital letters."""
    return text == text.upper() and formats.fits("date-time", text)


def _of_texts(texts: Mapping[str, Any], are_labels: bool, path: Path) -> Iterator[FieldMistake]:
    """Yield what is wrong with labels or annotations."""
    for key, value in texts.items():
        if not isinstance(value, (str, type(None))):
            yield (*path, key), Mistake("must be a text: write it in quotes")
        elif are_labels and names.label_value_errors(value or ""):
            yield (*path, key), Mistake(f"is {value!r}; must be the value of a label")
        elif names.label_key_errors(key if are_labels else key.lower()):
            yield (*path, key), Mistake(f"has the key {key!r}; must be a name, or PREFIX/NAME")
